package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH2_WhatIsFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "Budget", Body: "The spring budget of the design team. " + strings.Repeat("filler ", 100) + "Cost of paint."},
		notes.Draft{ID: "b", Title: "Meeting", Body: "We talked about the Budget and paints.", Tags: []string{"work/q1"}, Path: "Work/b.md"},
		notes.Draft{ID: "c", Title: "東京メモ", Body: "東京の会議 🙂 plan"},
		notes.Draft{ID: "d", Title: "Old", Body: "budget"},
		notes.Draft{ID: "e", Title: "Long Title Of A Note", Aliases: []string{"ÜBER Bienen", "Hive"}, Body: "A long text about Weighing and Zwetschken"},
		notes.Draft{ID: "f", Title: "Ünï", Body: "京東 and STRASSE. Café, шёлк, שָׁלוֹם, مُحَمَّد, 한국어를"},
		notes.Draft{ID: "g", Title: "Front", Body: "---\nowner: Gesine\n---\n# Running *fast*\n\n[words](https://example.com/hidden) <!-- secret -->"},
	)
	_, err := r.notes.Archive(ctx, "d", nil)
	must(t, err)
	for query, want := range map[string]string{
		"budget": "a b", "what is the BUDGET?": "a b", "paint": "b a", "東京": "c", "京東": "f", "會": "", "会": "c", "京": "c f", "": "", "  ": "",
		"the": "b a", "get": "", // no word begins so
		"title": "e", "über": "e", "uber": "e", "hive": "e", "ZWETSCHKEN": "e", "weigh": "e", "weighed": "e",
		"ünï": "f", "uni": "f", "straße": "f", "cafe": "f", "шелк": "f", "שלום": "f", "محمد": "f", "한국어": "f", "한국": "f",
		"gesine": "g", "run": "g", "runs": "g", "runnin": "g", "hidden": "g", "secret": "",
		"zwet": "e", "zwetschkem": "e", "zwestchken": "e", "zwetchken": "e", "budgte": "a b", // one edit, where nothing else is found
		"budgte hive": "e", "budgtee": "",
		`"design team"`: "a", `"team design"`: "", `"spring budget" paint`: "a", `"budget and paints"`: "b", `"paint"`: "a", `"東京の会"`: "c",
		"budget -talked": "a", "budget -paint": "", `budget -"spring budget"`: "b", "-budget -bienen -strasse -owner": "c", "-": "", "--x": "",
		"tag:work": "b", "tag:#work/q1 budget": "b", "-tag:work budget": "a", "path:work": "b", "path:Work/b budget": "b", `path:"ork/b"`: "b",
		"type:person": "", "-type:person hive": "e", "budget before:1990": "", "budget after:1990": "a b", "budget after:2200-01-01": "",
		"before:nonsense": "", "tag: budget": "a b", "work": "b", "q1": "b",
		`“design team”`: "a", `"design te`: "", `budget "design`: "a",
	} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Query: "budget", Keep: r.chosen(notes.SearchFilter{Archived: true})}, "d a b"},
		{Request{Query: "budget", Keep: r.chosen(notes.SearchFilter{Tags: []string{"work"}})}, "b"},
		{Request{Query: "budget", Keep: r.chosen(notes.SearchFilter{Folder: []string{"Work"}})}, "b"},
		{Request{Query: "budget", Keep: r.chosen(notes.SearchFilter{Before: time.Unix(0, 0)})}, ""},
		{Request{Query: "budget", Keep: r.chosen(notes.SearchFilter{Types: []string{"person"}})}, ""},
		{Request{Query: "budget", Limit: 1}, "a"},
		{Request{Query: "budget", Limit: -1}, ""},
		{Request{Query: "budget", Limit: 1, Keep: func(d text.Doc) bool { return notedoc.Note(d).Live() && d.ID() != "a" }}, "b"},
		{Request{Query: "say -budget: tag:x \"hive", Plain: true}, "e a b"},
		{Request{Query: "budg", Plain: true}, ""},
	} {
		if got := r.find(t, c.req); got != c.want {
			t.Errorf("%+v finds %q, want %q", c.req, got, c.want)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Search(done, Request{Query: "budget", Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search: %v", err)
	}
}

func TestSRCH2_StemmingCanBeOff(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Literal: true})
	r.put(t, notes.Draft{ID: "a", Body: "paints"}, notes.Draft{ID: "b", Body: "paint"})
	if got := r.find(t, Request{Query: "paint", Plain: true}); got != "b" {
		t.Errorf("finds %q", got)
	}
}

func TestSRCH2_ALongQueryCountsItsFirstWords(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "needle"})
	var list []string
	for i := range 5000 {
		list = append(list, fmt.Sprint("w", i))
	}
	for query, want := range map[string]string{"needle " + strings.Join(list, " "): "a", strings.Join(list, " ") + " needle": ""} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%q found, want %q", got, want)
		}
	}
}

