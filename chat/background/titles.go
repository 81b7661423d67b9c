package background

// A [Titler] has a model make the titles of conversations.
//
// The handler of chat.send calls it when an answer is stored, and is never made to wait. The stores under a Titler may
// be replaced: what it does with them it does by the Enter of [TitlerDeps].
//
// What goes into a request, and how private it is, is read from the store right before each try. A turn in which
// anything is private goes to no remote provider. Its title is private for good (see package chat).
//
// One goroutine asks for one title after the other, so that a long wait for a budget is one wait. Close ends it and
// waits for it.

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

const (
	maxTitleTokens = 2048 // of an answer: models that think count that, too
	titleChars     = 60
)

// TitlerDeps is where conversations are.
type TitlerDeps struct {
	Chat          *chat.Store
	Local, Remote *audience.View
	// Enter runs work while the rooms can be used. It returns an error without running it once they are gone.
	Enter func(ctx context.Context, work func(ctx context.Context) error) error
}

// TitlerOptions are what a Titler works with.
type TitlerOptions struct {
	Providers *llm.Set
	Prompts   *prompts.Set
	Log       *slog.Logger
	// Sleep waits for d or for the end of ctx, whose error it returns then. nil: by the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Titler asks for titles.
type Titler struct {
	opts  TitlerOptions
	queue *llm.Queue
}

// titleJob is an answer that may give its conversation a title.
type titleJob struct {
	house                     TitlerDeps
	conversationID, messageID string
	provider, model           string
}

// NewTitler starts a Titler.
func NewTitler(o TitlerOptions) *Titler {
	return &Titler{opts: o, queue: llm.NewQueue(llm.QueueOptions{
		Log: o.Log, What: "titles of conversations", Sleep: o.Sleep,
	})}
}

// Close gives up what waits and what is being asked, and returns when nothing is done any more.
func (t *Titler) Close() {
	if t != nil {
		t.queue.Close()
	}
}

// Answered says that a message was answered. If that gives the conversation its title, it is made later. It does nothing
// for a nil Titler.
func (t *Titler) Answered(h TitlerDeps, sent *turn.ChatSent) {
	if t == nil {
		return
	}
	if j := jobOf(h, sent); j != nil {
		t.queue.Add(t.attempting(j)) // where it is given up, the first message goes on naming it
	}
}

// jobOf returns what is to be done about an answer, nil for nothing.
func jobOf(h TitlerDeps, sent *turn.ChatSent) *titleJob {
	a := sent.AssistantMessage
	if sent.Repeat || a == nil || a.Finish != record.FinishComplete || strings.TrimSpace(a.Content) == "" ||
		a.Provider == "" || a.Provider == string(llm.None) {
		return nil
	}
	return &titleJob{house: h, conversationID: sent.ConversationID, messageID: a.ID, provider: a.Provider, model: a.Model}
}

func (t *Titler) attempting(j *titleJob) llm.Job {
	return func(ctx context.Context) error { return t.attempt(ctx, j) }
}

// attempt makes a title. The error is fault.Limit, retryable, when the budget does not allow it yet: nothing was asked.
func (t *Titler) attempt(ctx context.Context, j *titleJob) error {
	provider, err := t.opts.Providers.Provider(j.provider)
	if err != nil {
		return err
	}
	of, err := j.turn(ctx)
	if of == nil || err != nil {
		return err
	}
	info := provider.Info()
	if info.Kind == llm.None || of.Private && !info.Local {
		return nil
	}
	asking := outbound.Unless(ctx, func(ctx context.Context) (bool, error) {
		now, err := j.turn(ctx)
		return now == nil || now.Private && !info.Local || now.Question != of.Question || now.Answer != of.Answer, err
	})
	title, failed := t.ask(asking, provider, j.model, of)
	if ctx.Err() != nil || llm.WaitsForBudget(failed) {
		return failed
	}
	err = j.house.Enter(ctx, func(ctx context.Context) error {
		return j.house.Chat.Entitle(ctx, j.conversationID, of, title)
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "a title was not stored") // no try is repeated
	}
	return failed
}

// turn reads what a title is made of, nil for nothing.
func (j *titleJob) turn(ctx context.Context) (of *chat.FirstTurn, err error) {
	err = j.house.Enter(ctx, func(ctx context.Context) (err error) {
		of, err = j.house.Chat.Untold(ctx, j.house.Local, j.house.Remote, j.conversationID, j.messageID)
		return err
	})
	return of, err
}

// ask asks a model once. The title is empty when it gave none.
func (t *Titler) ask(ctx context.Context, provider llm.Provider, model string, of *chat.FirstTurn) (string, error) {
	s, _, err := llm.Ask(ctx, provider, llm.Question{
		Model: model, Prompt: t.opts.Prompts.Title(prompts.Title{Message: of.Question, Answer: of.Answer}), MaxTokens: maxTitleTokens,
	})
	return text.AnswerLine(s, titleChars), err
}
