package cites_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
)

// BenchmarkCHAT31_Suggest asks for suggestions in conversations that refer to 60 of the 100,000 notes of the standard
// data, beside 1,000 others with 20 messages each. Every third reference is to one of 200 notes.
func BenchmarkCHAT31_Suggest(b *testing.B) {
	const all, talks, each = 100_000, 1000, 20
	w := openSuggester(b)
	var ids, texts []string
	var drafts []notes.Draft
	put := func() {
		list, err := w.notes.PutMany(w.ctx, drafts)
		w.must(err)
		for _, n := range list {
			ids = append(ids, n.ID)
		}
		drafts = drafts[:0]
	}
	for d := range fixtures.StandardDocuments(all) {
		if len(texts) < 500 {
			texts = append(texts, d.Body[len(d.Body)-400:])
		}
		if drafts = append(drafts, notes.Draft{Title: d.Title, Body: d.Body}); len(drafts) == 1000 {
			put()
		}
	}
	w.note("Secret", "x", true) // readers who do not see all look closer
	messages := make(map[string]*chat.Message)
	var conversations []string
	for i := range talks {
		talk := w.said("", texts[i%len(texts)], false)
		conversations = append(conversations, talk)
		for j := range each {
			var refs []any
			for k, n := range []int{(i*7919 + j*31) % all, (i*104729 + j*17) % all, (i + j) % 200} {
				r := directLinks(ids[n])[0]
				r.Wikilink = fmt.Sprintf("[[Note %d]]", k)
				refs = append(refs, r)
			}
			data, err := json.Marshal(refs)
			w.must(err)
			m := &chat.Message{ID: fmt.Sprint(talk, j), Index: j + 2, PublicIndex: j + 2, CreatedAt: w.now.Add(time.Duration(i) * time.Minute)}
			m.Members = map[string]json.RawMessage{chat.ReferencesMember: data}
			messages[fmt.Sprintf("%s/%08d", talk, m.Index)] = m
		}
	}
	s := cites.NewSuggester(w.chats, cites.OpenIndex(w.db, w.chats, maps.All(messages)))
	for _, v := range []*audience.View{w.local, w.remote} {
		b.Run(string(v.Reader()), func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				begin := time.Now()
				list, err := s.Of(w.ctx, v, conversations[i%talks], 5)
				took = append(took, time.Since(begin))
				w.must(err)
				if len(list.Items) != 5 {
					b.Fatalf("%d suggestions", len(list.Items))
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
