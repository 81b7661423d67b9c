package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// memoryCmd is ctxd inspect memory.
type memoryCmd struct {
	Memory string `arg:"" help:"Id, handle or number of the memory."`
	HTML   string `name:"html" placeholder:"FILE" help:"Write the life of the memory to this file as a page for a browser. It needs no network, and only you can read it."`
	Force  bool   `help:"Replace the file if it exists."`

	connect.Audience
}

func (memoryCmd) Help() string {
	return "What the memory says and said before, where it comes from and what supports it, how it was used, what it is related to, " +
		"what it ranks by, and what learning did to it. The page of --html shows the score over time as well."
}

func (memoryCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect memory 42", "by number"},
		{"ctxd inspect memory prefer_morning_workouts_a3f2 --json", "by handle, for scripts"},
		{"ctxd inspect memory 42 --html memory.html", "a page with its score over time"},
		{"ctxd inspect memory 42 --audience remote", "as a remote model sees it"},
	}
}

// Run runs the command.
func (c *memoryCmd) Run(a *Options) error {
	if c.Force && c.HTML == "" {
		return term.Misuse("--force needs --html", "ctxd inspect memory 42 --html memory.html --force")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		if c.HTML != "" {
			if err := term.FreeForDocument(c.HTML, c.Force); err != nil {
				return err
			}
		}
		m, err := connect.FindMemory(a.Ctx, cl, c.Memory)
		if err != nil {
			return err
		}
		v, err := viewMemory(a, cl, m)
		if err != nil {
			return err
		}
		if c.HTML != "" {
			if err := c.writePage(a, v); err != nil || !a.JSON {
				return err
			}
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		v.draw(a.Out)
		return nil
	})
}

// memoryView is a memory with what is shown beside it. What it names and the reader does not see,
// or is no more, is left out.
type memoryView struct {
	Memory   *record.Memory         `json:"memory"`
	Versions []record.MemoryVersion `json:"versions"` // what it said before, the latest first
	Contexts []protocol.ContextFull `json:"contexts"`
	About    []aboutRecord          `json:"about"`
	From     *aboutRecord           `json:"from,omitempty"` // the note of its source
	Related  []relatedMemory        `json:"related"`
	Rank     *memoryRank            `json:"rank,omitempty"` // absent when its own words do not find it

	Events    []record.LearnedEvent  `json:"events"`    // what learning did to it, the newest last, at most eventsRead
	Earlier   bool                   `json:"earlier"`   // whether there were events before these
	Conflicts []record.Contradiction `json:"conflicts"` // the pairs with it that nobody has settled

	others map[string]*record.Memory // those that events and conflicts name, by id, as far as they are shown
}

// memoryRank is what a memory ranks by when its own statement is asked for.
type memoryRank struct {
	Position int                `json:"position"`
	Score    float64            `json:"score"`
	Signals  map[string]float64 `json:"signals"`
}

// aboutRecord is an entity or a note that a memory names.
type aboutRecord struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // entity or note
	Name string `json:"name"`
}

// shown writes a record as texts link to it.
func (r aboutRecord) shown() string {
	if r.Kind == "note" {
		return "[[" + r.Name + "]]"
	}
	return "@" + r.Name
}

// relatedMemory is a memory that another names, and how.
type relatedMemory struct {
	How    string         `json:"how"` // supersedes, supersededBy, mergedInto or contradicts
	Memory *record.Memory `json:"memory"`
}

