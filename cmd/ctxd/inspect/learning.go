package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// learningCmd is ctxd inspect learning.
type learningCmd struct {
	connect.Audience
}

func (learningCmd) Help() string {
	return "How many memories there are, how it went with them, which of them and which subjects helped most and least, " +
		"what is in conflict, what waits for a model, and what the last promotion and the last upkeep did. " +
		"A subject counts when at least two outcomes were told of memories about it."
}

func (learningCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect learning", "what was learned, on one screen"},
		{"ctxd inspect learning --json | jq .outcomes", "how it went with memories, for scripts"},
		{"ctxd inspect learning --json | jq -r '.worst[] | [.number, .score] | @tsv'", "the memories that helped least"},
		{"ctxd inspect learning --audience remote", "of what a remote model sees"},
	}
}

// Run runs the command.
func (c *learningCmd) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var v learningView
		if err := v.ask(a, cl); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		v.draw(a.Out, c.Remote())
		return nil
	})
}

// learningView is what was learned, of all memories that the reader sees.
type learningView struct {
	Total     int                    `json:"total"`
	Tiers     map[string]int         `json:"tiers"`
	Status    map[string]int         `json:"status"`
	Outcomes  outcomesTold           `json:"outcomes"`
	Best      []scoredMemory         `json:"best"`  // current memories with an outcome, the highest score first
	Worst     []scoredMemory         `json:"worst"` // those that are not among the best, the lowest score first
	Conflicts openConflicts          `json:"conflicts"`
	Waiting   *record.LearningHealth `json:"waiting,omitempty"` // for a model; absent when nothing does, and for a remote reader
	Promotion *lastPromotion         `json:"promotion,omitempty"`
	Upkeep    *lastUpkeep            `json:"upkeep,omitempty"`
	Helping   []conceptRate          `json:"helping"` // subjects, the highest rate first
	Failing   []conceptRate          `json:"failing"` // those that are not among them, the lowest rate first
}

// outcomesTold are the outcomes of all memories that are still there. One that was told of two memories counts twice.
type outcomesTold struct {
	Worked  int `json:"worked"`
	Failed  int `json:"failed"`
	Partial int `json:"partial"`
	Unknown int `json:"unknown"`
}

// scoredMemory is a memory with how well it did.
type scoredMemory struct {
	Number    int64   `json:"number"`
	ID        string  `json:"id"`
	Tier      string  `json:"tier"`
	Score     float64 `json:"score"`
	Worked    int     `json:"worked"`
	Failed    int     `json:"failed"`
	Statement string  `json:"statement"`
}

// openConflicts counts the pairs that nobody has settled.
type openConflicts struct {
	Contested int `json:"contested"`
	Queued    int `json:"queued"` // rules cannot tell
}

// lastPromotion is the last move to another tier.
type lastPromotion struct {
	At      time.Time `json:"at"`
	ID      string    `json:"id"`
	Memory  string    `json:"memory"` // its number, or its id when it is gone
	Changed []string  `json:"changed"`
}

// lastUpkeep is the last run of upkeep, and how many events of each kind it made.
type lastUpkeep struct {
	RunID   string         `json:"runId"`
	At      time.Time      `json:"at"`
	Changed map[string]int `json:"changed"`
	Undone  bool           `json:"undone"`
}

// conceptRate is how often memories about a subject helped.
type conceptRate struct {
	Label  string  `json:"label"`
	Worked int     `json:"worked"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"` // of worked among both
}

// Bounds of the view.
const (
	extremes        = 3   // memories and subjects at each end
	leastOutcomes   = 2   // of a subject that has a rate
	conceptsRead    = 500 // those that most memories and messages speak of
	recordsOfAPage  = 1000
	mostEventPages  = 20 // 20,000 events are kept
	longestOfALabel = 40 // columns
)

func (v *learningView) ask(a *Options, cl *client.Client) error {
	var stats protocol.MemoryStats
	if err := cl.Call(a.Ctx, "memory.stats", protocol.ReadAll{}, &stats); err != nil {
		return err
	}
	v.Total, v.Tiers, v.Status = stats.Total, stats.Tiers, stats.Status
	var health protocol.Health
	if err := cl.Call(a.Ctx, "admin.health", nil, &health); err != nil {
		return err
	}
	v.Waiting = health.Learning
	for _, read := range []func(*Options, *client.Client) error{v.readMemories, v.readConflicts, v.readEvents, v.readConcepts} {
		if err := read(a, cl); err != nil {
			return err
		}
	}
	return nil
}

