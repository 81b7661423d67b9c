package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH3_ExplainSaysHowAQueryWasRead(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "a", Title: "Zürich", Body: "Weighing the load cells of Zurich. Zurichberg."},
		notes.Draft{ID: "b", Title: "Cells", Body: "They weighed them.", Tags: []string{"work"}},
		notes.Draft{ID: "c", Title: "Bridge", Body: "The bridge was closed."},
	)
	word := func(word, stem string, as words.How, notes int, means ...string) QueryWord {
		return QueryWord{Word: word, Stem: stem, As: as, Docs: notes, Means: append([]string{}, means...), MeansAll: len(means)}
	}
	for query, want := range map[string]Understanding{
		"weighing the cells zur": {
			Words:   []QueryWord{word("weighing", "weigh", "word", 2), word("cells", "cell", "word", 2), word("zur", "zur", "prefix", 1, "zurich", "zurichberg")},
			Ignored: []string{"the"},
		},
		`cells -"closed bridge" -roof "load cells" -tag:x path:"my folder" before:2999 `: {
			Words:   []QueryWord{word("cells", "cell", "word", 2), word("load", "load", "word", 1)},
			Phrases: []string{"load cells"}, Without: []string{"closed bridge", "roof"},
			Filters: []string{"-tag:x", `path:"my folder"`, "before:2999"},
		},
		"brdige nowhere ": {Words: []QueryWord{word("brdige", "brdige", "typo", 1, "bridge"), word("nowhere", "nowher", "word", 0)}},
	} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 3, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []*[]string{&want.Ignored, &want.Phrases, &want.Without, &want.Filters} {
			*list = append([]string{}, *list...)
		}
		want.Problems = []Problem{}
		if diff := cmp.Diff(want, *res.Understood); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	if res, err := r.Search(ctx, Request{Query: "cells", Limit: 3}); err != nil || res.Understood != nil {
		t.Errorf("without explain: %+v %v", res.Understood, err)
	}
}
