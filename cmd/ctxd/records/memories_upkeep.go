package records

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type upkeepOfFacts struct {
	DryRun bool     `help:"Show what would be done, and change nothing."`
	Steps  []string `placeholder:"STEP" enum:"extraction,evidence,decay,contradictions,merging,model" help:"Do some steps only: ${enum}. May be repeated, or separated by commas."`
	Undo   string   `placeholder:"RUN" help:"Take the last run back, by its id."`
}

func (upkeepOfFacts) Help() string {
	return "Facts are the memories of the tiers memoryBank and patterns. Each message and memory that says what a fact says makes it surer, what nobody repeats fades, " +
		"a newer fact supersedes an older one when it says that something changed, what contradicts is contested, and what says the same becomes one. " +
		"The daemon does it by itself once a day, when nobody calls. A run can be undone until the next one."
}

func (upkeepOfFacts) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory upkeep --dry-run", "what is due"},
		{"ctxd memory upkeep --steps contradictions,merging", "some steps only"},
		{"ctxd memory upkeep --undo 0f0c4c0e-6d4f-4a55-9a53-5b6a0c7b9d11", "take the last run back"},
	}
}

func (c *upkeepOfFacts) Run(a *MemoryOptions) error {
	if c.Undo != "" && (c.DryRun || len(c.Steps) > 0) {
		return term.Misuse("--undo stands alone", "ctxd memory upkeep --undo "+term.ShellQuoted(c.Undo))
	}
	return a.With(func(cl *client.Client) error {
		var res record.Upkept
		p := protocol.MemoryUpkeep{DryRun: c.DryRun, Steps: c.Steps, Undo: c.Undo}
		if err := cl.Call(a.Ctx, "memory.upkeep", p, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		return c.draw(a, cl, &res)
	})
}

// drawn is what a run did to some memories, in the order in which it is shown.
var drawn = []struct{ kind, done string }{
	{record.LearnedAdded, "written down"},
	{record.LearnedSuperseded, "superseded"},
	{record.LearnedContested, "contested"},
	{record.LearnedMerged, "merged"},
	{record.LearnedSettled, "settled"},
	{record.LearnedDecayed, "relied on or not"},
	{record.LearnedEvidence, "surer"},
	{record.LearnedUndone, "as before"},
}

func (c *upkeepOfFacts) draw(a *MemoryOptions, cl *client.Client, res *record.Upkept) error {
	s := a.Out
	for _, of := range drawn {
		t := &term.Table{}
		n := 0
		shown := make(map[[2]string]bool) // pairs
		for i := range res.Changes {
			ch := &res.Changes[i]
			if ch.Kind != of.kind || ch.Kind == record.LearnedMerged && ch.After.MergedInto == nil ||
				ch.Kind == record.LearnedSuperseded && ch.After.SupersededBy == nil {
				continue // the other of a pair, which is named beside the first
			}
			if shown[[2]string{ch.With, ch.ID}] {
				continue
			}
			shown[[2]string{ch.ID, ch.With}] = true
			name, said, err := nameMemory(a, cl, ch.ID)
			if err != nil {
				return err
			}
			line := term.Line{term.Text(said)}
			if ch.With != "" {
				with, also, err := nameMemory(a, cl, ch.With)
				if err != nil {
					return err
				}
				line = append(line, term.Styled(term.Faint, "  "+wordOf(ch.Kind)+" "), term.Styled(term.Strong, with), term.Text(" "+also))
			}
			n++
			t.Row(term.Line{term.Styled(term.Strong, name)}, line, term.Line{term.Styled(term.Faint, ch.Why+changed(ch))})
		}
		if n > 0 {
			s.Say(term.Styled(term.Accent, of.done), term.Styled(term.Faint, fmt.Sprintf("  %s", term.Number(n))))
			t.Draw(s)
			s.Say()
		}
	}
	c.sum(s, res)
	return nil
}

// wordOf stands between the two memories of a pair.
func wordOf(kind string) string {
	switch kind {
	case record.LearnedSuperseded:
		return "by"
	case record.LearnedMerged:
		return "into"
	}
	return "with"
}

// changed says how sure a memory was and is.
func changed(c *record.UpkeepChange) string {
	if c.Before.Confidence == nil || c.After.Confidence == nil {
		return ""
	}
	return fmt.Sprintf(", confidence %.2f → %.2f", *c.Before.Confidence, *c.After.Confidence)
}

func (c *upkeepOfFacts) sum(s *term.Screen, res *record.Upkept) {
	if c.Undo != "" {
		s.Say(term.Text(fmt.Sprintf("%s changes were taken back", term.Number(res.Total))))
		return
	}
	if res.Total == 0 {
		s.Say(term.Styled(term.Faint, "nothing is due"))
	}
	if more := res.Total - len(res.Changes); more > 0 {
		s.Say(term.Styled(term.Faint, term.Number(more)+" changes more"))
	}
	line := fmt.Sprintf("%s facts, %s pairs compared", term.Number(res.Facts), term.Number(res.Pairs))
	if res.Pairs > 0 {
		line += fmt.Sprintf(", %.0f %% decided by rules", 100*float64(res.Decided)/float64(res.Pairs))
	}
	if res.Tokens > 0 {
		line += fmt.Sprintf(", %s tokens", term.Number(int(res.Tokens)))
	}
	s.Say(term.Text(line))
	if res.Queued > 0 {
		s.Say(term.Text(term.Number(res.Queued)+" pairs wait: "), term.Styled(term.Accent, "ctxd memory conflicts"))
	}
	for _, why := range res.Skipped {
		s.Say(term.Styled(term.Warn, "! "+why))
	}
	if res.RunID != "" && res.Total > 0 {
		s.Say(term.Styled(term.Faint, "to take it back: ctxd memory upkeep --undo "+res.RunID))
	}
}

type conflicts struct {
	Memory string         `arg:"" optional:"" help:"Id, handle or number of a memory that is to be settled."`
	With   string         `arg:"" optional:"" help:"The other memory of the pair."`
	Settle string         `placeholder:"HOW" help:"How: keep (the first holds, the other was wrong), supersede (the first holds now, the other held before), retract (the first was wrong), both (both hold)."`
	Limit  term.CountFlag `short:"n" from:"1" to:"1000" default:"50" placeholder:"N" help:"Maximum number of pairs, 1 to 1000. Default: 50."`

	connect.Audience
}

func (conflicts) Help() string {
	return "On a terminal each pair is shown, and can be settled at once. Otherwise they are listed."
}

func (conflicts) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory conflicts", "settle them, one by one"},
		{"ctxd memory conflicts 42 41 --settle supersede", "42 holds now, 41 held before"},
		{"ctxd memory conflicts --json", "for scripts"},
	}
}

