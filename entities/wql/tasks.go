package wql

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Tasks calls found with the tasks of each live note that has any, as the reader sees note and tasks. Neither is changed or kept
// longer than the query runs. The error is that of found or of a context that has ended.
type Tasks func(ctx context.Context, found func(n *record.Note, tasks []record.Task) error) error

// ReadTasks has queries read tasks as rows of record.TaskType. Computed fields do not know of them: they are kept by what
// entities say, and are stored in types that may mean a type of that name. Call it before the first query.
func (e *Engine) ReadTasks(from Tasks) { e.tasks = from }

// The built-in type by its two names: tasks are rows of the second where a type of the store has the first.
var (
	taskType      = record.TaskType
	vaultTaskType = &entities.Type{Name: record.VaultTask, Fields: record.TaskType.Fields}
)

func isTaskType(t *entities.Type) bool { return t == taskType || t == vaultTaskType }

// typesOf returns the types that a name behind FROM means: those of the store, else the one of tasks.
func (s *session) typesOf(name string) []*entities.Type {
	if types := s.schema.Of(name); types != nil || !s.tasks {
		return types
	}
	switch fold := entities.Fold(name); {
	case fold == entities.Fold(taskType.Name), fold == entities.Fold(vaultTaskType.Name) && s.schema.Of(taskType.Name) == nil:
		return []*entities.Type{taskType}
	case fold == entities.Fold(vaultTaskType.Name):
		return []*entities.Type{vaultTaskType}
	}
	return nil
}

// typeNames lists the names that may have been meant by one behind FROM that is none.
func (s *session) typeNames(wrong string) []string {
	names := s.schema.TypeNames()
	switch {
	case !s.tasks, len(names) == 0 && len(syntax.Nearest(wrong, []string{taskType.Name})) == 0:
	case s.schema.Of(taskType.Name) == nil:
		names = append(names, taskType.Name)
	default:
		names = append(names, vaultTaskType.Name)
	}
	return names
}

// eachTask runs the condition over all tasks. Each is looked at as an entity that is there for one row, of which the
// ranking makes a copy when it keeps it: its id is that of the note, and what a task alone has is read from machine.task.
func (e *Engine) eachTask(m *machine, at int, out *outcome, explain bool, take func(*entities.Entity) error) error {
	row := &entities.Entity{Type: m.p.types[at].Name}
	before := out.examined
	defer func() { m.task = nil }()
	err := e.tasks(m.ctx, func(n *record.Note, tasks []record.Task) error {
		row.ID, row.CreatedAt, row.UpdatedAt = n.ID, n.CreatedAt, n.UpdatedAt
		for i := range tasks {
			m.task, row.Name = &tasks[i], tasks[i].Name
			out.examined++
			ok, err := m.test(row, false)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := take(row); err != nil {
				return err
			}
			if m.err != nil {
				return m.err
			}
		}
		return nil
	})
	if explain {
		out.types = append(out.types, TypePlan{
			Type: row.Type, Access: AccessScan, Why: "tasks are read from the texts of notes, and have no index",
			Rows: out.examined - before, RowsExamined: out.examined - before, Uses: []IndexUse{}, Considered: []IndexUse{},
		})
	}
	return err
}

// loadTask reads a field that tasks alone have.
func (m *machine) loadTask(f *fieldRef, v *datum) {
	*v = datum{}
	text := func(kind valueKind, s string) {
		if s != "" {
			v.Kind, v.Text = kind, toNFC(s)
		}
	}
	day := func(s string) {
		if n, ok := syntax.Day(s); ok {
			v.Kind, v.Int = kindDate, n
		}
	}
	t := m.task
	if t == nil {
		return
	}
	switch f.Name {
	case "done":
		*v = boolValue(t.Done)
	case "cancelled":
		*v = boolValue(t.Cancelled)
	case "due":
		day(t.Due)
	case "scheduled":
		day(t.Scheduled)
	case "start":
		day(t.Start)
	case "priority":
		text(kindChoice, t.Priority)
	case "tags":
		if len(t.Tags) > 0 {
			v.Kind, v.Elem, v.Texts = kindList, kindText, t.Tags
		}
	case "note":
		text(kindText, t.Note)
	case "heading":
		text(kindText, t.Heading)
	case "line":
		v.Kind, v.Number = kindNumber, float64(t.Line)
	}
}

// readsTasks reports whether tasks are among the rows.
func (c *compiler) readsTasks() bool { return slices.ContainsFunc(c.out.types, isTaskType) }

// StandsOnNotes returns the ids of the notes whose tasks the value of an aggregate was computed of. The list is not to be
// changed.
func (r *Result) StandsOnNotes() []string { return r.stood.notes }

func (s *standing) addNote(id string) {
	if n := len(s.notes); n == 0 || s.notes[n-1] != id {
		s.notes = append(s.notes, id)
	}
}
