package background_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// world is a store with a memory "m", conversations, and two models: near is local, far is not.
type world struct {
	*testing.T
	mem       *memory.Store
	learn     *learn.Stores
	house     background.DetectorDeps
	detector  *background.OutcomeDetector
	near, far *provider.Server
	answer    string
	// meanwhile is called while a model is asked, which is busy then; nil: nothing happens.
	meanwhile func()
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t}
	db, err := kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	w.must(err)
	ns, err := notes.Open(db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	w.house = background.DetectorDeps{
		Local: rooms.View(audience.Local), Remote: rooms.View(audience.Remote),
		Enter: func(ctx context.Context, work func(context.Context) error) error { return work(ctx) },
	}
	w.mem, err = memory.Open(db, memory.Options{Conversation: chat.State})
	w.must(err)
	chats, err := chat.Open(db, chat.Options{Remote: w.house.Remote, Memories: w.mem})
	w.must(err)
	w.learn, err = background.OpenLearning(db, w.mem, chats, learn.Options{})
	w.must(err)
	w.house.Chat, w.house.Scorer = chats, w.learn.Outcomes
	_, err = w.mem.Add(t.Context(), w.house.Local, []memory.Draft{{ID: "m", Statement: "The pump is oiled in spring", Tier: record.TierHistory}})
	w.must(err)
	start := func() *provider.Server {
		s := provider.Start(func(_ *provider.Request, to *provider.Reply) {
			if w.meanwhile != nil {
				w.meanwhile()
				to.Status(503, "busy")
				return
			}
			to.Text(w.answer)
		})
		t.Cleanup(s.Close)
		return s
	}
	w.near, w.far = start(), start()
	set, err := llm.NewSet(llm.SetOptions{Default: "far", Time: hurried, Providers: []llm.Options{
		{Name: "near", Kind: llm.OpenAI, Base: w.near.URL, Model: "near-model", Key: "none", Local: true},
		{Name: "far", Kind: llm.OpenAI, Base: w.far.URL, Model: "far-model", Key: "none"},
	}})
	w.must(err)
	t.Cleanup(set.Close)
	w.detector = background.NewOutcomeDetector(background.DetectorOptions{
		Providers: set, Prompts: prompts.BuiltIn(), Log: slog.New(slog.DiscardHandler), Automatic: true,
	})
	t.Cleanup(w.detector.Close)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// says has a user say something, and a provider answer with the memory.
func (w *world) says(id, text, by string, private bool) *turn.ChatSent {
	w.Helper()
	chats := w.house.Chat
	asked, err := chats.Ask(w.Context(), w.house.Local, chat.Question{ConversationID: id, Content: text, Private: private})
	w.must(err)
	m, err := chats.Answered(w.Context(), w.house.Local, asked, &chat.Answer{
		Content: "Oil it, as #1 says.", Provider: by, Finish: record.FinishComplete, Memories: []string{"m"}, Private: private,
	})
	w.must(err)
	of := background.MessageAnswer(m)
	w.must(w.learn.Outcomes.Answered(w.Context(), w.house.Local, asked.Conversation.ID, m.ID, of.Shown))
	return &turn.ChatSent{ConversationID: asked.Conversation.ID, AssistantMessage: m}
}

func (w *world) detect(id string) *background.Detection {
	w.Helper()
	d, err := w.detector.Detect(w.Context(), w.house, w.house.Local, id)
	w.must(err)
	return d
}

// scored fails unless the memory has a score.
func (w *world) scored(want float64) {
	w.Helper()
	m, err := w.mem.Get(w.house.Local, "m")
	w.must(err)
	if m.Use.Score != want {
		w.Errorf("score %v, want %v", m.Use.Score, want)
	}
}

const thanks = `{"outcome":"worked","confidence":0.9,"indicators":["thanks"],"reasoning":"The user says thanks."}`

func TestMEM49_AModelSaysHowTheAnswerWent(t *testing.T) {
	w := open(t)
	w.answer = thanks
	first := w.says("", "How do I keep the pump?"+strings.Repeat(" really", 200), "far", false)
	id := first.ConversationID
	if d := w.detect(id); d.Outcome != record.OutcomeUnknown || len(w.far.Requests()) > 0 {
		t.Errorf("after one turn: %+v, and the model was asked", d)
	}
	second := w.says(id, "Thanks, it runs.", "far", false)
	d := w.detect(id)
	if d.Outcome != record.OutcomeWorked || d.Confidence != 0.9 || d.Reasoning == "" || len(d.Scored.Memories) != 1 {
		t.Errorf("detected %+v", d)
	}
	w.scored(0.7)
	asked := w.far.Requests()[0].Last()
	if strings.Count(asked, "<turn") != 4 || strings.Count(asked, "really") > 80 || !strings.Contains(asked, "Thanks, it runs.") {
		t.Errorf("the model was asked %q", asked)
	}
	states, err := w.learn.Outcomes.OutcomesOf(t.Context(), id)
	w.must(err)
	if states[first.AssistantMessage.ID] != "worked" || states[second.AssistantMessage.ID] != "unscored" {
		t.Errorf("outcomes %v: the answer is scored that the user has spoken of", states)
	}
	w.detect(id)
	w.scored(0.7)
}

func TestMEM49_WhatIsNoVerdictScoresNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		fails  bool
	}{
		"unsure":   {strings.Replace(thanks, "0.9", "0.7", 1), false},
		"unknown":  {strings.Replace(thanks, "worked", "unknown", 1), false},
		"fence":    {"```json\n" + strings.Replace(thanks, "0.9", "0.5", 1) + "\n```", false},
		"text":     {"It worked.", true},
		"other":    {strings.Replace(thanks, "worked", "great", 1), true},
		"more":     {thanks + thanks, true},
		"member":   {strings.Replace(thanks, "reasoning", "why", 1), true},
		"no sure":  {`{"outcome":"worked"}`, true},
		"too sure": {strings.Replace(thanks, "0.9", "9", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.answer = c.answer
			id := w.says("", "How?", "far", false).ConversationID
			w.says(id, "Thanks.", "far", false)
			d, err := w.detector.Detect(t.Context(), w.house, w.house.Local, id)
			switch {
			case c.fails && fault.KindOf(err) != fault.Unavailable:
				t.Errorf("error %v", err)
			case !c.fails && (err != nil || d.Outcome != record.OutcomeUnknown):
				t.Errorf("%+v, %v", d, err)
			}
			w.scored(0.5)
		})
	}
}

