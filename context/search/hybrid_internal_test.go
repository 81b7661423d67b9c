package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
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

// What each list adds is told: by score in proportion to the best of the list, by rank by
// the place.
func TestSRCH13_FusionIsExplained(t *testing.T) {
	r := library(t)
	r.opts.Weights = Weights{Lexical: 2, Semantic: 0.25}
	for _, c := range []struct {
		fusion         Fusion
		words, meaning float64
		worth          func(score, best, rank, floor float64) float64
	}{
		{ByScore, 8. / 9, 1. / 9, func(score, best, _, floor float64) float64 { return max(0, score-floor) / (best - floor) }},
		{ByRank, 2, 0.25, func(_, _, rank, _ float64) float64 { return 1 / (60 + rank) }},
	} {
		r.opts.Fusion = c.fusion
		fusionIsExplained(t, r, c.words, c.meaning, c.worth)
	}
}

func fusionIsExplained(t *testing.T, r *rooms, byWords, byMeaning float64, worth func(score, best, rank, floor float64) float64) {
	t.Helper()
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
	if f := *first.Fused; f.By != r.opts.Fusion || math.Abs(f.Words-byWords)+math.Abs(f.Meaning-byMeaning) > 1e-9 || f.Known != 1 {
		t.Errorf("the lists count %+v, want %v and %v", f, byWords, byMeaning)
	}
	for i, h := range first.Hits {
		s := signals(h)
		if math.Abs(s["fused:lexical"]+s["fused:semantic"]-h.Score) > 1e-9 {
			t.Errorf("%s: %v do not add up to %v", h.Doc.ID(), s, h.Score)
		}
		for _, l := range []struct {
			name          string
			list          []Hit
			weight, floor float64
		}{{"lexical", words.Hits, byWords, 0}, {"semantic", near.Hits, byMeaning, floorCosine}} {
			at := slices.IndexFunc(l.list, func(o Hit) bool { return o.Doc == h.Doc })
			rank, in := s["rank:"+l.name]
			if !in {
				continue
			}
			gives := l.weight * worth(l.list[at].Score, l.list[0].Score, rank, l.floor)
			if int(rank) != at+1 || s[l.name] != l.list[at].Score || math.Abs(s["fused:"+l.name]-gives) > 1e-9 {
				t.Errorf("%s: %v, but it is %d of the list %s, with %v, which gives %v", h.Doc.ID(), s, at+1, l.name, l.list[at].Score, gives)
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
	builtin := embed.LazyBuiltinTable()
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
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b", Remote: true}, Gate: func(s string) string { return s }})
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
	if _, placed := signals(h)["rank:semantic"]; h.Doc.ID() != "best" || placed || math.Abs(h.Score-1) > 1e-9 ||
		h.Score != signals(h)["fused:lexical"]+signals(h)["fused:assumed"] {
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
	tells := func(docs float64) float64 { return math.Log(1 + (5-docs+0.5)/(docs+0.5)) } // a word of so many of five notes
	found := tells(1) + tells(4)
	for query, known := range map[string]float64{
		"steam honey trains":             1,
		"steam honey zugfahrt dampflok ": found / (found + 2*tells(0)), // by what the words tell
	} {
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5, Explain: true})
		must(t, err)
		words := known / (known + 0.7)
		if math.Abs(res.Fused.Known-known) > 1e-9 || math.Abs(res.Fused.Words-words) > 1e-9 || math.Abs(res.Fused.Meaning-(1-words)) > 1e-9 {
			t.Errorf("%q: the lists count %+v, want %v for words", query, *res.Fused, words)
		}
		if len(res.Hits) == 0 || res.Hits[0].Doc.ID() != "rail" || math.Abs(signals(res.Hits[0])["fused:lexical"]-words) > 1e-9 {
			t.Errorf("%q: found %+v", query, res.Hits)
		}
	}
}

// What the words of a query in another language find is chance, and a model that knows both
// languages needs none of them. For other models they count by their number.
func TestSRCH13_AModelOfManyLanguagesNeedsNoWords(t *testing.T) {
	const foreign = "honig zugfahrt steam dampflok und schienenweg " // one of six words is known
	for model, want := range map[string]float64{"ctxd-multilingual-1": 0, "b": 1. / 6} {
		r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: model}})
		r.put(t,
			notes.Draft{ID: "rail", Title: "Rails", Body: "Steam trains, and honey for the driver."},
			notes.Draft{ID: "far", Title: "Far", Body: "A great many other words, which are about hives, wax, loads and cells."},
		)
		r.settled(t)
		for query, want := range map[string]float64{foreign: want, "steam honey trains ": 1} {
			res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5, Explain: true})
			must(t, err)
			if f := res.Fused; f == nil || math.Abs(f.Known-want) > 1e-9 || f.Words > 0 != (want > 0) {
				t.Errorf("%s, %q: %+v, want known %v", model, query, f, want)
			}
		}
	}
}

// What is absent from a list of full length has at most the score of its last, and counts
// so; what is absent from a shorter one has nothing.
func TestSRCH13_AbsentFromAFullListCountsAsItsLast(t *testing.T) {
	docs := library(t)
	hit := func(id string, score float64, found Mode) Hit {
		h := Hit{Doc: docs.src.Get(id), Score: score, Found: found}
		if found == Lexical {
			h.Lexical = &LexicalSignal{Score: score}
		} else {
			h.Semantic = &SemanticSignal{Cosine: score}
		}
		return h
	}
	for depth, want := range map[int]string{
		2: "hive 1.000 wax 0.375 rail 0.375",
		3: "hive 1.000 rail 0.250 wax 0.125",
	} {
		f := fusion{weights: Weights{1, 1}, known: 1, depth: depth, knows: func(string) bool { return true }}
		words := []Hit{hit("hive", 4, Lexical), hit("wax", 1, Lexical)}
		near := []Hit{hit("hive", floorCosine+0.8, Semantic), hit("rail", floorCosine+0.4, Semantic)}
		var got []string
		for _, h := range f.fuse(words, near) {
			got = append(got, fmt.Sprintf("%s %.3f", h.Doc.ID(), h.Score))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("of lists of %d: %s, want %s", depth, s, want)
		}
	}
}

// Where nothing is near, the list by meaning says little, unless there is no other.
func TestSRCH13_MeaningThatIsFarCountsLess(t *testing.T) {
	docs := library(t)
	for _, c := range []struct{ nearest, known, want float64 }{
		{sureCosine, 1, 0.5},
		{1, 1, 0.5},
		{(sureCosine + doubtCosine) / 2, 1, 1. / 3},
		{doubtCosine, 1, 0},
		{0, 1, 0},
		{(sureCosine + doubtCosine) / 2, 0.5, 0.5},
	} {
		f := fusion{weights: Weights{1, 1}, known: c.known, depth: 100, knows: func(string) bool { return true }}
		hive := docs.src.Get("hive")
		words := []Hit{{Doc: hive, Score: 2, Lexical: &LexicalSignal{Score: 2}}}
		near := []Hit{{Doc: hive, Score: c.nearest, Semantic: &SemanticSignal{Cosine: c.nearest}}}
		f.fuse(words, near)
		if math.Abs(f.meaning-c.want) > 1e-9 {
			t.Errorf("nearest %v, known %v: meaning counts %v, want %v", c.nearest, c.known, f.meaning, c.want)
		}
		f.known = 0
		f.fuse(nil, near)
		if f.meaning != 1 {
			t.Errorf("nearest %v and no words: meaning counts %v", c.nearest, f.meaning)
		}
	}
}
