package gather_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// crowd is a type with every kind of reference.
var crowd = entities.Type{Name: "P", Fields: []entities.Field{
	{Name: "role", Type: record.Text},
	{Name: "boss", Type: record.EntityRef},
	{Name: "team", Type: record.EntityRefList},
	{Name: "note", Type: record.NoteRef},
	{Name: "reports", Type: record.Computed, Query: "SELECT p FROM P WHERE p.boss = {this}"},
	{Name: "broken", Type: record.Computed, Query: "SELECT q FROM Nothing q"},
}}

// plain is the naive model of an assembly: what is mentioned or reached, found by
// going through everything again and again.
type plain struct {
	w      *world
	remote bool
	depth  int
	order  []string                 // entities that can be shown, breadth first
	depths map[string]int           // of those
	status map[string]prompt.Reason // of all that is mentioned or reached, by kind and id; "" for what can be shown
	errors []string                 // entities whose query fails
}

func (m *plain) entity(id string) prompt.Reason {
	e := m.w.ents.Get(id)
	switch {
	case e == nil:
		return prompt.Unknown
	case m.remote && e.Private:
		return prompt.Private
	case !e.Live():
		return prompt.Deleted
	}
	return ""
}

func (m *plain) note(id string) prompt.Reason {
	n := m.w.notes.Get(id)
	switch {
	case n == nil:
		return prompt.Unknown
	case m.remote && n.Private:
		return prompt.Private
	case !n.Live():
		return prompt.Archived
	}
	return ""
}

func (m *plain) reach(id string, depth int) {
	status := m.entity(id)
	if _, known := m.status["entity "+id]; !known && status == "" {
		m.order = append(m.order, id)
		m.depths[id] = depth
	}
	m.status["entity "+id] = status
}

func (m *plain) run(p gather.Params) {
	for _, id := range p.MentionedEntityIDs {
		m.reach(id, 0)
	}
	for _, id := range p.MentionedNoteIDs {
		m.status["note "+id] = m.note(id)
	}
	for i := 0; i < len(m.order); i++ {
		e, depth := m.w.ents.Get(m.order[i]), m.depths[m.order[i]]
		if id, _ := e.Fields["note"].(string); id != "" {
			m.status["note "+id] = m.note(id)
		}
		if depth > 0 && depth >= m.depth {
			continue
		}
		m.errors = append(m.errors, e.ID)
		next := func(id string) {
			if depth < m.depth {
				m.reach(id, depth+1)
			} else if status := m.entity(id); status != "" {
				m.status["entity "+id] = status // it shows, though nobody goes there
			}
		}
		if id, _ := e.Fields["boss"].(string); id != "" {
			next(id)
		}
		if list, _ := e.Fields["team"].([]string); list != nil {
			for _, id := range list {
				next(id)
			}
		}
		var rows []*entities.Entity
		for other := range m.w.ents.All() {
			if other.Live() && other.Fields["boss"] == e.ID {
				rows = append(rows, other)
			}
		}
		reader := audience.Local
		if m.remote {
			reader = audience.Remote
		}
		v := m.w.rooms.View(reader) // rows stand in the order of the names that the reader is shown
		slices.SortFunc(rows, func(a, b *entities.Entity) int {
			return cmp.Or(entities.CompareNatural(v.NameOf(a), v.NameOf(b)), strings.Compare(a.ID, b.ID))
		})
		for _, row := range rows {
			if !m.remote || !row.Private { // a remote reader's query finds no private row
				next(row.ID)
			}
		}
	}
}

// TestCTX32_EverythingIsAccountedForOnce assembles random prompts of random
// stores with little room, and compares the report with the naive model and with
// the prompt.
func TestCTX32_EverythingIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.mustType(t, crowd)
		ids, noteIDs := randomStore(rt, w)
		p := randomParams(rt, ids, noteIDs)
		res, err := w.assembled(ctx, w.gather, p)
		if err != nil {
			rt.Fatal(err)
		}
		m := &plain{
			w: w, remote: p.Audience != gather.Local, depth: *p.MaxDepth,
			depths: make(map[string]int), status: make(map[string]prompt.Reason),
		}
		m.run(p)
		onceEach(rt, m, p, res)
		shownPrefix(rt, m, res)
		var failed []string
		for _, q := range res.Report.QueryErrors {
			failed = append(failed, q.Entity)
		}
		if !slices.Equal(failed, m.errors) {
			rt.Fatalf("query errors of %v, want %v", failed, m.errors)
		}
		rangesHold(rt, res)
	})
}

