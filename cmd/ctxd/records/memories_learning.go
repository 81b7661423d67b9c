package records

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type outcomeOf struct {
	Outcome  string   `arg:"" enum:"${memoryOutcomes}" help:"How it went: ${enum}."`
	Memories []string `arg:"" optional:"" help:"Ids, handles or numbers of memories to score. Without them it is about an answer."`

	Takeaway     string   `placeholder:"TEXT" help:"Of an answer: what was learned, in one or two sentences; - reads it from standard input."`
	Conversation string   `placeholder:"ID" help:"The conversation of the answer: what was shown there last is scored."`
	Message      string   `placeholder:"ID" help:"The answer, whose memories are scored."`
	Related      []string `placeholder:"POSITION" sep:"none" help:"Which of what was shown: positions from 1, or ids. May be repeated. Default: what the answer names, or all."`
	Signal       string   `enum:"explicit,detector,heuristic,system" default:"explicit" placeholder:"WHO" help:"Of memories: who tells it: ${enum}. heuristic scores nothing. Default: explicit."`
	Sure         *float64 `placeholder:"0–1" help:"Of memories: how sure it is. Default: 1, and less for the other signals."`
}

func (outcomeOf) Help() string {
	return "worked adds 0.2 to the score of each memory, partial 0.05, failed takes 0.3. What is told of memories of the tier memoryBank is kept, and they are not scored. " +
		"What was shown for an answer is scored once: a second call scores nothing. What was learned becomes a memory of the tier working."
}

func (outcomeOf) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory outcome worked 42", "it helped"},
		{"ctxd memory outcome failed 42 43", "neither of the two did"},
		{`ctxd memory outcome worked --takeaway "Stretching before the run helps."`, "keep what was learned"},
		{"ctxd memory search run --for c1 && ctxd memory outcome worked --conversation c1 --related 1", "score the first hit of a search"},
	}
}

func (c *outcomeOf) Run(a *MemoryOptions) error {
	p := protocol.MemoryOutcome{Outcome: c.Outcome, ConversationID: c.Conversation, Related: c.Related, MessageID: c.Message}
	of := len(c.Memories) > 0
	switch {
	case of && (c.Takeaway != "" || c.Conversation != "" || c.Message != "" || len(c.Related) > 0):
		return term.Misuse("memories stand beside --takeaway, --conversation, --message or --related", "score memories with one command, and an answer with another")
	case of:
		p.Signal, p.Confidence = c.Signal, c.Sure
	case c.Sure != nil || c.Signal != learn.SourceExplicit:
		return term.Misuse("--signal and --sure need memories", "ctxd memory outcome worked 42 --sure 0.5")
	}
	if c.Takeaway != "" {
		said, err := a.statement(c.Takeaway)
		if err != nil {
			return err
		}
		p.Takeaway = said
	}
	return a.With(func(cl *client.Client) (err error) {
		if of {
			if p.IDs, err = memoryIDs(a, cl, c.Memories); err != nil {
				return err
			}
		}
		var res protocol.MemoryScored
		if err := cl.Call(a.Ctx, "memory.outcome", p, &res); err != nil {
			return err
		}
		return drawScored(a, cl, &res)
	})
}

type judge struct {
	Conversation string `arg:"" help:"Id or handle of the conversation."`
}

func (judge) Help() string {
	return "The model that gave the last answer reads the last four turns. Above a confidence of 0.7 the memories that were shown there are scored, as ctxd memory outcome does. " +
		"A model that is not local is asked about nothing private."
}

func (judge) Examples() []term.Example {
	return []term.Example{{"ctxd memory judge @weekend_trip_k3x9", "whether the answers helped"}}
}

func (c *judge) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		var res protocol.MemoryJudged
		if err := cl.Call(a.Ctx, "memory.judge", protocol.MemoryJudge{ConversationID: c.Conversation}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		a.Out.Say(term.Styled(term.Strong, res.Outcome), term.Styled(term.Faint, fmt.Sprintf("  %.2f sure", res.Confidence)), term.Text("  "+term.Clean(res.Reasoning)))
		return drawScored(a, cl, &protocol.MemoryScored{Scored: res.Scored})
	})
}

