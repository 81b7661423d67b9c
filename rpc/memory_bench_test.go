package rpc_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/rpc"
)

// BenchmarkPERF17 writes memories over the socket, durably, against notes of the same text: by one
// client, and by eight. The tier is one without a cap.
func BenchmarkPERF17(b *testing.B) {
	const text = "I prefer morning workouts in the park by the river, and I never train on the day before long run %d"
	for _, clients := range []int{1, 8} {
		for name, request := range map[string]string{
			"memory": `{"jsonrpc":"2.0","id":1,"method":"memory.add","params":{"tier":"patterns","statement":"` + text + `"}}`,
			"note":   `{"jsonrpc":"2.0","id":1,"method":"notes.put","params":{"title":"Workouts %[1]d","body":"` + text + `"}}`,
		} {
			b.Run(fmt.Sprintf("clients=%d/%s", clients, name), func(b *testing.B) {
				db, err := kv.Open(b.TempDir(), kv.Options{})
				must(b, err)
				b.Cleanup(func() { must(b, db.Close()) })
				rooms, err := roomsOver(db)
				must(b, err)
				s := serveRooms(b, rpc.Limits{}, *rooms)
				var n atomic.Int64
				if clients == 1 {
					p := s.connect()
					for b.Loop() {
						exchange(b, p, fmt.Appendf(nil, request+"\n", n.Add(1)))
					}
					return
				}
				b.SetParallelism((clients + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
				b.RunParallel(func(pb *testing.PB) {
					p := s.connect()
					for pb.Next() {
						exchange(b, p, fmt.Appendf(nil, request+"\n", n.Add(1)))
					}
				})
			})
		}
	}
}

// foundBefore answers a search with what one found before: what is measured is the prompt, not the search.
type foundBefore struct{ result *recall.Result }

func (f foundBefore) Search(context.Context, *audience.View, recall.Request) (*recall.Result, error) {
	return f.result, nil
}

// BenchmarkPERF19 assembles prompts, and the same with ten references and ten memories of 10,000, without the search
// for them, and with those that wait for its conversation: that of a message with five mentions of 2,000 small
// entities, and one of 30 KB as PERF-4 has it, with five notes and what five of 20,000 standard entities lead to.
func BenchmarkPERF19(b *testing.B) {
	small, mentions := mentionRooms(b)
	large, prompts := promptRooms(b, 0)
	for _, of := range []struct {
		name   string
		rooms  *rpc.Deps
		params []gather.Params
	}{{"mentions", small, []gather.Params{{Text: mentions}}}, {"30KB", large, prompts}} {
		view := of.rooms.Audience.View(audience.Local)
		g, refs, conversation := withMemories(b, of.rooms, view)
		for _, with := range []string{"without", "memories", "passive"} {
			list := slices.Clone(of.params)
			for i := range list {
				p := &list[i]
				if with != "without" {
					p.Text, p.Memories = refs+p.Text, 10
				}
				if with == "passive" {
					p.ConversationID, p.Recall = conversation, &prompt.Recall{Mode: prompt.Both}
				}
			}
			b.Run(of.name+"/"+with, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					res, err := g.Assemble(b.Context(), gather.Readers{Prompt: view, Report: view}, list[i%len(list)])
					must(b, err)
					b.ReportMetric(float64(res.Report.Chars), "chars")
				}
			})
		}
	}
}

// mentionRooms returns rooms over 2,000 small entities, and a message that mentions five of them.
func mentionRooms(b *testing.B) (rooms *rpc.Deps, text string) {
	b.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	rooms, err = roomsOver(db)
	must(b, err)
	_, _, err = rooms.Entities.PutType(b.Context(), entities.Type{Name: "Project", Fields: []entities.Field{
		{Name: "status", Type: record.Text}, {Name: "note", Type: record.Text}, {Name: "lead", Type: record.EntityRef},
	}}, nil, false)
	must(b, err)
	var things []entities.Entity
	for t := range fixtures.StandardThings(2000) {
		e := entities.Entity{ID: fmt.Sprint("thing-", len(things)), Type: "Project", Name: t.Name, Fields: map[string]any{
			"status": t.Fields["status"], "note": t.Fields["note"],
		}}
		if n := len(things); n > 0 {
			e.Fields["lead"] = fmt.Sprint("thing-", n/3)
		}
		things = append(things, e)
	}
	for part := range slices.Chunk(things, entities.MaxMany) {
		_, err = rooms.Entities.PutMany(b.Context(), part)
		must(b, err)
	}
	for i := range 5 {
		text += "@[" + things[400*i+1].Name + "] "
	}
	return rooms, text + "what of the garden and the river?"
}

// withMemories puts 10,000 memories into rooms, and returns what assembles prompts with ten of them that were found
// before, references to ten, and a conversation for which some wait.
func withMemories(b *testing.B, rooms *rpc.Deps, view *audience.View) (g *gather.Gatherer, refs, conversation string) {
	b.Helper()
	var drafts []memory.Draft
	for d := range fixtures.StandardDocuments(10_000) {
		m := memory.Draft{ID: fmt.Sprint("m", len(drafts)), Tier: record.TierPatterns, Statement: d.Title + " is what I think of"}
		m.Pinned = len(drafts)%2500 == 7
		if len(drafts)%1000 == 9 {
			m.Tier, m.Kind = record.TierBank, record.MemoryGoal
		}
		drafts = append(drafts, m)
	}
	for part := range slices.Chunk(drafts, memory.MaxMany) {
		_, err := rooms.Memory.Add(b.Context(), view, part)
		must(b, err)
	}
	for i := range 10 {
		refs += fmt.Sprintf("#%d ", 900*i+1)
	}
	found, err := rooms.Recall.Search(b.Context(), view,
		recall.Request{Query: "what do I think of the garden and the river?", Limit: 30})
	must(b, err)
	waiting, conversation := waitingFor(b, rooms.KV, rooms, found.Hits)
	return gather.Open(rooms.KV, rooms.Audience, gather.Options{
		Refs: rooms.Refs, Memories: rooms.Memory, Conversations: rooms.Chat, Finder: foundBefore{found}, Passive: waiting,
	}), refs, conversation
}

// BenchmarkREF16 completes what is typed of 100,000 handles of entities over the socket, against a peer that answers
// each request at once with a reply of the same size.
func BenchmarkREF16(b *testing.B) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	rooms, err := roomsOver(db)
	must(b, err)
	fillThings(b, rooms.Entities, 100_000, 0)
	p := serveRooms(b, rpc.Limits{}, *rooms).connect()
	for _, c := range []struct{ name, typed string }{{"empty", ""}, {"letter", "k"}, {"letters", "ka"}, {"number", "9"}} {
		msg := []byte(`{"jsonrpc":"2.0","id":1,"method":"refs.complete","params":{"prefix":"` + c.typed + "\"}}\n")
		size := exchange(b, p, msg)
		b.Run(c.name+"/ctxd", func(b *testing.B) {
			latencies(b, func(int) int { return exchange(b, p, msg) })
		})
		b.Run(c.name+"/echo", func(b *testing.B) {
			echo := dialRaw(b, answering(b, []byte(request(size, "x"))))
			latencies(b, func(int) int { return exchange(b, echo, msg) })
		})
	}
}
