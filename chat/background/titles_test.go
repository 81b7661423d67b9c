package background_test

import (
	"context"
	"log/slog"
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
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// titlerWorld is a store with conversations, and two models: near is local, far is not.
type titlerWorld struct {
	*testing.T
	db        *kv.Store
	notes     *notes.Store
	house     background.TitlerDeps
	titler    *background.Titler
	providers *llm.Set
	near, far *provider.Server
	slept     []time.Duration

	mu     sync.Mutex // guards what follows
	now    time.Time
	answer func(r *provider.Request, to *provider.Reply)
}

func openTitler(t *testing.T, b llm.Budget) *titlerWorld {
	t.Helper()
	w := &titlerWorld{T: t, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.says("Hikes in May")
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	t.Cleanup(func() { _ = w.db.Close() })
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: w.notes})
	w.house = background.TitlerDeps{
		Local: rooms.View(audience.Local), Remote: rooms.View(audience.Remote),
		Enter: func(ctx context.Context, work func(context.Context) error) error { return work(ctx) },
	}
	w.house.Chat, err = chat.Open(w.db, chat.Options{Remote: w.house.Remote})
	w.must(err)
	start := func() *provider.Server {
		s := provider.Start(func(r *provider.Request, to *provider.Reply) {
			w.mu.Lock()
			answer := w.answer
			w.mu.Unlock()
			answer(r, to)
		})
		t.Cleanup(s.Close)
		return s
	}
	w.near, w.far = start(), start()
	w.providers, err = llm.NewSet(llm.SetOptions{
		Default: "far", Budget: b,
		Time: llm.Timing{
			Now:   func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		},
		Providers: []llm.Options{
			{Name: "near", Kind: llm.OpenAI, Base: w.near.URL, Model: "near-model", Key: "none", Local: true},
			{Name: "far", Kind: llm.OpenAI, Base: w.far.URL, Model: "far-model", Key: "none"},
		},
	})
	w.must(err)
	t.Cleanup(w.providers.Close)
	w.titler = background.NewTitler(background.TitlerOptions{
		Providers: w.providers, Prompts: prompts.BuiltIn(), Log: slog.New(slog.DiscardHandler),
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.slept = append(w.slept, d)
			w.mu.Lock()
			w.now = w.now.Add(d)
			w.mu.Unlock()
			return ctx.Err()
		},
	})
	t.Cleanup(w.titler.Close)
	return w
}

func (w *titlerWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *titlerWorld) does(answer func(r *provider.Request, to *provider.Reply)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

func (w *titlerWorld) says(title string) {
	w.does(func(_ *provider.Request, to *provider.Reply) { to.Text(title) })
}

// answered has a question stored with its answer, as chat.send does.
func (w *titlerWorld) answered(q chat.Question, by string, a chat.Answer) *turn.ChatSent {
	w.Helper()
	asked, err := w.house.Chat.Ask(w.Context(), w.house.Local, q)
	w.must(err)
	a.Provider, a.Finish = by, record.FinishComplete
	if a.Content == "" {
		a.Content = "To the lower paths."
	}
	m, err := w.house.Chat.Answered(w.Context(), w.house.Local, asked, &a)
	w.must(err)
	return &turn.ChatSent{ConversationID: asked.Conversation.ID, AssistantMessage: m, UserMessage: asked.Question}
}

// wants fails unless a conversation has titles for both readers; none for the remote one says that he sees none at all.
func (w *titlerWorld) wants(id, local, remote string) {
	w.Helper()
	for v, want := range map[*audience.View]string{w.house.Local: local, w.house.Remote: remote} {
		got, err := w.house.Chat.Titles(w.Context(), v, []string{id})
		w.must(err)
		if got[0] != want {
			w.Errorf("Titles for %s: %q, want %q", v.Reader(), got[0], want)
		}
		c, err := w.house.Chat.Get(w.Context(), v, id)
		if want == "" && err != nil {
			continue
		}
		w.must(err)
		if c.Title != want {
			w.Errorf("title for %s: %q, want %q", v.Reader(), c.Title, want)
		}
	}
}

// asked fails unless the models were asked so often.
func (w *titlerWorld) asked(near, far int) {
	w.Helper()
	if n, f := len(w.near.Requests()), len(w.far.Requests()); n != near || f != far {
		w.Fatalf("near was asked %d times and far %d, want %d and %d", n, f, near, far)
	}
}

const question = "Where could we hike in May?"

func TestCHAT3_AModelMakesTheTitleAfterTheFirstAnswer(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
	w.wants(sent.ConversationID, question, question)
	before, err := w.house.Chat.Get(t.Context(), w.house.Remote, sent.ConversationID)
	w.must(err)
	w.titler.Do(t.Context(), w.house, sent)
	w.wants(sent.ConversationID, "Hikes in May", "Hikes in May")
	w.asked(0, 1)
	r := w.far.Requests()[0]
	if !strings.Contains(r.Last(), question) || !strings.Contains(r.Last(), "To the lower paths.") {
		t.Errorf("the model was asked %q", r.Last())
	}
	after, err := w.house.Chat.Get(t.Context(), w.house.Remote, sent.ConversationID)
	w.must(err)
	if after.Version != before.Version+1 {
		t.Errorf("version %d after %d", after.Version, before.Version)
	}
	rows := w.providers.Ledger().Rows()
	if len(rows) != 1 || !rows[0].Background || rows[0].Requests != 1 {
		t.Errorf("CHAT-38: spending %+v", rows)
	}

	// Once for a conversation, and not after a later answer.
	w.says("Something else")
	w.titler.Do(t.Context(), w.house, sent)
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{ConversationID: sent.ConversationID, Content: "And in June?"}, "far", chat.Answer{}))
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{ConversationID: sent.ConversationID, Regenerate: sent.UserMessage.ID}, "far", chat.Answer{}))
	w.asked(0, 1)
	w.wants(sent.ConversationID, "Hikes in May", "Hikes in May")

	// Who wants none gets the first message again.
	_, err = w.house.Chat.Update(t.Context(), w.house.Local, sent.ConversationID, chat.Change{Settings: chat.Settings{Title: new(string)}})
	w.must(err)
	w.wants(sent.ConversationID, question, question)
}

