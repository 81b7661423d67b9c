package learn

// A Scorer keeps what was shown in each conversation until somebody says how it went, and scores the memories of it:
// what worked is found sooner, what failed later.
//
// Memories of the tiers working, history and patterns have a score and counters, which an outcome changes together with
// the event that tells of it, in one transaction. Facts of memoryBank are named by the event and not scored: that an
// answer helped makes a fact no truer. Messages have an outcome and no counters.
//
// [Scorer.Show] notes the last results of a conversation, by id alone, up to [maxConversationHits] of them, for the
// [maxScoredConversations] conversations that were shown something last. It waits for nothing: the record is written
// behind the call, so a process that is killed within milliseconds forgets the last results. Once scored they stay,
// marked, so that a repeat finds them and scores nothing, also after a restart.
//
// Memories that the reader of a View does not see are not there. Times are those of the store's clock, scores
// hundredths between 0 and 1. The errors are Invalid with the field at fault, NotFound for an id that nothing has, and
// those of the store.
//
// Scorings are done one after the other. All costs are O(results of a call).

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Signals say who told an outcome.
const (
	SourceExplicit  = "explicit"  // a person or a client
	SourceDetector  = "detector"  // a model that has read the conversation
	SourceHeuristic = "heuristic" // a guess, which scores nothing
	SourceSystem    = "system"    // the daemon knows
)

// Signals are all of them, with how sure each is unless somebody says.
var signals = map[string]float64{SourceExplicit: 1, SourceDetector: 0.8, SourceHeuristic: 0.5, SourceSystem: 0.9}

// MinDetectorConfidence is the confidence that a detector must have; below it the outcome counts as unknown.
const MinDetectorConfidence = 0.7

// maxScoredIDs is how many memories one call scores.
const maxScoredIDs = 200

// ScorerOptions are what a Room needs from elsewhere. The zero value works.
type ScorerOptions struct {
	Now func() time.Time // nil: time.Now
	// Conversation reports whether there is a conversation that a reader sees. nil: there is none.
	Conversation func(ctx context.Context, v *audience.View, id string) bool
	// There reports whether there is a conversation, inside a transaction. nil: there is each.
	There func(tx *kv.Tx, id string) (bool, error)
	// Answer returns the memories that an answer stood on. The error is NotFound. nil: there is none.
	Answer func(ctx context.Context, v *audience.View, conversationID, messageID string) (Answer, error)
	// MaxConversations is how many are kept; 0: MaxConversations.
	MaxConversations int
	// Off has nothing be kept of what is shown, and nobody be asked how it went. What was told before stays.
	Off bool
}

// Answer is what an answer stood on.
type Answer struct {
	Shown []string // ids of the memories that the model was shown
	Cited []string // and of those that the answer names
}

// Scorer scores. Open makes one.
type Scorer struct {
	db   *kv.Store
	mem  *memory.Store
	opts ScorerOptions

	maxConversations int

	scoring sync.Mutex // held while something is scored or showings are written; taken before mu

	mu       sync.Mutex // guards everything below
	shown    map[string]*showing
	dirty    map[string]bool // keys of showings that are not written
	gone     map[string]bool // conversations that were deleted, and what is kept of their messages was not
	flushing bool
}

// OpenScorer loads what was shown.
func OpenScorer(db *kv.Store, mem *memory.Store, opts ScorerOptions) (*Scorer, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxConversations == 0 {
		opts.MaxConversations = maxScoredConversations
	}
	r := &Scorer{
		db: db, mem: mem, opts: opts, maxConversations: opts.MaxConversations,
		shown: make(map[string]*showing), dirty: make(map[string]bool), gone: make(map[string]bool),
	}
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		for id, s := range showings.All(tx, "") {
			r.shown[id] = s
		}
		return tx.Err()
	})
	db.OnCommit(r.commit)
	return r, err
}

func (r *Scorer) now() time.Time { return r.opts.Now().UTC().Truncate(time.Millisecond) }

// AnswerOutcome is how an answer went.
type AnswerOutcome struct {
	Takeaway       string   // what was learned, in one or two sentences; empty: nothing
	Outcome        string   // worked, failed, partial or unknown
	Related        []string // positions or ids of what was shown
	ConversationID string
	MessageID      string // the answer; its memories are what was shown then
	Client         string // who says so
}