func (c *conflicts) Run(a *MemoryOptions) error {
	if (c.Settle == "") != (c.Memory == "") || (c.Memory == "") != (c.With == "") {
		return term.Misuse("a pair is settled by two memories and --settle", "ctxd memory conflicts 42 41 --settle keep")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		if c.Settle != "" {
			ids, err := memoryIDs(a, cl, []string{c.Memory, c.With})
			if err != nil {
				return err
			}
			return settle(a, cl, ids[0], ids[1], c.Settle)
		}
		var res protocol.MemoryConflicting
		p := protocol.MemoryConflicts{Page: protocol.Page{Limit: int(c.Limit)}}
		if err := cl.Call(a.Ctx, "memory.conflicts", p, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Conflicts) == 0 {
			a.Out.Say(term.Styled(term.Faint, "nothing is in conflict"))
			return nil
		}
		if by, ok := a.Choices(); ok && a.Out.Terminal {
			return each(a, cl, by, res.Conflicts)
		}
		for i := range res.Conflicts {
			if err := drawPair(a, cl, &res.Conflicts[i]); err != nil {
				return err
			}
		}
		a.Out.Say(term.Styled(term.Faint, "settle one: ctxd memory conflicts A B --settle keep|supersede|retract|both"))
		return nil
	})
}

// drawPair shows a pair, the newer memory first.
func drawPair(a *MemoryOptions, cl *client.Client, p *record.Contradiction) error {
	for _, id := range []string{p.ID, p.With} {
		m, err := connect.FindMemory(a.Ctx, cl, id)
		if err != nil {
			return err
		}
		a.Out.Say(term.Styled(term.Strong, inspect.MemoryNumber(m.Number)), term.Styled(term.Faint, "  "+term.Day(m.CreatedAt)+"  "), term.Text(term.Clean(m.Statement)))
	}
	a.Out.Say(term.Styled(term.Faint, "    "+p.State+": "+p.Why))
	return nil
}

// answers are those to each pair.
var answers = map[string]string{
	"k": "keep", "keep": "keep", "s": "supersede", "supersede": "supersede", "r": "retract", "retract": "retract",
	"b": "both", "both": "both", "": "later", "l": "later", "later": "later", "q": "quit", "quit": "quit",
}

// each asks for each pair what is to be done.
func each(a *MemoryOptions, cl *client.Client, by *term.Choices, list []record.Contradiction) error {
	a.Out.Say(term.Styled(term.Faint, "keep: the first holds, the other was wrong · supersede: the first holds now · retract: the first was wrong · both hold"))
	for i := range list {
		a.Out.Say()
		if err := drawPair(a, cl, &list[i]); err != nil {
			return err
		}
		answer, err := by.Ask(a.Ctx, "[k]eep [s]upersede [r]etract [b]oth [l]ater [q]uit:", answers)
		switch {
		case err != nil:
			return err
		case answer == "" || answer == "quit":
			return nil
		case answer == "later":
			continue
		}
		if err := settle(a, cl, list[i].ID, list[i].With, answer); err != nil {
			return err
		}
	}
	return nil
}

// settle settles a pair, and says how the memories stand then.
func settle(a *MemoryOptions, cl *client.Client, id, with, resolution string) error {
	var res protocol.MemoryList
	p := protocol.MemorySettle{ID: id, With: with, Resolution: resolution}
	if err := cl.Call(a.Ctx, "memory.settle", p, &res); err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(res)
	}
	var list []string
	for _, m := range res.Memories {
		if m != nil {
			list = append(list, inspect.MemoryNumber(m.Number)+" is "+m.Status)
		}
	}
	a.Out.Say(term.Text(strings.Join(list, ", ")))
	return nil
}
