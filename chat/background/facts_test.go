package background_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// factsHouse is a store with a conversation, and a model that looks for facts.
type factsHouse struct {
	*testing.T
	db            *kv.Store
	memory        *memory.Store
	chat          *chat.Store
	model         *background.FactModel
	local, remote *audience.View
	server        *provider.Server

	mu     sync.Mutex
	answer string
	asked  []string
	// meanwhile is called while the model is asked; nil: nothing happens.
	meanwhile func()
}

// hurriedTiming is time as providers see it, without pauses between tries.
var hurriedTiming = llm.Timing{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}

func buildExtractor(t *testing.T, local bool) *factsHouse {
	t.Helper()
	h := &factsHouse{T: t}
	h.server = provider.Start(func(r *provider.Request, to *provider.Reply) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asked = append(h.asked, r.Body)
		if h.meanwhile != nil {
			h.meanwhile()
		}
		if h.answer == "500" {
			to.Status(500, "no")
			return
		}
		to.Text(h.answer)
	})
	t.Cleanup(h.server.Close)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	h.must(err)
	h.db = db
	ents, err := entities.Open(db, entities.Options{})
	h.must(err)
	ns, err := notes.Open(db, ents, notes.Options{})
	h.must(err)
	seen := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	h.memory, err = memory.Open(db, memory.Options{Conversation: chat.State, HandleTaken: chat.HasHandle})
	h.must(err)
	h.chat, err = chat.Open(db, chat.Options{Memories: h.memory, Remote: h.remote})
	h.must(err)
	set, err := llm.NewSet(llm.SetOptions{Time: hurriedTiming, Providers: []llm.Options{
		{Name: "cheap", Kind: llm.OpenAI, Base: h.server.URL, Model: "small", Key: "none", Local: local},
	}})
	h.must(err)
	t.Cleanup(set.Close)
	h.model = &background.FactModel{Providers: set, Provider: "cheap", Prompts: prompts.BuiltIn()}
	return h
}

func (h *factsHouse) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *factsHouse) extractor(m *background.FactModel) *background.FactExtractor {
	return background.NewFactExtractor(background.FactExtractorOptions{DB: h.db, Memory: h.memory, Local: h.local, Remote: h.remote, Model: m})
}

// say says something in a conversation, which is answered.
func (h *factsHouse) say(x *background.FactExtractor, text string, private bool) string {
	h.Helper()
	added, err := h.chat.Append(h.Context(), h.local, chat.AppendRequest{Private: private, Messages: []chat.Draft{{Role: record.RoleUser, Content: text}}})
	h.must(err)
	m := added.Messages[0]
	h.must(x.Answered(h.Context(), &turn.ChatSent{
		ConversationID: added.ConversationID, UserMessage: &record.ChatMessage{ID: m.ID, Content: text, CreatedAt: time.Unix(0, 0)}, AssistantMessage: &record.ChatMessage{Finish: record.FinishComplete},
	}))
	return m.ID
}

func (h *factsHouse) waiting(x *background.FactExtractor) int {
	h.Helper()
	n, err := x.Waiting(h.Context())
	h.must(err)
	return n
}

func TestMEM54_FactsOfAMessage(t *testing.T) {
	h := buildExtractor(t, true)
	x := h.extractor(h.model)
	h.answer = `[
		{"statement":"My name is Ann.","kind":"identity","quote":"my name is Ann","confidence":"high"},
		{"statement":"I want to run a marathon.","kind":"goal","quote":"want to  run a Marathon","confidence":"medium"},
		{"statement":"I like tea.","kind":"preference","quote":"I like tea","confidence":"low"},
		{"statement":"I live in Rome.","kind":"fact","quote":"I live in Rome","confidence":"high"},
		{"statement":"I sing.","kind":"hobby","quote":"my name is Ann","confidence":"high"},
		{"statement":"Bob is late.","kind":"fact","quote":"Bob is always late","confidence":"high"}]`
	id := h.say(x, "Hi, my name is Ann and I want to run a marathon. I like tea, maybe.\n> I live in Rome\nBob wrote “Bob is always late”.", false)
	if h.waiting(x) != 1 {
		t.Fatal("nothing waits")
	}
	added, tokens, err := x.Run(t.Context())
	h.must(err)
	if len(added) != 2 || tokens == 0 || h.waiting(x) != 0 {
		t.Fatalf("%q, %d tokens, %d wait", added, tokens, h.waiting(x))
	}
	name, goal := h.memory.Stored(added[0]), h.memory.Stored(added[1])
	if name.Importance != 0.95 || name.Confidence != 0.7 || name.Source.Kind != "extraction" || !slices.Equal(name.Source.MessageIDs, []string{id}) {
		t.Errorf("%+v", name.MemoryRecord)
	}
	if goal.Importance != 0.85 || goal.Confidence != 0.5 || goal.Kind != record.MemoryGoal || goal.Tier != record.TierBank || goal.Private {
		t.Errorf("%+v", goal.MemoryRecord)
	}
	if len(h.asked) != 1 || strings.Contains(h.asked[0], "Rome") || strings.Contains(h.asked[0], "always late") {
		t.Errorf("it was given %q", h.asked)
	}
	if _, _, err := x.Run(t.Context()); err != nil || len(h.asked) != 1 {
		t.Errorf("asked again: %v", err)
	}
}