func randomStore(rt *rapid.T, w *world) (ids, noteIDs []string) {
	must := func(err error) {
		if err != nil {
			rt.Fatal(err)
		}
	}
	for i := range rapid.IntRange(4, 9).Draw(rt, "entities") {
		ids = append(ids, fmt.Sprint("e", i))
	}
	for i := range rapid.IntRange(3, 9).Draw(rt, "notes") {
		id := fmt.Sprint("n", i)
		noteIDs = append(noteIDs, id)
		body := strings.Repeat("text ü 👩‍👩‍👧 ", rapid.IntRange(0, 150).Draw(rt, "length"))
		_, err := w.notes.Put(ctx, notes.Draft{ID: id, Title: "Note " + id, Body: body, Private: rapid.IntRange(0, 4).Draw(rt, "private") == 0}, nil)
		must(err)
		if rapid.IntRange(0, 4).Draw(rt, "archived") == 0 {
			_, err := w.notes.Archive(ctx, id, nil)
			must(err)
		}
	}
	ids, noteIDs = append(ids, "ghost"), append(noteIDs, "nothing")
	id, note := rapid.SampledFrom(ids), rapid.SampledFrom(noteIDs)
	for _, e := range ids[:len(ids)-1] {
		fields := entities.Values{"role": rapid.StringMatching(`[a-zü ]{0,60}`).Draw(rt, "role")}
		if rapid.IntRange(0, 3).Draw(rt, "has boss") < 3 {
			fields["boss"] = id.Draw(rt, "boss")
		}
		if team := rapid.SliceOfN(id, 0, 3).Draw(rt, "team"); len(team) > 0 {
			fields["team"] = team
		}
		if rapid.IntRange(0, 3).Draw(rt, "has note") < 3 {
			fields["note"] = note.Draw(rt, "note")
		}
		name := rapid.SampledFrom([]string{"Ann", "Bob 𝄞", "C [id:x]", "Dora & <Sons>"}).Draw(rt, "name")
		_, err := w.ents.Put(ctx, entities.Entity{ID: e, Type: "P", Name: name, Fields: fields, Private: rapid.IntRange(0, 4).Draw(rt, "private") == 0}, nil)
		must(err)
		if rapid.IntRange(0, 4).Draw(rt, "trashed") == 0 {
			_, err := w.ents.Archive(ctx, e, nil)
			must(err)
		}
	}
	return ids, noteIDs
}

func randomParams(rt *rapid.T, ids, noteIDs []string) gather.Params {
	depth := rapid.IntRange(0, 4).Draw(rt, "depth")
	p := gather.Params{
		MentionedEntityIDs: rapid.SliceOfN(rapid.SampledFrom(ids), 1, 4).Draw(rt, "mentioned"),
		MentionedNoteIDs:   rapid.SliceOfN(rapid.SampledFrom(noteIDs), 0, 8).Draw(rt, "pinned"),
		Audience:           rapid.SampledFrom([]string{gather.Local, gather.Remote, ""}).Draw(rt, "audience"),
		Format:             rapid.SampledFrom([]string{gather.Markdown, gather.XML}).Draw(rt, "format"),
		MaxDepth:           &depth, Budgets: &gather.Budgets{},
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "events") {
		p.CalendarEvents = append(p.CalendarEvents, prompt.Event{Title: fmt.Sprint("Event ", i), Start: "2025-11-01"})
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "actions") {
		p.ActionItems = append(p.ActionItems, prompt.Action{ID: fmt.Sprint("t", i), Text: "Call <Bob>"})
	}
	for _, budget := range []**int{&p.Budgets.Total, &p.Budgets.Pinned, &p.Budgets.Entities, &p.Budgets.Linked, &p.Budgets.Client} {
		if rapid.IntRange(0, 3).Draw(rt, "set") == 3 {
			n := rapid.IntRange(0, 3000).Draw(rt, "budget")
			*budget = &n
		}
	}
	return p
}

