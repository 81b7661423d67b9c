package send_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// script is how a provider answers.
type script = func(r *provider.Request, to *provider.Reply)

// model is a provider whose script can be exchanged.
type model struct {
	*provider.Server
	mu     sync.Mutex
	script script
}

func newModel(t testing.TB) *model {
	t.Helper()
	m := &model{}
	m.Server = provider.Start(func(r *provider.Request, to *provider.Reply) {
		m.mu.Lock()
		answer := m.script
		m.mu.Unlock()
		if answer == nil {
			to.Text("Yes", ".")
			return
		}
		answer(r, to)
	})
	t.Cleanup(m.Close)
	return m
}

func (m *model) says(s script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = s
}

// asked are the bodies of what the model was asked.
func (m *model) asked() (bodies []string) {
	for _, r := range m.Requests() {
		bodies = append(bodies, r.Body)
	}
	return bodies
}

func (m *model) last(t fataler) *provider.Request {
	t.Helper()
	list := m.Requests()
	if len(list) == 0 {
		t.Fatal("the provider was not asked")
	}
	return &list[len(list)-1]
}

// fataler is a test, a benchmark or a check of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// house is a store with the rooms that answers need, and two models: near is local, far is not.
type house struct {
	t             fataler
	db            *kv.Store
	notes         *notes.Store
	ents          *entities.Store
	memory        *memory.Store
	chat          *chat.Store
	shelf         *books.Store
	pipe          *send.Pipeline
	local, remote *audience.View
	near, far     *model
	looked        int // requests that far was sent before, or that were looked at

	seen      *audience.Views
	gathering gather.Options
	sending   send.Options
}

// hurried is time as providers see it, without pauses between tries.
var hurried = llm.Timing{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}

// open opens a house in memory.
func open(t testing.TB) *house {
	t.Helper()
	return openOver(t, t, kv.InMemory, newModel(t), newModel(t), chat.Limits{})
}

// openOver opens a house in a folder. The store is closed when the test ends.
func openOver(t testing.TB, f fataler, dir string, near, far *model, limits chat.Limits) *house {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(f, err)
	t.Cleanup(func() { _ = db.Close() })
	h := &house{t: f, db: db, near: near, far: far, looked: len(far.asked())}
	var engine *wql.Engine
	ents, err := entities.Open(db, entities.Options{CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic {
		return engine.CheckField(ty, f)
	}})
	must(f, err)
	h.ents = ents
	engine = wql.New(ents, wql.Options{})
	h.notes, err = notes.Open(db, ents, notes.Options{})
	must(f, err)
	db.OnCommit(engine.Apply)
	seen := audience.Open(db, audience.Stores{
		Entities: ents, Notes: h.notes, WQL: engine, Graph: graph.Open(db, ents, h.notes, engine),
	})
	seen.SetSearch(search.Open(db, notedoc.New(h.notes, notedoc.Options{Public: seen.Public, Revealed: seen.Revealed}), search.Options{}))
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	pins := new(chat.Pins)
	h.memory, err = memory.Open(db, memory.Options{
		Entity: entities.EntityRecords.Has, Conversation: chat.State, HandleTaken: chat.HasHandle,
		Deleted: pins.Unpin,
	})
	must(f, err)
	h.chat, err = chat.Open(db, chat.Options{
		Pins: pins, Memories: h.memory, Remote: h.remote, Limits: limits,
	})
	must(f, err)
	chat.RegisterHandles(seen, h.memory, h.chat)
	h.chat.SummariseBy(background.NewSummaryStore(db, background.SummaryStoreOptions{Remote: h.remote}).Line)
	said, err := chatdoc.New(db, seen, chatdoc.Options{})
	must(f, err)
	remembered := document.New(db, h.memory, seen)
	h.shelf, err = books.Open(db, books.Options{
		Dir: t.TempDir(), Conversation: func(tx *kv.Tx, id string) (private, found bool, err error) { return chat.State(tx, id, nil) },
		Hide: func(tx *kv.Tx, id string) error {
			said, err := chat.HideBooked(tx, id)
			if err != nil {
				return err
			}
			return h.memory.HideSaid(tx, said)
		},
	})
	must(f, err)
	read, err := books.NewSource(db, seen)
	must(f, err)
	ranker := recall.New(recall.Indexes{
		Passages: search.Open(db, read, search.Options{}), Books: books.Library{Store: h.shelf, Source: read},
		Memories: recall.Index{Search: search.Open(db, remembered, search.Options{}), Source: remembered}, Store: h.memory,
		Messages: recall.Index{Search: search.Open(db, said, search.Options{}), Source: said}, Message: chatdoc.Recalled,
	}, recall.Options{})
	must(f, db.Mended())
	h.seen, h.gathering = seen, gather.Options{
		Refs: gather.NewResolver(gather.ResolverOptions{
			Memories: h.memory, Conversation: h.chat.Handled, Message: h.chat.Referred,
			Near: chat.OpenCompleter(db, seen, ents, h.memory, h.chat).Suggest,
		}),
		Memories: h.memory, Finder: ranker, Conversations: h.chat,
	}
	providers, err := llm.NewSet(llm.SetOptions{
		Default: "far", Budget: llm.Budget{}, Time: hurried, Providers: []llm.Options{
			{Name: "near", Kind: llm.OpenAI, Base: near.URL, Model: "near-model", Key: "none", Local: true},
			{Name: "far", Kind: llm.OpenAI, Base: far.URL, Model: "far-model", Key: "none"},
			{Name: "keyless", Kind: llm.OpenAI, Base: far.URL, Model: "far-model", Key: "env:CTXD_TEST_NO_SUCH_KEY"},
		},
	})
	must(f, err)
	t.Cleanup(providers.Close)
	h.sending = send.Options{
		Chat: h.chat, Prompts: gather.Open(db, seen, h.gathering), Providers: providers, Tools: tools.NewSet(tools.SetOptions{Views: seen, Recall: ranker}),
		Views: seen, GatherTimeout: patience,
		Orders: tools.NewRouter(tools.RouterOptions{Memory: h.memory, Recall: ranker, Refs: h.gathering.Refs, Remote: h.remote}),
	}
	h.pipe = send.New(h.sending)
	return h
}

