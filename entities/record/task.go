package record

import "github.com/ctxd/ctxd/entities/text"

// Task is a task of a note: a line of its text, such as "- [ ] Call Bob 📅 2026-03-04 #work". It is a row of a query and no
// record: it has no id, and changes with the text of its note alone.
type Task struct {
	Name      string   `json:"-"` // that of the row
	Done      bool     `json:"done" jsonschema:"whether it is ticked: [x] or [X]"`
	Cancelled bool     `json:"cancelled" jsonschema:"whether it was given up: [-]"`
	Due       string   `json:"due,omitempty" jsonschema:"the day on which it is due, YYYY-MM-DD"`
	Scheduled string   `json:"scheduled,omitempty" jsonschema:"the day for which it is planned"`
	Start     string   `json:"start,omitempty" jsonschema:"the day before which there is nothing to do"`
	Priority  string   `json:"priority,omitempty" jsonschema:"highest, high, medium, low or lowest; absent where the line says nothing"`
	Tags      []string `json:"tags" jsonschema:"the tags of the line, without #"`
	Note      string   `json:"note" jsonschema:"title of its note"`
	Heading   string   `json:"heading,omitempty" jsonschema:"the heading that it stands under"`
	Line      int      `json:"line" jsonschema:"its line in the text of the note, from 1"`
}

// TaskType is the type that queries read tasks by. It is no type of the store: one of that name, of a vault or of everybody,
// goes before it, and it is VaultTask then.
var TaskType = &Type{Name: "Task", Fields: []Field{
	{Name: "done", Type: Boolean},
	{Name: "cancelled", Type: Boolean},
	{Name: "due", Type: Date},
	{Name: "scheduled", Type: Date},
	{Name: "start", Type: Date},
	{Name: "priority", Type: Select, Options: []string{"highest", "high", "medium", "low", "lowest"}},
	{Name: "tags", Type: TextList},
	{Name: "note", Type: Text},
	{Name: "heading", Type: Text},
	{Name: "line", Type: Number},
}}

// VaultTask is the name of TaskType that no type of the store takes away.
const VaultTask = "vault.Task"

// TypeOfTasks returns TaskType for one of its names, nil for another one.
func TypeOfTasks(name string) *Type {
	if fold := text.Fold(name); fold != text.Fold(TaskType.Name) && fold != text.Fold(VaultTask) {
		return nil
	}
	return TaskType
}

// Value returns a field of TaskType as Entity.Fields has values, nil for none.
func (t *Task) Value(field string) any {
	orNil := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	switch field {
	case "done":
		return t.Done
	case "cancelled":
		return t.Cancelled
	case "due":
		return orNil(t.Due)
	case "scheduled":
		return orNil(t.Scheduled)
	case "start":
		return orNil(t.Start)
	case "priority":
		return orNil(t.Priority)
	case "tags":
		return t.Tags
	case "note":
		return orNil(t.Note)
	case "heading":
		return orNil(t.Heading)
	case "line":
		return float64(t.Line)
	}
	return nil
}
