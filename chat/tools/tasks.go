package tools

import (
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TaskList is the note that tasks are appended to. It is immutable.
type TaskList struct {
	notes  taskNotes
	chosen string
}

// taskNotes are where notes are written: notes.Store, but for what of it reads without a View (PRIV-2).
type taskNotes interface {
	AppendTx(tx *kv.Tx, id, line string) error
	PutTx(tx *kv.Tx, d notes.Draft, ifVersion *int, problem func(error)) (*notes.Note, error)
}

// The notes of tasks where none is chosen.
const (
	tasksTitle        = "Tasks"
	privateTasksTitle = "Private tasks"
)

// NewTaskList returns the list in a chosen note: its id, path or title; "" for one that is made when it is needed.
func NewTaskList(n taskNotes, chosen string) *TaskList {
	return &TaskList{n, strings.TrimSpace(chosen)}
}

// prepare has a task be appended to the note. The error is Conflict for a chosen note that the reader does not see, that cannot
// be written, or that would show to others what they may not see.
func (l *TaskList) prepare(c *call, a *TaskArgs, p *PreparedAction) error {
	n, err := l.find(c)
	if err != nil {
		return err
	}
	line := l.line(c, a)
	p.Edit = &record.ToolEdit{Line: line}
	if n != nil {
		p.Edit.NoteID, p.Edit.Path = n.ID, n.Path
		if n.Path == "" {
			p.Edit.Path = c.View.TitleOf(n)
		}
		p.Do = func(tx *kv.Tx) error { return l.notes.AppendTx(tx, n.ID, line) }
		return nil
	}
	title := l.title(c)
	p.Edit.Path = title
	p.Do = func(tx *kv.Tx) error {
		made, err := l.notes.PutTx(tx, notes.Draft{Title: title, Body: line + "\n", Private: c.From.Private}, nil, nil)
		if err == nil {
			p.Edit.NoteID = made.ID
		}
		return err
	}
	return nil
}

func (l *TaskList) title(c *call) string {
	if c.From.Private {
		return privateTasksTitle
	}
	return tasksTitle
}

// find returns the note; nil for one that is not there yet. What may be written to is decided here and nowhere else.
func (l *TaskList) find(c *call) (*notes.Note, error) {
	var n *notes.Note
	var err error
	if l.chosen == "" {
		n, err = l.own(c)
	} else {
		n, err = c.View.FindNote(l.chosen, "")
	}
	switch {
	case err == nil && n == nil:
		return nil, nil
	case err != nil:
		return nil, chooseTasks(fault.Clash(fault.State, "the note of tasks, chat.tasks, cannot be told: %s", fault.Message(err)))
	case n.VaultBacked:
		e := fault.Clash(fault.VaultBacked, "the note of tasks, %s, is a file of a vault, and ctxd does not write into it", n.Path)
		return nil, chooseTasks(e)
	case c.From.Private && !n.Private:
		return nil, chooseTasks(fault.Clash(fault.State, "the task is private, and the note of tasks is not"))
	}
	return n, nil
}

// own returns the note that ctxd keeps tasks in, nil for none: the oldest of its title that is in no vault. O(notes).
func (l *TaskList) own(c *call) (found *notes.Note, err error) {
	list, err := c.View.Notes(c.ctx, notes.Filter{})
	title := l.title(c)
	for _, n := range list {
		if n.VaultBacked || n.Title != title || found != nil && !n.CreatedAt.Before(found.CreatedAt) {
			continue
		}
		found = n
	}
	return found, err
}

func chooseTasks(e *fault.Error) error {
	return e.WithHint("choose another note with the setting chat.tasks, or none: then ctxd keeps tasks in a note of its own")
}

// line is a task as a line of Markdown, with the day and the conversation that it comes from.
func (l *TaskList) line(c *call, a *TaskArgs) string {
	var b strings.Builder
	b.WriteString("- [ ] " + a.Title)
	if a.Due != "" {
		b.WriteString(" (due " + a.Due + ")")
	}
	for _, id := range a.EntityIDs {
		if e := c.View.Entity(id); e != nil {
			b.WriteString(" [[" + c.View.NameOf(e) + "]]")
		}
	}
	if n := c.View.Note(a.NoteID); n != nil {
		b.WriteString(" [[" + c.View.TitleOf(n) + "]]")
	}
	b.WriteString(" — " + c.From.At.Local().Format("2006-01-02"))
	if c.From.Handle != "" {
		b.WriteString(", @" + c.From.Handle)
	}
	for d := range strings.FieldsFuncSeq(a.Details, func(r rune) bool { return r == '\n' || r == '\r' }) {
		b.WriteString("\n  " + strings.TrimSpace(d))
	}
	return b.String()
}
