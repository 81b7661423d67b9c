package tools

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// TaskArgs are the args of createTask.
type TaskArgs struct {
	Title     string   `json:"title" long:"2048" jsonschema:"what is to be done, in one line"`
	Details   string   `json:"details,omitempty" jsonschema:"what more there is to say"`
	Due       string   `json:"due,omitempty" long:"100" jsonschema:"the day until when, as YYYY-MM-DD"`
	EntityIDs []string `json:"entityIds,omitempty" long:"64" jsonschema:"ids of the entities that it is about"`
	NoteID    string   `json:"noteId,omitempty" long:"64" jsonschema:"id of the note that it comes from"`
}

var createTask = declare(record.ProposeTask, "A line with the task is appended to the note of tasks.", (*call).task)

func (c *call) task(a *TaskArgs) (*PreparedAction, error) {
	p := &PreparedAction{}
	a.Title, a.Due = oneLine(a.Title), strings.TrimSpace(a.Due)
	if a.Due != "" {
		if _, err := time.Parse(time.DateOnly, a.Due); err != nil {
			return nil, fault.Field("due", "due is no day").WithHint("give it as 2026-01-31")
		}
	}
	var ids []string
	for _, id := range a.EntityIDs {
		switch {
		case c.View.Entity(id) == nil:
			p.Warnings = append(p.Warnings, fmt.Sprintf("There is no entity %q: it was left out.", clip(id)))
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	a.EntityIDs = ids
	if a.NoteID != "" && c.View.Note(a.NoteID) == nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("There is no note %q: it was left out.", clip(a.NoteID)))
		a.NoteID = ""
	}
	if c.Tasks == nil {
		return p, nil
	}
	return p, c.Tasks.prepare(c, a, p)
}