// onceEach compares what the report names with what is mentioned or reached.
func onceEach(rt *rapid.T, m *plain, p gather.Params, res *prompt.Result) {
	seen := make(map[string]bool)
	name := func(key string) {
		if seen[key] {
			rt.Fatalf("%s is in the report twice", key)
		}
		seen[key] = true
	}
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			if item.Kind == prompt.KindEvent || item.Kind == prompt.KindAction {
				continue
			}
			key := item.Kind + " " + item.ID
			name(key)
			if m.status[key] != "" {
				rt.Fatalf("%s is shown, though it is %s", key, m.status[key])
			}
		}
	}
	duplicates, client := 0, 0
	for _, d := range res.Report.Dropped {
		key := d.Kind + " " + d.ID
		switch {
		case d.Reason == prompt.Duplicate:
			duplicates++
			continue
		case d.Kind == prompt.KindEvent, d.Kind == prompt.KindAction:
			client++
			continue
		}
		want, known := m.status[key]
		name(key)
		if !known || want != "" && d.Reason != want || want == "" && d.Reason != prompt.OverBudget && d.Reason != prompt.OverLimit {
			rt.Fatalf("%s was dropped as %s, it is %q (%v)", key, d.Reason, want, known)
		}
		if d.Reason == prompt.Private && d.Title != "" {
			rt.Fatalf("the title of %s shows", key)
		}
	}
	for key := range m.status {
		if !seen[key] {
			rt.Fatalf("%s is not in the report", key)
		}
	}
	distinct := len(slices.Compact(slices.Sorted(slices.Values(p.MentionedEntityIDs)))) + len(slices.Compact(slices.Sorted(slices.Values(p.MentionedNoteIDs))))
	if want := len(p.MentionedEntityIDs) + len(p.MentionedNoteIDs) - distinct; duplicates != want {
		rt.Fatalf("%d duplicates, want %d", duplicates, want)
	}
	for _, s := range res.Report.Sections {
		if s.Name == prompt.SectionCalendar || s.Name == prompt.SectionActions {
			client += len(s.Items)
		}
	}
	if want := len(p.CalendarEvents) + len(p.ActionItems); client != want {
		rt.Fatalf("%d of %d items of the client are in the report", client, want)
	}
}

// shownPrefix checks that the entities are the beginning of the walk, with the
// depths of the walk, and the pinned notes in the order given.
func shownPrefix(rt *rapid.T, m *plain, res *prompt.Result) {
	for _, s := range res.Report.Sections {
		if s.Name != prompt.SectionEntities {
			continue
		}
		for i, item := range s.Items {
			if m.order[i] != item.ID || m.depths[item.ID] != item.Depth {
				rt.Fatalf("place %d has %s of depth %d, the walk is %v", i, item.ID, item.Depth, m.order)
			}
		}
	}
}

var sectionOrder = []string{
	prompt.SectionPinned, prompt.SectionEntities, prompt.SectionLinked, prompt.SectionSearch, prompt.SectionPassages, prompt.SectionCalendar,
	prompt.SectionActions,
}

// rangesHold compares all numbers of a report with the prompt.
func rangesHold(rt *rapid.T, res *prompt.Result) {
	units := utf16.Encode([]rune(res.System))
	part := func(start, end int) string { return string(utf16.Decode(units[start:end])) }
	if n := prompt.Chars(res.System); n != res.Report.Chars || n > res.Report.Budget {
		rt.Fatalf("%d characters, the report says %d of %d", n, res.Report.Chars, res.Report.Budget)
	}
	at, order, client := 0, -1, 0
	for i, rep := range res.Report.Sections {
		s := res.Sections[i]
		if place := slices.Index(sectionOrder, s.Name); s.Name != rep.Name || place <= order {
			rt.Fatalf("section %s stands behind %v", s.Name, res.Sections[:i])
		} else {
			order = place
		}
		if i > 0 {
			if part(at, at+1) != "\n" {
				rt.Fatalf("between sections stands %q", part(at, at+1))
			}
			at++
		}
		if s.Start != at || prompt.Chars(part(s.Start, s.End)) != rep.Chars || rep.Chars > rep.Budget {
			rt.Fatalf("section %s is %d to %d with %d of %d characters", s.Name, s.Start, s.End, rep.Chars, rep.Budget)
		}
		end := rep.Items[0].Start
		for _, item := range rep.Items {
			text := part(item.Start, item.End)
			if item.Start != end || prompt.Chars(text) != item.Chars || !strings.Contains(text, item.ID) {
				rt.Fatalf("%s is %d to %d with %d characters", item.ID, item.Start, item.End, item.Chars)
			}
			end = item.End
		}
		if s.Name == prompt.SectionCalendar || s.Name == prompt.SectionActions {
			client += rep.Chars
		}
		at = s.End
	}
	if at != len(units) || client > 8000 {
		rt.Fatalf("the sections end at %d of %d", at, len(units))
	}
}

// Recurring events have one title, and each is accounted for.
func TestCTX32_EventsOfOneTitle(t *testing.T) {
	w := newWorld(t)
	var p gather.Params
	for i := range 60 {
		p.CalendarEvents = append(p.CalendarEvents, prompt.Event{Title: "Standup", Start: fmt.Sprint("day ", i)})
		p.ActionItems = append(p.ActionItems, prompt.Action{ID: "x", Text: "same"})
	}
	res := w.assemble(t, p)
	n := len(res.Report.Dropped)
	for _, s := range res.Report.Sections {
		n += len(s.Items)
	}
	if n != 120 {
		t.Errorf("%d of 120 are in the report", n)
	}
}
