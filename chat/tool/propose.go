package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat/tool/show"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/frontmatter"
)

// proposing makes a definition of a tool that proposes.
func proposing(d definition) definition {
	d.Proposes = true
	return d
}

// TaskArgs are the args of a Proposal of the type CreateTask.
type TaskArgs struct {
	Title     string   `json:"title"`
	Details   string   `json:"details,omitempty"`
	Due       string   `json:"due,omitempty"` // YYYY-MM-DD
	EntityIDs []string `json:"entityIds,omitempty"`
	NoteID    string   `json:"noteId,omitempty"`
}

// AssignArgs are the args of a Proposal of the type AssignEntity: the field of the entity refers to the target. Of a
// field with several references the target is one more.
type AssignArgs struct {
	EntityID string `json:"entityId"`
	Field    string `json:"field"`
	TargetID string `json:"targetId"`
}

const (
	longTitle  = 2 << 10 // bytes
	longReason = 2 << 10
)

var reasonArgument = argument{name: "reason", kind: aText, long: longReason, about: "why, in a sentence for the user"}

// proposed ends the text of every proposal.
const proposed = "It is proposed to the user, who decides. Nothing has changed yet: do not say that it is done.\n"

var createTask = proposing(define("create_task", "Propose a task",
	"Propose a task to the user, who decides whether it is created.",
	(*call).createTask,
	argument{name: "title", kind: aText, required: true, long: longTitle, about: "what is to be done, in one line"},
	argument{name: "details", kind: aText, about: "what more there is to say"},
	argument{name: "due", kind: aText, long: 100, about: "the day until when, such as 2026-01-31"},
	argument{name: "entities", kind: aList, long: longName, about: "entities that it is about: their ids or names"},
	argument{name: "note", kind: aText, long: longName, about: "the note that it comes from: its id or title"},
	reasonArgument,
))

func (c *call) createTask() error {
	args := TaskArgs{Title: show.OneLine(c.text("title")), Details: c.text("details"), Due: strings.TrimSpace(c.text("due"))}
	if args.Due != "" {
		if _, err := time.Parse(time.DateOnly, args.Due); err != nil {
			return fault.Field("due", "due is no day").WithHint("give it as 2026-01-31")
		}
	}
	text := "Task: " + show.Inline(args.Title) + "\n"
	for _, name := range c.list("entities") {
		e, err := c.entity("entities", name)
		if err != nil {
			return err
		}
		if !slices.Contains(args.EntityIDs, e.ID) {
			args.EntityIDs = append(args.EntityIDs, e.ID)
			text += "about: " + show.Entity(c.view.NameOf(e), e.Type) + show.ID(e.ID) + "\n"
		}
	}
	if name := c.text("note"); name != "" {
		n, err := c.note("note", name)
		if err != nil {
			return err
		}
		args.NoteID = n.ID
		text += "from: " + show.Note(c.view.TitleOf(n)) + show.ID(n.ID) + "\n"
	}
	if args.Due != "" {
		text += "due: " + args.Due + "\n"
	}
	return c.propose(CreateTask, args, text, nil)
}

// propose makes the Proposal.
func (c *call) propose(kind string, args any, text string, edit *Edit) error {
	data, err := json.Marshal(args)
	if err != nil {
		return err
	}
	c.out.Proposal = &Proposal{Type: kind, Args: data, Reason: show.OneLine(c.text("reason")), Edit: edit}
	c.out.Text = text + proposed
	return nil
}

var assignEntity = proposing(define("assign_entity", "Propose a reference",
	"Propose to the user that a field of an entity refers to another record: that a person leads a project, or that a note "+
		"belongs to it. The user decides.",
	(*call).assignEntity,
	argument{name: "entity", kind: aText, required: true, long: longName, about: "the entity that is to be changed: its id or name"},
	argument{name: "field", kind: aText, required: true, long: longName, about: "its field, one that refers to entities or notes"},
	argument{name: "to", kind: aText, required: true, long: longName, about: "the entity or note that the field is to refer to: its id or name"},
	reasonArgument,
))

func (c *call) assignEntity() error {
	e, err := c.entity("entity", c.text("entity"))
	if err != nil {
		return err
	}
	f, err := c.referringField(e, c.text("field"))
	if err != nil {
		return err
	}
	target, err := c.target(f)
	if err != nil {
		return err
	}
	name := show.Entity(c.view.NameOf(e), e.Type) + show.ID(e.ID)
	if refersTo(e.Fields[f.Name], target.id) {
		return fault.New(fault.Conflict, "the field %s of the entity refers to that already", f.Name).WithHint("nothing is to be done")
	}
	args := AssignArgs{EntityID: e.ID, Field: f.Name, TargetID: target.id}
	text := fmt.Sprintf("The field %s of %s refers to %s.\n", show.Inline(f.Name), name, target.label)
	if !e.VaultBacked {
		return c.propose(AssignEntity, args, text, nil)
	}
	edit, err := c.edit(e, f, target)
	if err != nil {
		return err
	}
	text += "The entity comes from a file, which the user changes: " + show.Inline(edit.Path) + "\n"
	if edit.Line != "" {
		text += "its line: " + show.Line(edit.Line) + "\n"
	}
	return c.propose(AssignEntity, args, text, edit)
}

