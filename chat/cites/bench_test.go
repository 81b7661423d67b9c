package cites_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// BenchmarkCHAT30_Figures asks about 60,000 references of 20,000 messages to 2,000 notes.
func BenchmarkCHAT30_Figures(b *testing.B) {
	w := open(b.Context(), b)
	defer func() { _ = w.db.Close() }()
	for i := range 2000 {
		w.note(fmt.Sprint("n", i), fmt.Sprint("Note ", i), false)
	}
	w.note("secret", "Secret", true)
	var talks []string
	for range 200 {
		id, _ := w.said("", false)
		talks = append(talks, id)
	}
	messages := make(map[string]*chat.Message)
	for i := range 20_000 {
		var refs []record.ChatReference
		for j := range 3 {
			r := direct(fmt.Sprint("n", (i*7+j*31)%2000))
			r.Wikilink = "[[Note]]"
			refs = append(refs, r)
		}
		data, err := json.Marshal(refs)
		w.must(err)
		m := &chat.Message{Index: i/200 + 2, PublicIndex: i/200 + 2, CreatedAt: w.now.Add(time.Duration(i) * time.Minute)}
		m.Members = map[string]json.RawMessage{chat.ReferencesMember: data}
		messages[fmt.Sprintf("%s/%08d", talks[i%200], m.Index)] = m
	}
	all := func(yield func(string, *chat.Message) bool) {
		for key, m := range messages {
			if !yield(key, m) {
				return
			}
		}
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			cites.OpenIndex(w.db, w.chats, all)
		}
	})
	x := cites.OpenIndex(w.db, w.chats, all)
	for _, v := range []*audience.View{w.local, w.remote} {
		b.Run("stats/"+string(v.Reader()), func(b *testing.B) {
			for b.Loop() {
				_, err := x.Stats(w.ctx, v, time.Time{}, 100)
				w.must(err)
			}
		})
		b.Run("graph/"+string(v.Reader()), func(b *testing.B) {
			for b.Loop() {
				_, err := x.Graph(w.ctx, v, 100)
				w.must(err)
			}
		})
	}
}
