package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	entitytext "github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type searchMemories struct {
	Query        []string `arg:"" help:"A question, or words of what is looked for."`
	Only         []string `enum:"memories,messages" placeholder:"KIND" help:"Only memories, or only messages of conversations: ${enum}."`
	Conversation string   `placeholder:"ID" help:"Only messages of this conversation, and memories that stem from it."`
	For          string   `placeholder:"ID" help:"The conversation that asks: what is shown is kept for it, for ctxd memory outcome."`
	Tier         []string `enum:"${memoryTiers}" placeholder:"TIER" help:"Only memories of this tier: ${enum}. May be repeated."`
	Status       []string `enum:"${memoryStatuses}" placeholder:"STATUS" help:"Only memories of this status: ${enum}. May be repeated. Default: active and contested."`
	Tag          []string `placeholder:"TAG" sep:"none" help:"Only memories with this tag or area of life, or one below it. Of several, all."`
	Context      []string `placeholder:"CONTEXT" sep:"none" help:"Only memories in this context. Of several, any."`
	Entity       []string `placeholder:"ENTITY" sep:"none" help:"Only memories about this entity. Of several, any."`
	After        string   `placeholder:"DATE" help:"Only memories written down on this date or later: ${memoryDates}."`
	Before       string   `placeholder:"DATE" help:"Only memories written down before this date."`
	AsOf         string   `placeholder:"DATE" help:"What held on this date, superseded memories included."`
	Validity     string   `enum:"current,any" default:"current" placeholder:"WHICH" help:"current, what holds now or on the days that the question is about; any, also what holds no more or not yet. Default: current."`

	Sort    *string         `enum:"relevance,recency,score" placeholder:"BY" help:"What comes first: relevance, the best; recency, the newest of the good ones; score, the one with the highest score. Default: relevance."`
	Limit   term.CountFlag  `short:"n" from:"1" to:"50" default:"5" placeholder:"N" help:"Maximum number of memories, 1 to 50. Default: 5."`
	Stage   map[string]bool `placeholder:"STAGE=true" help:"Switch a stage of the ranking on or off; --explain lists them. May be repeated."`
	Explain bool            `help:"Show how the question was read, what each memory was ranked by, and what each stage did."`

	connect.Audience
}

func (searchMemories) Help() string {
	return "Finds the memories, and messages of conversations, that answer a question, by their words and by what they mean, the best first, " +
		"each with a score from 0 to 1. Of two memories that say different things of the same, the newer comes first. " +
		"It also says how sure it is that they answer the question: high, medium or low, and why."
}

func (searchMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory search 'When do I work out?'", "the five best"},
		{"ctxd memory search gate code --explain", "and what they were ranked by"},
		{"ctxd memory search 'Where do I live?' --as-of 2024-05-01", "what held then"},
		{"ctxd memory search coffee --json | jq -r '.hits[].text'", "for scripts"},
	}
}

// params returns what the flags ask for.
func (c *searchMemories) params(a *MemoryOptions, cl *client.Client) (p protocol.MemorySearch, err error) {
	p = protocol.MemorySearch{
		Query: strings.Join(c.Query, " "), Kinds: c.Only, InConversation: c.Conversation, ConversationID: c.For, Tiers: c.Tier, Status: c.Status, Limit: int(c.Limit), Validity: c.Validity, Stages: c.Stage, Explain: c.Explain,
	}
	for _, tag := range c.Tag {
		p.Tags = append(p.Tags, strings.TrimPrefix(tag, "#"))
	}
	if c.Sort != nil {
		p.Sort = *c.Sort
	}
	for _, date := range []struct {
		flag, given string
		at          **time.Time
	}{{"after", c.After, &p.After}, {"before", c.Before, &p.Before}, {"as-of", c.AsOf, &p.AsOf}} {
		*date.at, err = moment(date.flag, date.given)
		if err != nil {
			return p, err
		}
	}
	p.Contexts, err = contextIDs(a, cl, c.Context)
	if err != nil {
		return p, err
	}
	p.EntityIDs, err = entityIDs(a, cl, c.Entity)
	return p, err
}

func (c *searchMemories) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		p, err := c.params(a, cl)
		if err != nil {
			return err
		}
		var res protocol.MemoryFound
		err = cl.Call(a.Ctx, "memory.search", p, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		DrawMemoryHits(a.Out, "", &res)
		return nil
	})
}