// readMemories counts outcomes over all memories, and finds those that did best and worst.
func (v *learningView) readMemories(a *Options, cl *client.Client) error {
	var scored []scoredMemory
	p := protocol.MemoryFilter{Status: record.MemoryStatuses, Page: protocol.Page{Limit: recordsOfAPage}}
	for {
		var res protocol.MemoryPage
		if err := cl.Call(a.Ctx, "memory.list", p, &res); err != nil {
			return err
		}
		for _, m := range res.Memories {
			u := &m.Use
			v.Outcomes.Worked += u.Worked
			v.Outcomes.Failed += u.Failed
			v.Outcomes.Partial += u.Partial
			v.Outcomes.Unknown += u.Unknown
			if m.Current() && m.Tier != record.TierBank && u.Worked+u.Failed+u.Partial > 0 {
				scored = append(scored, scoredMemory{m.Number, m.ID, m.Tier, u.Score, u.Worked, u.Failed, m.Statement})
			}
		}
		if res.NextCursor == "" {
			break
		}
		p.Cursor = res.NextCursor
	}
	slices.SortFunc(scored, func(x, y scoredMemory) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(y.Worked, x.Worked), cmp.Compare(x.Number, y.Number))
	})
	v.Best, v.Worst = ends(scored)
	return nil
}

// ends are the first of a list and, the last one first, the last of those that are not among them.
func ends[T any](list []T) (first, last []T) {
	n := min(extremes, (len(list)+1)/2)
	first = append([]T{}, list[:n]...)
	last = append([]T{}, list[max(n, len(list)-extremes):]...)
	slices.Reverse(last)
	return first, last
}

func (v *learningView) readConflicts(a *Options, cl *client.Client) error {
	open, err := conflicts(a, cl)
	for _, pair := range open {
		if pair.State == "queued" {
			v.Conflicts.Queued++
		} else {
			v.Conflicts.Contested++
		}
	}
	return err
}

// readEvents finds the last promotion and the last run of upkeep. The events of a run are older than the one that ends it.
func (v *learningView) readEvents(a *Options, cl *client.Client) error {
	undone := make(map[string]bool) // runs
	p := protocol.MemoryEventFilter{Page: protocol.Page{Limit: recordsOfAPage}}
	for range mostEventPages {
		var res protocol.MemoryEvents
		if err := cl.Call(a.Ctx, "memory.events", p, &res); err != nil {
			return err
		}
		past := false // the run
		for i := range res.Events {
			e := &res.Events[i]
			switch {
			case e.Kind == record.LearnedUndone:
				undone[e.RunID] = true
			case e.Kind == record.LearnedUpkeep && v.Upkeep == nil:
				v.Upkeep = &lastUpkeep{e.RunID, e.At, map[string]int{}, undone[e.RunID]}
			case e.Kind == record.LearnedUpkeep:
				past = true
			case v.Upkeep != nil && e.RunID == v.Upkeep.RunID:
				v.Upkeep.Changed[e.Kind]++
			case e.Kind == record.LearnedPromoted && v.Promotion == nil && len(e.IDs) > 0:
				v.Promotion = &lastPromotion{At: e.At, ID: e.IDs[0], Memory: e.IDs[0], Changed: page.MemoryChanges(e, e.IDs[0])}
			}
		}
		if res.NextCursor == "" || past && v.Promotion != nil {
			break
		}
		p.Cursor = res.NextCursor
	}
	if v.Promotion == nil {
		return nil
	}
	var m record.Memory
	switch err := cl.Call(a.Ctx, "memory.get", protocol.MemoryRef{Ref: v.Promotion.ID}, &m); {
	case fault.KindOf(err) == fault.NotFound: // gone since
	case err != nil:
		return err
	default:
		v.Promotion.Memory = MemoryNumber(m.Number)
	}
	return nil
}

func (v *learningView) readConcepts(a *Options, cl *client.Client) error {
	var res protocol.ConceptList
	if err := cl.Call(a.Ctx, "concepts.list", protocol.ConceptFilter{Limit: conceptsRead}, &res); err != nil {
		return err
	}
	var rates []conceptRate
	for _, c := range res.Concepts {
		r := conceptRate{Label: c.Label}
		for _, t := range c.Tiers {
			r.Worked += t.Worked
			r.Failed += t.Failed
		}
		if n := r.Worked + r.Failed; n >= leastOutcomes {
			r.Rate = float64(r.Worked) / float64(n)
			rates = append(rates, r)
		}
	}
	slices.SortFunc(rates, func(x, y conceptRate) int {
		return cmp.Or(cmp.Compare(y.Rate, x.Rate), cmp.Compare(y.Worked, x.Worked), cmp.Compare(x.Failed, y.Failed), strings.Compare(x.Label, y.Label))
	})
	v.Helping, v.Failing = ends(rates)
	return nil
}

