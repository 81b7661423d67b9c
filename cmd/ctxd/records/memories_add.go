package records

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type addMemory struct {
	Statement string `arg:"" help:"The statement; - reads it from standard input."`

	Kind     *string  `enum:"${memoryKinds}" placeholder:"KIND" help:"What sort of statement it is: ${enum}. Default: fact."`
	Tier     *string  `enum:"${memoryTiers}" placeholder:"TIER" help:"How long it is kept: working, a day; history, 30 days; patterns and memoryBank, until you say otherwise. Default: memoryBank."`
	Summary  string   `placeholder:"TEXT" help:"The statement in short; needed for one of more than 2,000 characters."`
	Question []string `placeholder:"TEXT" sep:"none" help:"A question that it answers. May be repeated."`
	Tag      []string `placeholder:"TAG" sep:"none" help:"A tag. May be repeated."`
	Domain   []string `placeholder:"AREA" sep:"none" help:"An area of life, such as health. May be repeated."`
	Context  []string `placeholder:"CONTEXT" sep:"none" help:"Id, handle or name of a context that it belongs to. May be repeated."`
	Entity   []string `placeholder:"ENTITY" sep:"none" help:"An entity that it is about. May be repeated. Default: those that the statement names."`
	Note     []string `placeholder:"NOTE" sep:"none" help:"A note that it is about. May be repeated."`

	Importance *float64 `placeholder:"0–1" help:"How much it matters. Default: 0.7."`
	Confidence *float64 `placeholder:"0–1" help:"How sure it is; under 0.3 it is not listed. Default: 0.7."`
	Pin        bool     `help:"Have it in every prompt that shows memories."`
	Always     bool     `help:"Have it in every profile; only with --kind identity."`
	Private    bool     `help:"Hide it from remote models."`

	ValidFrom  string   `placeholder:"DATE" help:"Since when it holds: ${memoryDates}, or a time."`
	ValidTo    string   `placeholder:"DATE" help:"Until when it held."`
	Supersedes []string `placeholder:"MEMORY" sep:"none" help:"A memory that holds no more because of this one. May be repeated."`
	Handle     string   `placeholder:"HANDLE" help:"What @ names it by. Default: made of the statement."`
}

func (addMemory) Help() string {
	return "The same statement again makes no second memory: the first one is counted once more. " +
		"Case, blanks and the punctuation at the end make no difference. " +
		"Memories that say nearly the same are shown, with what they differ in; they stay as they are."
}

func (addMemory) Examples() []term.Example {
	return []term.Example{
		{`ctxd memory add "I prefer morning workouts" --kind preference --tag sport`, "a preference"},
		{`ctxd memory add "My name is Alex" --kind identity --always`, "what every conversation begins with"},
		{`ctxd memory add "I live in Porto" --supersedes 42 --valid-from 2026-03-01`, "a fact that takes the place of another"},
		{"ctxd memory add - --summary 'How we deploy' < deploy.txt", "a long statement from a file"},
	}
}

func (c *addMemory) Run(a *MemoryOptions) error {
	draft := protocol.MemoryDraft{
		Handle: c.Handle, Summary: c.Summary, Questions: c.Question, Domains: c.Domain, Tags: c.Tag,
		Importance: c.Importance, Confidence: c.Confidence, Pinned: c.Pin, AlwaysInject: c.Always, Private: c.Private,
		Source: &protocol.MemorySourceDraft{Kind: "user", Client: "ctxd-cli"},
	}
	if c.Kind != nil {
		draft.Kind = *c.Kind
	}
	if c.Tier != nil {
		draft.Tier = *c.Tier
	}
	var err error
	if draft.ValidFrom, err = moment("valid-from", c.ValidFrom); err != nil {
		return err
	}
	if draft.ValidTo, err = moment("valid-to", c.ValidTo); err != nil {
		return err
	}
	if draft.Statement, err = a.statement(c.Statement); err != nil {
		return err
	}
	return a.With(func(cl *client.Client) error {
		if err := c.resolve(a, cl, &draft); err != nil {
			return err
		}
		var added protocol.MemoryAdded
		err := cl.Call(a.Ctx, "memory.add", protocol.MemoryAdd{MemoryDraft: draft, Similar: true, Returns: protocol.Returns{Return: protocol.ReturnFull}}, &added)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(added)
		}
		m := added.Memory.Record()
		if added.Duplicate {
			drawMemoryResult(a.Out, "known", m, "the same was there already: counted once more")
			return nil
		}
		drawMemoryResult(a.Out, "added", m, outcome(m))
		drawNear(a.Out, added.Similar)
		return nil
	})
}

// resolve replaces what the flags name by ids.
func (c *addMemory) resolve(a *MemoryOptions, cl *client.Client, draft *protocol.MemoryDraft) (err error) {
	if draft.Contexts, err = contextIDs(a, cl, c.Context); err != nil {
		return err
	}
	if draft.EntityIDs, err = entityIDs(a, cl, c.Entity); err != nil {
		return err
	}
	if draft.NoteIDs, err = noteIDs(a, cl, c.Note); err != nil {
		return err
	}
	draft.Supersedes, err = memoryIDs(a, cl, c.Supersedes)
	return err
}

// statement returns a statement as it is given, or that of standard input for "-".
func (a *MemoryOptions) statement(given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	data, err := a.Input(a.Streams, "-", "the statement")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", term.Misuse("the statement is not valid UTF-8", "convert it first: iconv -f LATIN1 -t UTF-8 FILE")
	}
	return strings.TrimSpace(string(data)), nil
}

// outcome says of a memory what its writer may not expect, "" for nothing.
func outcome(m *record.Memory) string {
	if m.Pending {
		return term.Pending + ", and may get another number then"
	}
	if m.Status == record.MemoryDeprecated {
		return "its confidence is under 0.3, so it is deprecated: lists leave it out"
	}
	return ""
}

// drawMemoryResult says what was done with a memory, and which it is.
func drawMemoryResult(s *term.Screen, did string, m *record.Memory, more string) {
	line := term.Line{term.Styled(term.Good, did), term.Text("  ")}
	line = append(line, inspect.MemoryName(&m.MemoryRecord)...)
	line = append(line, term.Styled(term.Faint, "  version "+term.Number(m.Version)))
	if more != "" {
		line = append(line, term.Styled(term.Faint, "  "+more))
	}
	s.Say(line...)
}