func TestSRCH3_Snippets(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	filler := strings.Repeat("filler words ", 60)
	r.put(t,
		notes.Draft{ID: "a", Title: "A", Body: "alpha " + filler + "alpha Betas 🙂 gammas " + filler + "beta"},
		notes.Draft{ID: "b", Title: "B", Body: "東京の会議 🙂 plan"},
		notes.Draft{ID: "c", Title: "C", Body: "ÉCOLE écoles e\u0301cole"},
		notes.Draft{ID: "omega", Title: "Omega", Body: "Nothing"},
	)
	for _, c := range []struct{ query, id, marked string }{
		{"alpha beta gamma", "a", "alpha|Betas|gammas"},
		{"plan", "b", "plan"},
		{"会議", "b", "会議"},
		{"会", "b", "会"},
		{"東京の", "b", "東京の"},
		{"ecole", "c", "ÉCOLE|écoles|e\u0301cole"},
		{"gam", "a", "gammas"},
		{"gamams", "a", "gammas"},
		{`"betas 🙂 gammas"`, "a", "Betas|🙂|gammas"},
		{"omega", "omega", ""},
	} {
		res, err := r.Search(ctx, Request{Query: c.query, Limit: 1, Snippets: true})
		must(t, err)
		if len(res.Hits) != 1 || res.Hits[0].Doc.ID() != c.id {
			t.Errorf("%q finds %v", c.query, res.Hits)
			continue
		}
		h := res.Hits[0]
		units := utf16.Encode([]rune(h.Snippet))
		if len([]rune(h.Snippet)) > SnippetSize+2 {
			t.Errorf("%q: a snippet of %d code points", c.query, len([]rune(h.Snippet)))
		}
		var got []string
		for _, at := range h.Ranges {
			got = append(got, string(utf16.Decode(units[at[0]:at[1]])))
		}
		if strings.Join(got, "|") != c.marked {
			t.Errorf("%q marks %q in %q", c.query, got, h.Snippet)
		}
	}
	res, err := r.Search(ctx, Request{Query: "alpha beta gamma", Limit: 1, Snippets: true})
	must(t, err)
	if s := res.Hits[0].Snippet; !strings.HasPrefix(s, "…") || !strings.HasSuffix(s, "…") {
		t.Errorf("cut at both ends: %q", s)
	}
}

func TestSRCH3_ExplainAddsUp(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "Hive", Body: "# Hive scales\n\nScale the hives #bees", Path: "hives/a.md"},
		notes.Draft{ID: "b", Title: "B", Body: "scale"},
	)
	for _, query := range []string{"hive scal", "hive scale bees", "hivve"} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 5, Explain: true})
		must(t, err)
		if len(res.Hits) == 0 {
			t.Errorf("%q finds nothing", query)
		}
		for i, h := range res.Hits {
			terms, shares := 0.0, 0.0
			for name, v := range signals(h) {
				switch {
				case strings.HasPrefix(name, "field:"):
					shares += v
				case name != "lexical" && name != "rank:lexical":
					terms += v
				}
			}
			if terms != h.Score || signals(h)["lexical"] != h.Score || shares < h.Score-1e-6 || shares > h.Score+1e-6 || signals(h)["rank:lexical"] != float64(i+1) {
				t.Errorf("%q: score %g: %v", query, h.Score, signals(h))
			}
		}
	}
}

func TestSRCH3_TiesGoByTitleThenID(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for i := 30; i > 0; i-- {
		r.put(t, notes.Draft{ID: fmt.Sprintf("n%02d", i), Title: fmt.Sprint("Item ", i), Body: "word"})
	}
	r.put(t, notes.Draft{ID: "zz", Title: "item 2", Body: "word"})
	if got, want := r.find(t, Request{Query: "word", Limit: 4}), "n01 n02 zz n03"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSRCH1_NothingIsLeftOfWhatIsGone(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "Alpha", Body: "first second"}, notes.Draft{ID: "b", Body: "second third"})
	body := "fourth"
	_, err := r.notes.Patch(ctx, notes.Patch{ID: "a", Body: &body}, nil)
	must(t, err)
	for query, want := range map[string]string{"first": "", "second": "b", "fourth": "a", "alpha": "a"} {
		if got := r.ids(t, query); got != want {
			t.Errorf("after a change %q finds %q, want %q", query, got, want)
		}
	}
	_, err = r.notes.Delete(ctx, "a", nil)
	must(t, err)
	for query, want := range map[string]string{"fourth": "", "fou": "", "fouth": "", "alpha": "", "third": "b", "-third": ""} {
		if got := r.ids(t, query); got != want {
			t.Errorf("after the end %q finds %q, want %q", query, got, want)
		}
	}
	_, err = r.notes.Delete(ctx, "b", nil)
	must(t, err)
	r.put(t, notes.Draft{ID: "c", Body: "third again"})
	if got := r.ids(t, "third"); got != "c" {
		t.Errorf("a number that is given again finds %q", got)
	}
}

// TestSRCH1_ANumberThatIsFreeIsNoEqual lists without words beside a note that is gone, and
// had the title of another.
func TestSRCH1_ANumberThatIsFreeIsNoEqual(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "Same", Body: "one"}, notes.Draft{ID: "b", Title: "Same", Body: "two"})
	_, err := r.notes.Delete(ctx, "b", nil)
	must(t, err)
	if got := r.find(t, Request{Query: "-nowhere", Limit: 1}); got != "a" {
		t.Errorf("found %q", got)
	}
}