// ScoreResult is what an outcome has changed.
type ScoreResult struct {
	Memories []record.ScoredMemory
	Takeaway *record.Memory // nil: none was written
}

// Response scores what was shown in a conversation, and keeps what was learned. What was scored before is scored no more.
func (r *Scorer) Response(ctx context.Context, v *audience.View, p AnswerOutcome) (*ScoreResult, error) {
	if err := r.check(&p); err != nil {
		return nil, err
	}
	r.scoring.Lock()
	defer r.scoring.Unlock()
	target, err := r.target(ctx, v, &p)
	if err != nil {
		return nil, err
	}
	w := writing{room: r, view: v, outcome: p.Outcome, signal: SourceExplicit, confidence: 1, hits: target.hits, target: target}
	if p.Takeaway != "" {
		if w.takeaway, err = r.takeaway(ctx, v, &p, target); err != nil {
			return nil, err
		}
	}
	return w.run(ctx)
}

func (r *Scorer) check(p *AnswerOutcome) error {
	if err := checkOutcome(p.Outcome); err != nil {
		return err
	}
	if strings.TrimSpace(p.Takeaway) == "" {
		p.Takeaway = ""
	}
	for _, id := range []struct{ field, id string }{{"conversationId", p.ConversationID}, {"messageId", p.MessageID}} {
		if id.id != "" {
			if err := entities.CheckID(id.field, id.id); err != nil {
				return err
			}
		}
	}
	switch {
	case len(p.Related) > maxConversationHits:
		return fault.TooLarge("related", len(p.Related), maxConversationHits, "items")
	case p.ConversationID == "" && len(p.Related) > 0:
		return fault.Field("related", "related names results of a conversation, and conversationId is absent").
			WithHint("name the conversation whose last results are meant")
	case p.ConversationID == "" && p.MessageID != "":
		return fault.Field("messageId", "messageId names an answer, and conversationId is absent").
			WithHint("name the conversation of the answer")
	case p.ConversationID == "" && p.Takeaway == "":
		return fault.Field("conversationId", "there is nothing to score and nothing to keep").
			WithHint("give conversationId, takeaway or both; memory.outcome scores memories by their ids")
	}
	return nil
}

func checkOutcome(outcome string) error {
	if memory.KnownOutcome(outcome) {
		return nil
	}
	return fault.Field("outcome", "outcome is none of its values").WithHint("give one of %s", strings.Join(record.Outcomes, ", "))
}

// target is what a response scores.
type target struct {
	conversationID string
	messageID      string // the answer whose state changes; "" for none
	key            string // of showing
	showing        *showing
	hits           []OutcomeHit // none when it was scored before
	repeat         bool         // it was
}

// target finds what a response means: the last results of the conversation, or what an answer has shown.
func (r *Scorer) target(ctx context.Context, v *audience.View, p *AnswerOutcome) (*target, error) {
	t := &target{conversationID: p.ConversationID}
	if p.ConversationID == "" {
		return t, nil
	}
	r.mu.Lock()
	t.key, t.showing = r.last(v, p.ConversationID)
	r.mu.Unlock()
	cited, err := r.cited(ctx, v, p, t)
	if err != nil {
		return nil, err
	}
	if t.showing == nil {
		if len(p.Related) > 0 {
			return nil, notShown("related[0]", p.Related[0])
		}
		return t, nil
	}
	hits, err := related(t.showing, p.Related, cited)
	if err != nil {
		return nil, err
	}
	before, err := r.scoredBefore(ctx, t)
	if err != nil {
		return nil, err
	}
	if t.repeat = t.showing.Scored || before; !t.repeat {
		t.hits = hits
	}
	return t, nil
}

