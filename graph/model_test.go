package graph_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// model is the graph as a plain list of edges between names, of which entities
// begin with e and notes with n.
type model struct {
	live     map[string]bool
	edges    []graph.Arc
	computed []graph.Arc // seen only from their From
}

var (
	entityIDs = []string{"e1", "e2", "e3", "e4", "e5", "e6"}
	noteIDs   = []string{"n1", "n2", "n3"}
)

// drawWorld puts random records into a store, some of them archived or
// archived, with cycles and self references, and returns what they say.
func drawWorld(t *rapid.T) (*world, *model) {
	w, m := open(t), &model{live: make(map[string]bool)}
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	// Without computed fields every edge can be seen from both ends, which is
	// another search.
	fields := []entities.Field{
		{Name: "one", Type: record.EntityRef},
		{Name: "many", Type: record.EntityRefList},
		{Name: "note", Type: record.NoteRef},
		{Name: "text", Type: record.Text},
	}
	computed := rapid.Bool().Draw(t, "computed")
	if computed {
		fields = append(fields,
			entities.Field{Name: "back", Type: record.Computed, Query: "SELECT t FROM T WHERE t.one = {this}"},
			entities.Field{Name: "hubs", Type: record.Computed, Query: "SELECT t FROM T WHERE t.text = 'hub'"})
	}
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "T", Fields: fields}, nil, true)
	fail(err)
	hub := ""
	if rapid.Bool().Draw(t, "has hub") {
		hub = rapid.SampledFrom(entityIDs).Draw(t, "hub")
	}
	entity := rapid.SampledFrom(append([]string{"ghost"}, entityIDs...))
	note := rapid.SampledFrom(append([]string{"none"}, noteIDs...))
	ones := make(map[string]string)
	for _, id := range entityIDs {
		fields := entities.Values{}
		add := func(field, to string) { m.edges = append(m.edges, graph.Arc{From: id, To: to, Field: field}) }
		if rapid.Bool().Draw(t, "has one") {
			to := entity.Draw(t, "one")
			fields["one"], ones[id] = to, to
			add("one", to)
		}
		if many := rapid.SliceOfN(entity, 0, 2).Draw(t, "many"); len(many) > 0 {
			fields["many"] = many
			for _, to := range many {
				add("many", to)
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "has note") == 0 {
			to := note.Draw(t, "note")
			fields["note"] = to
			add("note", to)
		}
		if id == hub {
			fields["text"] = "hub"
		}
		w.put(t, id, fields)
		m.live[id] = true
	}
	for _, id := range noteIDs {
		body := ""
		for _, to := range rapid.SliceOfN(note, 0, 2).Draw(t, "links") {
			if to != "none" {
				body += "[[Note " + to + "]] "
				m.edges = append(m.edges, graph.Arc{From: id, To: to, Field: graph.WikiLink})
			}
		}
		_, err := w.notes.Put(ctx, notes.Draft{ID: id, Title: "Note " + id, Body: body}, nil)
		fail(err)
		m.live[id] = true
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(entityIDs), 0, 2, rapid.ID).Draw(t, "trash") {
		_, err := w.ents.Archive(ctx, id, nil)
		fail(err)
		m.live[id] = false
	}
	if rapid.Bool().Draw(t, "archive") {
		_, err := w.notes.Archive(ctx, "n3", nil)
		fail(err)
		m.live["n3"] = false
	}
	if computed {
		for from, to := range ones {
			m.computed = append(m.computed, graph.Arc{From: to, To: from, Field: "back"})
		}
		for _, id := range entityIDs {
			m.computed = append(m.computed, graph.Arc{From: id, To: hub, Field: "hubs"})
		}
	}
	gone := func(a graph.Arc) bool { return !m.live[a.From] || !m.live[a.To] }
	m.edges, m.computed = slices.DeleteFunc(m.edges, gone), slices.DeleteFunc(m.computed, gone)
	slices.SortFunc(m.edges, compareArcs)
	m.edges = slices.Compact(m.edges)
	return w, m
}

func compareArcs(a, b graph.Arc) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Field, b.Field))
}

