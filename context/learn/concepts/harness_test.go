package concepts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

var must = searchtest.Must

// house is a store with memories, conversations, and their concepts.
type house struct {
	searchtest.T
	searchtest.Rooms
	db            *kv.Store
	rooms         *audience.Views
	mem           *memory.Store
	chat          *chat.Store
	opts          concepts.Options
	outcomes      *learn.Scorer
	x             *concepts.Index
	local, remote *audience.View
	now           time.Time
	ids           int
}

func open(t testing.TB) *house {
	t.Helper()
	return openOver(t, searchtest.Open(t, kv.InMemory))
}

func openOver(t searchtest.T, db *kv.Store) *house {
	t.Helper()
	h := &house{T: t, Rooms: searchtest.Over(t, db, notes.Options{}), db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	_, _, err := h.Entities.PutType(ctx(), entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "mother", Type: record.FieldType("entity_ref"), TargetType: "Person"},
	}}, nil, false)
	must(t, err)
	clock := func() time.Time { return h.now }
	engine := wql.New(h.Entities, wql.Options{})
	db.OnCommit(engine.Apply)
	h.rooms = audience.Open(db, audience.Stores{
		Entities: h.Entities, Notes: h.Notes, WQL: engine, Graph: graph.Open(db, h.Entities, h.Notes, engine),
	})
	h.local, h.remote = h.rooms.View(audience.Local), h.rooms.View(audience.Remote)
	h.mem, err = memory.Open(db, memory.Options{
		Now: clock, Entity: entities.EntityRecords.Has, Conversation: chat.State,
		NewID: func() string { h.ids++; return fmt.Sprint("m", h.ids) },
	})
	must(t, err)
	h.chat, err = chat.Open(db, chat.Options{Now: clock, Memories: h.mem})
	must(t, err)
	said, err := chatdoc.New(db, h.rooms, chatdoc.Options{Now: clock})
	must(t, err)
	h.opts = concepts.Options{
		Store: h.mem, Memories: document.New(db, h.mem, h.rooms), Messages: said, Said: chatdoc.Spoken, SaidField: chatdoc.Said,
		OutcomeOf: learn.OutcomeChange,
		Outcomes:  learn.AllOutcomes(db),
	}
	h.outcomes, err = learn.OpenScorer(db, h.mem, learn.ScorerOptions{
		Now: clock, Conversation: func(context.Context, *audience.View, string) bool { return true },
		Answer: func(context.Context, *audience.View, string, string) (learn.Answer, error) {
			return learn.Answer{}, nil
		},
	})
	must(t, err)
	h.x = concepts.Open(db, h.rooms, h.opts)
	return h
}

func ctx() context.Context { return context.Background() }

// remember writes memories down and returns the ids.
func (h *house) remember(drafts ...memory.Draft) (ids []string) {
	h.Helper()
	h.now = h.now.Add(time.Minute)
	list, err := h.mem.Add(ctx(), h.local, drafts)
	must(h, err)
	for _, m := range list {
		ids = append(ids, m.Memory.ID)
	}
	return ids
}

func (h *house) fact(statement string, tags ...string) string {
	h.Helper()
	return h.remember(memory.Draft{Statement: statement, Tags: tags})[0]
}

// say says messages of the user and the assistant by turns, in a conversation or, for "", in a new one.
func (h *house) say(id string, texts ...string) string {
	h.Helper()
	said := chat.AppendRequest{ConversationID: id}
	for i, text := range texts {
		said.Messages = append(said.Messages, chat.Draft{Role: record.Roles[i%2], Content: text})
	}
	return h.append(said)
}

func (h *house) append(said chat.AppendRequest) string {
	h.Helper()
	h.now = h.now.Add(time.Minute)
	out, err := h.chat.Append(ctx(), h.local, said)
	must(h, err)
	return out.ConversationID
}

func (h *house) entity(id, name string, private bool, fields map[string]any, aliases ...string) {
	h.Helper()
	_, err := h.Entities.Put(ctx(), entities.Entity{ID: id, Type: "Person", Name: name, Aliases: aliases, Private: private, Fields: fields}, nil)
	must(h, err)
}

// use counts outcomes of a memory.
func (h *house) use(id string, worked, failed int) {
	h.Helper()
	uses := kv.NewCollection[memory.Use]("memory-use")
	must(h, h.db.Update(ctx(), func(tx *kv.Tx) error {
		return uses.Put(tx, id, &memory.Use{Uses: worked + failed, Worked: worked, Failed: failed})
	}))
}

// list returns the concepts of a reader as "label mentions/memories".
func (h *house) list(v *audience.View) string {
	h.Helper()
	list, _, total, err := h.x.List(ctx(), v, concepts.Filter{})
	must(h, err)
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s %d/%d", c.Label, c.Mentions, c.Memories))
	}
	if total != len(list) {
		h.Fatalf("%d of %d concepts are listed", len(list), total)
	}
	return strings.Join(out, ", ")
}

func (h *house) want(v *audience.View, want string) {
	h.Helper()
	if got := h.list(v); got != want {
		h.Fatalf("for a %s reader there are\n%s\nwant\n%s", v.Reader(), got, want)
	}
}

func (h *house) get(v *audience.View, label string) *concepts.About {
	h.Helper()
	c, err := h.x.Get(ctx(), v, label)
	must(h, err)
	return c
}

// edges returns the edges of a concept as "a-type-b".
func edgesOf(list []record.ConceptEdge) []string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s-%s-%s %d", e.From, e.Type, e.To, e.Count))
	}
	slices.Sort(out)
	return out
}

// outcome has an answer say that tools were called for it, and what became of it.
func (h *house) outcome(conversation, message, outcome string, tools ...string) {
	h.Helper()
	var calls []record.ChatToolCall
	for _, name := range tools {
		calls = append(calls, record.ChatToolCall{Name: name})
	}
	must(h, h.db.Update(ctx(), func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, conversation+"/") {
			if m.ID != message {
				continue
			}
			told := *m
			data, err := json.Marshal(calls)
			if err != nil {
				return err
			}
			told.Members = map[string]json.RawMessage{"toolCalls": data}
			return chat.Messages.Put(tx, key, &told)
		}
		return tx.Err()
	}))
	_, err := h.outcomes.Response(ctx(), h.local, learn.AnswerOutcome{ConversationID: conversation, MessageID: message, Outcome: outcome})
	must(h, err)
}
