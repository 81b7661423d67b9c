package page

// This file and life_words.go tell what became of a memory: [EventChanges] and [MemoryChanges] say in words what an
// event of learning changed, and [RenderLife] makes the page of ctxd inspect memory --html, with what the memory says
// and said, what supports it, its outcomes and score over time, its moves, what it contradicts and merged with, and
// what it ranks by. The page runs no script; texts of a person are escaped by the template.
//
// Scores, confidences and ranks are shares of 0 to 1. RenderLife takes O(events and versions). The only error is one
// of the template.

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
)

var (
	//go:embed life.html
	lifeHTML string
	//go:embed life.css
	lifeCSS string
)

// LifeDocument is what the page tells of.
type LifeDocument struct {
	Memory   *record.Memory
	Versions []record.MemoryVersion // the latest first
	Facts    [][2]string            // more of the memory: a name and a value, which may be empty
	Source   [][2]string            // where it comes from, in the same form
	Related  []RelatedMemory
	Events   []record.LearnedEvent // those of the memory, the newest last
	Earlier  bool                  // there were events before those
	Open     []ConflictingMemory   // what nobody has settled
	Rank     *MemoryRank           // nil when its own words do not find it
	Names    map[string]string     // what people call the memories that events name, by id
	Remote   bool
	Made     time.Time
}

// RelatedMemory is a memory that belongs to another, and how.
type RelatedMemory struct{ How, Name, Statement string }

// ConflictingMemory is a memory that is in conflict with another one.
type ConflictingMemory struct{ Name, Statement, State, Why string }

// MemoryRank is what a memory ranks by when its own statement is asked for.
type MemoryRank struct {
	Position int
	Score    float64
	Signals  map[string]float64
}

type lifeData struct {
	Policy                     string
	Style                      template.HTML
	Name, Handle, Status       string
	Statement                  string
	Marks                      []string
	Tier, Kind, Quality        string
	Remote                     bool
	Facts, Source, Use         [][2]string
	Versions                   []lifeVersion
	Evidence                   []string
	Score                      *lifeChart
	Outcomes, Moves, Conflicts []lifeStep
	Events                     []lifeStep
	Earlier                    bool
	Related                    []RelatedMemory
	Open                       []ConflictingMemory
	Rank                       *lifeRank
	Made, Program              string
}

type lifeVersion struct{ Number, When, Quality, Statement, Machine string }

type lifeStep struct{ When, Kind, What, With string }

type lifeRank struct {
	Place, Score string
	Signals      []lifeSignal
}

type lifeSignal struct{ Name, Value, Width string }

// lifeChart is the score over time: a point for each outcome, at even distances.
type lifeChart struct {
	Points     string // of a line, x 0 to 100, y 0 (score 1) to 40 (score 0)
	Dots       []chartDot
	From, To   string
	First, Now string
}

type chartDot struct{ X, Y, Title string }

// RenderLife returns the page.
func RenderLife(d *LifeDocument) (string, error) { return Execute("life", lifeHTML, d.data()) }

func (d *LifeDocument) data() *lifeData {
	m, style := d.Memory, Style+listStyle+lifeCSS
	p := &lifeData{
		Policy: "default-src 'none'; style-src '" + Hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + style + "</style>"),
		Name:   "#" + strconv.FormatInt(m.Number, 10), Handle: Visible(m.Handle), Statement: Visible(m.Statement),
		Status: m.Status, Tier: m.Tier, Kind: m.Kind, Quality: decimals(m.Quality), Remote: d.Remote,
		Facts: visibleFacts(d.Facts), Source: visibleFacts(d.Source), Score: d.score(), Earlier: d.Earlier, Rank: d.rank(),
		Made: term.Day(d.Made), Program: term.ProgramName(),
	}
	for _, mark := range []struct {
		on   bool
		name string
	}{{m.Pinned, "pinned"}, {m.AlwaysInject, "always"}, {m.Private, "private"}} {
		if mark.on {
			p.Marks = append(p.Marks, mark.name)
		}
	}
	for _, v := range d.Versions {
		p.Versions = append(p.Versions, lifeVersion{
			term.Number(v.Version), term.Day(v.UpdatedAt), decimals(v.Quality), Visible(v.Statement), Visible(v.Source.Machine),
		})
	}
	for _, id := range m.Evidence {
		p.Evidence = append(p.Evidence, Visible(id))
	}
	for _, r := range d.Related {
		p.Related = append(p.Related, RelatedMemory{r.How, Visible(r.Name), Visible(r.Statement)})
	}
	for _, o := range d.Open {
		p.Open = append(p.Open, ConflictingMemory{Visible(o.Name), Visible(o.Statement), Visible(o.State), Visible(o.Why)})
	}
	p.Use = memoryUse(m)
	d.steps(p)
	return p
}

