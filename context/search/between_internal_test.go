package search

import (
	"math"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH14_CosinesOfStoredDocuments(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t, notes.Draft{ID: "a", Title: "Hive scale", Body: "Weigh it."}, notes.Draft{ID: "b", Title: "Hive scale", Body: "Weigh it."},
		notes.Draft{ID: "c", Title: "Violin", Body: "Play."})
	r.settled(t)
	cosines, ok := r.Between([]string{"a", "b", "c", "none"})
	if !ok || math.Abs(float64(cosines[0][1])-1) > 0.01 || cosines[2][0] > 0.5 || cosines[0][2] != cosines[2][0] ||
		cosines[3][0] != 0 || cosines[3][3] != 1 {
		t.Errorf("%v %v", cosines, ok)
	}
	without := openAll(t, kv.InMemory, Options{})
	if _, ok := without.Between([]string{"a"}); ok {
		t.Error("there are cosines without vectors")
	}
}

func TestSRCH13_ReachSaysHowMuchOfAQueryIsFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t, notes.Draft{ID: "a", Title: "Scale", Body: "hive scale"}, notes.Draft{ID: "b", Title: "Violin", Body: "violin"})
	r.settled(t)
	for _, mode := range []Mode{Lexical, Hybrid} {
		all, err := r.Search(ctx, Request{Query: "hive scale", Mode: mode, Plain: true, Limit: 5, Reach: true})
		must(t, err)
		some, err := r.Search(ctx, Request{Query: "hive scale pope casino", Mode: mode, Plain: true, Limit: 5, Reach: true})
		must(t, err)
		if all.Reach.Known != 1 || all.Reach.Words <= some.Reach.Words || some.Reach.Known <= 0 || some.Reach.Known >= 1 ||
			(mode == Hybrid) != (all.Reach.Cosine > 0) || some.Understood == nil {
			t.Errorf("%s: %+v, and of half the words %+v", mode, all.Reach, some.Reach)
		}
	}
}