func viewMemory(a *Options, cl *client.Client, m *record.Memory) (*memoryView, error) {
	v := &memoryView{Memory: m, Contexts: []protocol.ContextFull{}, About: []aboutRecord{}, Related: []relatedMemory{}}
	var list protocol.MemoryVersions
	if err := cl.Call(a.Ctx, "memory.versions", protocol.MemoryRef{Ref: m.ID}, &list); err != nil {
		return nil, err
	}
	v.Versions = list.Versions
	for _, id := range m.Contexts {
		var c protocol.ContextFull
		if there, err := exists(cl.Call(a.Ctx, "contexts.get", protocol.ContextRef{Ref: id}, &c)); err != nil {
			return nil, err
		} else if there {
			v.Contexts = append(v.Contexts, c)
		}
	}
	if err := v.readAbout(a, cl); err != nil {
		return nil, err
	}
	for _, to := range []struct {
		how string
		ids []string
	}{
		{"supersedes", m.Supersedes},
		{"supersededBy", term.NonEmpty(m.SupersededBy)},
		{"mergedInto", term.NonEmpty(m.MergedInto)},
		{"contradicts", m.Contradicts},
	} {
		for _, id := range to.ids {
			var other record.Memory
			if there, err := exists(cl.Call(a.Ctx, "memory.get", protocol.MemoryRef{Ref: id}, &other)); err != nil {
				return nil, err
			} else if there {
				v.Related = append(v.Related, relatedMemory{to.how, &other})
			}
		}
	}
	if err := v.readRank(a, cl); err != nil {
		return nil, err
	}
	return v, v.readLife(a, cl)
}

// rankedAmong is how many hits are looked through for the memory.
const rankedAmong = 50

// readRank asks for the memory with its own statement.
func (v *memoryView) readRank(a *Options, cl *client.Client) error {
	m := v.Memory
	if m.Status == record.MemoryRetracted { // found by its id alone
		return nil
	}
	asked := protocol.MemorySearch{Query: m.Statement, Status: []string{m.Status}, Limit: rankedAmong, Explain: true}
	var found protocol.MemoryFound
	err := cl.Call(a.Ctx, "memory.search", asked, &found)
	if kind := fault.KindOf(err); kind == fault.Limit || kind == fault.Invalid { // no question can be as long
		return nil
	}
	for i := range found.Hits {
		if h := &found.Hits[i]; h.ID == m.ID {
			v.Rank = &memoryRank{h.Position, h.Score, h.Signals}
		}
	}
	return err
}

// readAbout reads the names of the entities and notes that the memory names.
func (v *memoryView) readAbout(a *Options, cl *client.Client) error {
	for _, id := range v.Memory.EntityIDs {
		var e protocol.EntityFull
		if there, err := exists(cl.Call(a.Ctx, "entities.get", protocol.EntityGet{Ref: id}, &e)); err != nil {
			return err
		} else if there {
			v.About = append(v.About, aboutRecord{e.ID, "entity", e.Name})
		}
	}
	for _, id := range v.Memory.NoteIDs {
		n, err := noteAbout(a, cl, id)
		if err != nil {
			return err
		}
		if n != nil {
			v.About = append(v.About, *n)
		}
	}
	var err error
	v.From, err = noteAbout(a, cl, v.Memory.Source.NoteID)
	return err
}

// noteAbout returns the note of an id, nil when there is none.
func noteAbout(a *Options, cl *client.Client, id string) (*aboutRecord, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	var n protocol.NoteFull
	there, err := exists(cl.Call(a.Ctx, "notes.get", protocol.NoteGet{Ref: id}, &n))
	if err != nil || !there {
		return nil, err
	}
	return &aboutRecord{n.ID, "note", n.Title}, nil
}

