package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/embed/table"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// library is some notes about bees, and one about trains with the same tag.
func library(t *testing.T) *rooms {
	t.Helper()
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t,
		notes.Draft{ID: "hive", Title: "Hive", Body: "The load cell under the hive weighs honey.", Tags: []string{"bees"}, Folder: "a"},
		notes.Draft{ID: "wax", Title: "Wax", Body: "Honey and wax of the hive, no cell load here.", Tags: []string{"bees"}, Folder: "b"},
		notes.Draft{ID: "rail", Title: "Rails", Body: "Steam trains, and honey for the driver.", Tags: []string{"trains"}, Folder: "b"},
		notes.Draft{ID: "err", Title: "Faults", Body: "What ERR-4711 stands for: the radio.", Folder: "b"},
		notes.Draft{ID: "old", Title: "Old hive", Body: "An old hive with honey.", Folder: "c"},
	)
	_, err := r.notes.Archive(ctx, "old", nil)
	must(t, err)
	r.settled(t)
	return r
}

func TestSRCH13_FiltersHoldForBothWays(t *testing.T) {
	r := library(t)
	for _, mode := range []Mode{Hybrid, Semantic} {
		for _, c := range []struct {
			query  string
			filter notes.SearchFilter
			want   []string // the notes that may be found; the first must be
		}{
			{"hive honey weight", notes.SearchFilter{}, []string{"hive", "wax", "rail", "err"}},
			{"hive honey weight", notes.SearchFilter{Archived: true}, []string{"old", "hive", "wax", "rail", "err"}},
			{"hive honey weight", notes.SearchFilter{Tags: []string{"trains"}}, []string{"rail"}},
			{"hive honey weight", notes.SearchFilter{Folder: []string{"b"}}, []string{"wax", "rail", "err"}},
			{"hive honey weight", notes.SearchFilter{After: time.Now().Add(time.Hour)}, nil},
			{"hive honey weight tag:bees", notes.SearchFilter{}, []string{"hive", "wax"}},
			{"hive honey weight -tag:bees", notes.SearchFilter{}, []string{"rail", "err"}},
			{"hive honey weight -wax", notes.SearchFilter{}, []string{"hive", "rail", "err"}},
			{`honey weight "load cell"`, notes.SearchFilter{}, []string{"hive"}},
			{`honey weight -"load cell"`, notes.SearchFilter{}, []string{"wax", "rail", "err"}},
			{`honey weight "cell phone"`, notes.SearchFilter{}, nil},
		} {
			got := strings.Fields(r.find(t, Request{Query: c.query, Mode: mode, Keep: r.chosen(c.filter)}))
			if len(c.want) > 0 && !slices.Contains(got, c.want[0]) || len(got) > len(c.want) {
				t.Errorf("%s %q %+v: found %q, want some of %q", mode, c.query, c.filter, got, c.want)
			}
			for _, id := range got {
				if !slices.Contains(c.want, id) {
					t.Errorf("%s %q %+v: %s is not to be found", mode, c.query, c.filter, id)
				}
			}
		}
	}
}

func TestSRCH13_QueriesThatMeaningHasNoPartIn(t *testing.T) {
	r := library(t)
	for query, want := range map[string]Mode{
		`"load cell"`:              Lexical,
		"tag:bees":                 Lexical,
		`tag:bees "honey and wax"`: Lexical,
		"hi":                       Lexical,
		"hiv":                      Lexical,
		"ERR-4711":                 Lexical,
		"loadCell":                 Lexical,
		"load_cell":                Lexical,
		"hive":                     Hybrid,
		"hi ":                      Hybrid,
		"what is ERR-4711":         Hybrid,
		`honey "load cell"`:        Hybrid,
	} {
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5})
		must(t, err)
		if res.Mode != want || res.Degraded != "" {
			t.Errorf("%q: mode %s, want %s (%s)", query, res.Mode, want, res.Degraded)
		}
	}
	if got := r.find(t, Request{Query: "what is ERR-4711", Mode: Hybrid}); !strings.HasPrefix(got, "err") {
		t.Errorf("found %q", got)
	}
}

