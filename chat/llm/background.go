package llm

// A Queue asks language models what nobody waits for, one question after the other: titles of conversations, sentences
// about notes. Each kind of question has a [Queue] of its own, so that many questions of one kind don't hold up those
// of another.
//
// What is asked here is counted apart from answers. While the budget allows nothing more, a queue waits and tries again
// each minute; what waits meanwhile is bounded, and what is more is given up. Nothing is kept over a start.
//
// All methods may be called concurrently. One goroutine works for a queue. Close ends it and waits for it.

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/entities/fault"
)

const (
	waiting    = 256         // jobs of a queue; more are given up
	maxBytes   = 4 << 10     // of the text of an answer
	retryAfter = time.Minute // when a budget is used up
)

// QueueOptions are what a Queue works with.
type QueueOptions struct {
	Log  *slog.Logger
	What string // what the jobs make, in the plural: for the log
	// Sleep waits for d or for the end of ctx, whose error it returns then. nil: by the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Job is one question. The error is fault.Limit, retryable, when the budget does not allow it yet: it is tried again.
type Job func(ctx context.Context) error

// Queue does jobs one after the other.
type Queue struct {
	opts  QueueOptions
	queue chan Job
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// NewQueue starts a Queue.
func NewQueue(o QueueOptions) *Queue {
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &Queue{opts: o, queue: make(chan Job, waiting), stop: stop}
	q.ended.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case j := <-q.queue:
				if ctx.Err() == nil { // a stop comes before what waits
					q.Do(ctx, j)
				}
			}
		}
	})
	return q
}

// Close gives up what waits and what is being asked, and returns when nothing is done any more.
func (q *Queue) Close() {
	q.stop()
	q.ended.Wait()
}

// Add has a job done later. It waits for nothing. false: too many wait, and it is given up.
func (q *Queue) Add(j Job) bool {
	select {
	case q.queue <- j:
		return true
	default:
		return false
	}
}

// Do does a job at once, and waits while the budget is used up.
func (q *Queue) Do(ctx context.Context, j Job) {
	for {
		err := j(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case !WaitsForBudget(err):
			q.opts.Log.Debug("a request to a model in the background failed", "for", q.opts.What, "error", fault.Message(err))
			return
		}
		if q.opts.Sleep(ctx, retryAfter) != nil {
			return
		}
	}
}

// WaitsForBudget reports whether the error says that the budget does not allow it yet.
func WaitsForBudget(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.Limit && f.Retryable
}

// Question is what a model is asked.
type Question struct {
	Model     string // "" for that of the provider
	Prompt    prompts.Prompt
	MaxTokens int  // of the answer
	Partly    bool // whether an answer that reached MaxTokens is one
}

// Ask asks a model once. The text is empty when it gave none, and when nobody was asked; whole is false for one that
// reached MaxTokens. The errors are those of llm.Provider, and fault.Unavailable for a text that is far too long.
func Ask(ctx context.Context, p Provider, q Question) (text string, whole bool, err error) {
	var b strings.Builder
	a, err := p.Stream(ctx, &Request{
		Model: q.Model, System: q.Prompt.System, Messages: []Message{{Role: User, Text: q.Prompt.User}},
		MaxTokens: q.MaxTokens, Background: true,
	}, func(d Delta) error {
		b.WriteString(d.Text) // what it thinks is not asked for
		if b.Len() > maxBytes {
			return fault.New(fault.Unavailable, "the answer is far too long")
		}
		return nil
	})
	switch {
	case err != nil:
		return "", false, err
	case a.NoProvider || a.Finish != Stop && !(q.Partly && a.Finish == Length):
		return "", false, nil
	}
	return b.String(), a.Finish == Stop, nil
}
