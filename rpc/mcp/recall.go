package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// recallInput are the arguments of recall.
type recallInput struct {
	Query  string   `json:"query,omitempty" jsonschema:"a question, or words of what is looked for"`
	Memory string   `json:"memory,omitempty" jsonschema:"in the place of query: one memory to read whole, by its id, handle or number, such as #42"`
	Tags   []string `json:"tags,omitempty" jsonschema:"only memories with each of these tags, or one below it"`
	Tiers  []string `json:"tiers,omitempty" jsonschema:"only memories of these tiers"`
	After  string   `json:"after,omitempty" jsonschema:"only what was written down on or after this date, such as 2026-01-31, or this time (RFC 3339)"`
	Before string   `json:"before,omitempty" jsonschema:"only what was written down before this date"`
	Limit  int      `json:"limit,omitempty" jsonschema:"memories at most"`
	paging
}

func recallSchema() *jsonschema.Schema {
	return pagesOf[recallInput](func(p map[string]*jsonschema.Schema) {
		between(p["limit"], 1, maxHits, 5)
		oneOf(p["tiers"].Items, record.Tiers, "")
	})
}

func (c *call) recall(in recallInput) (string, error) {
	switch {
	case (in.Query == "") == (in.Memory == ""):
		return "", fault.Field("query", "either query is needed, or memory")
	case in.Memory != "":
		return c.readMemory(in)
	case len(in.Query) > maxQuery:
		return "", fault.TooLarge("query", len(in.Query), maxQuery, "bytes")
	}
	asked := protocol.MemorySearch{Query: in.Query, Tags: bareTags(in.Tags), Tiers: in.Tiers, Limit: in.Limit, ConversationID: c.conversation()}
	var err error
	if asked.After, err = day("after", in.After); err != nil {
		return "", err
	}
	if asked.Before, err = day("before", in.Before); err != nil {
		return "", err
	}
	var found protocol.MemoryFound
	if err := c.ask("memory.search", asked, &found); err != nil {
		return "", err
	}
	l := &render.Page{Noun: "memory", Total: len(found.Hits), None: "Nothing is remembered of that."}
	degraded := ""
	if found.Degraded != nil {
		degraded = found.Degraded.Why
	}
	l.Head = c.shown(len(found.Hits)) + render.Confidence(found.Confidence, found.Reason, degraded)
	for i := range found.Hits {
		l.Items = append(l.Items, hitLine(&found.Hits[i]))
	}
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// hitLine shows a memory that was found in one line.
func hitLine(h *protocol.MemoryHit) string {
	line := render.Remembered{
		Position: h.Position, ID: h.ID, Text: h.Text, CreatedAt: h.CreatedAt, Tier: h.Tier, Status: h.Status, Role: h.Role,
		Conversation: h.ConversationID, Holds: h.Holds, OlderThan: h.OlderThan, Rest: "recall with memory",
	}
	return line.Line()
}

// day is the time of a date, nil for none.
func day(field, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no date, and nothing wrong with that
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return &at, nil
		}
	}
	return nil, fault.Field(field, "%s is no date", field).WithHint("give a date such as 2026-01-31, or a time (RFC 3339)")
}

// readMemory shows one memory whole.
func (c *call) readMemory(in recallInput) (string, error) {
	m, err := c.findMemory("memory", in.Memory)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nnumber: #%d, version %d, of the tier %s\n", memoryLine(m), m.Number, m.Version, render.Inline(m.Tier))
	for _, part := range []struct {
		name   string
		values []string
	}{
		{"in short", nonEmpty(m.Summary)}, {"answers", m.Questions}, {"tags", m.Tags}, {"domains", m.Domains},
	} {
		if len(part.values) > 0 {
			b.WriteString(part.name + ": " + render.List(part.values) + "\n")
		}
	}
	for _, part := range []struct {
		name string
		ids  []string
	}{
		{"supersedes", m.Supersedes}, {"contradicts", m.Contradicts}, {"superseded by", nonEmpty(m.SupersededBy)},
	} {
		for _, id := range part.ids {
			b.WriteString(part.name + render.ID(id) + "\n")
		}
	}
	l := render.Lines(b.String())
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