// referringField returns the field of an entity that a name means, which refers to records.
func (c *call) referringField(e *entities.Entity, name string) (record.Field, error) {
	var refer []string
	if t := c.view.TypeOf(e); t != nil {
		if f, ok := t.Field(strings.TrimSpace(name)); ok && f.Type.IsRef() {
			return f, nil
		}
		for _, f := range t.Fields {
			if f.Type.IsRef() {
				refer = append(refer, f.Name)
			}
		}
	}
	return record.Field{}, fault.Field("field", "%s has no field %q that refers to records", e.Type, clip(name)).
		WithHint("%s", syntax.DidYouMean(name, refer, "it has none"))
}

// target is what a field is to refer to.
type target struct {
	id, label string
	note      *notes.Note // that a link leads to; nil: by its name alone
	name      string
}

func (c *call) target(f record.Field) (*target, error) {
	if f.Type.Info().To == record.ToNote {
		n, err := c.note("to", c.text("to"))
		if err != nil {
			return nil, err
		}
		title := c.view.TitleOf(n)
		return &target{n.ID, show.Note(title) + show.ID(n.ID), n, title}, nil
	}
	e, err := c.entity("to", c.text("to"))
	if err != nil {
		return nil, err
	}
	if f.TargetType != "" && entities.Fold(f.TargetType) != entities.Fold(e.Type) {
		return nil, fault.Field("to", "the field %s refers to entities of the type %s, and that is one of %s", f.Name, f.TargetType, e.Type)
	}
	name := c.view.NameOf(e)
	return &target{e.ID, show.Entity(name, e.Type) + show.ID(e.ID), c.view.Note(e.NoteID), name}, nil
}

// refersTo reports whether a value of a field is a reference to a record, or has one.
func refersTo(value any, id string) bool {
	list, _ := value.([]string)
	return value == id || slices.Contains(list, id)
}

// edit returns the line of the file of an entity that has its field refer to a target. Of several references the line
// has those that stand there, too; if the reader is not shown all of them, it is not known.
func (c *call) edit(e *entities.Entity, f record.Field, to *target) (*Edit, error) {
	n := c.view.Note(e.NoteID)
	if n == nil {
		return nil, fault.New(fault.Unavailable, "the entity comes from a file that is not there").WithHint("tell the user")
	}
	link := to.name
	if to.note != nil {
		links := c.view.LinksFrom(n.ID)
		if written := links.To(to.note, to.name); written != "" {
			link = written
		}
	}
	out := &Edit{NoteID: n.ID, Path: n.Path, Vault: c.view.VaultOf(n), Field: f.Name, Value: "[[" + link + "]]"}
	shown, err := c.view.ShownNote(c.ctx, n)
	if err != nil {
		return nil, err
	}
	there, same := frontOf(n.Body, f.Name), frontOf(shown.Body, f.Name)
	if there.Key != "" {
		out.Field = there.Key
	}
	if f.Type.Info().Form != record.ListValue {
		out.Line = yamlKey(out.Field) + ": " + quote(out.Value)
		return out, nil
	}
	items, ok := itemsOf(there.Value)
	if shownItems, _ := itemsOf(same.Value); !ok || !slices.Equal(items, shownItems) {
		return out, nil
	}
	for i := range items {
		items[i] = quote(items[i])
	}
	out.Line = yamlKey(out.Field) + ": [" + strings.Join(append(items, quote(out.Value)), ", ") + "]"
	return out, nil
}

// frontOf returns a field of the frontmatter of a note; the zero Field for none.
func frontOf(note, name string) frontmatter.Field {
	block, _ := frontmatter.Split(note)
	if !block.Found {
		return frontmatter.Field{}
	}
	front, err := frontmatter.Read(note[block.Start:block.End], block.Line)
	if err != nil {
		return frontmatter.Field{}
	}
	for _, f := range front.Fields {
		if entities.Fold(f.Key) == entities.Fold(name) {
			return f
		}
	}
	return frontmatter.Field{}
}

// itemsOf returns the texts of a value of frontmatter; false for one that is something else.
func itemsOf(value any) ([]string, bool) {
	switch v := value.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			items = append(items, s)
		}
		return items, true
	}
	return nil, false
}

// quote writes a text as YAML has it in double quotes, which JSON is a part of.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// yamlKey writes a key, in quotes where it may be read as something else.
func yamlKey(s string) string {
	for _, r := range s {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return quote(s)
		}
	}
	return s
}
