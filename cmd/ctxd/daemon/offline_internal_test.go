package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// machine is a daemon of a shared store, and who calls it.
type machine struct {
	t      *testing.T
	local  *client.Client
	remote *client.Client
}

func startMachine(t *testing.T, dir, url, model string) *machine {
	t.Helper()
	store := config.Default().Store
	store.Sync.URL, store.Sync.Offline = url, config.OfflineQueue
	chat := config.Default().Chat
	chat.Provider = "ours"
	chat.Providers = append(chat.Providers, &config.ChatProvider{Name: "ours", Kind: llm.OpenAI, Base: model, Model: "m", Local: true})
	d, err := Start(Options{
		Socket: socketPath(t), Data: dir, Log: slog.New(slog.DiscardHandler), limits: rpc.DefaultLimits(), store: store, chat: chat,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t}
	for _, c := range []struct {
		to       **client.Client
		audience string
	}{{&m.local, "local"}, {&m.remote, "remote"}} {
		if *c.to, err = client.Dial(t.Context(), d.Listener.Path(), client.Options{Name: "test", Audience: c.audience}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_, _ = m.local.Close(), m.remote.Close() // the daemon ends with them
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// asked is the result of a call.
func asked[R any](m *machine, c *client.Client, method, params string) (out R) {
	m.t.Helper()
	if err := c.Call(m.t.Context(), method, json.RawMessage(params), &out); err != nil {
		m.t.Fatalf("%s %s: %v", method, params, err)
	}
	return out
}

// text is the result of a call as JSON.
func (m *machine) text(method, params string) string {
	m.t.Helper()
	return string(asked[json.RawMessage](m, m.local, method, params))
}

// refused is the error of a call.
func (m *machine) refused(method, params string) *client.Error {
	m.t.Helper()
	var e *client.Error
	if err := m.local.Call(m.t.Context(), method, json.RawMessage(params), nil); !errors.As(err, &e) {
		m.t.Fatalf("%s %s: %v", method, params, err)
	}
	return e
}

// eventually waits for what another goroutine, or machine, is about to do.
func (m *machine) eventually(what string, is func() bool) {
	m.t.Helper()
	limit, step := time.NewTimer(2*time.Minute), time.NewTicker(5*time.Millisecond)
	defer limit.Stop()
	defer step.Stop()
	for !is() {
		select {
		case <-step.C:
		case <-limit.C:
			m.t.Fatalf("it does not come to be: %s; %s", what, m.text("sync.status", `{}`))
		}
	}
}

func (m *machine) has(method, params, text string) {
	m.t.Helper()
	m.eventually(text+" in "+method, func() bool { return strings.Contains(m.text(method, params), text) })
}

// twoMachines are a machine behind a proxy and one that is not, with one store.
func twoMachines(t *testing.T) (a, b *machine, proxy *natstest.Proxy, asks *atomic.Int32) {
	t.Helper()
	asks = new(atomic.Int32)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r) // it tells nothing of its models
			return
		}
		asks.Add(1)
		fmt.Fprint(w, `{"choices":[{"message":{"content":"Take the train."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`)
	}))
	t.Cleanup(model.Close)
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	proxy = natstest.NewProxy(t, c, 0)
	one, two := t.TempDir(), t.TempDir()
	id, _, err := shared.Begin(t.Context(), shared.BeginOptions{Servers: nats.Servers{URL: proxy.URL()}, Dir: one, Name: "one", Single: true, Synced: true})
	if err != nil {
		t.Fatal(err)
	}
	a = startMachine(t, one, proxy.URL(), model.URL)
	a.eventually("a state on the servers", func() bool {
		return asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`).Snapshot != nil
	})
	secret, err := nats.ParseSecret(id.Words())
	if err != nil {
		t.Fatal(err)
	}
	_, err = shared.Join(t.Context(), shared.JoinOptions{
		Servers: nats.Servers{URL: c.URL()}, Dir: two, Secret: secret, Name: "two", Synced: true, Store: JoinOptions(config.Default().Store),
		Progress: func(int64, int64) {}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, startMachine(t, two, c.URL(), model.URL), proxy, asks
}

func contents(page protocol.ChatPage) (list []string) {
	for _, m := range page.Messages {
		list = append(list, m.Content)
	}
	return list
}

// inOrder reports whether some texts stand in a list in their order, perhaps with others between them.
func inOrder(list []string, want ...string) bool {
	for _, w := range want {
		at := slices.Index(list, w)
		if at < 0 {
			return false
		}
		list = list[at+1:]
	}
	return true
}

var indexed = regexp.MustCompile(`,"indexed":"(words|meaning)"`)

// What is added on a machine that is cut off is there at once and says that it waits. When the network is back everything
// is on both machines, once, under the ids that were given, and what can't be written is told with both sides.
func TestSYNC4_WhatIsAddedOfflineReachesTheOthers(t *testing.T) {
	a, b, proxy, asks := twoMachines(t)
	a.text("types.put", `{"name":"Person","fields":[{"name":"role","type":"text"}]}`)
	conv := asked[protocol.ChatAppended](a, a.local, "chat.append", `{"title":"Trip","messages":[{"role":"user","content":"zero"}]}`).ConversationID
	hidden := asked[protocol.ChatAppended](a, a.remote, "chat.append", `{"title":"Open","messages":[{"role":"user","content":"open"}]}`).ConversationID
	for _, id := range []string{conv, hidden} {
		b.has("chat.list", `{}`, id)
	}

	proxy.Cut()
	a.eventually("it is cut off", func() bool { return !asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`).Connected })
	said := func(m *machine, text string) protocol.ChatAppended {
		t.Helper()
		return asked[protocol.ChatAppended](m, m.local, "chat.append", fmt.Sprintf(`{"conversationId":%q,"messages":[{"role":"user","content":%q}]}`, conv, text))
	}
	mem := asked[protocol.MemoryAdded](a, a.local, "memory.add", `{"statement":"I am allergic to hazelnuts."}`).Memory
	if !mem.Pending || !asked[record.Memory](a, a.local, "memory.get", `{"ref":"`+mem.ID+`"}`).Pending {
		t.Error("the memory does not wait")
	}
	if got := said(a, "a1"); !got.Messages[0].Pending {
		t.Error("the message does not wait")
	}
	said(a, "a2")
	if n := asked[protocol.NoteSaved](a, a.local, "notes.put", `{"id":"plan","title":"Plan","body":"mine","ifVersion":0}`); !n.Pending || n.ID != "plan" {
		t.Errorf("the note: %+v", n)
	}
	own := asked[protocol.NoteSaved](a, a.local, "notes.put", `{"title":"Own","body":"about packing"}`)
	alice := asked[protocol.EntitySaved](a, a.local, "entities.put", `{"type":"Person","name":"Alice","fields":{"role":"pilot"}}`)
	if !alice.Pending || !asked[protocol.EntityFull](a, a.local, "entities.get", `{"ref":"`+alice.ID+`"}`).Pending {
		t.Error("the entity does not wait")
	}
	sent := asked[turn.ChatSent](a, a.local, "chat.send", `{"text":"How do I get there?"}`)
	if !sent.UserMessage.Pending || !sent.AssistantMessage.Pending || sent.Content != "Take the train." {
		t.Errorf("what was sent: %+v", sent)
	}
	asked[protocol.ChatAppended](a, a.remote, "chat.append", `{"conversationId":"`+hidden+`","messages":[{"role":"user","content":"not for me"}]}`)
	for _, again := range []string{"plan", own.ID} {
		if e := a.refused("notes.put", `{"id":"`+again+`","body":"other"}`); e.Code != protocol.CodeUnavailable || !strings.Contains(e.Data.Hint, "only what is new") {
			t.Errorf("an old id: %+v", e)
		}
	}
	if e := a.refused("memory.retract", `{"id":"`+mem.ID+`"}`); e.Code != protocol.CodeUnavailable || !e.Data.Retryable {
		t.Errorf("what changes something: %+v", e)
	}
	if s := asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`); s.Queue == nil || s.Queue.Waiting != 9 || s.Queue.Oldest == nil {
		t.Errorf("status %+v", s.Queue)
	}
	if h := a.text("admin.health", `{}`); !strings.Contains(h, `"waiting":9`) {
		t.Errorf("health %s", h)
	}
	a.has("context.assemble", `{"text":"What am I allergic to?","memories":5,"deadlineMs":10000}`, "hazelnuts")

	b.text("memory.add", `{"statement":"My bicycle is locked in the cellar of the library."}`)
	said(b, "b1")
	said(b, "b2")
	b.text("notes.put", `{"id":"plan","title":"Plan","body":"theirs"}`)
	b.text("chat.patch", `{"id":"`+hidden+`","private":true}`)

	proxy.Heal()
	a.eventually("nothing waits", func() bool {
		s := asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`)
		return s.Connected && s.Behind == 0 && (s.Queue == nil || s.Queue.Waiting == 0)
	})
	// The conflicts, with both sides.
	got := asked[protocol.SyncConflicts](a, a.local, "sync.conflicts", `{}`)
	if got.Total != 2 || len(got.Conflicts) != 2 {
		t.Fatalf("conflicts %s", a.text("sync.conflicts", `{}`))
	}
	note, message := got.Conflicts[0], got.Conflicts[1]
	if note.Method != "notes.put" || !strings.Contains(string(note.Mine), `"mine"`) || note.Theirs == nil || note.Theirs.Note == nil ||
		note.Theirs.Note.Body != "theirs" || note.Message == "" || note.Hint == "" {
		t.Errorf("%+v", note)
	}
	if message.Method != "chat.append" || message.Audience != "remote" || !strings.Contains(string(message.Mine), "not for me") {
		t.Errorf("%+v", message)
	}
	if e := asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`).Queue; e == nil || e.Refused != 2 || e.LastConflict == nil {
		t.Errorf("%+v", e)
	}
	// Everything else is on both, once, in order, and says the same.
	b.has("memory.list", `{}`, mem.ID)
	b.has("chat.get", `{"ref":"`+sent.ConversationID+`"}`, sent.AssistantMessage.ID)
	page := asked[protocol.ChatPage](b, b.local, "chat.get", `{"ref":"`+conv+`"}`)
	if list := contents(page); len(list) != 5 || !inOrder(list, "zero", "a1", "a2") || !inOrder(list, "b1", "b2") {
		t.Errorf("messages %v", list)
	}
	if n := asks.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	for _, call := range [][2]string{
		{"memory.list", `{}`},
		{"notes.list", `{}`},
		{"entities.list", `{}`},
		{"chat.list", `{}`},
		{"chat.get", `{"ref":"` + conv + `"}`},
		{"chat.get", `{"ref":"` + sent.ConversationID + `"}`},
		{"chat.get", `{"ref":"` + hidden + `"}`},
		{"notes.get", `{"ref":"plan"}`},
		{"notes.get", `{"ref":"` + own.ID + `"}`},
		{"entities.get", `{"ref":"` + alice.ID + `"}`},
	} {
		// The vectors of a memory are each machine's own, made in the background.
		one, two := indexed.ReplaceAllString(a.text(call[0], call[1]), ""), indexed.ReplaceAllString(b.text(call[0], call[1]), "")
		if one != two || strings.Contains(one, `"pending"`) || strings.Contains(one, "not for me") {
			t.Errorf("%s %s:\n%s\n%s", call[0], call[1], one, two)
		}
	}
	for _, m := range []*machine{a, b} {
		m.has("context.assemble", `{"text":"What am I allergic to?","memories":5,"deadlineMs":10000}`, "hazelnuts")
		m.has("context.assemble", `{"text":"Where is my bicycle?","memories":5,"deadlineMs":10000}`, "library")
	}
	// A conflict is ended by a person alone.
	a.text("sync.settle", fmt.Sprintf(`{"number":%d,"keep":"again"}`, note.Number))
	a.eventually("it is refused again", func() bool {
		s := asked[protocol.SyncConflicts](a, a.local, "sync.conflicts", `{}`)
		return s.Total == 2 && s.Conflicts[1].Number > message.Number
	})
	for _, c := range asked[protocol.SyncConflicts](a, a.local, "sync.conflicts", `{}`).Conflicts {
		a.text("sync.settle", fmt.Sprintf(`{"number":%d,"keep":"theirs"}`, c.Number))
	}
	if s := a.text("sync.conflicts", `{}`); !strings.Contains(s, `"total":0`) {
		t.Errorf("conflicts %s", s)
	}
	if e := a.refused("sync.settle", `{"number":1,"keep":"theirs"}`); e.Code != protocol.CodeNotFound {
		t.Errorf("%+v", e)
	}
}
