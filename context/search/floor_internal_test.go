package search

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// graphs are notes about the graph view, and a private one.
func graphs(t *testing.T, private bool) *rooms {
	t.Helper()
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t,
		notes.Draft{ID: "view", Title: "Graph view", Body: "The graph view shows notes as points."},
		notes.Draft{ID: "bread", Title: "Bread", Body: "Flour, water and salt."},
	)
	if private {
		r.put(t, notes.Draft{ID: "secret", Title: "Nightjar", Body: "The nightjar budget is a graph of zebras.", Private: true})
	}
	r.settled(t)
	return r
}

func TestSRCH16_CorrectedWordsAreEmbeddedAndSaid(t *testing.T) {
	r := graphs(t, false)
	want := map[string]string{"grpah": "graph", "vew": "view"}
	for _, mode := range []Mode{Lexical, Semantic, Hybrid} {
		wrong, err := r.Search(ctx, Request{Query: "Grpah vew ", Mode: mode, Limit: 5})
		must(t, err)
		if !maps.Equal(wrong.Corrected, want) || len(wrong.Hits) == 0 || wrong.Hits[0].Doc.ID() != "view" {
			t.Errorf("%s: corrected %v, found %v", mode, wrong.Corrected, wrong.Hits)
		}
		right, err := r.Search(ctx, Request{Query: "graph view ", Mode: mode, Limit: 5})
		must(t, err)
		if right.Corrected != nil || mode != Lexical && wrong.Hits[0].Semantic.Cosine != right.Hits[0].Semantic.Cosine {
			t.Errorf("%s: corrected %v, or not embedded as it was corrected", mode, right.Corrected)
		}
	}
	for _, query := range []string{"bread grpah ", "vew brotgraphisch "} { // what is found otherwise; what is of another language
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5})
		must(t, err)
		if res.Corrected != nil {
			t.Errorf("%q: corrected %v", query, res.Corrected)
		}
	}
	for _, c := range [][2]string{{"a grpah, vew!", "a graph, view!"}, {"vew", "view"}, {"no such", "no such"}, {"", ""}, {"vew vew", "view view"}} {
		if got := withCorrections(c[0], want); got != c[1] {
			t.Errorf("%q is embedded as %q, want %q", c[0], got, c[1])
		}
	}
}

func TestSRCH15_NothingIsFoundWhereNothingIsAboutTheQuery(t *testing.T) {
	r := graphs(t, false)
	for query, why := range map[string]string{
		"zzzqqqxxx":               "nothing is about zzzqqqxxx",
		"volcanoes under the sea": "nothing is about volcanoes under the sea",
		`"water flour"`:           "nothing has all of what the query asks for",
		"zebras tag:none":         "nothing has all of what the query asks for",
		"  ":                      "the query has no words",
	} {
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5, Explain: true})
		must(t, err)
		if res.Nothing != why || len(res.Hits) > 0 {
			t.Errorf("%q: %q, want %q; %d hits", query, res.Nothing, why, len(res.Hits))
		}
	}
	for _, query := range []string{"graph view", "bread", "water for the graph of volcanoes"} {
		res, err := r.Search(ctx, Request{Query: query, Mode: Hybrid, Limit: 5})
		must(t, err)
		if res.Nothing != "" || len(res.Hits) == 0 {
			t.Errorf("%q: %q, %d hits", query, res.Nothing, len(res.Hits))
		}
	}
}

// What a public search says of a query is what it would say without private notes.
func TestPRIV6_NothingAndCorrectionsTellNothingOfPrivateNotes(t *testing.T) {
	with, without := graphs(t, true), graphs(t, false)
	for _, query := range []string{
		"nihgtjar", "nightjar", "zebras", "zebra budgte", "grpah vew", "the budget of zebras", "graph of zebras", "zzzqqqxxx",
	} {
		for _, mode := range []Mode{Lexical, Semantic, Hybrid} {
			req := Request{Query: query + " ", Mode: mode, Limit: 5, Public: true, Explain: true}
			got, err := with.Search(ctx, req)
			must(t, err)
			want, err := without.Search(ctx, req)
			must(t, err)
			say := func(r *Result) string { return fmt.Sprint(len(r.Hits), r.Nothing, r.Corrected, r.known, r.all) }
			if say(got) != say(want) {
				t.Errorf("%s %q: %s, want %s", mode, query, say(got), say(want))
			}
		}
	}
	res, err := with.Search(ctx, Request{Query: "nihgtjar ", Mode: Hybrid, Limit: 5})
	must(t, err)
	if res.Corrected["nihgtjar"] != "nightjar" {
		t.Errorf("a local search corrects %v", res.Corrected)
	}
}

