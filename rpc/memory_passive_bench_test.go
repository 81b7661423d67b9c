package rpc_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
)

// waitingFor returns what has the memories and messages that are near to the first of some memories wait for a
// conversation, whose id it returns: six to ten of them.
func waitingFor(b *testing.B, db *kv.Store, rooms *rpc.Deps, found []recall.Hit) (*recall.Passive, string) {
	b.Helper()
	e, err := embed.BuiltinTable()
	must(b, err)
	ctx, view := b.Context(), rooms.Audience.View(audience.Local)
	say := func(texts ...string) string {
		var said chat.AppendRequest
		for i, t := range texts {
			said.Messages = append(said.Messages, chat.Draft{Role: record.Roles[i%2], Content: t})
		}
		out, err := rooms.Chat.Append(ctx, view, said)
		must(b, err)
		return out.ConversationID
	}
	text := found[0].Text
	for _, h := range found[1:6] {
		say(text + " " + h.Text + ", and " + h.Text)
	}
	opts := search.Options{Embedder: e, AtOnce: 1 << 30}
	messages, err := chatdoc.New(db, rooms.Audience, chatdoc.Options{})
	must(b, err)
	memories := document.New(db, rooms.Memory, rooms.Audience)
	in := recall.Indexes{
		Memories: recall.Index{Search: search.Open(db, memories, opts), Source: memories}, Store: rooms.Memory,
		Messages: recall.Index{Search: search.Open(db, messages, opts), Source: messages}, Message: chatdoc.Recalled,
	}
	waiting := recall.OpenPassive(db, rooms.Audience, in, recall.PassiveOptions{Turns: chatdoc.Turns(rooms.Chat), Rest: time.Nanosecond})
	rooms.Chat.Follow(waiting)
	for _, x := range []*search.Index{in.Memories.Search, in.Messages.Search} {
		searchtest.Until(b, "vectors", func() bool { return x.Stats().Meanings.Idle })
	}
	id := say(text, text)
	searchtest.Until(b, "what the turn finds", waiting.Idle)
	w := waiting.Waiting(ctx, view, id)
	if len(w.Hits) < 6 {
		b.Fatalf("%d wait (%s)", len(w.Hits), w.Why)
	}
	return waiting, id
}