// DrawMemoryHits shows what a search found, and how sure it is. Every line begins with indent.
func DrawMemoryHits(s *term.Screen, indent string, res *protocol.MemoryFound) {
	number := make(map[string]string)
	for i := range res.Hits {
		number[res.Hits[i].ID] = res.Hits[i].Ref
	}
	for i := range res.Hits {
		drawHit(s, indent, &res.Hits[i], number)
	}
	if len(res.Hits) == 0 {
		s.Say(term.Styled(term.Faint, indent+term.Clean(res.Reason)))
	} else {
		inspect.DrawConfidence(s, indent, res.Confidence, res.Reason)
	}
	if res.Degraded != nil {
		s.Say(term.Styled(term.Warn, indent+"! "+res.Degraded.Why))
	}
	if res.Stages != nil {
		drawReading(s, &res.Understood)
		drawStages(s, res.Stages)
	}
}

func drawHit(s *term.Screen, indent string, h *protocol.MemoryHit, number map[string]string) {
	name, text := h.Ref, h.Text
	if h.Kind == "messages" {
		name, text = h.Role+", "+entitytext.Day(h.CreatedAt), short(h.Text)
	}
	line := term.Line{
		term.Styled(term.Faint, indent+fmt.Sprintf("%.2f  ", h.Score)), term.Styled(term.Accent, name+"  "), term.Text(term.Clean(text)),
	}
	if h.Kind == "messages" {
		line = append(line, term.Styled(term.Faint, fmt.Sprintf("  %s, message %d", h.ConversationID, h.Index)))
	}
	if h.Status != "" && h.Status != "active" {
		line = append(line, term.Styled(term.Warn, "  "+h.Status))
	}
	if h.Holds != "" {
		line = append(line, term.Styled(term.Warn, "  "+h.Holds))
	}
	if h.OlderThan != "" {
		newer := number[h.OlderThan]
		if newer == "" {
			newer = "another one"
		}
		line = append(line, term.Styled(term.Warn, "  older than "+newer))
	}
	s.Say(line...)
	if len(h.Signals) == 0 {
		return
	}
	parts := []string{fmt.Sprintf("relevance %.2f", h.Signals["relevance"])}
	for _, name := range slices.Sorted(maps.Keys(h.Signals)) {
		if name != "relevance" {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, h.Signals[name]))
		}
	}
	s.Say(term.Styled(term.Faint, indent+"      "+entitytext.Day(h.CreatedAt)+"  "+h.Tier+"  "+strings.Join(parts, ", ")))
}

// short is the beginning of a message, in one line.
func short(text string) string {
	const most = 160 // characters
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most]) + "…"
}

func drawReading(s *term.Screen, u *protocol.MemoryUnderstood) {
	s.Say()
	s.Say(term.Styled(term.Strong, "Question"))
	row := func(name string, words []string) {
		if len(words) > 0 {
			s.Say(term.Styled(term.Faint, fmt.Sprintf("  %-9s", name)), term.Text(term.Clean(strings.Join(words, ", "))))
		}
	}
	row("words", u.Words)
	row("unknown", u.Unknown)
	row("ignored", u.Ignored)
	row("entities", u.EntityIDs)
	switch {
	case u.From != nil && u.To != nil:
		row("days", []string{u.From.Format(time.DateOnly) + " to " + u.To.AddDate(0, 0, -1).Format(time.DateOnly)})
	case u.From != nil:
		row("days", []string{"since " + u.From.Format(time.DateOnly)})
	case u.To != nil:
		row("days", []string{"until " + u.To.AddDate(0, 0, -1).Format(time.DateOnly)})
	}
	row("order", []string{u.Sort})
}

func drawStages(s *term.Screen, stages []protocol.MemoryStage) {
	s.Say()
	s.Say(term.Styled(term.Strong, "Stages"))
	for _, st := range stages {
		did := fmt.Sprintf("changed %d", st.Changed)
		switch {
		case !st.On:
			did = "off"
		case st.Skipped != "":
			did = "skipped: " + st.Skipped
		}
		s.Say(term.Styled(term.Faint, fmt.Sprintf("  %-9s", st.Stage)), term.Text(" "+term.Clean(did)))
	}
}
