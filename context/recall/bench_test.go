package recall_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed/table"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/fixtures/facts"
)

// BenchmarkPERF18 searches 10,000 memories, with all stages and by their index alone, which is what a
// search is compared with.
func BenchmarkPERF18(b *testing.B) {
	set, err := facts.Load()
	must(b, err)
	e, err := table.Builtin()
	must(b, err)
	r := rand.New(rand.NewPCG(1, 2))
	var records []*memory.Record
	for i := range 10_000 {
		m := set.Memories[i%len(set.Memories)]
		m.ID = fmt.Sprint("m", i)
		m.Statement += fmt.Sprintf(" It is number %d of %d.", i, r.IntN(1000))
		m.CreatedAt = m.CreatedAt.Add(time.Duration(i) * time.Second)
		records = append(records, recordOf(m, i+1))
	}
	h := open(b, e, records, nil)
	all := make(map[string]bool)
	for _, s := range recall.Stages {
		all[s.Name] = true
	}
	query := func(i int) string { return set.Questions[i%len(set.Questions)].Text }
	for i := range set.Questions { // their vectors are kept
		ask(b, h.ranker(recall.Options{}), h.local, recall.Request{Query: query(i)})
	}
	b.Run("index", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := h.in.Memories.Search.Search(b.Context(), search.Request{Query: query(i), Mode: search.Hybrid, Plain: true, Limit: 5})
			must(b, err)
		}
	})
	for name, stages := range map[string]map[string]bool{"shipped": nil, "all": all} {
		ranker := h.ranker(recall.Options{Stages: stages})
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				_, err := ranker.Search(b.Context(), h.local, recall.Request{Query: query(i)})
				must(b, err)
			}
		})
	}
}
