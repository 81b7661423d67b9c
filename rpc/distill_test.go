package rpc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
)

// slowModel is a Distiller that answers when it is let.
type slowModel struct{ asked, answer chan struct{} }

func (slowModel) Name() string { return "slow" }
func (slowModel) Local() bool  { return true }

func (m slowModel) Distill(ctx context.Context, _ string, texts []gather.Excerpt) ([]gather.Excerpt, error) {
	m.asked <- struct{}{}
	select {
	case <-m.answer:
		return texts, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestREL7_PromptsThatWaitForAModelHoldNobodyUp has more prompts wait for a model than reads can compute at a time.
func TestREL7_PromptsThatWaitForAModelHoldNobodyUp(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	rooms, err := roomsOver(db)
	must(t, err)
	const many = 12
	model := slowModel{make(chan struct{}, many), make(chan struct{})}
	rooms.Gather = gather.Open(db, rooms.Audience, gather.Options{
		Refs: rooms.Refs, Memories: rooms.Memory, Finder: rooms.Recall, Conversations: rooms.Chat, Distiller: model, DistillTime: patience,
	})
	_, err = rooms.Memory.Add(t.Context(), rooms.Audience.View("local"), []memory.Draft{{Tier: record.TierBank, Statement: "I train on Mondays", Pinned: true}})
	must(t, err)
	b := serveRooms(t, rpc.Limits{Running: 1}, *rooms)
	waiting := make([]*peer, many)
	for i := range waiting {
		p := b.connect()
		// Two at once, so that the first is not run where it is read.
		p.send(`{"jsonrpc":"2.0","id":"p","method":"context.assemble","params":{"text":"when do I train?","memories":5}}` + "\n" +
			`{"jsonrpc":"2.0","id":"q","method":"no.such"}` + "\n")
		waiting[i] = p
	}
	for range many {
		<-model.asked
	}
	other := b.connect()
	for i := range 5 {
		other.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"memory.stats"}`+"\n"+`{"jsonrpc":"2.0","id":"x","method":"no.such"}`+"\n", i))
		for range 2 {
			other.reply()
		}
	}
	close(model.answer)
	for _, p := range waiting {
		for range 2 {
			p.reply()
		}
	}
}