// steps sorts the events into the sections of the page.
func (d *LifeDocument) steps(p *lifeData) {
	for i := range d.Events {
		e := &d.Events[i]
		s := d.step(e)
		p.Events = append(p.Events, s)
		was, now := sides(e, d.Memory.ID)
		switch {
		case e.Kind == record.LearnedOutcome:
			p.Outcomes = append(p.Outcomes, s)
		case slices.Contains(paired, e.Kind):
			p.Conflicts = append(p.Conflicts, s)
		case was != nil && now != nil && (now.Tier != nil || now.Status != nil):
			p.Moves = append(p.Moves, s)
		}
	}
}

func (d *LifeDocument) step(e *record.LearnedEvent) lifeStep {
	var with []string
	for _, id := range OtherMemories(e, d.Memory.ID) {
		name := d.Names[id]
		if name == "" {
			name = id
		}
		with = append(with, name)
	}
	return lifeStep{
		When: term.Day(e.At), Kind: Visible(e.Kind), What: Visible(strings.Join(MemoryChanges(e, d.Memory.ID), ", ")),
		With: Visible(strings.Join(with, ", ")),
	}
}

// chartHeight is that of the chart.
const chartHeight = 40.0

// score is the score over time, nil when no event has changed it.
func (d *LifeDocument) score() *lifeChart {
	type point struct {
		at    time.Time
		score float64
	}
	var points []point
	for i := range d.Events {
		was, now := sides(&d.Events[i], d.Memory.ID)
		if now == nil || now.Score == nil {
			continue
		}
		if len(points) == 0 && was != nil && was.Score != nil {
			points = append(points, point{d.Memory.CreatedAt, *was.Score})
		}
		points = append(points, point{d.Events[i].At, *now.Score})
	}
	if len(points) < 2 {
		return nil
	}
	last := len(points) - 1
	c := &lifeChart{
		From: term.Day(points[0].at), To: term.Day(points[last].at), First: decimals(points[0].score), Now: decimals(points[last].score),
	}
	var line []string
	for i, p := range points {
		x := strconv.FormatFloat(100*float64(i)/float64(last), 'f', 2, 64)
		y := strconv.FormatFloat(chartHeight*(1-min(1, max(0, p.score))), 'f', 2, 64)
		line = append(line, x+","+y)
		c.Dots = append(c.Dots, chartDot{x, y, fmt.Sprintf("%.2f, %s", p.score, term.Day(p.at))})
	}
	c.Points = strings.Join(line, " ")
	return c
}

func (d *LifeDocument) rank() *lifeRank {
	if d.Rank == nil {
		return nil
	}
	r := &lifeRank{Place: term.Number(d.Rank.Position), Score: decimals(d.Rank.Score)}
	for _, name := range slices.Sorted(maps.Keys(d.Rank.Signals)) {
		value := d.Rank.Signals[name]
		r.Signals = append(r.Signals, lifeSignal{Visible(name), decimals(value), Share(min(1, max(0, value)))})
	}
	return r
}

// memoryUse is how a memory was used.
func memoryUse(m *record.Memory) [][2]string {
	u := &m.Use
	out := [][2]string{{"used", timesInWords(u.Uses)}, {"said again", timesInWords(u.Mentioned)}}
	if u.LastUsedAt != nil {
		out[0][1] += ", last " + term.Day(*u.LastUsedAt)
	}
	if u.Worked+u.Failed+u.Partial+u.Unknown == 0 {
		return out
	}
	return append(
		out,
		[2]string{"worked", term.Number(u.Worked)}, [2]string{"failed", term.Number(u.Failed)},
		[2]string{"in part", term.Number(u.Partial)}, [2]string{"unknown", term.Number(u.Unknown)},
		[2]string{"last outcome", u.LastOutcome}, [2]string{"score", decimals(u.Score)}, [2]string{"success", decimals(u.Wilson) + " at least"},
	)
}

// timesInWords writes how often something was.
func timesInWords(n int) string {
	if n == 0 {
		return "never"
	}
	return term.Count(n, "time")
}

// visibleFacts are the facts that have a value, safe to show.
func visibleFacts(facts [][2]string) (out [][2]string) {
	for _, f := range facts {
		if f[1] != "" {
			out = append(out, [2]string{f[0], Visible(f[1])})
		}
	}
	return out
}

// decimals writes a share with at most three digits behind the point.
func decimals(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 3, 64), "0"), ".")
}