// TestSRCH15_QuestionsThatNothingAnswers pins how many questions are refused: of those that
// no note answers, and of those that one does.
func TestSRCH15_QuestionsThatNothingAnswers(t *testing.T) {
	campaign.Only(t)
	builtin, err := embed.BuiltinTable()
	must(t, err)
	asked := make(map[string][]string)
	eachLine(t, filepath.Join("..", "..", "fixtures", "nothing.tsv"), func(line string) {
		if set, text, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			asked[set] = append(asked[set], text)
		}
	})
	var out strings.Builder
	answered, lost := 0, 0
	fmt.Fprintf(&out, "%-24s refused\n", "questions")
	row := func(name string, refused, all int) {
		fmt.Fprintf(&out, "%-24s %3d of %3d\n", name, refused, all)
	}
	measure := func(r *rooms, questions []string) (refused int) {
		for _, text := range questions {
			req := Request{Query: text, Mode: Hybrid, Plain: true}
			if r.findInTime(t, req) == "" {
				refused++
			}
		}
		return refused
	}
	of := func(sets ...*collection) (answers, foreign, near, all int) {
		for _, c := range sets {
			r := openOver(t, c, builtin)
			var texts []string
			for _, q := range c.questions {
				if len(c.relevant[q.ID]) > 0 {
					texts = append(texts, q.Text)
				}
			}
			all += len(texts)
			answers += measure(r, texts)
			foreign += measure(r, asked["foreign"])
			near += measure(r, asked["near"])
			must(t, r.db.Close())
		}
		return answers, foreign, near, all
	}
	names, sets := languages(t)
	for _, set := range []struct {
		name string
		sets []*collection
	}{{"vault", []*collection{paraphrases(t)}}, {"cranfield", []*collection{cranfield(t)}}, {"conversations", conversations(t)}} {
		answers, foreign, near, all := of(set.sets...)
		row(set.name+", answered", answers, all)
		row(set.name+", foreign", foreign, len(set.sets)*len(asked["foreign"]))
		row(set.name+", near", near, len(set.sets)*len(asked["near"]))
		lost, answered = lost+answers, answered+all
		if set.name == "vault" && foreign*100 < 75*len(asked["foreign"]) {
			t.Errorf("%d of the %d foreign questions are refused", foreign, len(asked["foreign"]))
		}
	}
	row("all, answered", lost, answered)
	if lost*100 > 3*answered {
		t.Errorf("%d of %d questions with answers are refused", lost, answered)
	}
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return n == "on german" }) {
		answers, _, _, all := of(sets[name]) // which the built-in table does not know
		row(name+", answered", answers, all)
	}
	pinned(t, "nothing.golden", out.String())
}

// What is found by chance is not shown, unless it is asked for.
func TestSRCH15_WhatIsFoundByChanceIsLeftOut(t *testing.T) {
	builtin, err := embed.BuiltinTable()
	must(t, err)
	r := openAll(t, kv.InMemory, Options{Embedder: builtin})
	r.put(t,
		notes.Draft{ID: "view", Title: "Graph view", Body: "The graph view shows notes as points."},
		notes.Draft{ID: "bread", Title: "Bread", Body: "Flour, water and salt."},
	)
	r.settled(t)
	req := Request{Query: "elections in Norway shows parliamentary hurricanes", Mode: Hybrid, Limit: 5, Plain: true}
	if got := r.findInTime(t, req); got != "" {
		t.Errorf("found %q", got)
	}
	res, err := r.Search(ctx, req)
	must(t, err)
	if no := res.Refused; no == nil || no.Doc.ID() != "view" || no.Score >= no.Floor {
		t.Errorf("refused %+v", no)
	}
}

