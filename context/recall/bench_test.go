package recall_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
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
	e, err := embed.BuiltinTable()
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
	var questions []string
	for _, q := range set.Questions {
		questions = append(questions, q.Text)
	}
	compare(b, h, h.in.Memories.Search, recall.Memories, questions)
}

// BenchmarkPERF18Messages searches 9,000 messages of long conversations in the same way.
func BenchmarkPERF18Messages(b *testing.B) {
	e, err := embed.BuiltinTable()
	must(b, err)
	spoken, asked := conversations(b)
	var list []said
	var questions []string
	for copied := range 5 {
		for _, messages := range spoken {
			for _, m := range messages {
				m.Conversation = fmt.Sprint(m.Conversation, ".", copied)
				m.id = fmt.Sprint(m.Conversation, "#", m.Index)
				list = append(list, m)
			}
		}
	}
	for _, messages := range spoken {
		for _, q := range asked[messages[0].Conversation] {
			questions = append(questions, q.text)
		}
	}
	h := open(b, e, nil, list)
	compare(b, h, h.in.Messages.Search, recall.Messages, questions)
}

// compare searches by the index alone, as shipped, and with all stages.
func compare(b *testing.B, h *house, index *search.Index, kind string, questions []string) {
	b.Helper()
	all := make(map[string]bool)
	for _, s := range recall.Stages {
		all[s.Name] = true
	}
	query := func(i int) string { return questions[i%len(questions)] }
	for i := range questions { // their vectors are kept
		ask(b, h.ranker(recall.Options{}), h.local, recall.Request{Query: query(i), Kinds: []string{kind}})
	}
	b.Run("index", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := index.Search(b.Context(), search.Request{Query: query(i), Mode: search.Hybrid, Plain: true, Limit: 5})
			must(b, err)
		}
	})
	for name, stages := range map[string]map[string]bool{"shipped": nil, "all": all} {
		ranker := h.ranker(recall.Options{})
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				_, err := ranker.Search(b.Context(), h.local, recall.Request{Query: query(i), Kinds: []string{kind}, Stages: stages})
				must(b, err)
			}
		})
	}
}
