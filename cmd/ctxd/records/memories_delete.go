package records

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type deleteMemory struct {
	aMemory
	Yes bool `short:"y" help:"Do not ask for confirmation."`
}

func (deleteMemory) Help() string {
	return "Its versions, its counters and what other memories say of it go with it, and it cannot be brought back. " +
		"Its number is not used again. ctxd memory archive takes it out of what is found, and keeps it."
}

func (deleteMemory) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory delete 42", "show it, ask, and delete it"},
		{"ctxd memory delete 42 --yes", "in a script"},
	}
}

func (c *deleteMemory) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		m, err := connect.FindMemory(a.Ctx, cl, c.Memory)
		if err != nil {
			return err
		}
		if !c.Yes {
			err := a.Confirm(a.Ctx, "Delete this memory for good?", "ctxd memory delete "+term.ShellQuoted(c.Memory)+" --yes",
				func(s *term.Screen) { inspect.DrawMemory(s, m) })
			if err != nil {
				return err
			}
		}
		var gone protocol.Deleted
		err = cl.Call(a.Ctx, "memory.delete", protocol.MemoryDelete{ID: m.ID, Force: true, IfVersion: &m.Version}, &gone)
		if err != nil {
			return asCommand(err, c.Memory)
		}
		if a.JSON {
			return a.Out.JSON(gone)
		}
		line := term.Line{term.Styled(term.Good, "deleted"), term.Text("  ")}
		a.Out.Say(append(line, inspect.MemoryName(&m.MemoryRecord)...)...)
		return nil
	})
}

type forget struct {
	Conversation string `xor:"what" required:"" placeholder:"ID" help:"What was made from this conversation."`
	Note         string `xor:"what" required:"" placeholder:"NOTE" help:"What was made from this note: its id, path, title or alias."`
	Client       string `xor:"what" required:"" placeholder:"NAME" help:"What this program gave, such as ctxd-cli."`
	All          bool   `xor:"what" required:"" help:"Every memory, every context and all synonyms."`
	Entity       string `xor:"what" required:"" placeholder:"NAME" help:"What is linked to this entity, or has all words of its name."`
	About        string `xor:"what" required:"" placeholder:"TEXT" help:"What has all of these words, also in a former version."`

	From     string `placeholder:"DATE" help:"With --entity and --about: written down or said on this date or later: ${memoryDates}."`
	To       string `placeholder:"DATE" help:"With --entity and --about: written down or said before this date."`
	Messages bool   `help:"With --entity and --about: messages of conversations as well."`

	DryRun bool `help:"Show what would be deleted, and change nothing."`
	Yes    bool `short:"y" help:"Do not ask for confirmation."`
}

func (forget) Help() string {
	return "The memories are deleted for good, with their versions and counters. " +
		"If the daemon is stopped in between, its next start goes on. " +
		"With --all contexts and synonyms go as well. Notes stay, and so do conversations without --messages. " +
		"Files of the store have what was deleted until ctxd compact is run."
}

func (forget) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory forget --note Kickoff --dry-run", "only show what would be deleted"},
		{"ctxd memory forget --client my-agent", "show what a program gave, ask, and delete it"},
		{"ctxd memory forget --about \"Ida passport\" --messages", "a subject, in conversations as well"},
		{"ctxd memory forget --all --yes", "everything, in a script"},
	}
}

// order returns what is to be forgotten.
func (c *forget) order(a *MemoryOptions, cl *client.Client) (protocol.MemoryForget, error) {
	order := protocol.MemoryForget{ConversationID: c.Conversation, Client: c.Client, All: c.All, About: c.About, Messages: c.Messages}
	var err error
	if order.From, err = moment("from", c.From); err != nil {
		return order, err
	}
	if order.To, err = moment("to", c.To); err != nil {
		return order, err
	}
	if c.Entity != "" {
		if order.EntityID, err = connect.FindEntity(a.Ctx, cl, c.Entity); err != nil {
			return order, err
		}
	}
	if c.Note == "" {
		return order, nil
	}
	n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
	switch {
	case err == nil:
		order.NoteID = n.ID
	case fault.KindOf(err) == fault.NotFound && entities.CheckID("id", c.Note) == nil:
		order.NoteID = c.Note // the note may be gone and its memories not
	default:
		return order, err
	}
	return order, nil
}

