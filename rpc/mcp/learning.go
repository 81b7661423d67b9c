package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// askOutcome is what an answer with memories begins with while nobody has told how it went with those before.
const askOutcome = "Say with record_response how it went with the memories that were shown before: worked, failed, partial or unknown.\n\n"

// conversation is what the daemon keeps what was shown under; empty for a host that cannot say how it went.
func (s *server) conversation() string {
	if !s.opts.AllowWrite {
		return ""
	}
	return s.session
}

// shown notes that memories were shown, and returns what an answer is to begin with.
func (s *server) shown(memories int) (ask string) {
	if s.conversation() == "" || memories == 0 {
		return ""
	}
	if s.unscored.Swap(true) && !s.opts.NoAsking {
		return askOutcome
	}
	return ""
}

// responseInput are the arguments of record_response.
type responseInput struct {
	Outcome  string   `json:"outcome" jsonschema:"how the answer went for the user"`
	Takeaway string   `json:"takeaway,omitempty" jsonschema:"what was learned, in one or two sentences; it is remembered"`
	Related  []string `json:"related,omitempty" jsonschema:"which of the memories of the last recall: positions from 1, or ids; all when absent"`
}

func responseSchema() *jsonschema.Schema {
	return inputOf[responseInput](func(p map[string]*jsonschema.Schema) { oneOf(p["outcome"], record.Outcomes, "") })
}

func (c *call) recordResponse(in responseInput) (string, error) {
	asked := protocol.MemoryOutcome{Outcome: in.Outcome, Takeaway: in.Takeaway, ConversationID: c.conversation()}
	for i, s := range in.Related {
		r := record.ParseNamed(s)
		if r.Text == "" {
			return "", fault.Field(fmt.Sprintf("related[%d]", i), "related[%d] is empty", i)
		}
		asked.Related = append(asked.Related, r.Text)
	}
	var res protocol.MemoryScored
	if err := c.write("memory.outcome", asked, &res); err != nil {
		return "", err
	}
	c.unscored.Store(false)
	return scoredText(&res), nil
}

// outcomeInput are the arguments of record_outcome.
type outcomeInput struct {
	Memories []string `json:"memories" jsonschema:"the memories, each by its id, handle or number, such as #42"`
	Outcome  string   `json:"outcome" jsonschema:"how it went with them"`
}

func outcomeSchema() *jsonschema.Schema {
	return inputOf[outcomeInput](func(p map[string]*jsonschema.Schema) {
		oneOf(p["outcome"], record.Outcomes, "")
		most := maxMentioned
		p["memories"].MaxItems = &most
	})
}

func (c *call) recordOutcome(in outcomeInput) (string, error) {
	asked := protocol.MemoryOutcome{Outcome: in.Outcome}
	for _, s := range in.Memories {
		m, err := c.findMemory("memories", s)
		if err != nil {
			return "", err
		}
		asked.IDs = append(asked.IDs, m.ID)
	}
	var res protocol.MemoryScored
	if err := c.write("memory.outcome", asked, &res); err != nil {
		return "", err
	}
	text := ""
	if len(res.Scored) > 0 {
		text = scoredText(&res)
	}
	for _, id := range asked.IDs {
		if !slices.ContainsFunc(res.Scored, func(m record.ScoredMemory) bool { return m.ID == id }) {
			text += "Noted" + render.ID(id) + ": facts about the user are not scored.\n"
		}
	}
	return text, nil
}

func scoredText(res *protocol.MemoryScored) string {
	var b strings.Builder
	for _, m := range res.Scored {
		fmt.Fprintf(&b, "Scored%s: %.2f now.\n", render.ID(m.ID), m.Score)
	}
	if len(res.Scored) == 0 {
		b.WriteString("No memory has another score: nothing was shown since the last outcome, or what was shown is a fact about the user.\n")
	}
	if res.Takeaway != nil {
		b.WriteString("Remembered" + render.ID(res.Takeaway.ID) + ".\n")
	}
	return b.String()
}
