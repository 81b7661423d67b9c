package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// sameAs gives one synonym of a weight for words, and another one to others.
func sameAs(own, others map[string]string) func([]string, bool) map[string][]Synonym {
	return func(words []string, public bool) map[string][]Synonym {
		out := make(map[string][]Synonym)
		for _, w := range words {
			list := own
			if public {
				list = others
			}
			for s := range strings.FieldsSeq(list[w]) {
				out[w] = append(out[w], Synonym{Word: s, Weight: 0.8})
			}
		}
		return out
	}
}

func TestMEM14_SynonymsCountLessThanTheWord(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Synonyms: sameAs(
		map[string]string{"car": "automobile the car", "wheels": "tyres"}, map[string]string{"car": "lorry"})})
	r.put(t,
		notes.Draft{ID: "a", Title: "A", Body: "The automobile has tyres."},
		notes.Draft{ID: "b", Title: "B", Body: "The car is here now."},
		notes.Draft{ID: "c", Title: "C", Body: "The lorry is here now."},
		notes.Draft{ID: "d", Title: "D", Body: "Nothing of the sort."},
	)
	for query, want := range map[string]string{
		"car":        "b", // it may go on
		"car ":       "b a",
		"automobile": "a", // said in one direction here
		"car wheels": "b a",
		"wheels ":    "a", // no document has it
		`"car" `:     "b",
		"car -tyres": "b",
	} {
		if got := r.ids(t, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := r.find(t, Request{Query: "car", Plain: true, Public: true}); got != "b c" {
		t.Errorf("others find %q", got)
	}
	res, err := r.Search(ctx, Request{Query: "car", Plain: true, Limit: 3, Explain: true, Snippets: true, Reach: true})
	must(t, err)
	word := res.Understood.Words[0]
	if !slices.Equal(word.Synonyms, []string{"automobile"}) || word.Docs != 2 {
		t.Errorf("%+v", word)
	}
	if len(res.Hits) != 2 || res.Hits[0].Score <= res.Hits[1].Score || res.Hits[1].Ranges == nil || len(res.Hits[1].Lexical.Fields) == 0 {
		t.Errorf("%+v", res.Hits)
	}
}

// Of two documents that differ in one word alone, the one with the word of the query is never
// behind the one with a synonym, and whatever is found without synonyms is found with them.
func TestMEM14_SynonymsOnlyAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("bee hive honey wax queen frame")), 1, 4)
		with := searchtestRooms(t, Options{Synonyms: sameAs(map[string]string{"bee": "wasp", "wax": "paraffin hive"}, nil)})
		plain := searchtestRooms(t, Options{})
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Fields("hive honey queen frame roof")), 0, 5).Draw(t, "body"), " ")
		drafts := []notes.Draft{{ID: "own", Title: "n", Body: "bee " + body}, {ID: "other", Title: "n", Body: "wasp " + body}}
		for i := range rapid.IntRange(0, 5).Draw(t, "more") {
			drafts = append(drafts, notes.Draft{ID: fmt.Sprint("x", i), Title: "n", Body: strings.Join(words.Draw(t, "words"), " ")})
		}
		for _, r := range []*rooms{with, plain} {
			for _, d := range drafts {
				if _, err := r.notes.Put(ctx, d, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		req := Request{Query: strings.Join(append(words.Draw(t, "query"), "bee"), " "), Plain: true, Limit: 50}
		a, err := with.Search(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plain.Search(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		scores := make(map[string]float64)
		for _, h := range a.Hits {
			scores[h.Doc.ID()] = h.Score
		}
		for _, h := range b.Hits {
			if got, ok := scores[h.Doc.ID()]; !ok || got < h.Score-1e-3 && math.Abs(got-h.Score) > 0.01*h.Score {
				t.Errorf("%s: %v with synonyms, %v without", h.Doc.ID(), got, h.Score)
			}
		}
		if scores["own"] < scores["other"] {
			t.Errorf("%q: the word counts %v, its synonym %v", req.Query, scores["own"], scores["other"])
		}
	})
}

// searchtestRooms is openRoomsOf over a store in memory.
func searchtestRooms(t *rapid.T, opts Options) *rooms {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return openRoomsOf(t, db, opts)
}