func TestSRCH13_FusionIsExplained(t *testing.T) {
	r := library(t)
	r.opts.Weights = Weights{Lexical: 2, Semantic: 0.25}
	req := Request{Query: "honey of the hive", Mode: Hybrid, Limit: 5, Explain: true, Snippets: true}
	first, err := r.Search(ctx, req)
	must(t, err)
	words, err := r.Search(ctx, Request{Query: req.Query, Limit: 100})
	must(t, err)
	near, err := r.Search(ctx, Request{Query: req.Query, Mode: Semantic, Limit: 100})
	must(t, err)
	if len(first.Hits) < 3 || first.Understood == nil {
		t.Fatalf("%d hits", len(first.Hits))
	}
	for i, h := range first.Hits {
		s := signals(h)
		if math.Abs(s["fused:lexical"]+s["fused:semantic"]-h.Score) > 1e-9 {
			t.Errorf("%s: %v do not add up to %v", h.Doc.ID(), s, h.Score)
		}
		for _, l := range []struct {
			name   string
			list   []Hit
			weight float64
		}{{"lexical", words.Hits, 2}, {"semantic", near.Hits, 0.25}} {
			at := slices.IndexFunc(l.list, func(o Hit) bool { return o.Doc == h.Doc })
			rank, in := s["rank:"+l.name]
			switch {
			case !in:
			case int(rank) != at+1 || s[l.name] != l.list[at].Score || s["fused:"+l.name] != l.weight/(60+rank):
				t.Errorf("%s: %v, but it is %d of the list %s, with %v", h.Doc.ID(), s, at+1, l.name, l.list[at].Score)
			}
		}
		if h.Found != Semantic && s["field:body"] == 0 || h.Found == Hybrid && s["chunk"] != 1 {
			t.Errorf("%s, found by %s: %v", h.Doc.ID(), h.Found, s)
		}
		if i > 0 && h.Score > first.Hits[i-1].Score {
			t.Error("the hits are not in order")
		}
	}
	for range 5 {
		again, err := r.Search(ctx, req)
		must(t, err)
		if fmt.Sprint(told(again.Hits)) != fmt.Sprint(told(first.Hits)) {
			t.Fatal("another order, or another explanation")
		}
	}
}

// A hit that only its meaning found shows the part that is nearest.
func TestSRCH10_SnippetIsTheNearestPart(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t, notes.Draft{ID: "a", Title: "T", Body: "# One\n\nsteam rails trains\n\n# Two\n\nhoney bees wax\n\n# Three\n\nbread salt\n"})
	r.settled(t)
	res, err := r.Search(ctx, Request{Query: "bees wax honeys", Mode: Semantic, Limit: 1, Snippets: true, Explain: true})
	must(t, err)
	h := res.Hits[0]
	if h.Snippet != "honey bees wax" || !slices.Equal(h.Ranges, [][2]int{{0, 5}, {6, 10}, {11, 14}}) || signals(h)["chunk"] != 2 || h.Score != signals(h)["semantic"] {
		t.Errorf("snippet %q %v, signals %v", h.Snippet, h.Ranges, signals(h))
	}
}

func TestSRCH13_ALateVectorIsNotWaitedFor(t *testing.T) {
	r := library(t)
	gate := make(chan struct{})
	defer close(gate)
	b := r.opts.Embedder.(*embedtest.Bags)
	b.Set(func() { b.Gate = gate })
	res, err := r.Search(ctx, Request{Query: "honey somewhere", Mode: Hybrid, Limit: 5})
	must(t, err)
	if res.Mode != Lexical || res.Stage != "semantic" || !strings.Contains(res.Degraded, "in time") || len(res.Hits) == 0 {
		t.Errorf("mode %s, degraded %q, %d hits", res.Mode, res.Degraded, len(res.Hits))
	}
	if _, err := r.Search(ctx, Request{Query: "honey somewhere", Mode: Semantic, Limit: 5}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("semantic: %v", err)
	}
}

func TestSRCH13_WithoutAnEmbedder(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
	res, err := r.Search(ctx, Request{Query: "bees keep", Mode: Hybrid, Limit: 5})
	must(t, err)
	if res.Mode != Lexical || res.Degraded == "" || len(res.Hits) != 1 {
		t.Errorf("%+v", res)
	}
	if _, err := r.Search(ctx, Request{Query: "bees keep", Mode: Semantic, Limit: 5}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("semantic: %v", err)
	}
}

