package chat_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// BenchmarkCHAT27 makes and keeps the trace of an answer, in memory: of a usual one with ten records, two rounds and a
// call, and of one as the sample vault gives, with 43 records that were shown and 91 that were not.
func BenchmarkCHAT27(b *testing.B) {
	for _, size := range []struct{ shown, dropped, found int }{{6, 0, 4}, {20, 91, 23}} {
		b.Run(fmt.Sprintf("records=%d", size.shown+size.dropped+size.found), func(b *testing.B) {
			r := &prompt.Report{Chars: 20_000, Budget: 64_000, Hash: fmt.Sprintf("%064x", 1)}
			for _, name := range []string{"pinned", "entities", "linked", "search", "memory"} {
				s := prompt.SectionReport{Name: name, Chars: 4_000, Budget: 12_000}
				for range size.shown/5 + 1 {
					s.Items = append(s.Items, prompt.Item{Kind: prompt.KindNote, ID: uuid.NewString(), Title: "A title", Chars: 600, Reason: "found by search"})
				}
				r.Sections = append(r.Sections, s)
			}
			for range size.dropped {
				r.Dropped = append(r.Dropped, prompt.Dropped{Kind: prompt.KindNote, ID: uuid.NewString(), Title: "A title", Reason: prompt.OverLimit})
			}
			for _, name := range []string{"mentions", "search", "entities", "memories", "passive", "notes", "render"} {
				r.Stages = append(r.Stages, prompt.Stage{Name: name, Ms: 0.123})
			}
			var found []record.ToolReference
			for range size.found {
				found = append(found, record.ToolReference{NoteID: uuid.NewString(), Title: "A title", How: record.ToolFound, Tools: []string{"search_notes"}})
			}
			answer := "We decided to ship in May, see [[Project Alpha Kickoff]]. Alice has the next step."
			db, err := kv.Open(kv.InMemory, kv.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			spent := map[string]time.Duration{"assemble": 9e5, "store": 4e5, "firstDelta": 3e8, "provider": 8e8, "tools": 1e6, "own": 2e6}
			usage := &record.ChatUsage{In: 3_000, Out: 300}
			var took time.Duration
			for b.Loop() {
				began := time.Now()
				t := chat.NewTrace(r, began, false, true)
				t.AskedOnce(chat.TraceRound{Took: 9e5, First: 3e5, Tries: 1, Usage: usage, Finish: "tools"})
				t.Called(chat.TraceCall{Name: "search_notes", Arguments: 18, Chars: 2_000, Took: 400})
				t.AskedOnce(chat.TraceRound{Took: 9e5, First: 3e5, Tries: 1, Usage: usage, Finish: "stop"})
				t.Shown(found, answer)
				t.Ended(spent, nil)
				err := db.Update(context.Background(), func(tx *kv.Tx) error {
					in := time.Now() // the transaction is that of the answer
					defer func() { took += time.Since(in) }()
					took += in.Sub(began)
					return chat.PutTrace(tx, "c", "m", t)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "trace-ns/op")
			size := 0
			_ = db.View(context.Background(), func(tx *kv.Tx) error {
				s, err := raw.Get(tx, "c/m")
				size = len(*s)
				return err
			})
			b.ReportMetric(float64(size), "bytes/answer")
		})
	}
}
