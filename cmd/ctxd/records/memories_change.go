package records

import (
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type updateMemory struct {
	Memory    string `arg:"" help:"Id, handle or number of the memory."`
	Statement string `arg:"" optional:"" help:"The new statement; - reads it from standard input. Number and handle stay."`

	Kind     *string  `enum:"${memoryKinds}" placeholder:"KIND" help:"What sort of statement it is: ${enum}."`
	Tier     *string  `enum:"${memoryTiers}" placeholder:"TIER" help:"How long it is kept: ${enum}. Its time begins anew."`
	Summary  string   `placeholder:"TEXT" help:"The statement in short."`
	Question []string `placeholder:"TEXT" sep:"none" help:"Replace the questions that it answers. May be repeated."`
	Tag      []string `placeholder:"TAG" sep:"none" help:"Replace the tags. May be repeated."`
	Domain   []string `placeholder:"AREA" sep:"none" help:"Replace the areas of life. May be repeated."`
	Context  []string `placeholder:"CONTEXT" sep:"none" help:"Replace the contexts that it belongs to. May be repeated."`
	Entity   []string `placeholder:"ENTITY" sep:"none" help:"Replace the entities that it is about. May be repeated."`
	Note     []string `placeholder:"NOTE" sep:"none" help:"Replace the notes that it is about. May be repeated."`

	Importance *float64 `placeholder:"0–1" help:"How much it matters."`
	Confidence *float64 `placeholder:"0–1" help:"How sure it is; under 0.3 it is deprecated, from 0.3 on active again."`
	Always     *bool    `negatable:"" help:"Have it in every profile, or no longer."`
	Private    *bool    `negatable:"" help:"Hide it from remote models, or no longer."`
	Contested  bool     `help:"Say that something contradicts it, and that it is not settled which holds."`

	ValidFrom string   `placeholder:"DATE" help:"Since when it holds: ${memoryDates}, or a time."`
	ValidTo   string   `placeholder:"DATE" help:"Until when it held."`
	Clear     []string `enum:"summary,question,tag,domain,context,entity,note,valid-from,valid-to" placeholder:"WHAT" help:"Empty one of: ${enum}. May be repeated."`

	IfVersion term.CountFlag `from:"1" placeholder:"N" help:"Change this version only. Default: the one that is there."`
}

func (updateMemory) Help() string {
	return "Only what is named is changed. ctxd memory restore --version brings back what it said before."
}

func (updateMemory) Examples() []term.Example {
	return []term.Example{
		{`ctxd memory set 42 "I prefer evening workouts"`, "another statement"},
		{"ctxd memory set 42 --confidence 0.9 --tag sport --tag habits", "how sure it is, and its tags"},
		{"ctxd memory set 42 --clear valid-to --no-private", "empty a date, and make it public"},
	}
}

// changes reports whether something is named to change.
func (c *updateMemory) changes() bool {
	lists := len(c.Question) + len(c.Tag) + len(c.Domain) + len(c.Context) + len(c.Entity) + len(c.Note) + len(c.Clear)
	return lists > 0 || c.Contested || c.Statement+c.Summary+c.ValidFrom+c.ValidTo != "" ||
		c.Kind != nil || c.Tier != nil || c.Importance != nil || c.Confidence != nil || c.Always != nil || c.Private != nil
}

func (c *updateMemory) Run(a *MemoryOptions) error {
	if !c.changes() {
		return term.Misuse("nothing to change", "ctxd memory set --help lists what can be changed")
	}
	patch := protocol.MemoryPatch{
		Kind: c.Kind, Tier: c.Tier, Importance: c.Importance, Confidence: c.Confidence,
		AlwaysInject: c.Always, Private: c.Private,
	}
	if c.Contested {
		status := record.MemoryContested
		patch.Status = &status
	}
	if c.Statement != "" {
		said, err := a.statement(c.Statement)
		if err != nil {
			return err
		}
		patch.Statement = &said
	}
	if err := c.fill(&patch); err != nil {
		return err
	}
	return a.changing(c.Memory, "changed", func(cl *client.Client, m, changed *record.Memory) error {
		if err := c.resolve(a, cl, &patch); err != nil {
			return err
		}
		patch.ID, patch.IfVersion, patch.Return = m.ID, &m.Version, protocol.ReturnFull
		if c.IfVersion > 0 {
			version := int(c.IfVersion)
			patch.IfVersion = &version
		}
		return cl.Call(a.Ctx, "memory.patch", patch, changed)
	})
}

// fill sets what the flags say without the daemon.
func (c *updateMemory) fill(p *protocol.MemoryPatch) error {
	for _, list := range []struct {
		to    *protocol.Optional[[]string]
		given []string
		name  string
	}{
		{&p.Questions, c.Question, "question"},
		{&p.Tags, c.Tag, "tag"},
		{&p.Domains, c.Domain, "domain"},
		{&p.Contexts, nil, "context"}, // what a flag gives follows, once the daemon has said its ids
		{&p.EntityIDs, nil, "entity"},
		{&p.NoteIDs, nil, "note"},
	} {
		if slices.Contains(c.Clear, list.name) {
			*list.to = protocol.Null[[]string]()
		}
		if len(list.given) > 0 {
			*list.to = protocol.Some(list.given)
		}
	}
	if slices.Contains(c.Clear, "summary") {
		p.Summary = protocol.Null[string]()
	}
	if c.Summary != "" {
		p.Summary = protocol.Some(c.Summary)
	}
	from, err := moment("valid-from", c.ValidFrom)
	if err != nil {
		return err
	}
	to, err := moment("valid-to", c.ValidTo)
	if err != nil {
		return err
	}
	switch {
	case from != nil:
		p.ValidFrom = protocol.Some(*from)
	case slices.Contains(c.Clear, "valid-from"):
		p.ValidFrom.Set, p.ValidFrom.Null = true, true
	}
	switch {
	case to != nil:
		p.ValidTo = protocol.Some(*to)
	case slices.Contains(c.Clear, "valid-to"):
		p.ValidTo.Set, p.ValidTo.Null = true, true
	}
	return nil
}

// resolve sets the ids of what the flags name.
func (c *updateMemory) resolve(a *MemoryOptions, cl *client.Client, p *protocol.MemoryPatch) error {
	for _, list := range []struct {
		to   *protocol.Optional[[]string]
		refs []string
		ids  func(*MemoryOptions, *client.Client, []string) ([]string, error)
	}{{&p.Contexts, c.Context, contextIDs}, {&p.EntityIDs, c.Entity, entityIDs}, {&p.NoteIDs, c.Note, noteIDs}} {
		if len(list.refs) == 0 {
			continue
		}
		found, err := list.ids(a, cl, list.refs)
		if err != nil {
			return err
		}
		*list.to = protocol.Some(found)
	}
	return nil
}

// changing finds a memory, has a call change it, and says what was done.
func (a *MemoryOptions) changing(ref, did string, call func(cl *client.Client, m, changed *record.Memory) error) error {
	return a.With(func(cl *client.Client) error {
		m, err := connect.FindMemory(a.Ctx, cl, ref)
		if err != nil {
			return err
		}
		var changed record.Memory
		if err := call(cl, m, &changed); err != nil {
			return asCommand(err, ref)
		}
		if changed.Statement == "" { // a long one, which the reply leaves out
			changed.Statement = m.Statement
		}
		if a.JSON {
			return a.Out.JSON(&changed)
		}
		more := outcome(&changed)
		if changed.Status == record.MemoryRetracted {
			more = "found as " + changed.ID + " from now on"
		}
		drawMemoryResult(a.Out, did, &changed, more)
		return nil
	})
}

// asCommand returns the error of a call with a hint that names commands instead of methods.
func asCommand(err error, ref string) error {
	var known *fault.Error
	if !errors.As(err, &known) {
		return err
	}
	show := "ctxd memory show " + term.ShellQuoted(ref)
	switch {
	case known.Field == "version":
		return term.WithHint(err, show+" --versions lists them")
	case known.Field == "ifVersion":
		return term.WithHint(err, show+" reads it again")
	case strings.Contains(known.Hint, "memory."):
		return term.WithHint(err, show+" shows its status")
	}
	return err
}

// aMemory is the argument of commands that take one memory.
type aMemory struct {
	Memory string `arg:"" help:"Id, handle or number of the memory."`
}

type pinMemory struct{ aMemory }

func (pinMemory) Examples() []term.Example {
	return []term.Example{{"ctxd memory pin 42", "ctxd memory unpin 42 takes it back"}}
}

func (c *pinMemory) Run(a *MemoryOptions) error { return a.pin(c.Memory, true, "pinned") }

type unpinMemory struct{ aMemory }

func (unpinMemory) Examples() []term.Example {
	return []term.Example{{"ctxd memory unpin 42", "it stays, and is no more in every prompt"}}
}

func (c *unpinMemory) Run(a *MemoryOptions) error { return a.pin(c.Memory, false, "unpinned") }

func (a *MemoryOptions) pin(ref string, pinned bool, did string) error {
	return a.changing(ref, did, func(cl *client.Client, m, changed *record.Memory) error {
		return cl.Call(a.Ctx, "memory.patch", protocol.MemoryPatch{ID: m.ID, Pinned: &pinned}, changed)
	})
}

type archiveMemory struct{ aMemory }

func (archiveMemory) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory archive 42", "lists and prompts leave it out"},
		{"ctxd memory list --status archived", "what is archived"},
	}
}