// The built-in model finds what has no word of the query, and no noise for what
// means nothing.
func TestSRCH13_BuiltinModel(t *testing.T) {
	builtin := table.BuiltinWhenAsked()
	r := openAll(t, kv.InMemory, Options{Embedder: builtin})
	r.put(t,
		notes.Draft{ID: "car", Title: "Garage", Body: "The automobile needs new tyres before winter."},
		notes.Draft{ID: "cake", Title: "Kitchen", Body: "Bake it for forty minutes, then let the cake cool."},
	)
	r.settled(t)
	if got := r.find(t, Request{Query: "vehicle wheels for the snow", Mode: Hybrid}); !strings.HasPrefix(got, "car") {
		t.Errorf("found %q", got)
	}
	if got := r.find(t, Request{Query: "qwertyzxcv", Mode: Hybrid}); got != "" {
		t.Errorf("nonsense found %q", got)
	}
	res, err := r.Search(ctx, Request{Query: "養蜂", Mode: Hybrid, Limit: 5})
	must(t, err)
	if res.Mode != Lexical || !strings.Contains(res.Degraded, "knows no word") {
		t.Errorf("mode %s, degraded %q", res.Mode, res.Degraded)
	}
	res, err = r.Search(ctx, Request{Query: "養蜂", Mode: Semantic, Limit: 5}) // asking again would not help
	must(t, err)
	if res.Mode != Semantic || len(res.Hits) > 0 || !strings.Contains(res.Degraded, "knows no word") {
		t.Errorf("mode %s, degraded %q, %d hits", res.Mode, res.Degraded, len(res.Hits))
	}
}

func TestSRCH13_AListOfNoWeightAddsNoHits(t *testing.T) {
	r := library(t)
	for _, c := range []struct {
		weights Weights
		mode    Mode
	}{{Weights{Lexical: 1}, Lexical}, {Weights{Semantic: 1}, Semantic}} {
		r.opts.Weights = c.weights
		hybrid := r.find(t, Request{Query: "steam honey hive", Mode: Hybrid})
		if alone := r.find(t, Request{Query: "steam honey hive", Mode: c.mode}); !strings.HasPrefix(alone, hybrid) || hybrid == "" {
			t.Errorf("%+v: found %q, %s alone %q", c.weights, hybrid, c.mode, alone)
		}
	}
}

// A note without vectors, as all are for a while after an import, is not put behind
// those that were embedded before it.
func TestSRCH13_WithoutVectorsTheWordsCountForBoth(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b", Remote: true}})
	best := notes.Draft{ID: "best", Title: "Hive honey weight", Body: "The honey weight of a hive.", Private: true} // held back
	r.put(t, best,
		notes.Draft{ID: "near", Title: "Hive", Body: "Hive honey weight, and a long list of what else is to be said of bees."},
		notes.Draft{ID: "far", Title: "Rails", Body: "A driver likes honey, steam, trains and a great many other things."},
	)
	r.settled(t)
	query := Request{Query: "hive honey weight", Mode: Hybrid, Limit: 5, Explain: true}
	res, err := r.Search(ctx, query)
	must(t, err)
	h := res.Hits[0]
	if _, placed := signals(h)["rank:semantic"]; h.Doc.ID() != "best" || placed || h.Score != 1.5/61 ||
		h.Score != signals(h)["fused:lexical"]+signals(h)["fused:semantic"] {
		t.Errorf("first is %s with %v: %v", h.Doc.ID(), h.Score, signals(h))
	}
	if other := res.Hits[1]; other.Doc.ID() != "near" || other.Found != Hybrid {
		t.Errorf("second is %s, found by %s", other.Doc.ID(), other.Found)
	}
	best.Private = false
	r.put(t, best)
	r.settled(t)
	res, err = r.Search(ctx, query)
	must(t, err)
	if h := res.Hits[0]; h.Doc.ID() != "best" || signals(h)["rank:semantic"] != 1 {
		t.Errorf("with vectors, first is %s: %v", h.Doc.ID(), signals(h))
	}
}

// Of a question of whose words few are in any note, the list by words says little.
func TestSRCH13_WordsThatNoNoteHasCountLess(t *testing.T) {
	r := library(t)
	for query, share := range map[string]float64{
		"steam honey trains":             1,
		"steam honey zugfahrt dampflok ": 0.5,
	} {
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5, Explain: true})
		must(t, err)
		for _, h := range res.Hits {
			if rank, in := signals(h)["rank:lexical"]; in && math.Abs(signals(h)["fused:lexical"]-share/(60+rank)) > 1e-9 {
				t.Errorf("%q: place %v of the words gives %s %v, want %v of 1/(60+place)", query, rank, h.Doc.ID(), signals(h)["fused:lexical"], share)
			}
		}
		if len(res.Hits) == 0 || res.Hits[0].Doc.ID() != "rail" {
			t.Errorf("%q: found %+v", query, res.Hits)
		}
	}
}