// line returns the command line that forgets without being asked.
func (c *forget) line() string {
	line := "ctxd memory forget"
	switch {
	case c.All:
		line += " --all"
	case c.Conversation != "":
		line += " --conversation " + term.ShellQuoted(c.Conversation)
	case c.Note != "":
		line += " --note " + term.ShellQuoted(c.Note)
	case c.Client != "":
		line += " --client " + term.ShellQuoted(c.Client)
	case c.Entity != "":
		line += " --entity " + term.ShellQuoted(c.Entity)
	case c.About != "":
		line += " --about " + term.ShellQuoted(c.About)
	}
	for _, bound := range []struct{ flag, at string }{{"from", c.From}, {"to", c.To}} {
		if bound.at != "" {
			line += " --" + bound.flag + " " + term.ShellQuoted(bound.at)
		}
	}
	if c.Messages {
		line += " --messages"
	}
	return line + " --yes"
}

func (c *forget) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		order, err := c.order(a, cl)
		if err != nil {
			return err
		}
		order.DryRun = true
		var plan protocol.MemoryForgotten
		if err := cl.Call(a.Ctx, "memory.forget", order, &plan); err != nil {
			return err
		}
		switch {
		case c.DryRun && a.JSON || nothing(&plan) && a.JSON:
			return a.Out.JSON(plan)
		case nothing(&plan):
			a.Out.Say(term.Styled(term.Faint, "nothing stems from that"))
			return nil
		}
		if c.DryRun {
			return drawPlan(a, cl, a.Out, &plan)
		}
		if !c.Yes {
			if err := c.confirm(a, cl, &plan); err != nil {
				return err
			}
		}
		order.DryRun, order.Hash = false, plan.Hash
		var res protocol.MemoryForgotten
		p := term.NewProgress(a.Err)
		err = cl.CallProgress(a.Ctx, "memory.forget", order, &res, p.Wire)
		p.Finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		a.Out.Say(term.Styled(term.Good, "forgotten"), term.Text("  "+counted(res.Forgotten, &res)))
		if r := res.Receipt; r != nil {
			if !r.Empty {
				a.Out.Say(term.Styled(term.Bad, "looking for it again still finds something; run it again"))
			}
			for _, left := range r.Left {
				a.Out.Say(term.Styled(term.Faint, left))
			}
		}
		return nil
	})
}

// nothing reports whether there is nothing to forget.
func nothing(plan *protocol.MemoryForgotten) bool {
	return plan.Total+plan.Contexts+plan.Synonyms+plan.Messages+plan.Titles == 0
}

// counted says how much is forgotten, or would be.
func counted(memories int, of *protocol.MemoryForgotten) string {
	list := []string{countMemories(memories)}
	if of.Contexts > 0 {
		list = append(list, term.Count(of.Contexts, "context"))
	}
	if of.Synonyms > 0 {
		list = append(list, term.Count(of.Synonyms, "synonym set"))
	}
	if of.Messages > 0 {
		list = append(list, term.Count(of.Messages, "message"))
	}
	if of.Titles > 0 {
		list = append(list, term.Count(of.Titles, "title"))
	}
	return strings.Join(list, ", ")
}

// confirm asks on the terminal whether to forget.
func (c *forget) confirm(a *MemoryOptions, cl *client.Client, plan *protocol.MemoryForgotten) error {
	var failed error
	err := a.Confirm(a.Ctx, "Delete "+counted(plan.Total, plan)+" for good?", c.line(),
		func(s *term.Screen) { failed = drawPlan(a, cl, s, plan) })
	if failed != nil {
		return failed
	}
	return err
}

// planShown is how many of the memories are shown that are to be forgotten.
const planShown = 20

// drawPlan shows what is to be forgotten.
func drawPlan(a *MemoryOptions, cl *client.Client, s *term.Screen, plan *protocol.MemoryForgotten) error {
	var list []*record.Memory
	for _, id := range plan.IDs[:min(planShown, len(plan.IDs))] {
		var m record.Memory
		err := cl.Call(a.Ctx, "memory.get", protocol.MemoryRef{Ref: id}, &m)
		switch {
		case fault.KindOf(err) == fault.NotFound: // deleted meanwhile, or merged into one that is gone
		case err != nil:
			return err
		default:
			list = append(list, &m)
		}
	}
	if plan.Total > 0 {
		drawMemories(s, list, "nothing that can be shown")
	}
	if n := plan.Total - planShown; n > 0 {
		s.Say(term.Styled(term.Faint, "and "+term.Number(n)+" more"))
	}
	if plan.Contexts+plan.Synonyms+plan.Messages+plan.Titles > 0 {
		s.Say(term.Styled(term.Faint, "in all "+counted(plan.Total, plan)))
	}
	return nil
}