func TestCHAT3_TheTitleOfAPersonStays(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	mine := "Mine"
	set := func(id string) {
		_, err := w.house.Chat.Update(t.Context(), w.house.Local, id, chat.Change{Settings: chat.Settings{Title: &mine}})
		w.must(err)
	}
	sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
	w.does(func(_ *provider.Request, to *provider.Reply) {
		set(sent.ConversationID)
		to.Text("Hikes in May")
	})
	w.titler.Do(t.Context(), w.house, sent)
	w.asked(0, 1)
	w.wants(sent.ConversationID, mine, mine)
	_, err := w.house.Chat.Update(t.Context(), w.house.Local, sent.ConversationID, chat.Change{Settings: chat.Settings{Title: new(string)}})
	w.must(err)
	w.wants(sent.ConversationID, question, question)
	c, err := w.house.Chat.Get(t.Context(), w.house.Local, sent.ConversationID)
	w.must(err)
	if c.Version != 3 {
		t.Errorf("two changes made version %d", c.Version)
	}

	early := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
	set(early.ConversationID)
	w.titler.Do(t.Context(), w.house, early)
	w.asked(0, 1)
}

func TestCHAT3_WhatIsNoTitleLeavesItAsItWas(t *testing.T) {
	for name, answer := range map[string]func(*provider.Request, *provider.Reply){
		"null":    func(_ *provider.Request, to *provider.Reply) { to.Text("null") },
		"empty":   func(_ *provider.Request, to *provider.Reply) { to.Text(" \n") },
		"thought": func(_ *provider.Request, to *provider.Reply) { to.Text("<think>Hikes in May</think>") },
		"aloud":   func(_ *provider.Request, to *provider.Reply) { to.Reasoning("Hikes in May") },
		"long":    func(_ *provider.Request, to *provider.Reply) { to.Text(strings.Repeat("Hikes ", 10_000)) },
		"refused": func(_ *provider.Request, to *provider.Reply) { to.Status(400, "no") },
		"broken":  func(_ *provider.Request, to *provider.Reply) { to.Text("Hikes"); to.Break() },
		"call":    func(_ *provider.Request, to *provider.Reply) { to.Call("read_note", "{}") },
	} {
		t.Run(name, func(t *testing.T) {
			w := openTitler(t, llm.Budget{})
			w.does(answer)
			sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
			w.titler.Do(t.Context(), w.house, sent)
			asked := len(w.far.Requests())
			w.wants(sent.ConversationID, question, question)
			w.says("Hikes in May")
			w.titler.Do(t.Context(), w.house, sent)
			if len(w.far.Requests()) != asked || asked == 0 {
				t.Errorf("it was asked %d times, then %d times", asked, len(w.far.Requests()))
			}
		})
	}
}

func TestCHAT3_NobodyIsAskedWithoutAProvider(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{Content: question}, "none", chat.Answer{}))
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{Content: question}, "", chat.Answer{}))
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{Content: question}, "gone", chat.Answer{}))
	w.asked(0, 0)
}

