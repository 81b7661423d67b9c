package concepts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/yield"
)

// TestREL18_WhatWasCountedIsNotAskedForLong asks an Index again and again while records, names and synonyms change, and a
// new one of the same records: both tell each reader the same, of concepts that many documents speak of.
func TestREL18_WhatWasCountedIsNotAskedForLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		defer func() { must(t, db.Close()) }()
		h := openOver(t, db)
		var facts, talks []string
		for range 3 { // more documents than concepts.manyPostings
			for i, s := range sentences {
				facts = append(facts, h.remember(memory.Draft{ID: fmt.Sprint("fact-", len(facts)), Statement: fmt.Sprint(s, " ", len(facts)), Private: i%5 == 4})...)
			}
			talks = append(talks, h.say("", sentences...))
		}
		for step := range 6 {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				h.fact(rapid.SampledFrom(sentences).Draw(t, "sentence") + fmt.Sprint(step))
			case 1:
				h.say(rapid.SampledFrom(talks).Draw(t, "talk"), rapid.SampledFrom(sentences).Draw(t, "sentence"))
			case 2:
				if at := rapid.IntRange(0, len(facts)-1).Draw(t, "fact"); len(facts) > 1 {
					must(t, h.mem.Delete(ctx(), h.local, facts[at], true, nil))
					facts = slices.Delete(facts, at, at+1)
				}
			case 3:
				h.use(rapid.SampledFrom(facts).Draw(t, "fact"), step+1, 1)
			case 4:
				_, err := h.mem.PutSynonyms(ctx(), h.local, []string{"pond", "gate"}, rapid.Bool().Draw(t, "private"))
				must(t, err)
			case 5:
				h.entity("maren", "Maren Holt", rapid.Bool().Draw(t, "private"), nil, "Gate")
			default:
				_, _ = h.mem.Archive(ctx(), h.local, rapid.SampledFrom(facts).Draw(t, "fact"), nil) // it may be archived
			}
			fresh := concepts.Open(db, h.rooms, h.opts)
			for _, v := range []*audience.View{h.local, h.remote} {
				for _, f := range []concepts.Filter{{}, {Sort: concepts.ByRecency, Limit: 3}, {Sort: concepts.ByAge, Since: h.now.Add(-2 * time.Minute)}} {
					if diff := cmp.Diff(listOf(t, fresh, v, f), listOf(t, h.x, v, f)); diff != "" {
						t.Fatalf("%+v (-new +old)\n%.1500s", f, diff)
					}
				}
			}
		}
	})
}

func listOf(t *rapid.T, x *concepts.Index, v *audience.View, f concepts.Filter) []any {
	list, edges, total, err := x.List(ctx(), v, f)
	must(t, err)
	return []any{list, edges, total}
}

// yields is a Yielder that calls a function.
type yields func()

func (y yields) Yield(context.Context) { y() }

// TestREL18_WhoAsksMeanwhileReadsAPart has somebody ask while all documents are read in the background, which gives way: it
// does not wait for the other, and is told of all.
func TestREL18_WhoAsksMeanwhileReadsAPart(t *testing.T) {
	h := open(t)
	for i := range 3 {
		for _, s := range sentences {
			h.remember(memory.Draft{Statement: fmt.Sprint(s, " ", i), Private: i == 2})
		}
		h.say("", sentences...)
	}
	want, _, total, err := concepts.Open(h.db, h.rooms, h.opts).List(ctx(), h.remote, concepts.Filter{})
	must(t, err)
	asked := 0
	y := yields(func() {
		asked++
		if asked != 2 {
			return
		}
		got, _, n, err := h.x.List(ctx(), h.remote, concepts.Filter{})
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" || n != total {
			t.Errorf("of %d concepts, want %d (-want +got)\n%.1500s", n, total, diff)
		}
	})
	must(t, h.x.Ready(context.WithValue(ctx(), yield.Key{}, y)))
	if asked < 2 {
		t.Error("all was read at once")
	}
	ended, cancel := context.WithCancel(ctx())
	cancel()
	if err := h.x.Ready(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended gives %v", err)
	}
}