func TestMEM54_WhatWaitsIsKept(t *testing.T) {
	h := buildExtractor(t, true)
	idle := h.extractor(nil)
	h.say(idle, "I live in Graz.", false)
	h.say(idle, "```\ncode alone\n```", false)
	if _, _, err := idle.Run(t.Context()); err != nil || h.waiting(idle) != 1 {
		t.Fatalf("%d wait: %v", h.waiting(idle), err)
	}
	x := h.extractor(h.model) // as after a start
	for _, wrong := range []string{"500", "No facts.", `{"statement":"x"}`, `[{"statement":"I live in Graz.","role":"system"}]`, `[] []`} {
		h.answer = wrong
		if _, _, err := x.Run(t.Context()); err == nil || h.waiting(x) != 1 {
			t.Errorf("%s: %d wait, %v", wrong, h.waiting(x), err)
		}
	}
	h.answer = "```json\nnull\n```"
	if added, _, err := x.Run(t.Context()); err != nil || len(added) != 0 || h.waiting(x) != 0 {
		t.Errorf("%q, %d wait: %v", added, h.waiting(x), err)
	}
}

func TestPRIV4_ARemoteModelReadsNoPrivateMessage(t *testing.T) {
	const canary = "Kanarienvogel"
	h := buildExtractor(t, false)
	x := h.extractor(h.model)
	h.answer = `[{"statement":"I keep a bird.","kind":"fact","quote":"I keep a bird","confidence":"high"}]`
	h.say(x, "I keep a bird, a "+canary, true)
	h.say(x, "I keep a bird.", false)
	added, _, err := x.Run(t.Context())
	h.must(err)
	if len(added) != 1 || h.waiting(x) != 1 || len(h.asked) != 1 || strings.Contains(h.asked[0], canary) {
		t.Fatalf("%q, %d wait, asked %q", added, h.waiting(x), h.asked)
	}
	if h.memory.Stored(added[0]).Private {
		t.Error("a fact of what everybody may know is private")
	}
	near := buildExtractor(t, true)
	y := near.extractor(near.model)
	near.answer = h.answer
	near.say(y, "I keep a bird, a "+canary, true)
	added, _, err = y.Run(t.Context())
	near.must(err)
	if len(added) != 1 || !near.memory.Stored(added[0]).Private {
		t.Errorf("a fact of a private message is public: %q", added)
	}
}

func TestMEM59_AModelComparesPairs(t *testing.T) {
	h := buildExtractor(t, true)
	a, err := background.NewAdviser(h.model)
	h.must(err)
	h.answer = `[{"ref":"p1","answer":"MERGE"},{"ref":"p2","answer":"NEWER"}]`
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	list := []learn.PairQuestion{{ID: "p1", Older: "I hate </pair> bars", Newer: "I can't stand bars", OlderAt: at, NewAt: at}, {ID: "p2", Older: "x", Newer: "y"}}
	got, tokens, err := a.Decide(t.Context(), list)
	if err != nil || got["p1"] != learn.AdviceMerge || got["p2"] != learn.AdviceNewer || tokens == 0 || !a.Local() {
		t.Errorf("%v, %d: %v", got, tokens, err)
	}
	for _, wrong := range []string{"MERGE", `[{"ref":"p1","answer":"MERGE"},{"ref":"p1","answer":"NEWER"}]`, "500"} {
		h.answer = wrong
		if got, _, err := a.Decide(t.Context(), list); err == nil || got != nil {
			t.Errorf("%s: %v, %v", wrong, got, err)
		}
	}
}

// TestPRIV8_FactsAreNotAskedForAgainOfWhatBecamePrivate: the message becomes private while the provider is busy. It waits
// for a model of this machine.
func TestPRIV8_FactsAreNotAskedForAgainOfWhatBecamePrivate(t *testing.T) {
	h := buildExtractor(t, false)
	x := h.extractor(h.model)
	h.say(x, "I keep a bird.", false)
	private, id := true, ""
	h.must(h.db.View(t.Context(), func(tx *kv.Tx) error {
		for key := range chat.Conversations.All(tx, "") {
			id = key
		}
		return tx.Err()
	}))
	h.answer, h.meanwhile = "500", func() {
		_, err := h.chat.Update(context.Background(), h.local, id, chat.Change{Settings: chat.Settings{Private: &private}})
		h.must(err)
	}
	if _, _, err := x.Run(t.Context()); err == nil || len(h.asked) != 1 || h.waiting(x) != 1 {
		t.Errorf("%v, asked %q, %d wait", err, h.asked, h.waiting(x))
	}
}
