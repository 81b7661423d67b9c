package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

var ctx = context.Background()

type world struct {
	db    *kv.Store
	ents  *entities.Store
	notes *notes.Store
	graph *graph.Graph
}

type tester interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

func open(t tester) *world {
	t.Helper()
	w := &world{}
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	must()
	t.Cleanup(func() { w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{})
	must()
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{})
	must()
	engine := wql.New(w.ents, wql.Options{})
	w.db.OnCommit(engine.Apply)
	w.graph = graph.Open(w.db, w.ents, w.notes, engine)
	_, _, err = w.ents.PutType(ctx, entities.Type{Name: "T", Fields: []entities.Field{
		{Name: "one", Type: record.EntityRef},
		{Name: "many", Type: record.EntityRefList},
		{Name: "note", Type: record.NoteRef},
		{Name: "back", Type: record.Computed, Query: "SELECT t FROM T WHERE t.one = {this}"},
		{Name: "n", Type: record.Computed, Query: "SELECT COUNT(*) FROM T WHERE one = {this}"},
		{Name: "text", Type: record.Text},
	}}, nil, false)
	must()
	return w
}

func (w *world) put(t tester, id string, fields entities.Values) {
	t.Helper()
	if _, err := w.ents.Put(ctx, entities.Entity{ID: id, Type: "T", Name: "E " + id, Fields: fields}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestGraphAgainstAPlainModel changes entities at random and compares the
// adjacency with what the records say.
func TestGraphAgainstAPlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := open(t)
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "ghost"})
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			who := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "who")
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				if _, err := w.ents.Delete(ctx, who, nil); err != nil && fault.KindOf(err) != fault.NotFound {
					t.Fatal(err)
				}
			case 1:
				if _, err := w.ents.Archive(ctx, who, nil); err != nil && fault.KindOf(err) != fault.NotFound {
					t.Fatal(err)
				}
			default:
				w.put(t, who, entities.Values{"one": id.Draw(t, "one"), "many": rapid.SliceOfN(id, 0, 3).Draw(t, "many"), "note": "n"})
			}
		}
		back := make(map[graph.Key][]string)
		for _, from := range []string{"a", "b", "c", "d"} {
			var want []graph.Ref
			if e := w.ents.Get(from); e != nil {
				for _, f := range []string{"one", "many"} {
					for _, to := range e.Strings(f) {
						want = append(want, graph.Ref{Key: graph.Key{Kind: graph.Entity, ID: to}, Field: f})
					}
				}
				want = append(want, graph.Ref{Key: graph.Key{Kind: graph.Note, ID: "n"}, Field: "note"})
			}
			for _, ref := range want {
				if !slices.Contains(back[ref.Key], from) {
					back[ref.Key] = append(back[ref.Key], from)
				}
			}
			if got := w.graph.References(from); !slices.Equal(got, want) {
				t.Fatalf("references of %s are %v, want %v", from, got, want)
			}
		}
		for _, key := range []graph.Key{{Kind: graph.Entity, ID: "a"}, {Kind: graph.Entity, ID: "ghost"}, {Kind: graph.Note, ID: "n"}} {
			if got := w.graph.Referrers(key); !slices.Equal(got, back[key]) {
				t.Fatalf("referrers of %v are %v, want %v", key, got, back[key])
			}
		}
	})
}