func (c *archiveMemory) Run(a *MemoryOptions) error {
	return a.changing(c.Memory, "archived", func(cl *client.Client, m, changed *record.Memory) error {
		return cl.Call(a.Ctx, "memory.archive", protocol.ByID{ID: m.ID, IfVersion: &m.Version}, changed)
	})
}

type restoreMemory struct {
	aMemory
	Version term.CountFlag `from:"1" placeholder:"N" help:"Bring back what it said in this version, as a new one. ctxd memory show --versions lists them."`
}

func (restoreMemory) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory restore 42", "an archived memory, as it is"},
		{"ctxd memory restore 42 --version 1", "what it said at first"},
	}
}

func (c *restoreMemory) Run(a *MemoryOptions) error {
	return a.changing(c.Memory, "restored", func(cl *client.Client, m, changed *record.Memory) error {
		return cl.Call(a.Ctx, "memory.restore",
			protocol.MemoryRestore{ID: m.ID, Version: int(c.Version), IfVersion: &m.Version}, changed)
	})
}

type retractMemory struct{ aMemory }

func (retractMemory) Help() string {
	return "It cannot be changed from then on. ctxd memory delete removes it for good."
}

func (retractMemory) Examples() []term.Example {
	return []term.Example{{"ctxd memory retract 42", "it was never so; what was so once is better superseded by a new one"}}
}

func (c *retractMemory) Run(a *MemoryOptions) error {
	return a.changing(c.Memory, "retracted", func(cl *client.Client, m, changed *record.Memory) error {
		return cl.Call(a.Ctx, "memory.retract", protocol.ByID{ID: m.ID, IfVersion: &m.Version}, changed)
	})
}