func TestSRCH15_KnownIsTheShareOfWhatTheWordsTell(t *testing.T) {
	r := graphs(t, false)
	for query, want := range map[string]float64{
		"water ":               1,
		"water volcanoes ":     math.Log(2) / (math.Log(2) + math.Log(6)), // one of two notes, none of two
		"I water my volcanoes": math.Log(2) / (math.Log(2) + math.Log(6)),
		"volcanoes erupt ":     0,
		"water graph ":         1,
		"I":                    1,
	} {
		got, err := r.knownShare(ctx, Request{Query: query, Limit: 5, Plain: true, Keep: r.src.Usual}, &Result{})
		must(t, err)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

// tableLevel is how near documents have to be by the built-in table to a query of which nothing is known.
var tableLevel = LevelsOf(BuiltInModel).Least

// The less of a query is known, the nearer has to be what is nearest.
func TestSRCH15_TheLessIsKnownTheNearerItHasToBe(t *testing.T) {
	r := graphs(t, false)
	half := math.Log(2) / (math.Log(2) + math.Log(6))
	for _, c := range []struct {
		query   string
		known   float64
		nearest float64
		want    bool
	}{
		{"volcanoes erupt", 0, tableLevel, true},
		{"volcanoes erupt", 0, tableLevel - 0.001, false},
		{"the water of volcanoes", 0.5, tableLevel*(1-half) + 0.001, true},
		{"the water of volcanoes", 0.5, tableLevel*(1-half) - 0.001, false},
		{"water volcanoes", 0.5, 0, true}, // a list of words, of which one is known
		{"water salt", 1, 0, true},
		{"Vulkane brechen aus", 0, 0, true},                             // another language
		{"Vulkane brechen", 0, 0, false},                                // of two words nothing can be said
		{"the volcanoes erupt", 0, 0, false},                            // of three words one is understood
		{"the volcanoes erupt loudly Iceland", 0, 0, false},             // of five words one, which is English
		{"die Vulkane brechen in Island", 0, 0, true},                   // of five words one, and another of German
		{"volcans en éruption in Islande", 0, 0, true},                  // accented
		{"volcanoes erupt loudly Iceland", 0, 0, true},                  // no frequent word
		{"how the volcanoes erupt loudly Iceland", 0, 0, false},         // of six words two
		{"how the Vulkane brechen unter Meeren leise aus", 0, 0, true},  // of eight words two, and another of German
		{"how the volcanoes of Iceland erupt", 0, 0, false},             // of six words three
		{"when do volcanoes erupt -flour", 0, 0, true},                  // it says what it wants
		{"the water unter Meeren leise fließen", 0.2, 0, false},         // of six words two
		{"the water unter Meeren leise fließen schön", 1. / 6, 0, true}, // of seven words two, accented
	} {
		q := parse(r.src, c.query, false)
		words := &Result{known: c.known, Hits: []Hit{{Doc: r.src.Get("view")}}}
		view := r.src.Get("view")
		near := meant{hits: []Hit{{Doc: view, Semantic: &SemanticSignal{Cosine: c.nearest}}}}
		share, err := r.knownShare(ctx, Request{Query: c.query, Limit: 5, Keep: r.src.Usual}, words)
		must(t, err)
		a := q.aboutness(words, q.isOfAnotherLanguage(c.known))
		a.known, a.near, a.level = share, nearness(words.Hits, near.hits), tableLevel
		got := a.isAbout(&Reach{})
		if got != c.want {
			t.Errorf("%q, %v near: about %v, want %v", c.query, c.nearest, got, c.want)
		}
	}
	q := parse(r.src, "volcanoes erupt", false)
	a := q.aboutness(&Result{Degraded: "vectors are missing"}, false)
	if !a.isAbout(&Reach{}) {
		t.Error("while vectors are missing, nothing is said")
	}
}

// What is near by chance is found by words and by meaning in different documents.
func TestSRCH15_NearIsWhatBothListsFind(t *testing.T) {
	r := graphs(t, false)
	view, bread := r.src.Get("view"), r.src.Get("bread")
	many := func(n int, first ...Hit) []Hit {
		for len(first) < n {
			first = append(first, Hit{Doc: bread, Semantic: &SemanticSignal{Cosine: 0.15}})
		}
		return first
	}
	at := func(d text.Doc, cosine float64) Hit { return Hit{Doc: d, Semantic: &SemanticSignal{Cosine: cosine}} }
	for name, c := range map[string]struct {
		words, near []Hit
		want        float64
	}{
		"nothing near":      {[]Hit{{Doc: view}}, nil, 0},
		"no word":           {nil, []Hit{at(bread, 0.3)}, 0.3},
		"the same":          {[]Hit{{Doc: bread}}, []Hit{at(bread, 0.3)}, 0.3},
		"not near":          {[]Hit{{Doc: view}}, []Hit{at(bread, 0.3)}, 0.2},
		"less near":         {[]Hit{{Doc: view}}, []Hit{at(bread, 0.3), at(view, 0.15)}, 0.25},
		"the nearer of two": {[]Hit{{Doc: view}, {Doc: bread}}, []Hit{at(bread, 0.3), at(view, 0.15)}, 0.3},
		"the fourth":        {[]Hit{{Doc: view}, {Doc: view}, {Doc: view}, {Doc: bread}}, []Hit{at(bread, 0.3)}, 0.2},
		"a full list":       {[]Hit{{Doc: view}}, many(fuseDepth, at(bread, 0.3)), 0.25},
		"one less":          {[]Hit{{Doc: view}}, many(fuseDepth-1, at(bread, 0.3)), 0.2},
		"far":               {[]Hit{{Doc: view}}, []Hit{at(bread, 0.3), at(view, -0.3)}, 0.2},
	} {
		if got := nearness(c.words, c.near); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A note that has all the words comes first, whatever the meaning makes of two middling ones.
func TestSRCH15_AStrongFirstHitIsNotBuried(t *testing.T) {
	docs := library(t)
	hit := func(id string, words, cosine float64) (byWords, byMeaning Hit) {
		d := docs.src.Get(id)
		return Hit{Doc: d, Score: words, Found: Lexical, Lexical: &LexicalSignal{Score: words}},
			Hit{Doc: d, Score: cosine, Found: Semantic, Semantic: &SemanticSignal{Cosine: cosine}}
	}
	strong, far := hit("hive", 10, 0.1)
	wax, nearWax := hit("wax", 3, 0.4)
	rail, nearRail := hit("rail", 2.9, 0.39)
	for _, near := range [][]Hit{{nearWax, nearRail, far}, {nearWax, nearRail}} {
		f := fusion{weights: DefaultWeights, known: 1, depth: 100, knows: func(string) bool { return true }}
		if got := f.fuse([]Hit{strong, wax, rail}, near); got[0].Doc.ID() != "hive" {
			t.Errorf("with %d near, first is %s with %v, before %v", len(near), got[0].Doc.ID(), got[0].Score, got[1].Score)
		}
	}
}