// distances are the edges to each node from one, by relaxing all edges until
// nothing changes. Computed edges lead only forwards.
func (m *model) distances(from string) map[string]int {
	d := map[string]int{from: 0}
	for changed := true; changed; {
		changed = false
		relax := func(a, b string) {
			if da, ok := d[a]; ok {
				if db, ok := d[b]; !ok || db > da+1 {
					d[b], changed = da+1, true
				}
			}
		}
		for _, e := range m.edges {
			relax(e.From, e.To)
			relax(e.To, e.From)
		}
		for _, e := range m.computed {
			relax(e.From, e.To)
		}
	}
	return d
}

func sorted(arcs []graph.Arc) []graph.Arc {
	arcs = slices.Clone(arcs)
	slices.SortFunc(arcs, compareArcs)
	return arcs
}

// TestNeighborsAgainstAPlainModel compares nodes, depths and edges with those of
// a list of edges, on graphs with cycles, self references, archived ones.
func TestNeighborsAgainstAPlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, m := drawWorld(t)
		start := rapid.SampledFrom(slices.Concat(entityIDs, noteIDs)).Draw(t, "start")
		depth := rapid.IntRange(1, 4).Draw(t, "depth")
		got, err := w.graph.Neighbors(ctx, start, depth, nil)
		if !m.live[start] {
			if err == nil {
				t.Fatalf("%s is gone and has neighbours", start)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := m.distances(start)
		shown := make(map[string]bool)
		last := 0
		for _, v := range got.Nodes {
			if d, ok := want[v.ID]; !ok || d != v.Depth || d > depth || d < last || shown[v.ID] {
				t.Fatalf("%s at depth %d after %d; the model says %v", v.ID, v.Depth, last, want)
			}
			shown[v.ID], last = true, v.Depth
		}
		for id, d := range want {
			if d <= depth && !shown[id] {
				t.Fatalf("%s at %d is missing", id, d)
			}
		}
		var edges []graph.Arc
		for _, e := range slices.Concat(m.edges, m.computed) {
			if shown[e.From] && shown[e.To] {
				edges = append(edges, e)
			}
		}
		if got, want := sorted(got.Edges), sorted(edges); !slices.Equal(got, want) {
			t.Fatalf("edges %v, want %v", got, want)
		}
	})
}

// TestPathAgainstAPlainModel compares the length of ways, and checks that each
// way consists of edges that are there, that none comes twice, that all are
// listed, and that the same question has the same answer.
func TestPathAgainstAPlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, m := drawWorld(t)
		id := rapid.SampledFrom(slices.Concat(entityIDs, noteIDs))
		from, to := id.Draw(t, "from"), id.Draw(t, "to")
		most := rapid.IntRange(1, 8).Draw(t, "most")
		one, err := w.graph.Path(ctx, from, to, most)
		if !m.live[from] || !m.live[to] {
			if err == nil {
				t.Fatal("a way from or to what is gone")
			}
			return
		}
		all, err2 := w.graph.Paths(ctx, from, to, most, graph.MaxWays)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		length := -1
		there, back := m.distances(from), m.distances(to)
		for id, d := range there {
			if d2, ok := back[id]; ok && d+d2 <= most && (length < 0 || d+d2 < length) {
				length = d + d2
			}
		}
		if len(one.Nodes) != length+1 || length >= 0 && len(one.Edges) != length {
			t.Fatalf("%d nodes and %d edges for a way of %d", len(one.Nodes), len(one.Edges), length)
		}
		if again, _ := w.graph.Paths(ctx, from, to, most, graph.MaxWays); fmt.Sprint(again) != fmt.Sprint(all) {
			t.Fatalf("%v, then %v", all, again)
		}
		if length < 0 {
			if len(all.Nodes) > 0 || len(all.Ways) > 0 {
				t.Fatalf("a way where there is none: %+v", all)
			}
			return
		}
		checkWays(t, m, all, one, from, to, length)
	})
}