// cited finds the answer that a response is about, and returns the memories that it names.
func (r *Scorer) cited(ctx context.Context, v *audience.View, p *AnswerOutcome, t *target) ([]string, error) {
	t.messageID = p.MessageID
	if t.messageID == "" && t.showing != nil {
		t.messageID = t.showing.MessageID
	}
	if t.messageID == "" {
		return nil, nil
	}
	if r.opts.Answer == nil {
		return nil, fault.Missing("message", t.messageID)
	}
	a, err := r.opts.Answer(ctx, v, p.ConversationID, t.messageID)
	if err != nil && p.MessageID == "" && fault.KindOf(err) == fault.NotFound {
		t.messageID = "" // it is gone since
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if t.showing == nil || t.showing.MessageID != t.messageID {
		t.key, t.showing = "", answered(a.Shown)
	}
	return a.Cited, nil
}

// answered is what an answer has shown.
func answered(ids []string) *showing {
	s := new(showing)
	for _, id := range ids {
		s.Hits = append(s.Hits, OutcomeHit{Kind: HitMemories, ID: id})
	}
	return s
}

// takeaway is the memory that a response leaves behind.
func (r *Scorer) takeaway(ctx context.Context, v *audience.View, p *AnswerOutcome, t *target) (*memory.Adding, error) {
	d := memory.Draft{
		Tier: record.TierWorking, Kind: record.MemoryTakeaway, Statement: p.Takeaway,
		Source: record.MemorySource{Kind: "client", Client: p.Client},
	}
	if r.opts.Conversation != nil && p.ConversationID != "" && r.opts.Conversation(ctx, v, p.ConversationID) {
		d.Source.ConversationID = p.ConversationID
		if t.messageID != "" {
			d.Source.MessageIDs = []string{t.messageID}
		}
	}
	for _, h := range t.hits { // what was learned with something private in sight may say it
		if m := r.mem.Stored(h.ID); m != nil && !v.Hides() && m.Private {
			d.Private = true
		}
	}
	a, err := r.mem.Adding(v, d)
	if err != nil {
		return nil, aboutTakeaway(err)
	}
	return a, nil
}

// aboutTakeaway has an error about the statement of a memory name what the caller gave.
func aboutTakeaway(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Field != "statement" && f.Field != "summary" {
		return err
	}
	about := *f
	about.Field, about.Hint = "takeaway", "give one or two sentences that say what was learned"
	return &about
}

// Outcome is the outcome of memories.
type Outcome struct {
	IDs        []string
	Outcome    string
	Signal     string   // empty: Explicit
	Confidence *float64 // nil: that of the signal
}

// Outcome scores memories by their ids. The error is NotFound for one that the reader does not see.
func (r *Scorer) Outcome(ctx context.Context, v *audience.View, o Outcome) (*ScoreResult, error) {
	if err := checkOutcome(o.Outcome); err != nil {
		return nil, err
	}
	if o.Signal == "" {
		o.Signal = SourceExplicit
	}
	sure, ok := signals[o.Signal]
	if !ok {
		return nil, fault.Field("signal", "signal is none of its values").WithHint("give explicit, detector, heuristic or system")
	}
	if o.Confidence != nil {
		sure = *o.Confidence
	}
	switch {
	case !(sure >= 0 && sure <= 1):
		return nil, fault.Field("confidence", "confidence is not between 0 and 1").WithHint("give 0 to 1")
	case len(o.IDs) == 0:
		return nil, fault.Field("ids", "ids is empty").WithHint("give at least one id of a memory")
	case len(o.IDs) > maxScoredIDs:
		return nil, fault.TooLarge("ids", len(o.IDs), maxScoredIDs, "items")
	}
	w := writing{room: r, view: v, outcome: o.Outcome, signal: o.Signal, confidence: sure, strict: true}
	for i, id := range o.IDs {
		if err := entities.CheckID(fmt.Sprintf("ids[%d]", i), id); err != nil {
			return nil, err
		}
		if h := (OutcomeHit{Kind: HitMemories, ID: id}); !slices.Contains(w.hits, h) {
			w.hits = append(w.hits, h)
		}
	}
	r.scoring.Lock()
	defer r.scoring.Unlock()
	return w.run(ctx)
}

// Detected scores what an answer of a conversation has shown as a detector tells it; an empty messageID stands for what was
// shown last.
func (r *Scorer) Detected(ctx context.Context, v *audience.View, conversationID, messageID, outcome string, confidence float64) (*ScoreResult, error) {
	if err := checkOutcome(outcome); err != nil {
		return nil, err
	}
	r.scoring.Lock()
	defer r.scoring.Unlock()
	t, err := r.target(ctx, v, &AnswerOutcome{ConversationID: conversationID, MessageID: messageID})
	if err != nil {
		return nil, err
	}
	if confidence <= MinDetectorConfidence || outcome == record.OutcomeUnknown {
		return &ScoreResult{Memories: []record.ScoredMemory{}}, nil // somebody who knows may still tell
	}
	w := writing{
		room: r, view: v, outcome: outcome, signal: SourceDetector, confidence: confidence, hits: t.hits, target: t,
	}
	return w.run(ctx)
}

// writing is one scoring. Hold scoring.
type writing struct {
	room       *Scorer
	view       *audience.View
	outcome    string
	signal     string
	confidence float64
	strict     bool // an id that is not there is an error
	hits       []OutcomeHit
	target     *target // nil: memories were named by their ids
	takeaway   *memory.Adding
}

// effective is the outcome that counts.
func (w *writing) effective() string {
	if w.signal == SourceDetector && w.confidence <= MinDetectorConfidence {
		return record.OutcomeUnknown
	}
	return w.outcome
}

func (w *writing) run(ctx context.Context) (*ScoreResult, error) {
	r := w.room
	out := &ScoreResult{Memories: []record.ScoredMemory{}}
	takeaway := ""
	err := r.mem.Revise(ctx, func(tx *kv.Tx) ([]string, error) {
		out.Memories = out.Memories[:0]
		e := Event{
			Kind: record.LearnedOutcome, At: tx.Now(r.opts.Now).UTC().Truncate(time.Millisecond),
			Outcome: w.effective(), Signal: w.signal, Confidence: &w.confidence,
		}
		if err := w.score(tx, &e, out); err != nil {
			return nil, err
		}
		if w.takeaway != nil {
			id, err := w.keep(tx, &e)
			if err != nil {
				return nil, err
			}
			takeaway = id
		}
		if len(e.IDs) > 0 {
			if err := AppendEvent(tx, &e); err != nil {
				return nil, err
			}
		}
		return nil, w.mark(tx)
	})
	if w.takeaway != nil {
		if ended := w.takeaway.Ended(ctx); err == nil {
			err = ended
		}
	}
	if err != nil {
		return nil, err
	}
	w.marked()
	if takeaway != "" {
		if list := r.mem.Shown(w.view, []string{takeaway}); len(list) > 0 {
			out.Takeaway = list[0]
		}
	}
	return out, nil
}

// score counts the outcome of each memory and puts it into the event.
func (w *writing) score(tx *kv.Tx, e *Event, out *ScoreResult) error {
	for i, h := range w.hits {
		if h.Kind != HitMemories {
			continue
		}
		m, u, err := w.room.mem.FindTx(tx, w.view, h.ID)
		if fault.KindOf(err) == fault.NotFound && !w.strict {
			continue // deleted, or hidden since
		}
		if err != nil {
			return fault.Under(fmt.Sprintf("ids[%d]", i), err)
		}
		if m.Tier == record.TierBank || w.signal == SourceHeuristic {
			e.IDs = append(e.IDs, m.ID)
			continue
		}
		now, err := w.count(tx, m, u, e)
		if err != nil {
			return err
		}
		out.Memories = append(out.Memories, record.ScoredMemory{
			ID: m.ID, Tier: m.Tier, Score: now.Score, Wilson: memory.FromHundredths(memory.WilsonBound(now.Worked, now.Failed)),
		})
	}
	return nil
}

// count scores one memory.
func (w *writing) count(tx *kv.Tx, m *memory.Record, was memory.Use, e *Event) (now memory.Use, err error) {
	now = was
	memory.ApplyOutcome(&now, w.effective())
	err = w.room.mem.CountTx(tx, m.ID, func(u *memory.Use) { *u = now })
	AddChange(e, CompareMemory(&m.MemoryRecord, &m.MemoryRecord, &was, &now))
	return now, err
}

// keep writes what was learned, and counts the outcome for it.
func (w *writing) keep(tx *kv.Tx, e *Event) (id string, err error) {
	if err := w.takeaway.Add(tx); err != nil {
		return "", aboutTakeaway(err)
	}
	id, same := w.takeaway.Added()
	if same && w.target.repeat {
		return id, nil
	}
	m, u, err := w.room.mem.FindTx(tx, nil, id)
	if err != nil {
		return "", err
	}
	_, err = w.count(tx, m, u, e)
	return id, err
}
