package background

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

const (
	maxSummaryTokens = 50   // of a sentence
	maxFailed        = 4096 // keys that are not asked about again; when there are more, all are forgotten
)

// SummarizerOptions are what a Maker works with.
type SummarizerOptions struct {
	Providers *llm.Set // the one that answers unless another one is named is asked
	Prompts   *prompts.Set
	Log       *slog.Logger
	// Sleep waits for d or for the end of ctx, whose error it returns then. nil: by the clock of the machine.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Summarizer asks a model for summaries, in the background. It outlives the Stores that it makes them for.
type Summarizer struct {
	opts     SummarizerOptions
	provider llm.Provider
	model    string // with its provider: what keys are made of
	queue    *llm.Queue

	mu     sync.Mutex      // guards what follows
	queued map[string]bool // keys
	failed map[string]bool // keys about which a request to a model has failed
}

// summaryJob is a summary that is to be made.
type summaryJob struct {
	store  *SummaryStore
	view   *audience.View
	noteID string
	limit  int
	key    string
}

// NewSummarizer starts a Maker. It reaches for no provider yet.
func NewSummarizer(o SummarizerOptions) *Summarizer {
	p, err := o.Providers.Provider(o.Providers.Default())
	if err != nil {
		p = llm.Nobody() // a Set has the one that it names
	}
	info := p.Info()
	return &Summarizer{
		opts: o, provider: p, model: info.Name + "/" + info.Model,
		queue: llm.NewQueue(llm.QueueOptions{
			Log: o.Log, What: "summaries of notes", Sleep: o.Sleep,
		}),
		queued: make(map[string]bool), failed: make(map[string]bool),
	}
}

// Close gives up what waits and what is being asked, and returns when nothing is done any more.
func (m *Summarizer) Close() {
	if m != nil {
		m.queue.Close()
	}
}

// asks reports whether there is a model.
func (m *Summarizer) asks() bool { return m != nil && m.provider.Info().Kind != llm.None }

// ask has a summary made later, unless that is on its way or has failed before.
func (m *Summarizer) ask(j *summaryJob) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queued[j.key] || m.failed[j.key] {
		return
	}
	m.queued[j.key] = m.queue.Add(func(ctx context.Context) error { return m.attempt(ctx, j) })
	if !m.queued[j.key] {
		delete(m.queued, j.key)
	}
}

// attempt makes a summary. The error is fault.Limit, retryable, when the budget does not allow it yet: nothing was asked.
func (m *Summarizer) attempt(ctx context.Context, j *summaryJob) (err error) {
	tried := false
	defer func() {
		if !llm.WaitsForBudget(err) {
			m.done(j.key, tried && err != nil)
		}
	}()
	read := func(ctx context.Context) (stored, body string, err error) {
		err = j.store.opts.Enter(ctx, func(ctx context.Context) (err error) {
			stored, body, err = m.due(ctx, j)
			return err
		})
		return stored, body, err
	}
	stored, body, err := read(ctx)
	if body == "" || err != nil {
		return err
	}
	tried = true
	asking := outbound.Unless(ctx, func(ctx context.Context) (bool, error) {
		_, now, err := read(ctx)
		return now != body, err
	})
	text, whole, err := llm.Ask(asking, m.provider, llm.Question{
		Prompt: m.opts.Prompts.Summary(prompts.Summary{Text: asked(body), Chars: j.limit}), MaxTokens: maxSummaryTokens, Partly: true,
	})
	if err != nil {
		return err
	}
	err = j.store.opts.Enter(ctx, func(ctx context.Context) error {
		return j.store.keep(ctx, j, stored, readSummary(text, whole, j.limit))
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "a summary was not stored") // no try is repeated
	}
	return nil
}

// done says that nothing more is done about a key now.
func (m *Summarizer) done(key string, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.queued, key)
	if failed {
		if len(m.failed) >= maxFailed {
			clear(m.failed)
		}
		m.failed[key] = true
	}
}

// due returns the text of a note and what the model is to be shown of it. "" for nothing: the text is another one by
// now, its summary is there, or a remote model may not see it.
func (m *Summarizer) due(ctx context.Context, j *summaryJob) (stored, body string, err error) {
	n := j.view.Note(j.noteID)
	if n == nil {
		return "", "", nil
	}
	body, err = bodyOf(ctx, j.view, n)
	if err != nil || keyOf(body, j.limit, m.model) != j.key {
		return "", "", err
	}
	if _, made, err := j.store.made(ctx, j); made || err != nil {
		return "", "", err
	}
	if !m.provider.Info().Local {
		public := j.store.opts.Remote.Note(j.noteID)
		if public == nil {
			return "", "", nil
		}
		if shown, err := bodyOf(ctx, j.store.opts.Remote, public); err != nil || shown != body {
			return "", "", err
		}
	}
	return n.Body, body, nil
}

// keep stores what a model said of a note, unless its text is another one by now.
func (s *SummaryStore) keep(ctx context.Context, j *summaryJob, stored, text string) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		n, err := notes.Records.Get(tx, j.noteID)
		if err != nil || n == nil || n.Body != stored {
			return err
		}
		return notes.PutSummaryTx(tx, j.noteID, j.key, text)
	})
}
