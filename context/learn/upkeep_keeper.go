package learn

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// The steps of a run.
const (
	StepExtraction     = "extraction"
	StepEvidence       = "evidence"
	StepDecay          = "decay"
	StepContradictions = "contradictions"
	StepMerging        = "merging"
	StepModel          = "model"
)

// UpkeepSteps are all steps, in their order.
var UpkeepSteps = []string{StepExtraction, StepEvidence, StepDecay, StepContradictions, StepMerging, StepModel}

// FactMessage is what a person said in a conversation.
type FactMessage struct {
	Key     string // in the index of messages
	ID      string
	At      time.Time
	Text    string
	Private bool
}

// PairQuestion is a pair that rules cannot decide.
type PairQuestion struct {
	ID             string // of the question; short
	Older, Newer   string
	OlderAt, NewAt time.Time
}

// Answers of a model to a Question.
const (
	AdviceMerge         = "MERGE"
	AdviceKeepBoth      = "KEEP_BOTH"
	AdviceContradiction = "CONTRADICTION"
	AdviceNewer         = "NEWER"
)

// Adviser asks a model: that of background.FactModel, which this package may not import.
type Adviser interface {
	// Local reports whether nothing leaves this machine.
	Local() bool
	// Decide returns answers by the ids of questions, and how many tokens it took. A question may be without one. The
	// error says that nobody was asked, or that no answer came.
	Decide(ctx context.Context, list []PairQuestion) (answers map[string]string, tokens int64, err error)
}

// FactVectors are those of an index: search.Index. Tests have vectors that no model makes.
type FactVectors interface {
	Stored(id string) (l *search.Likeness, ok bool)
}

// KeeperOptions are what a Keeper works with. DB, Memory, Local and Remote must be set.
type KeeperOptions struct {
	DB     *kv.Store
	Memory *memory.Store
	Index  FactVectors    // of the memories; nil: facts are compared where they share a topic alone
	Local  *audience.View // a local reader's
	Remote *audience.View // a remote reader's
	// Messages gives what the person said since a time; MessageIndex has their vectors. nil: there are none.
	Messages     func(since time.Time) iter.Seq[FactMessage]
	MessageIndex FactVectors
	// Extract takes facts out of what was said and waits for it. It returns how many were added and what it took.
	// nil: nothing waits.
	Extract func(ctx context.Context) (added []string, tokens int64, err error)
	Adviser Adviser          // nil: what rules cannot decide waits for the person
	Now     func() time.Time // nil: time.Now
	NewID   func() string    // nil: random UUIDs
	// Stopped is called between transactions. Tests end a run there.
	Stopped func() error
}

// Keeper keeps facts in order. New makes one.
type Keeper struct {
	opts    KeeperOptions
	working sync.Mutex // held by a run
}

// NewKeeper returns a Keeper. It starts nothing.
func NewKeeper(o KeeperOptions) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	return &Keeper{opts: o}
}

const (
	betweenRuns = 20 * time.Hour
	// idleBefore is how long nobody has called before a run begins by itself.
	idleBefore = 10 * time.Minute
)

// Due reports whether a run should begin by itself, after nobody has called for a time: once a day, and where one was
// ended before its end.
func (k *Keeper) Due(ctx context.Context, idle time.Duration) (bool, error) {
	if idle < idleBefore {
		return false, nil
	}
	s, err := k.state(ctx)
	if err != nil {
		return false, err
	}
	since := k.opts.Now().Sub(s.At)
	return s.RunID != "" && !s.Done || s.Undoing || since >= betweenRuns || since < 0, nil
}

// UpkeepRequest says what a run is to do.
type UpkeepRequest struct {
	DryRun bool     // nothing is written
	Steps  []string // empty: all
	// Progress is told before each step how many are done, of how many; nil: nobody is.
	Progress func(step string, done, total int)
}

// UpkeepChange is what a run did to a memory.
type UpkeepChange struct {
	Kind          string // of the event
	ID            string
	With          string // the other of a pair; "" for none
	Why           string
	Before, After record.LearnedMemory
}

// UpkeepReport says what a run did, or would do.
type UpkeepReport struct {
	RunID   string // "" for a dry run
	Changes []UpkeepChange
	Queued  int      // pairs that wait for a model or the person
	Tokens  int64    // that models took
	Pairs   int      // that were judged
	Decided int      // of these, by rules
	Facts   int      // that were looked at
	Same    int      // of these, those that were merged or would be
	Skipped []string // steps that could not be done, with the reason
}

// Run keeps facts in order. A run that was ended before its end goes on first, under its id. The errors are Invalid for a
// step that there is not, Unavailable while another one works, those of the store, and that of ctx.
func (k *Keeper) Run(ctx context.Context, req UpkeepRequest) (*UpkeepReport, error) {
	for i, s := range req.Steps {
		if !slices.Contains(UpkeepSteps, s) {
			return nil, unknownStep(i)
		}
	}
	if !k.working.TryLock() {
		return nil, underWay()
	}
	defer k.working.Unlock()
	r := &run{keeper: k, ctx: ctx, steps: req.Steps, dry: req.DryRun, report: &UpkeepReport{Changes: []UpkeepChange{}}}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if req.Progress == nil {
		req.Progress = func(string, int, int) {}
	}
	if err := r.work(req.Progress); err != nil {
		return nil, err
	}
	return r.end()
}

// underWay is what a caller is told while a run works.
func underWay() error {
	return &fault.Error{Kind: fault.Unavailable, Msg: "upkeep is under way", Hint: "wait until it is done", Retryable: true}
}

func unknownStep(i int) error {
	return fault.Field("steps["+string(rune('0'+i%10))+"]", "steps has one that there is not").
		WithHint("give some of extraction, evidence, decay, contradictions, merging and model")
}

// hides reports whether a remote reader does not see a memory.
func (k *Keeper) hides(m *memory.Record) bool {
	return !memory.Sees(k.opts.Remote, m)
}
