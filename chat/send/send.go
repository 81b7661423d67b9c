package send

import (
	"context"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Sizes and times that hold unless Options say otherwise.
const (
	DefaultMemories    = 5 // that a search adds to a prompt
	DefaultSearchNotes = 3
	DefaultPassages    = 3
	GatherTimeout      = prompt.AnswerDeadlineMS * time.Millisecond
	keepEvery          = time.Second // what came of an answer is stored
	keepBytes          = 4 << 10
	writeTimeout       = 10 * time.Second // of what is stored after a call has ended
)

// conversations keep what is said: chat.Store, or that with a queue of calls that wait, of package rpc.
type conversations interface {
	Get(ctx context.Context, v *audience.View, ref string) (*record.Conversation, error)
	Repeat(ctx context.Context, v *audience.View, q chat.Question) (*chat.Turn, error)
	Anew(ctx context.Context, v *audience.View, q chat.Question) (*record.ChatMessage, error)
	Ask(ctx context.Context, v *audience.View, q chat.Question) (*chat.Turn, error)
	History(ctx context.Context, v, asker *audience.View, t *chat.Turn, bytes int) (*chat.History, error)
	Keep(ctx context.Context, t *chat.Turn, n int, a *chat.Answer) error
	Refer(ctx context.Context, v *audience.View, t *chat.Turn, a *chat.Answer, shown *chat.AnswerContext) ([]record.ChatWarning, error)
	Links(ctx context.Context, v *audience.View, text string) (chat.ReferenceLists, error)
	ReferencesOf(v *audience.View, a *chat.Answer) []record.ChatReference
	Numbered(v *audience.View, id string) int64
	Hidden(ctx context.Context, t *chat.Turn, on record.StandsOn) (bool, error)
	Answered(ctx context.Context, v *audience.View, t *chat.Turn, a *chat.Answer) (*record.ChatMessage, error)
}

// Options are what a Pipeline works with. All but Unscored, Score, Now and GatherTimeout must be set.
type Options struct {
	Chat      conversations
	Prompts   *gather.Gatherer
	Providers *llm.Set
	Tools     *tools.Set
	Orders    *tools.Router
	Views     *audience.Views

	NoMemories bool // no prompt has memories unless the message attaches some
	NoPassive  bool // none has what the turns before have found
	NoBooks    bool // none has passages of books
	// Unscored reports whether a reader was shown memories in a conversation and nobody has told how it went: the model
	// is to ask for it then. nil: it never is.
	Unscored func(v *audience.View, conversationID string) bool
	// Score scores the memories that the last answer of a conversation was given, those that related names or all, for the tool
	// record_response. nil: there is no such tool.
	Score func(ctx context.Context, v *audience.View, conversationID, outcome string, related []string) error

	// IsPrivate reports whether a file is private by its path, empty for none, or by its text, empty where it is none. nil: none is.
	IsPrivate func(ctx context.Context, path, text string) (bool, error)

	GatherTimeout time.Duration    // for the searches of a prompt together; 0: GatherTimeout
	Now           func() time.Time // nil: time.Now
}

// Pipeline answers messages.
type Pipeline struct {
	opts Options

	mu      sync.Mutex             // guards running
	running map[string]*inProgress // by id of the conversation
}

// inProgress is an answer that is being given.
type inProgress struct {
	messageID string // of the answer; "" before it has one
	private   bool   // remote readers may not know of it
	cancel    context.CancelCauseFunc
	stopped   <-chan struct{} // closed when the answer is to end
	ended     chan struct{}   // closed when it has
}

// New returns a Pipeline.
func New(o Options) *Pipeline {
	if o.GatherTimeout == 0 {
		o.GatherTimeout = GatherTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Pipeline{opts: o, running: make(map[string]*inProgress)}
}

// errStopped is why an answer ends that Cancel was called for.
var errStopped = &fault.Error{Kind: fault.Cancelled, Msg: "the answer was stopped by chat.cancel"}

// Cancel stops the answer that is being given in a conversation, and reports whether there was one that the
// reader may know of.
func (p *Pipeline) Cancel(v *audience.View, conversationID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.running[conversationID]
	if r == nil || !v.Sees(r.private) {
		return false
	}
	r.cancel(errStopped)
	return true
}

// Running returns the id of the answer that is being given in a conversation, "" for none that a reader may know of.
func (p *Pipeline) Running(v *audience.View, conversationID string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.running[conversationID]
	if r == nil || !v.Sees(r.private) {
		return ""
	}
	return r.messageID
}

// begin has a conversation give one answer at a time. One that was cancelled is waited for: who cancels a call is
// answered before what came of it is stored.
func (p *Pipeline) begin(ctx context.Context, v *audience.View, conversationID string, r *inProgress) error {
	for {
		other, err := p.enter(v, conversationID, r)
		if other == nil || err != nil {
			return err
		}
		select {
		case <-other.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enter enters an answer, or returns one that is about to end.
func (p *Pipeline) enter(v *audience.View, conversationID string, r *inProgress) (other *inProgress, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	other = p.running[conversationID]
	if other == nil {
		p.running[conversationID] = r
		return nil, nil
	}
	select {
	case <-other.stopped:
		return other, nil
	default:
	}
	f := fault.Clash(fault.Busy, "an answer is being given in this conversation").
		WithHint("wait for it, or stop it with chat.cancel")
	f.Retryable = true
	if v.Sees(other.private) {
		f.Ref = other.messageID
	}
	return nil, f
}

func (p *Pipeline) end(conversationID string, r *inProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[conversationID] == r {
		delete(p.running, conversationID)
		close(r.ended)
	}
}

// called says that an answer has got an id.
func (p *Pipeline) called(r *inProgress, messageID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.messageID = messageID
}

// hide says that an answer has become private.
func (p *Pipeline) hide(r *inProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.private = true
}

// Listener gets the deltas of an answer.
type Listener interface {
	// Begin is called before the first delta. private tells that remote readers may not have the answer as it is given.
	Begin(conversationID string, private bool)
	// Hide is called when the answer has become private: remote readers, and a remote caller, get last and nothing more of it.
	Hide(last turn.ChatDelta)
	// Local is called for what local readers alone are told before the first delta, with the number 0: remote ones would
	// see by a gap that there is something. It waits as Delta does.
	Local(ctx context.Context, d turn.ChatDelta) error
	// Delta is called for each delta in its order. It waits no longer than until ctx ends. An error ends the answer as
	// cancelled.
	Delta(ctx context.Context, d turn.ChatDelta) error
}

// Send has a message answered. asker is who says it. The errors are those of the message (Invalid, NotFound, Limit),
// Conflict while another answer is given in the conversation, those of the provider (see llm.Provider), and that of
// ctx. One that comes after the message was stored in a new conversation has its id as Ref.
func (p *Pipeline) Send(ctx context.Context, asker *audience.View, m turn.ChatSend, to Listener) (*turn.ChatSent, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &sending{
		Pipeline: p, ctx: ctx, asker: asker, params: m, to: to, mine: &inProgress{cancel: cancel, stopped: ctx.Done(), ended: make(chan struct{})}, timings: newTimings(p.opts.Now),
		release: func() {},
	}
	res, err := s.run(ctx)
	if err != nil && ctx.Err() != nil {
		if cause, ok := context.Cause(ctx).(*fault.Error); ok { //nolint:errorlint // it is given as it is
			err = cause
		}
	}
	if err != nil && s.turn != nil && s.turn.Fresh {
		err = withRef(err, s.turn.Conversation.ID)
	}
	return res, err
}