func TestPRIV1_APrivateConversationIsJudgedByALocalModel(t *testing.T) {
	w := open(t)
	w.answer = thanks
	id := w.says("", "How?", "far", false).ConversationID
	w.says(id, "It is secret.", "far", true)
	_, err := w.detector.Detect(t.Context(), w.house, w.house.Local, id)
	if fault.KindOf(err) != fault.Unavailable || len(w.far.Requests()) > 0 {
		t.Errorf("a remote model was asked of something private: %v", err)
	}
	w.says(id, "Thanks.", "near", true)
	if d := w.detect(id); d.Outcome != record.OutcomeWorked || len(w.near.Requests()) != 1 {
		t.Errorf("detected %+v", d)
	}
	var f *fault.Error
	_, err = w.detector.Detect(t.Context(), w.house, w.house.Local, "none")
	if !errors.As(err, &f) || f.Kind != fault.NotFound {
		t.Errorf("of no conversation: %v", err)
	}
}

func TestMEM49_EveryFourTurnsInTheBackground(t *testing.T) {
	w := open(t)
	w.answer = thanks
	id := ""
	for i := range 8 {
		sent := w.says(id, "And now?", "near", false)
		id = sent.ConversationID
		w.detector.Answered(w.house, sent)
		w.detector.Settle()
		if got, want := len(w.near.Requests()), (i+1)/4; got != want {
			t.Errorf("after %d turns the model was asked %d times, want %d", i+1, got, want)
		}
	}
	w.scored(0.9)
}

// TestPRIV8_AnOutcomeIsNotAskedForAgainOfWhatBecamePrivate: the conversation becomes private while the provider is busy.
func TestPRIV8_AnOutcomeIsNotAskedForAgainOfWhatBecamePrivate(t *testing.T) {
	w := open(t)
	id := w.says("", "How?", "far", false).ConversationID
	w.says(id, "Thanks.", "far", false)
	private := true
	w.meanwhile = func() {
		_, err := w.house.Chat.Update(context.Background(), w.house.Local, id, chat.Change{Settings: chat.Settings{Private: &private}})
		w.must(err)
	}
	if _, err := w.detector.Detect(t.Context(), w.house, w.house.Local, id); err == nil || len(w.far.Requests()) != 1 {
		t.Errorf("%v, asked %d times", err, len(w.far.Requests()))
	}
}