// TestCTX10_WalkAgainstAPlainModel compares the walk with a textbook
// breadth-first search on random graphs with cycles and self loops.
func TestCTX10_WalkAgainstAPlainModel(t *testing.T) {
	w := open(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		node := rapid.Map(rapid.IntRange(0, n-1), func(i int) graph.Node { return graph.Node(i) })
		edges := make([][]graph.Node, n)
		for i := range edges {
			edges[i] = rapid.SliceOfN(node, 0, 4).Draw(t, "edges")
		}
		roots := rapid.SliceOfN(node, 0, 3).Draw(t, "roots")
		depth := rapid.IntRange(0, 5).Draw(t, "depth")
		var want []graph.Step
		seen := make(map[graph.Node]bool)
		level := roots
		for d := 0; d <= depth; d++ {
			var next []graph.Node
			for _, v := range level {
				if !seen[v] {
					seen[v] = true
					want = append(want, graph.Step{Node: v, Depth: d})
					next = append(next, edges[v]...)
				}
			}
			level = next
		}
		var got []graph.Step
		w.graph.Walk(roots, depth, func(s graph.Step) []graph.Node {
			got = append(got, s)
			return edges[s.Node]
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func ids(s *graph.Subgraph) (nodes, edges []string) {
	for _, v := range s.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s %s %d", v.Kind, v.ID, v.Depth))
	}
	for _, e := range s.Edges {
		edges = append(edges, e.From+"."+e.Field+" "+e.To)
	}
	return nodes, edges
}

func small(t *testing.T) *world {
	w := open(t)
	for id, d := range map[string]notes.Draft{"n1": {Title: "One", Body: "to [[Two]]"}, "n2": {Title: "Two"}, "n3": {Title: "Three"}} {
		d.ID = id
		if _, err := w.notes.Put(ctx, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.put(t, "a", entities.Values{"one": "b", "note": "n1"})
	w.put(t, "b", entities.Values{"one": "a", "many": []string{"b", "c"}})
	w.put(t, "c", entities.Values{"one": "ghost"})
	w.put(t, "lone", nil)
	return w
}

func TestNeighbors(t *testing.T) {
	w := small(t)
	for _, c := range []struct {
		id           string
		depth        int
		kinds        []string
		nodes, edges []string
	}{
		{"c", 1, nil, []string{"entity c 0", "entity b 1"}, []string{"b.many c", "b.many b"}},
		{"a", 1, []string{"entity"}, []string{"entity a 0", "entity b 1"}, []string{"a.one b", "a.back b", "b.one a", "b.many b", "b.back a"}},
		{"n2", 2, nil, []string{"note n2 0", "note n1 1", "entity a 2"}, []string{"n1.link n2", "a.note n1"}},
		{"lone", 4, nil, []string{"entity lone 0"}, nil},
	} {
		s, err := w.graph.Neighbors(ctx, c.id, c.depth, c.kinds)
		if err != nil {
			t.Fatal(err)
		}
		nodes, edges := ids(s)
		slices.Sort(edges)
		slices.Sort(c.edges)
		if diff := cmp.Diff(c.nodes, nodes); diff != "" {
			t.Errorf("%s: %s", c.id, diff)
		}
		if diff := cmp.Diff(c.edges, edges); diff != "" {
			t.Errorf("%s: %s", c.id, diff)
		}
	}
	if _, err := w.graph.Neighbors(ctx, "ghost", 1, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown: %v", err)
	}
	if _, err := w.graph.Neighbors(ctx, "a b", 1, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("bad id: %v", err)
	}
}

func TestPath(t *testing.T) {
	w := small(t)
	for _, c := range []struct {
		from, to     string
		max          int
		nodes, edges []string
	}{
		{"c", "n2", 6, []string{"entity c 0", "entity b 1", "entity a 2", "note n1 3", "note n2 4"}, []string{"b.many c", "b.one a", "a.note n1", "n1.link n2"}},
		{"c", "n2", 3, nil, nil},
		{"a", "a", 0, []string{"entity a 0"}, nil},
		{"a", "lone", 6, nil, nil},
		{"a", "b", 1, []string{"entity a 0", "entity b 1"}, []string{"a.one b"}},
	} {
		s, err := w.graph.Path(ctx, c.from, c.to, c.max)
		if err != nil {
			t.Fatal(err)
		}
		nodes, edges := ids(s)
		if diff := cmp.Diff(c.nodes, nodes); diff != "" {
			t.Errorf("%s to %s: %s", c.from, c.to, diff)
		}
		if diff := cmp.Diff(c.edges, edges); diff != "" {
			t.Errorf("%s to %s: %s", c.from, c.to, diff)
		}
	}
	var f *fault.Error
	if _, err := w.graph.Path(ctx, "a", "ghost", 3); !errors.As(err, &f) || f.Kind != fault.NotFound || f.Field != "to" {
		t.Errorf("%v", err)
	}
}

// TestPathWhileRecordsGo walks while what it meets is archived and comes
// back, and while the type of a field changes.
func TestPathWhileRecordsGo(t *testing.T) {
	w := small(t)
	done := make(chan error)
	go func() {
		defer close(done)
		for range 300 {
			if _, err := w.ents.Archive(ctx, "b", nil); err != nil {
				done <- err
				return
			}
			if _, err := w.ents.Restore(ctx, "b", nil); err != nil {
				done <- err
				return
			}
		}
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		if s, err := w.graph.Path(ctx, "c", "n2", 6); err != nil || len(s.Nodes) != 0 && len(s.Nodes) != 5 {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := w.graph.Resolve(ctx, "a", 3); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResolveEndsInCycles(t *testing.T) {
	w := small(t)
	r, err := w.graph.Resolve(ctx, "a", 4)
	if err != nil {
		t.Fatal(err)
	}
	b := r.Fields["one"].(*graph.Resolved)
	back := b.Fields["one"].(*graph.Resolved)
	if b.ID != "b" || back.ID != "a" || back.Name != "E a" || back.Fields != nil {
		t.Errorf("b %+v, back %+v", b, back)
	}
	self := b.Fields["many"].([]*graph.Resolved)
	if len(self) != 2 || self[0].Fields != nil || self[1].Fields["one"].(*graph.Resolved).State != "unresolved" {
		t.Errorf("many %+v", self)
	}
	if n := r.Fields["n"]; n != 1.0 {
		t.Errorf("the aggregate is %v", n)
	}
	if v := r.Fields["note"].(*graph.Vertex); v.Name != "One" {
		t.Errorf("note %+v", v)
	}
	r, err = w.graph.Resolve(ctx, "a", 0)
	if err != nil || r.Fields["one"] != "b" {
		t.Errorf("depth 0 leaves ids: %+v, %v", r, err)
	}
	if _, err := w.graph.Resolve(ctx, "ghost", 1); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := w.graph.Resolve(ctx, "a", 5); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestStats(t *testing.T) {
	w := small(t)
	w.put(t, "binned", entities.Values{"one": "a", "many": []string{"ghost"}})
	if _, err := w.ents.Archive(ctx, "binned", nil); err != nil {
		t.Fatal(err)
	}
	want := graph.Stats{
		Entities: 4, Notes: 3, References: 5, Links: 1, Dangling: 1,
		Components: 3, Largest: 5, Orphans: 2, MaxDegree: 5, MeanDegree: 12. / 7, MedianDegree: 1,
		Degrees: []graph.Degree{{From: 0, To: 0, Records: 2}, {From: 1, To: 1, Records: 2}, {From: 2, To: 3, Records: 2}, {From: 4, To: 7, Records: 1}},
		Hubs: []graph.Hub{
			{ID: "b", Kind: "entity", Name: "E b", Type: "T", Degree: 5},
			{ID: "a", Kind: "entity", Name: "E a", Type: "T", Degree: 3},
			{ID: "n1", Kind: "note", Name: "One", Type: "", Degree: 2},
			{ID: "c", Kind: "entity", Name: "E c", Type: "T", Degree: 1},
			{ID: "n2", Kind: "note", Name: "Two", Type: "", Degree: 1},
		},
	}
	if diff := cmp.Diff(want, stats(t, w.graph)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(graph.Stats{Degrees: []graph.Degree{}, Hubs: []graph.Hub{}}, stats(t, open(t).graph)); diff != "" {
		t.Error("of nothing:", diff)
	}
}

// TestDescribe names the fields of an entity in words.
func TestDescribe(t *testing.T) {
	w := small(t)
	w.put(t, "long", entities.Values{"text": "two\nlines \u202e" + strings.Repeat("é", 200), "many": []string{"a", "ghost", "a", "b", "c", "a", "lone"}})
	for _, c := range []struct {
		id   string
		n    int
		want []graph.FieldText
	}{
		{"a", 9, []graph.FieldText{{Name: "one", Text: "@E b"}, {Name: "note", Text: "[[One]]"}, {Name: "back", Text: "@E b"}, {Name: "n", Text: "1"}}},
		{"a", 1, []graph.FieldText{{Name: "one", Text: "@E b"}}},
		{"a", 0, nil},
		{"c", 9, []graph.FieldText{{Name: "one", Text: "(missing)"}, {Name: "n", Text: "0"}}},
		{"long", 9, []graph.FieldText{
			{Name: "many", Text: "@E a, (missing), @E a, @E b, @E c (+2 more)"},
			{Name: "n", Text: "0"},
			{Name: "text", Text: "two lines \ufffd" + strings.Repeat("é", 109) + "…"},
		}},
		{"n1", 9, nil},
	} {
		sub, err := w.graph.Path(ctx, c.id, c.id, 1)
		if err == nil {
			err = w.graph.Describe(ctx, sub, c.n)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, sub.Nodes[0].Fields); diff != "" {
			t.Errorf("%s: %s", c.id, diff)
		}
	}
}

func stats(t *testing.T, g *graph.Graph) graph.Stats {
	t.Helper()
	s, err := g.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