// exists tells a record that is not there from a call that failed.
func exists(err error) (bool, error) {
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

func (v *memoryView) draw(s *term.Screen) {
	DrawMemory(s, v.Memory, v.belongs()...)
	v.drawSource(s)
	v.drawUse(s)
	v.drawRank(s)
	if len(v.Related) > 0 {
		s.Heading("Other memories")
		t := &term.Table{Indent: 2, Right: []int{1}}
		for _, r := range v.Related {
			t.Row(term.Line{term.Styled(term.Faint, relations[r.How])},
				term.Line{term.Styled(term.Strong, MemoryNumber(r.Memory.Number))}, term.Line{term.Text(r.Memory.Statement)})
		}
		t.Draw(s)
	}
	DrawVersions(s, v.Versions)
	v.drawLife(s)
}

// relations are how a memory is related to another, in words.
var relations = map[string]string{
	"supersedes": "held before it", "supersededBy": "holds now", "mergedInto": "says it too", "contradicts": "says otherwise",
}

// drawSource shows where a memory comes from, and what supports it.
func (v *memoryView) drawSource(s *term.Screen) {
	s.Heading("Where it comes from")
	f := &term.Facts{Table: term.Table{Indent: 2}}
	for _, fact := range v.source() {
		f.Add(fact[0], fact[1])
	}
	f.Add("by", strings.Join(v.Memory.Evidence, ", "))
	f.Draw(s)
}

// belongs says of what contexts a memory is, and what it names.
func (v *memoryView) belongs() [][2]string {
	var contexts, about []string
	for _, c := range v.Contexts {
		contexts = append(contexts, c.Name)
	}
	for _, r := range v.About {
		about = append(about, r.shown())
	}
	return [][2]string{{"contexts", strings.Join(contexts, ", ")}, {"about", strings.Join(about, ", ")}}
}

// source says where a memory comes from, and how often it was supported.
func (v *memoryView) source() [][2]string {
	from := &v.Memory.Source
	note := from.NoteID
	if v.From != nil {
		note = v.From.shown() + "  " + v.From.ID
	}
	facts := [][2]string{
		{"source", from.Kind},
		{"program", from.Client},
		{"conversation", from.ConversationID},
		{"messages", strings.Join(from.MessageIDs, ", ")},
		{"note", note},
	}
	if n := v.Memory.EvidenceCount; n > 0 {
		facts = append(facts, [2]string{"supported", timesOf(n) + lastTime(v.Memory.LastEvidenceAt)})
	}
	return facts
}

// drawUse shows the counters of a memory.
func (v *memoryView) drawUse(s *term.Screen) {
	u := &v.Memory.Use
	s.Heading("Use")
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("used", timesOf(u.Uses)+lastTime(u.LastUsedAt))
	f.Add("said again", timesOf(u.Mentioned))
	if u.Worked+u.Failed+u.Partial+u.Unknown > 0 {
		f.Add("outcomes", term.Number(u.Worked)+" worked, "+term.Number(u.Failed)+" failed, "+
			term.Number(u.Partial)+" in part, "+term.Number(u.Unknown)+" unknown")
		f.Add("last", u.LastOutcome)
		f.Add("success", decimals(u.Wilson)+" at least")
	}
	f.Draw(s)
}

// drawRank shows what the memory ranks by.
func (v *memoryView) drawRank(s *term.Screen) {
	if v.Rank == nil {
		return
	}
	s.Heading("Rank", term.Styled(term.Faint, "  when its own words are asked for"))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("score", "%s, place %d", decimals(v.Rank.Score), v.Rank.Position)
	for _, name := range slices.Sorted(maps.Keys(v.Rank.Signals)) {
		f.Add(name, decimals(v.Rank.Signals[name]))
	}
	f.Draw(s)
}

// timesOf writes how often something was.
func timesOf(n int) string {
	if n == 0 {
		return "never"
	}
	return term.Count(n, "time")
}

// lastTime writes when something was last, behind how often.
func lastTime(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", last " + term.Day(*at)
}

// DrawMemory shows a memory: its statement and what is stored of it, and more facts with their names.
func DrawMemory(s *term.Screen, m *record.Memory, more ...[2]string) {
	head := append(MemoryName(&m.MemoryRecord), memoryMarks(m)...)
	s.Say(head...)
	for _, l := range term.Wrap(term.CleanLines(m.Statement), s.Columns()-2) {
		s.Say(term.Text("  " + l))
	}
	f := &term.Facts{Table: term.Table{Indent: 2}}
	for _, fact := range memoryFacts(m, more) {
		f.Add(fact[0], fact[1])
	}
	f.Draw(s)
}

// memoryFacts are what is stored of a memory beside its statement, and more facts where they belong.
func memoryFacts(m *record.Memory, more [][2]string) [][2]string {
	facts := [][2]string{{"summary", m.Summary}}
	for _, q := range m.Questions {
		facts = append(facts, [2]string{"answers", q})
	}
	tags := ""
	if len(m.Tags) > 0 {
		tags = "#" + strings.Join(m.Tags, " #")
	}
	quality := fmt.Sprintf("%s: importance %s, confidence %s", decimals(m.Quality), decimals(m.Importance), decimals(m.Confidence))
	facts = append(
		facts,
		[2]string{"kind", m.Kind},
		[2]string{"tier", m.Tier + " since " + term.Day(m.TierSince)},
		[2]string{"quality", quality},
		[2]string{"tags", tags},
		[2]string{"domains", strings.Join(m.Domains, ", ")},
	)
	facts = append(facts, more...)
	return append(
		facts,
		[2]string{"holds", period(m.ValidFrom, m.ValidTo)},
		[2]string{"id", m.ID},
		[2]string{"was called", strings.Join(m.Aliases, ", ")},
		[2]string{"written", term.Day(m.CreatedAt) + " by " + cmp.Or(m.Source.Client, m.Source.Kind)},
		[2]string{"machine", WrittenOn(&m.Source)},
		[2]string{"changed", fmt.Sprintf("%s, version %d", term.Day(m.UpdatedAt), m.Version)},
	)
}

// WrittenOn says on which machine of a shared store a memory was written, "" where it is not known.
func WrittenOn(s *record.MemorySource) string {
	if s.Machine == "" {
		return ""
	}
	return "written on " + s.Machine
}

// period writes since when and until when something holds, "" for unknown.
func period(from, to *time.Time) string {
	var out []string
	if from != nil {
		out = append(out, "from "+term.Day(*from))
	}
	if to != nil {
		out = append(out, "to "+term.Day(*to))
	}
	return strings.Join(out, " ")
}

// DrawVersions shows what a memory said before; nothing when it said nothing else.
func DrawVersions(s *term.Screen, list []record.MemoryVersion) {
	if len(list) == 0 {
		return
	}
	s.Heading("Before", term.Styled(term.Faint, "  "+term.Count(len(list), "version")))
	t := &term.Table{Indent: 2, Right: []int{0}}
	for _, v := range list {
		row := []term.Line{
			{term.Text(term.Number(v.Version))},
			{term.Styled(term.Faint, term.Day(v.UpdatedAt))},
			{term.Styled(term.Faint, decimals(v.Quality))},
			{term.Text(v.Statement)},
		}
		if on := WrittenOn(&v.Source); on != "" {
			row = append(row, term.Line{term.Styled(term.Faint, on)})
		}
		t.Row(row...)
	}
	t.Draw(s)
}

// MemoryNumber writes the number of a memory as texts refer to it.
func MemoryNumber(n int64) string { return "#" + strconv.FormatInt(n, 10) }

// MemoryName writes by what a memory is referred to.
func MemoryName(m *record.MemoryRecord) term.Line {
	line := term.Line{term.Styled(term.Strong, MemoryNumber(m.Number))}
	if m.Handle != "" {
		line = append(line, term.Styled(term.Accent, " "+m.Handle))
	}
	return line
}

// memoryMarks say what is special about a memory.
func memoryMarks(m *record.Memory) (out term.Line) {
	if m.Status != record.MemoryActive {
		out = append(out, term.Styled(term.Warn, "  "+m.Status))
	}
	for _, mark := range []struct {
		on   bool
		name string
	}{{m.Pinned, "pinned"}, {m.AlwaysInject, "always"}, {m.Private, "private"}} {
		if mark.on {
			out = append(out, term.Styled(term.Warn, "  "+mark.name))
		}
	}
	return out
}

// decimals writes a share with as many digits as say something.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