// heard is who listens to an answer.
type heard struct {
	mu      sync.Mutex
	private bool
	deltas  []turn.ChatDelta
	locals  []turn.ChatDelta                            // that local readers alone get
	on      func(context.Context, turn.ChatDelta) error // nil: nothing
	before  func()                                      // is called with locals; nil: nothing
}

func (l *heard) Begin(_ string, private bool) { l.private = private }

func (l *heard) Hide(turn.ChatDelta) {}

func (l *heard) Local(_ context.Context, d turn.ChatDelta) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locals = append(l.locals, d)
	if l.before != nil {
		l.before()
	}
	return nil
}

func (l *heard) Delta(ctx context.Context, d turn.ChatDelta) error {
	l.mu.Lock()
	l.deltas = append(l.deltas, d)
	l.mu.Unlock()
	if l.on != nil {
		return l.on(ctx, d)
	}
	return nil
}

// joined is the text of the deltas of a type.
func (l *heard) joined(kind string) string {
	var b strings.Builder
	for _, d := range l.deltas {
		if d.Type == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func (l *heard) types() (list []string) {
	for _, d := range l.deltas {
		if n := len(list); n == 0 || list[n-1] != d.Type {
			list = append(list, d.Type)
		}
	}
	return list
}

// gapless fails when deltas are missing or the last one is not done, or another one is.
func (l *heard) gapless(t fataler) {
	t.Helper()
	for i, d := range l.deltas {
		if d.Seq != i+1 {
			t.Fatalf("delta %d has number %d", i+1, d.Seq)
		}
		if (d.Type == turn.Done) != (i == len(l.deltas)-1) {
			t.Fatalf("delta %d of %d is of type %s", i+1, len(l.deltas), d.Type)
		}
	}
}

// send has a message answered, which must be.
func (h *house) send(m turn.ChatSend) *turn.ChatSent {
	h.t.Helper()
	l := &heard{}
	res, err := h.pipe.Send(context.Background(), h.local, m, l)
	if err != nil {
		h.t.Fatalf("%+v: %v", m, err)
	}
	if !res.Repeat {
		l.gapless(h.t)
		if l.joined(turn.Text) != res.Content || res.AssistantMessage.Content != res.Content {
			h.t.Fatalf("the deltas say %.200q, the answer %.200q, what is stored %.200q", l.joined(turn.Text), res.Content, res.AssistantMessage.Content)
		}
	}
	return res
}

// fails has a message refused.
func (h *house) fails(m turn.ChatSend, kind fault.Kind, field string) {
	h.t.Helper()
	_ = h.refusal(m, kind, field)
}

// refusal is why a message is refused.
func (h *house) refusal(m turn.ChatSend, kind fault.Kind, field string) *fault.Error {
	h.t.Helper()
	_, err := h.pipe.Send(context.Background(), h.local, m, &heard{})
	f := new(fault.Error)
	if !errors.As(err, &f) || f.Kind != kind || f.Field != field {
		h.t.Fatalf("%+.300v: error %v of kind %v and field %q, want %v of %q", m, err, fault.KindOf(err), f.Field, kind, field)
	}
	if f.Hint == "" {
		h.t.Errorf("%v has no hint", err)
	}
	return f
}

// said are the messages of the newest branch of a conversation.
func (h *house) said(v *audience.View, id string) []*record.ChatMessage {
	h.t.Helper()
	p, err := h.chat.Messages(context.Background(), v, id, "", 0, 1000)
	must(h.t, err)
	return p.Messages
}

// texts are "role: content" of messages.
func texts(list []*record.ChatMessage) (out []string) {
	for _, m := range list {
		out = append(out, m.Role+": "+m.Content)
	}
	return out
}

func (h *house) wantSaid(id string, want ...string) {
	h.t.Helper()
	if got := texts(h.said(h.local, id)); !slices.Equal(got, want) {
		h.t.Fatalf("the conversation says %q, want %q", got, want)
	}
}

// conversations is how many there are.
func (h *house) conversations() int {
	h.t.Helper()
	list, _, err := h.chat.List(context.Background(), h.local, false, nil, 1000)
	must(h.t, err)
	return len(list)
}

func (h *house) append(id string, messages ...chat.Draft) string {
	h.t.Helper()
	out, err := h.chat.Append(context.Background(), h.local, chat.AppendRequest{ConversationID: id, Messages: messages})
	must(h.t, err)
	return out.ConversationID
}

func (h *house) note(d notes.Draft) {
	h.t.Helper()
	_, err := h.notes.Put(context.Background(), d, nil)
	must(h.t, err)
}

// warned reports whether a result warns of something.
func warned(list []record.ChatWarning, about string) bool {
	return slices.ContainsFunc(list, func(w record.ChatWarning) bool { return w.About == about })
}

func user(text string) chat.Draft { return chat.Draft{Role: record.RoleUser, Content: text} }

func answer(text string) chat.Draft { return chat.Draft{Role: record.RoleAssistant, Content: text} }

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// came waits for what a goroutine says.
func came[T any](t fataler, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
	}
	return v
}

func ptr[T any](v T) *T { return &v }