func checkWays(t *rapid.T, m *model, all, one *graph.Subgraph, from, to string, length int) {
	known := slices.Concat(m.edges, m.computed)
	seen := make(map[string]bool)
	steps := make(map[[2]string]bool)
	for n, way := range all.Ways {
		var ids []string
		for _, at := range way {
			ids = append(ids, all.Nodes[at].ID)
		}
		if len(ids) != length+1 || ids[0] != from || ids[length] != to || seen[fmt.Sprint(ids)] {
			t.Fatalf("way %v from %s to %s, %d edges", ids, from, to, length)
		}
		seen[fmt.Sprint(ids)] = true
		for i := range length {
			steps[[2]string{ids[i], ids[i+1]}] = true
			if n == 0 && (one.Nodes[i].ID != ids[i] || one.Nodes[i].Depth != i) {
				t.Fatalf("Path went by %v, Paths first by %v", one.Nodes, ids)
			}
		}
	}
	var edges []graph.Arc
	for _, e := range known {
		if steps[[2]string{e.From, e.To}] || steps[[2]string{e.To, e.From}] {
			edges = append(edges, e)
		}
	}
	if got, want := sorted(all.Edges), sorted(edges); !slices.Equal(got, want) {
		t.Fatalf("edges %v, want %v", got, want)
	}
	for _, e := range one.Edges {
		if !slices.Contains(known, e) {
			t.Fatalf("there is no edge %v", e)
		}
	}
	if len(m.computed) == 0 && !all.MoreWays { // every edge can be seen from both ends
		if want := m.count(from, to, length); len(all.Ways) != want {
			t.Fatalf("%d ways, want %d", len(all.Ways), want)
		}
	}
}

// count counts the ways of so many edges between two nodes.
func (m *model) count(from, to string, length int) int {
	if length == 0 {
		if from == to {
			return 1
		}
		return 0
	}
	next := make(map[string]bool)
	for _, e := range m.edges {
		if e.From == from {
			next[e.To] = true
		}
		if e.To == from {
			next[e.From] = true
		}
	}
	n := 0
	for id := range next {
		n += m.count(id, to, length-1)
	}
	return n
}

// TestPath_ComputedFromEitherEnd has edges that only one end can see.
func TestPath_ComputedFromEitherEnd(t *testing.T) {
	w := open(t)
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "T", Fields: []entities.Field{
		{Name: "text", Type: record.Text},
		{Name: "next", Type: record.Computed, Query: "SELECT t FROM T WHERE t.after = {this.text}"},
		{Name: "after", Type: record.Text},
	}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"a", "b", "c", "d"} {
		w.put(t, id, entities.Values{"text": id, "after": string(rune('a' + i - 1))})
	}
	for _, ends := range [][2]string{{"a", "d"}, {"d", "a"}, {"a", "b"}, {"b", "a"}} {
		s, err := w.graph.Path(ctx, ends[0], ends[1], 3)
		if err != nil {
			t.Fatal(err)
		}
		if want := int(max(ends[0][0], ends[1][0])-min(ends[0][0], ends[1][0])) + 1; len(s.Nodes) != want || len(s.Edges) != want-1 {
			t.Errorf("%v: %+v", ends, s)
		}
	}
}

// TestOneIDForTwoRecords has an entity and a note of the same id.
func TestOneIDForTwoRecords(t *testing.T) {
	w := open(t)
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "x", Title: "X"}, nil); err != nil {
		t.Fatal(err)
	}
	w.put(t, "x", entities.Values{"note": "x", "one": "y"})
	w.put(t, "y", nil)
	sub, err := w.graph.Neighbors(ctx, "x", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []graph.Arc{
		{From: "x", To: "y", Field: "one", FromKind: "entity"},
		{From: "x", To: "x", Field: "note", FromKind: "entity", ToKind: "note"},
		{From: "y", To: "x", Field: "back", ToKind: "entity"},
	}
	if !slices.Equal(sub.Edges, want) {
		t.Fatalf("%+v", sub.Edges)
	}
	from, to, ok := graph.IndexOf(sub).Ends(sub.Edges[1])
	if !ok || sub.Nodes[from].Kind != "entity" || sub.Nodes[to].Kind != "note" {
		t.Errorf("%d, %d, %v", from, to, ok)
	}
}
