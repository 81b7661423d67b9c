package recall_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/chat"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// passiveHouse is a store with memories and conversations, and what waits for these.
type passiveHouse struct {
	searchtest.T
	searchtest.Rooms
	mem           *memory.Store
	chat          *chat.Store
	memories      *search.Index
	messages      *search.Index
	passive       *recall.Passive
	local, remote *audience.View
	clock         atomic.Int64 // seconds from the time of the start
	looked        atomic.Int64 // how often turns were read
}

// openPassive opens a house. e may be nil.
func openPassive(t testing.TB, e embed.Embedder, opts recall.PassiveOptions) *passiveHouse {
	t.Helper()
	return openOver(t, searchtest.Open(t, kv.InMemory), e, opts)
}

var began = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func openOver(t searchtest.T, db *kv.Store, e embed.Embedder, opts recall.PassiveOptions) *passiveHouse {
	t.Helper()
	h := &passiveHouse{T: t, Rooms: searchtest.Over(t, db, notes.Options{})}
	now := func() time.Time { return began.Add(time.Duration(h.clock.Load()) * time.Second) }
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	var err error
	h.mem, err = memory.Open(db, memory.Options{Now: now, Entity: entities.EntityRecords.Has, Conversation: chat.State})
	mustPassive(t, err)
	h.chat, err = chat.Open(db, chat.Options{Now: now, Memories: h.mem})
	mustPassive(t, err)
	said, err := chatdoc.New(db, seen, chatdoc.Options{Now: now})
	mustPassive(t, err)
	finding := search.Options{Gate: seen.Gate, AtOnce: 1 << 30}
	if e != nil {
		finding.Embedder = e
	}
	remembered := document.New(db, h.mem, seen)
	h.memories, h.messages = search.Open(db, remembered, finding), search.Open(db, said, finding)
	turns := chatdoc.Turns(h.chat)
	opts.Now = now
	opts.Turns = func(ctx context.Context, v *audience.View, conversation string) ([]string, error) {
		h.looked.Add(1)
		return turns(ctx, v, conversation)
	}
	if opts.Rest == 0 {
		opts.Rest = time.Nanosecond
	}
	h.passive = recall.OpenPassive(db, seen, recall.Indexes{
		Memories: recall.Index{Search: h.memories, Source: remembered}, Store: h.mem,
		Messages: recall.Index{Search: h.messages, Source: said}, Message: chatdoc.Recalled,
	}, opts)
	h.chat.Follow(h.passive)
	return h
}

var mustPassive, untilPassive = searchtest.Must, searchtest.Until

// settle waits until all records have their vectors and nothing is left to be looked for.
func (h *passiveHouse) settle() {
	h.Helper()
	for _, x := range []*search.Index{h.memories, h.messages} {
		if _, ok := x.Embedder(); ok {
			untilPassive(h, "vectors", func() bool { return x.Stats().Meanings.Idle })
		}
	}
	untilPassive(h, "what waits", h.passive.Idle)
}

// remember writes memories down, each with the id of its draft.
func (h *passiveHouse) remember(drafts ...memory.Draft) {
	h.Helper()
	_, err := h.mem.Add(context.Background(), h.local, drafts)
	mustPassive(h, err)
}

func factDraft(id, statement string) memory.Draft {
	return memory.Draft{ID: id, Statement: statement, Tier: record.TierPatterns}
}

// say says messages of the user and of the assistant by turns, in a conversation or in a new one, and returns its
// id.
func (h *passiveHouse) say(id string, texts ...string) string {
	h.Helper()
	said := chat.AppendRequest{ConversationID: id}
	for i, text := range texts {
		role := record.Roles[i%2]
		said.Messages = append(said.Messages, chat.Draft{Role: role, Content: text})
	}
	return h.append(said)
}

func (h *passiveHouse) append(said chat.AppendRequest) string {
	h.Helper()
	out, err := h.chat.Append(context.Background(), h.local, said)
	mustPassive(h, err)
	return out.ConversationID
}

// waiting returns what waits for a conversation as one text: ids of memories, texts of messages, and why.
func (h *passiveHouse) waiting(v *audience.View, id string) string {
	h.Helper()
	w := h.passive.Waiting(context.Background(), v, id)
	var list []string
	for _, hit := range w.Hits {
		if hit.Message != nil {
			list = append(list, "“"+hit.Text+"”")
			continue
		}
		list = append(list, hit.ID)
	}
	if w.Why != "" {
		list = append(list, "("+w.Why+")")
	}
	return strings.Join(list, " ")
}

func (h *passiveHouse) want(v *audience.View, id, want string) {
	h.Helper()
	if got := h.waiting(v, id); got != want {
		h.Fatalf("for a %s reader waits\n%s\nwant\n%s", v.Reader(), got, want)
	}
}

func passiveBags() *embedtest.Bags { return &embedtest.Bags{Name: "bags"} }
