package mcp

import (
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// profileInput are the arguments of memory_profile.
type profileInput struct {
	Limit int `json:"limit,omitempty" jsonschema:"memories at most"`
	paging
}

func profileSchema() *jsonschema.Schema {
	return pagesOf[profileInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 50, 12) })
}

func (c *call) memoryProfile(in profileInput) (string, error) {
	var known protocol.MemoryList
	if err := c.ask("memory.profile", protocol.MemoryProfile{Limit: in.Limit}, &known); err != nil {
		return "", err
	}
	l := &render.Page{
		Head: "What is known about the user:\n\n", Noun: "memory", Total: len(known.Memories),
		None: "Nothing yet.",
	}
	for _, m := range known.Memories {
		l.Items = append(l.Items, "- "+memoryLine(m)+"\n")
	}
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// memoryLine shows a memory in one line, as prompts do.
func memoryLine(m *record.Memory) string {
	of := render.Inline(m.Kind) + ", " + text.Day(m.CreatedAt)
	if m.Status != record.MemoryActive {
		of += ", " + render.Inline(m.Status)
	}
	if holds := m.Validity(time.Now()); holds != "" {
		of += ", " + holds
	}
	return "[" + of + "] " + render.Inline(m.Statement) + render.ID(m.ID)
}

// findMemory returns the memory that an argument names: by its id, its handle or its number.
func (c *call) findMemory(field, s string) (*record.Memory, error) {
	r := record.ParseNamed(s)
	if r.Text == "" {
		return nil, fault.Field(field, "%s is needed: an id, a handle or a number", field)
	}
	m := new(record.Memory)
	err := c.ask("memory.get", protocol.MemoryRef{Ref: r.Text}, m)
	if fault.IsMissing(err) {
		missing := fault.New(fault.NotFound, "no memory has the id, handle or number in %q", field).
			WithHint("recall finds memories, with their ids")
		missing.Field = field
		return nil, missing
	}
	return m, err
}

// rememberInput are the arguments of remember.
type rememberInput struct {
	Statement  string   `json:"statement" jsonschema:"one statement about the user or their world in one sentence, such as: Anna prefers morning workouts"`
	Kind       string   `json:"kind,omitempty" jsonschema:"what sort of statement it is"`
	Tier       string   `json:"tier,omitempty" jsonschema:"how long it is kept: working a day, history a month, patterns and memoryBank until somebody says otherwise"`
	Summary    string   `json:"summary,omitempty" jsonschema:"the statement in short, at most 200 characters; needed for one of more than 2,000"`
	Questions  []string `json:"questions,omitempty" jsonschema:"questions that it answers, at most 8; it is found by them too"`
	Tags       []string `json:"tags,omitempty" jsonschema:"tags; a/b is a tag below a"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure it is, 0 to 1; 0.7 when absent"`
	Supersedes []string `json:"supersedes,omitempty" jsonschema:"memories that hold no more because of it, each by its id, handle or number"`
}

func rememberSchema() *jsonschema.Schema {
	return inputOf[rememberInput](func(p map[string]*jsonschema.Schema) {
		oneOf(p["kind"], record.MemoryKinds, record.MemoryFact)
		oneOf(p["tier"], record.Tiers, record.TierBank)
		share(p["confidence"])
	})
}

func (c *call) remember(in rememberInput) (string, error) {
	draft := protocol.MemoryDraft{
		Statement: in.Statement, Kind: in.Kind, Tier: in.Tier, Summary: in.Summary, Questions: in.Questions,
		Tags: bareTags(in.Tags), Confidence: in.Confidence,
		Source: &protocol.MemorySourceDraft{Kind: "assistant", Client: ClientName},
	}
	for _, s := range in.Supersedes {
		old, err := c.findMemory("supersedes", s)
		if err != nil {
			return "", err
		}
		draft.Supersedes = append(draft.Supersedes, old.ID)
	}
	var added protocol.MemoryAdded
	if err := c.write("memory.add", protocol.MemoryAdd{MemoryDraft: draft, Similar: true, Returns: protocol.Returns{Return: protocol.ReturnFull}}, &added); err != nil {
		return "", err
	}
	if added.Duplicate {
		return "That is known already: " + memoryLine(added.Memory.Record()) + "\n", nil
	}
	text := "Remembered" + render.ID(added.Memory.ID)
	for _, id := range draft.Supersedes {
		text += ";" + render.ID(id) + " holds no more"
	}
	text += ".\n"
	for _, hit := range added.Similar {
		text += "Nearly the same: " + memoryLine(hit.Memory)
		if len(hit.Differs) > 0 {
			text += " (another " + strings.Join(hit.Differs, ", ") + ")"
		}
		text += "\n"
	}
	return text, nil
}

// updateInput are the arguments of update_memory.
type updateInput struct {
	Memory     string   `json:"memory" jsonschema:"the memory: its id, handle or number, such as #42"`
	Statement  string   `json:"statement,omitempty" jsonschema:"what it says now, in one sentence; what it said before is kept"`
	Kind       string   `json:"kind,omitempty" jsonschema:"another kind"`
	Summary    string   `json:"summary,omitempty" jsonschema:"the statement in short, at most 200 characters"`
	Questions  []string `json:"questions,omitempty" jsonschema:"questions that it answers, in the place of those it has"`
	Tags       []string `json:"tags,omitempty" jsonschema:"tags, in the place of those it has"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure it is, 0 to 1; under 0.3 it is found no more"`
	Contested  bool     `json:"contested,omitempty" jsonschema:"true when something contradicts it, and it is not known which holds"`
}

func updateSchema() *jsonschema.Schema {
	return inputOf[updateInput](func(p map[string]*jsonschema.Schema) {
		oneOf(p["kind"], record.MemoryKinds, "")
		share(p["confidence"])
	})
}

func (c *call) updateMemory(in updateInput) (string, error) {
	old, err := c.findMemory("memory", in.Memory)
	if err != nil {
		return "", err
	}
	patch := protocol.MemoryPatch{ID: old.ID, Confidence: in.Confidence, IfVersion: &old.Version}
	if in.Statement != "" {
		if err := c.memoryWholly(old); err != nil {
			return "", err
		}
		patch.Statement = &in.Statement
	}
	if in.Kind != "" {
		patch.Kind = &in.Kind
	}
	if in.Summary != "" {
		patch.Summary = protocol.Some(in.Summary)
	}
	if in.Questions != nil {
		patch.Questions = protocol.Some(in.Questions)
	}
	if in.Tags != nil {
		patch.Tags = protocol.Some(bareTags(in.Tags))
	}
	if in.Contested {
		contested := record.MemoryContested
		patch.Status = &contested
	}
	var m record.Memory
	err = c.write("memory.patch", patch, &m)
	return writtenText("Changed the memory", m.ID, m.Version), err
}

// memoryWholly returns an error for a memory of which parts are not shown: another
// statement would lose them.
func (c *call) memoryWholly(m *record.Memory) error {
	if c.opts.IncludePrivate || !strings.Contains(m.Statement, record.Withheld) {
		return nil
	}
	return fault.New(fault.Unavailable, "parts of the memory are private and not shown, so they would be lost").
		WithHint("ask the user to make the change")
}

// forgetInput are the arguments of forget_memory.
type forgetInput struct {
	Memory string `json:"memory" jsonschema:"the memory: its id, handle or number, such as #42"`
	Wrong  bool   `json:"wrong,omitempty" jsonschema:"true when it was never so; absent when it is only not needed any more"`
}

func (c *call) forgetMemory(in forgetInput) (string, error) {
	old, err := c.findMemory("memory", in.Memory)
	if err != nil {
		return "", err
	}
	change := protocol.ByID{ID: old.ID, IfVersion: &old.Version}
	var m record.Memory
	if in.Wrong {
		err = c.write("memory.retract", change, &m)
		return "Retracted the memory" + render.ID(m.ID) + ": it was wrong, and is found by its id alone. Nothing was deleted.\n", err
	}
	err = c.write("memory.archive", change, &m)
	return "Archived the memory" + render.ID(m.ID) + ": no search finds it. Nothing was deleted, and the user can restore it.\n", err
}

// bareTags are tags without their #.
func bareTags(tags []string) []string {
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = strings.TrimPrefix(t, "#")
	}
	return out
}