func drawScored(a *MemoryOptions, cl *client.Client, res *protocol.MemoryScored) error {
	if a.JSON {
		return a.Out.JSON(res)
	}
	if len(res.Scored) == 0 && res.Takeaway == nil {
		a.Out.Say(term.Styled(term.Faint, "no memory has another score"))
		return nil
	}
	t := &term.Table{Right: []int{1}}
	for _, m := range res.Scored {
		name, said, err := nameMemory(a, cl, m.ID)
		if err != nil {
			return err
		}
		t.Row(term.Line{term.Styled(term.Strong, name)}, term.Line{term.Text(fmt.Sprintf("%.2f", m.Score))}, term.Line{term.Text(said)})
	}
	t.Draw(a.Out)
	if m := res.Takeaway; m != nil {
		a.Out.Say(term.Text("learned "), term.Styled(term.Strong, inspect.MemoryNumber(m.Number)), term.Text("  "+m.Statement))
	}
	return nil
}

// nameMemory returns how people are told of a memory: its number and what it says; its id when it is not to be found.
func nameMemory(a *MemoryOptions, cl *client.Client, id string) (name, said string, err error) {
	m, err := connect.FindMemory(a.Ctx, cl, id)
	if fault.KindOf(err) == fault.NotFound {
		return id, "", nil
	}
	if err != nil {
		return "", "", err
	}
	return inspect.MemoryNumber(m.Number), m.Statement, nil
}

type promoteMemories struct {
	DryRun bool `help:"Show what would be done, and change nothing."`
}

func (promoteMemories) Help() string {
	return "The daemon does it by itself, each half hour and sooner where much is said. " +
		"A memory moves from working to history at a score of 0.7 and two uses, from history to patterns at 0.9 and three. Below 0.2 it is archived."
}

func (promoteMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory promote --dry-run", "what is due"},
		{"ctxd memory promote", "do it now"},
	}
}

func (c *promoteMemories) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		var res protocol.MemoryPromoted
		if err := cl.Call(a.Ctx, "memory.promote", protocol.MemoryPromote{DryRun: c.DryRun}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Moved)+len(res.Archived) == 0 {
			a.Out.Say(term.Styled(term.Faint, "nothing is due"))
			return nil
		}
		t := &term.Table{}
		row := func(id, what string) error {
			name, said, err := nameMemory(a, cl, id)
			t.Row(term.Line{term.Styled(term.Strong, name)}, term.Line{term.Styled(term.Accent, what)}, term.Line{term.Text(said)})
			return err
		}
		for _, m := range res.Moved {
			if err := row(m.ID, m.From+" → "+m.To); err != nil {
				return err
			}
		}
		for _, id := range res.Archived {
			if err := row(id, record.MemoryArchived); err != nil {
				return err
			}
		}
		t.Draw(a.Out)
		return nil
	})
}

type eventsOf struct {
	Memory string         `arg:"" optional:"" help:"Id, handle or number of a memory. Default: all."`
	Since  string         `placeholder:"DATE" help:"Only events of this date or later: ${memoryDates}."`
	Limit  term.CountFlag `short:"n" from:"1" to:"1000" default:"50" placeholder:"N" help:"Maximum number of events, 1 to 1000. Default: 50."`

	connect.Audience
}

func (eventsOf) Help() string {
	return "Scores, moves between the tiers, and what upkeep did, the newest first. The last 20,000 are kept, without any text of a memory."
}

func (eventsOf) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory events", "what was done to memories lately"},
		{"ctxd memory events 42 --json", "the life of one memory, for scripts"},
	}
}

func (c *eventsOf) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		p := protocol.MemoryEventFilter{Page: protocol.Page{Limit: int(c.Limit)}}
		var err error
		if p.Since, err = moment("since", c.Since); err != nil {
			return err
		}
		if c.Memory != "" {
			m, err := connect.FindMemory(a.Ctx, cl, c.Memory)
			if err != nil {
				return err
			}
			p.ID = m.ID
		}
		var res protocol.MemoryEvents
		if err := cl.Call(a.Ctx, "memory.events", p, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Events) == 0 {
			a.Out.Say(term.Styled(term.Faint, "nothing was learned yet"))
			return nil
		}
		return drawEvents(a, cl, res.Events)
	})
}

func drawEvents(a *MemoryOptions, cl *client.Client, list []record.LearnedEvent) error {
	names := make(map[string]string)
	t := &term.Table{}
	for i := range list {
		e := &list[i]
		var of []string
		for _, id := range e.IDs {
			if names[id] == "" {
				name, _, err := nameMemory(a, cl, id)
				if err != nil {
					return err
				}
				names[id] = name
			}
			of = append(of, names[id])
		}
		t.Row(term.Line{term.Styled(term.Faint, term.Day(e.At))}, term.Line{term.Styled(term.Accent, e.Kind)},
			term.Line{term.Styled(term.Strong, strings.Join(of, " "))}, term.Line{term.Text(strings.Join(page.EventChanges(e), ", "))})
	}
	t.Draw(a.Out)
	return nil
}
