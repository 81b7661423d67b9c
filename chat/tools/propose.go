package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// proposing makes a definition of a tool that proposes.
func proposing(d definition) definition {
	d.Proposes = true
	return d
}

const (
	longTitle  = 2 << 10 // bytes
	longReason = 2 << 10
)

var reasonArgument = argument{name: "reason", kind: aText, long: longReason, about: "why, in a sentence for the user"}

// proposed ends the text of every proposal.
const proposed = "It is proposed to the user, who decides. Nothing has changed yet: do not say that it is done.\n"

var createTaskTool = proposing(define("create_task", "Propose a task",
	"Propose a task to the user, who decides whether it is created.",
	(*toolRun).createTask,
	argument{name: "title", kind: aText, required: true, long: longTitle, about: "what is to be done, in one line"},
	argument{name: "details", kind: aText, about: "what more there is to say"},
	argument{name: "due", kind: aText, long: 100, about: "the day until when, such as 2026-01-31"},
	argument{name: "entities", kind: aList, long: longName, about: "entities that it is about: their ids or names"},
	argument{name: "note", kind: aText, long: longName, about: "the note that it comes from: its id or title"},
	reasonArgument,
))

func (c *toolRun) createTask() error {
	args := TaskArgs{Title: c.text("title"), Details: c.text("details"), Due: c.text("due")}
	text := "Task: " + render.Inline(args.Title) + "\n"
	for _, name := range c.list("entities") {
		e, err := c.entity("entities", name)
		if err != nil {
			return err
		}
		if !slices.Contains(args.EntityIDs, e.ID) {
			args.EntityIDs = append(args.EntityIDs, e.ID)
			text += "about: " + render.Entity(c.view.NameOf(e), e.Type) + render.ID(e.ID) + "\n"
		}
	}
	if name := c.text("note"); name != "" {
		n, err := c.note("note", name)
		if err != nil {
			return err
		}
		args.NoteID = n.ID
		text += "from: " + render.Note(c.view.CitedAs(n)) + render.ID(n.ID) + "\n"
	}
	if due := strings.TrimSpace(args.Due); due != "" {
		text += "due: " + due + "\n"
	}
	return c.propose(CreateTask, args, func(*Proposal) string { return text })
}

// propose makes the Proposal. text says of it what a model is told.
func (c *toolRun) propose(kind string, args any, text func(*Proposal) string) error {
	p, _, err := ProposeAction(c.ctx, ActionEnv{View: c.view}, kind, args, c.text("reason")) // the tool has left nothing to leave out
	if err != nil {
		return err
	}
	c.out.Proposal = p
	c.out.Text = text(p) + proposed
	return nil
}

var assignEntityTool = proposing(define("assign_entity", "Propose a reference",
	"Propose to the user that a field of an entity refers to another record: that a person leads a project, or that a note "+
		"belongs to it. The user decides.",
	(*toolRun).assignEntity,
	argument{name: "entity", kind: aText, required: true, long: longName, about: "the entity that is to be changed: its id or name"},
	argument{name: "field", kind: aText, required: true, long: longName, about: "its field, one that refers to entities or notes"},
	argument{name: "to", kind: aText, required: true, long: longName, about: "the entity or note that the field is to refer to: its id or name"},
	reasonArgument,
))

func (c *toolRun) assignEntity() error {
	e, err := c.entity("entity", c.text("entity"))
	if err != nil {
		return err
	}
	f, err := referringField(c.view, e, c.text("field"))
	if err != nil {
		return err
	}
	id, label, err := c.target(f)
	if err != nil {
		return err
	}
	args := AssignArgs{EntityID: e.ID, Field: f.Name, TargetID: id}
	err = c.propose(AssignEntity, args, func(p *Proposal) string {
		text := fmt.Sprintf("The field %s of %s refers to %s.\n", render.Inline(f.Name), render.Entity(c.view.NameOf(e), e.Type)+render.ID(e.ID), label)
		if p.Edit != nil {
			text += "The entity comes from a file, which the user changes: " + render.Inline(p.Edit.Path) + "\n"
		}
		if p.Edit != nil && p.Edit.Line != "" {
			text += "its line: " + render.Line(p.Edit.Line) + "\n"
		}
		return text
	})
	if known := new(fault.Error); errors.As(err, &known) && argumentOf[known.Field] != "" {
		named := *known
		named.Field = argumentOf[known.Field]
		return &named
	}
	return err
}

// argumentOf are the arguments of the tool that args of an action are made of.
var argumentOf = map[string]string{"entityId": "entity", "targetId": "to"}

// target finds what a field is to refer to.
func (c *toolRun) target(f record.Field) (id, label string, err error) {
	if f.Type.Info().To == record.ToNote {
		n, err := c.note("to", c.text("to"))
		if err != nil {
			return "", "", err
		}
		return n.ID, render.Note(c.view.CitedAs(n)) + render.ID(n.ID), nil
	}
	e, err := c.entity("to", c.text("to"))
	if err != nil {
		return "", "", err
	}
	return e.ID, render.Entity(c.view.NameOf(e), e.Type) + render.ID(e.ID), nil
}