func (v *learningView) draw(s *term.Screen, remote bool) {
	s.Say(term.Styled(term.Strong, "Learning"), term.Styled(term.Faint, "  "+term.Count(v.Total, "memory")))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("tiers", counts(v.Tiers, record.Tiers))
	f.Add("status", counts(v.Status, record.MemoryStatuses))
	o := &v.Outcomes
	told := "nobody has told yet how it went: ctxd memory outcome --help"
	if o.Worked+o.Failed+o.Partial+o.Unknown > 0 {
		told = fmt.Sprintf("%s worked, %s failed, %s in part, %s unknown",
			term.Number(o.Worked), term.Number(o.Failed), term.Number(o.Partial), term.Number(o.Unknown))
	}
	f.Add("outcomes", told)
	open := "none"
	if v.Conflicts.Contested+v.Conflicts.Queued > 0 {
		open = fmt.Sprintf("%s contested, %s that rules cannot decide: ctxd memory conflicts",
			term.Number(v.Conflicts.Contested), term.Number(v.Conflicts.Queued))
	}
	f.Add("conflicts", open)
	waits := "nothing"
	switch {
	case remote:
		waits = "" // which a remote reader is not told
	case v.Waiting != nil:
		waits = "for a model: " + term.Count(v.Waiting.Messages, "message") + ", " + term.Count(v.Waiting.Pairs, "pair")
	}
	f.Add("waiting", waits)
	f.Add("promotion", v.Promotion.words())
	f.Add("upkeep", v.Upkeep.words())
	f.Draw(s)
	drawScoredMemories(s, "Best scored", v.Best)
	drawScoredMemories(s, "Worst scored", v.Worst)
	drawRates(s, "Subjects that helped most", v.Helping)
	drawRates(s, "Subjects that helped least", v.Failing)
}

// counts writes numbers by name, in an order, without those that are 0.
func counts(of map[string]int, order []string) string {
	var out []string
	for _, name := range order {
		if n := of[name]; n > 0 {
			out = append(out, term.Number(n)+" "+name)
		}
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

func (p *lastPromotion) words() string {
	if p == nil {
		return "none yet"
	}
	return term.Day(p.At) + "  " + p.Memory + " " + strings.Join(p.Changed, ", ")
}

func (u *lastUpkeep) words() string {
	if u == nil {
		return "none yet"
	}
	did := counts(u.Changed, record.LearnedKinds)
	switch {
	case len(u.Changed) == 0:
		did = "nothing was due"
	case u.Undone:
		did += "; taken back since"
	}
	return term.Day(u.At) + "  " + did
}

func drawScoredMemories(s *term.Screen, title string, list []scoredMemory) {
	if len(list) == 0 {
		return
	}
	s.Heading(title)
	t := &term.Table{Indent: 2, Right: []int{0, 1}}
	for _, m := range list {
		t.Row(term.Line{term.Styled(term.Strong, MemoryNumber(m.Number))}, term.Line{term.Text(fmt.Sprintf("%.2f", m.Score))},
			term.Line{term.Styled(term.Faint, m.Tier)}, term.Line{term.Styled(term.Faint, workedOf(m.Worked, m.Failed))}, term.Line{term.Text(m.Statement)})
	}
	t.Draw(s)
}

func drawRates(s *term.Screen, title string, list []conceptRate) {
	if len(list) == 0 {
		return
	}
	s.Heading(title)
	t := &term.Table{Indent: 2, Right: []int{1}}
	for _, c := range list {
		t.Row(term.Line{term.Styled(term.Accent, c.Label)}.Fit(longestOfALabel), term.Line{term.Text(fmt.Sprintf("%.0f %%", 100*c.Rate))},
			term.Line{term.Styled(term.Faint, workedOf(c.Worked, c.Failed))})
	}
	t.Draw(s)
}

// workedOf writes how often something helped.
func workedOf(worked, failed int) string {
	return term.Number(worked) + " worked, " + term.Number(failed) + " failed"
}
