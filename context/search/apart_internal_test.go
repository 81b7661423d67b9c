package search

import (
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH13_WhatAllHaveInCommonDoesNotCount: all notes have the common words, one of them nothing else, and
// one what is asked for besides.
func TestSRCH13_WhatAllHaveInCommonDoesNotCount(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}, Weights: Weights{Semantic: 1}})
	put := func(from, to int) {
		var drafts []notes.Draft
		for i := from; i < to; i++ {
			drafts = append(drafts, notes.Draft{
				ID: fmt.Sprint("n", i), Title: "Hive", Body: fmt.Sprintf("hive scale readings today other%d thing%d", i, i),
			})
		}
		r.put(t, drafts...)
		r.settled(t)
	}
	r.put(t, notes.Draft{ID: "common", Title: "Hive", Body: "hive scale readings today"},
		notes.Draft{ID: "asked", Title: "Hive", Body: "hive scale readings today varroa mites counted yesterday evening"})
	put(0, 50)
	search := func(apart bool) (askedFirst bool, res *Result) {
		res, err := r.Search(ctx, Request{
			Query: "hive scale readings varroa", Mode: Hybrid, Plain: true, Limit: 60, Reach: true, Apart: apart,
		})
		must(t, err)
		for _, h := range res.Hits {
			if id := h.Doc.ID(); id == "asked" || id == "common" {
				return id == "asked", res
			}
		}
		t.Fatal("neither is found")
		return false, nil
	}
	if asked, res := search(true); asked || res.Apart {
		t.Errorf("of few documents the one that is asked for is the first: %v, apart %v", asked, res.Apart)
	}
	put(50, 150)
	asked, plain := search(false)
	if asked || plain.Apart {
		t.Errorf("unasked the one that is asked for is the first: %v, apart %v", asked, plain.Apart)
	}
	asked, res := search(true)
	if !asked || !res.Apart {
		t.Errorf("the one that is asked for is the first: %v, apart %v", asked, res.Apart)
	}
	if res.Reach != plain.Reach {
		t.Errorf("the reach %+v was %+v", res.Reach, plain.Reach)
	}
}