func TestPRIV4_ATitleOfPrivateTextIsPrivate(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "zx", Title: "Zanzibar papers", Private: true}, nil)
	w.must(err)
	w.says("Hikes in May")
	for name, c := range map[string]struct {
		q      chat.Question
		a      chat.Answer
		remote string
	}{
		"question": {chat.Question{Content: question, Private: true}, chat.Answer{Private: true}, ""},
		"answer":   {chat.Question{Content: question}, chat.Answer{Private: true}, question},
		"name":     {chat.Question{Content: question}, chat.Answer{Content: "See [[Zanzibar papers]]."}, question},
	} {
		t.Run(name, func(t *testing.T) {
			far := w.answered(c.q, "far", c.a)
			near := w.answered(c.q, "near", c.a)
			asked := len(w.near.Requests())
			w.titler.Do(t.Context(), w.house, far)
			w.titler.Do(t.Context(), w.house, near)
			w.asked(asked+1, 0)
			w.wants(far.ConversationID, question, c.remote)
			w.wants(near.ConversationID, "Hikes in May", c.remote)
		})
	}

	// It stays so when the conversation becomes public.
	private := true
	made, err := w.house.Chat.Put(t.Context(), w.house.Local, "", chat.Change{Settings: chat.Settings{Private: &private}})
	w.must(err)
	sent := w.answered(chat.Question{ConversationID: made.ID, Content: question}, "near", chat.Answer{})
	w.titler.Do(t.Context(), w.house, sent)
	w.wants(made.ID, "Hikes in May", "")
	_, err = w.house.Chat.Update(t.Context(), w.house.Local, sent.ConversationID, chat.Change{Settings: chat.Settings{Private: new(bool)}})
	w.must(err)
	w.wants(made.ID, "Hikes in May", question)
}

func TestPRIV4_ATitleIsNotShownAnyMoreOnceItsAnswerIsPrivate(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	sent := w.answered(chat.Question{Content: question}, "near", chat.Answer{Memories: []string{"m1"}})
	w.titler.Do(t.Context(), w.house, sent)
	w.wants(sent.ConversationID, "Hikes in May", "Hikes in May")
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error {
		_, err := chat.HideStanding(tx, []string{"m1"})
		return err
	}))
	w.wants(sent.ConversationID, "Hikes in May", question)
}

func TestPRIV6_ARemoteReaderHasTheTitleOfHisOwnFirstTurn(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	two, err := w.house.Chat.Append(t.Context(), w.house.Local, chat.AppendRequest{Messages: []chat.Draft{
		{Role: record.RoleUser, Content: "Something secret", Private: true}, {Role: record.RoleUser, Content: "Something open"},
	}})
	w.must(err)
	page, err := w.house.Chat.Messages(t.Context(), w.house.Local, two.ConversationID, "", 0, 10)
	w.must(err)
	secret, public := page.Messages[0], page.Messages[1]
	w.says("A secret")
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{ConversationID: two.ConversationID, Regenerate: secret.ID}, "near", chat.Answer{Private: true}))
	w.wants(two.ConversationID, "A secret", "Something open")
	w.says("An open matter")
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{ConversationID: two.ConversationID, Regenerate: public.ID}, "far", chat.Answer{}))
	w.wants(two.ConversationID, "A secret", "An open matter")
}

func TestCHAT38_ATitleWaitsForTheBudget(t *testing.T) {
	w := openTitler(t, llm.Budget{RequestsPerMinute: 1})
	w.titler.Do(t.Context(), w.house, w.answered(chat.Question{Content: question}, "far", chat.Answer{}))
	sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
	w.titler.Do(t.Context(), w.house, sent)
	if len(w.slept) == 0 {
		t.Error("it did not wait")
	}
	w.wants(sent.ConversationID, "Hikes in May", "Hikes in May")
	w.asked(0, 2)
}

func TestCHAT3_ATitleIsAskedForInTheBackgroundAndGivenUpAtTheEnd(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	begun := make(chan struct{})
	w.does(func(_ *provider.Request, to *provider.Reply) {
		to.Text("Hikes")
		close(begun)
		<-to.Gone()
	})
	sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{})
	w.titler.Answered(w.house, sent)
	w.titler.Answered(w.house, sent)
	<-begun
	w.titler.Close()
	w.asked(0, 1)
	w.wants(sent.ConversationID, question, question)
	w.titler.Answered(w.house, sent) // nobody hears it any more
	var none *background.Titler
	none.Answered(w.house, sent)
	none.Close()
}

// TestPRIV8_ATitleIsNotAskedForAgainWhatBecamePrivate: what the turn names becomes private while the provider is busy.
func TestPRIV8_ATitleIsNotAskedForAgainWhatBecamePrivate(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "zx", Title: "Zanzibar papers"}, nil)
	w.must(err)
	sent := w.answered(chat.Question{Content: question}, "far", chat.Answer{Content: "See [[Zanzibar papers]]."})
	private := true
	w.does(func(_ *provider.Request, to *provider.Reply) {
		_, err := w.notes.Patch(context.Background(), notes.Patch{ID: "zx", Private: &private}, nil)
		w.must(err)
		to.Status(503, "busy")
	})
	w.titler.Do(t.Context(), w.house, sent)
	w.asked(0, 1)
	w.wants(sent.ConversationID, question, question)
}
