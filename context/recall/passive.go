package recall

// Passive finds what is remembered that is near to what was just said in a conversation, before anybody asks for it
// (MEM-42). It is told of each turn, and looks in the background for what the last two turns are near to. What it finds
// waits for the next prompt of that conversation.
//
// # What is kept
//
// Ids of memories and of messages, never a text, and the vectors of the last 64 texts under their hashes. Each audience
// has buffers of its own, of the conversations in which something was said last: 256 of them. All of it is in memory:
// after a start nothing waits until the next turn. Waiting looks the records up again, so it shows nothing that was
// deleted, retracted or hidden since.
//
// # The worker
//
// One goroutine does all the work, one conversation at a time, and waits in between for as long as it worked; there is
// none while nothing waits. A conversation that waits for its turn waits once, whatever is said in it meanwhile. What
// is found late serves the next prompt; until then that has what an earlier turn left.
//
// # How it is chosen
//
// Both turns together are one vector, the sum of theirs. Memories that are active and of confidence 0.5 at least, and
// messages of other conversations, are ordered by 0.6 of their cosine, 0.3 of their confidence (0.7 for a message) and
// 0.1 of how recent they are (halved every 30 days). Of those that are at a cosine of 0.8 only the one with the highest
// confidence stays. Of facts (the tiers patterns and memoryBank) and of episodes (other memories, and messages) three
// are kept each, and up to two more whose score is 0.9 of that of the best.
//
// The levels under which nothing is near, or a conversation has changed its subject, depend on the model
// (passive_levels.go), which says what they were measured on.
//
// # Privacy
//
// What is looked for is what the reader of a buffer sees of the conversation. A remote reader is told of no turn that
// he does not see, and what waits for him is dropped when private records change, since it was chosen by names that may
// be private now. An embedder on another machine gets what a remote reader sees, and nothing of a private conversation;
// a text on its way to it is called back when its conversation is deleted or becomes private.
//
// Package chat tells it of turns, package gather asks it. Closing the store ends it: open it after the indexes that it
// asks, so that it is closed before them. All methods may be called concurrently.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

const (
	// defaultConversations is how many conversations have a buffer, for each audience.
	defaultConversations = 256
	// DefaultPassiveRest is how long after what was said the work begins at least.
	DefaultPassiveRest = 50 * time.Millisecond
	// patience is how long an embedder is waited for.
	patience = 30 * time.Second
)

// PassiveOptions are what a Recall needs from elsewhere.
type PassiveOptions struct {
	// Turns returns the texts of the last two turns of a conversation that have ended, as a reader sees them,
	// the earlier first. The error is NotFound for a conversation that he does not see.
	Turns func(ctx context.Context, v *audience.View, conversation string) ([]string, error)

	Now           func() time.Time // by which records are old; nil: time.Now
	Conversations int              // that have a buffer, for each audience; 0: DefaultConversations
	Rest          time.Duration    // 0: DefaultRest
}

// Passive finds what waits for conversations. Open makes one.
type Passive struct {
	in   Indexes
	opts PassiveOptions

	ctx    context.Context
	cancel context.CancelFunc
	known  vectors // of the worker

	mu            sync.Mutex // guards what follows
	local, remote *side
	ended         chan struct{}      // closed when the worker ends; nil while there is none
	working       string             // the conversation that is worked on; "" for none
	stop          context.CancelFunc // of that work
}

// side is what is kept for one audience. What one holds depends on nothing that only the other sees.
type side struct {
	view  *audience.View
	kept  map[string]*buffer // by conversation
	queue []string           // conversations to be worked on, the longest waiting first
	turns uint64             // that it was told of
}

// buffer is what waits for a conversation.
type buffer struct {
	told    uint64    // the number of the last turn that it was told of
	since   time.Time // since when it waits to be worked on; zero: it does not
	working bool
	done    bool // there is an answer, of the last turn or of an earlier one
	answer
}

// answer is what the turns of a conversation find.
type answer struct {
	found   []found // best first
	why     string  // why nothing was found, or could not be looked for
	privacy uint64  // of the View before the turns were read
	texts   textKey // of the turns
}

// Why nothing waits.
const (
	notSeen = "no turn of the conversation was seen since the start"
	noTurn  = "no turn of the conversation has ended yet"
	late    = "what the last turns find is not there yet; it serves the next message"
	earlier = "what was said since then is not looked at yet"
	changed = "the conversation has changed its subject"
	nothing = "nothing that is remembered is near to the last turns"
	nowhere = "there is nothing to search"
)

// OpenPassive begins to find what waits for conversations. It ends when the store is closed.
func OpenPassive(db *kv.Store, rooms *audience.Views, in Indexes, opts PassiveOptions) *Passive {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Conversations = cmp.Or(opts.Conversations, defaultConversations)
	opts.Rest = cmp.Or(opts.Rest, DefaultPassiveRest)
	r := &Passive{in: in, opts: opts}
	r.ctx, r.cancel = context.WithCancel(db.Closing())
	r.local = &side{view: rooms.View(audience.Local), kept: make(map[string]*buffer)}
	r.remote = &side{view: rooms.View(audience.Remote), kept: make(map[string]*buffer)}
	db.OnClose(r.close)
	return r
}

// close ends the worker.
func (r *Passive) close(bool) {
	r.mu.Lock()
	r.cancel()
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// Said has the last turns of a conversation looked at, for a remote reader only when he sees what was said. It takes
// no time.
func (r *Passive) Said(conversation string, public bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	now := time.Now()
	r.local.touch(conversation, now, r.opts.Conversations)
	if public {
		r.remote.touch(conversation, now, r.opts.Conversations)
	}
	r.begin()
}

// begin begins the worker, if there is none. Hold Recall.mu.
func (r *Passive) begin() {
	if r.ended == nil {
		r.ended = make(chan struct{})
		go r.run(r.ended)
	}
}

// touch has a conversation wait for the worker in which something was said, and makes room for it. Hold Recall.mu.
func (s *side) touch(conversation string, now time.Time, most int) {
	b := s.kept[conversation]
	if b == nil {
		if len(s.kept) >= most {
			s.drop(s.oldest())
		}
		b = new(buffer)
		s.kept[conversation] = b
	}
	s.turns++
	b.told = s.turns
	s.enqueue(conversation, b, now)
}

// enqueue has a conversation wait for the worker, if it does not. Hold Recall.mu.
func (s *side) enqueue(conversation string, b *buffer, now time.Time) {
	if b.since.IsZero() {
		b.since = now
		s.queue = append(s.queue, conversation)
	}
}

// oldest returns the conversation in which nothing was said for the longest time.
func (s *side) oldest() (conversation string) {
	least := s.turns + 1
	for id, b := range s.kept {
		if b.told < least {
			conversation, least = id, b.told
		}
	}
	return conversation
}

func (s *side) drop(conversation string) {
	b := s.kept[conversation]
	if b == nil {
		return
	}
	delete(s.kept, conversation)
	if !b.since.IsZero() {
		s.queue = slices.DeleteFunc(s.queue, func(id string) bool { return id == conversation })
	}
}

// Dropped forgets what waits for a conversation that is deleted or becomes private or public, and calls back what
// of it is on its way to an embedder.
func (r *Passive) Dropped(conversation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.local.drop(conversation)
	r.remote.drop(conversation)
	if r.working == conversation {
		r.stop()
	}
}

// PassiveHits is what waits for a conversation.
type PassiveHits struct {
	Hits []Hit  // best first, as the reader sees them now
	Why  string // why nothing waits, or that what does is of an earlier turn; "" when neither is so
}

// Waiting returns what waits for a conversation. It stays there until the next turn. O(hits).
func (r *Passive) Waiting(ctx context.Context, v *audience.View, conversation string) PassiveHits {
	b, kept := r.kept(v, conversation)
	pending := b.working || !b.since.IsZero()
	w := PassiveHits{Why: b.why}
	switch {
	case !kept:
		w.Why = notSeen
	case !b.done && pending:
		w.Why = late
	case b.done && !r.holds(ctx, v, conversation, &b.answer):
		w.Why = late
		r.again(v, conversation, &b.answer)
	default:
		w.Hits = r.shown(v, b.found)
		if pending {
			w.Why = earlier
		}
		if len(w.Hits) == 0 {
			w.Why = cmp.Or(w.Why, nothing)
		}
	}
	return w
}

// kept returns what is kept of a conversation for a reader.
func (r *Passive) kept(v *audience.View, conversation string) (b buffer, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.sideOf(v).kept[conversation]
	if of == nil {
		return b, false
	}
	return *of, true
}

func (r *Passive) sideOf(v *audience.View) *side {
	if v.Hides() {
		return r.remote
	}
	return r.local
}

// holds reports whether the turns show a reader what they showed him when they were looked at: what private
// records are called may have changed since, and an answer that was found by such a name would tell of it.
func (r *Passive) holds(ctx context.Context, v *audience.View, conversation string, a *answer) bool {
	now := v.Privacy()
	if a.privacy == now {
		return true
	}
	texts, err := r.opts.Turns(ctx, v, conversation)
	if err != nil || keyOf(texts...) != a.texts {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.sideOf(v).kept[conversation]
	if b != nil && b.privacy == a.privacy && b.texts == a.texts {
		b.privacy = now
	}
	return true
}

// again has an answer that holds no more looked for anew.
func (r *Passive) again(v *audience.View, conversation string, a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sideOf(v)
	b := s.kept[conversation]
	if b == nil || b.privacy != a.privacy || r.ctx.Err() != nil {
		return
	}
	b.done, b.found = false, nil
	s.enqueue(conversation, b, time.Now())
	r.begin()
}

// Idle reports whether nothing is to be worked on.
func (r *Passive) Idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.working == "" && len(r.local.queue)+len(r.remote.queue) == 0
}

// job is a conversation to be worked on for one audience.
type job struct {
	*side
	b            *buffer
	conversation string
	ctx          context.Context
}

// run is the worker: it works until nothing waits, or the store is closed.
func (r *Passive) run(ended chan<- struct{}) {
	defer close(ended)
	for {
		j, rest, more := r.next()
		if !more {
			return
		}
		if j != nil {
			began := time.Now()
			r.work(j)
			rest = time.Since(began)
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(rest):
		}
	}
}

// next takes the conversation that waits for the longest time, or tells how long it is to rest before that. Where none
// waits the worker has ended.
func (r *Passive) next() (j *job, rest time.Duration, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s *side
	for _, of := range []*side{r.local, r.remote} {
		if len(of.queue) > 0 && (s == nil || of.kept[of.queue[0]].since.Before(s.kept[s.queue[0]].since)) {
			s = of
		}
	}
	if s == nil || r.ctx.Err() != nil {
		r.ended = nil
		return nil, 0, false
	}
	conversation := s.queue[0]
	b := s.kept[conversation]
	if rest = r.opts.Rest - time.Since(b.since); rest > 0 {
		return nil, rest, true
	}
	s.queue = s.queue[1:]
	b.since, b.working = time.Time{}, true
	j = &job{side: s, b: b, conversation: conversation}
	j.ctx, r.stop = context.WithTimeout(r.ctx, patience)
	r.working = conversation
	return j, 0, true
}

// work finds what waits for a conversation.
func (r *Passive) work(j *job) {
	a, err := r.find(j)
	late := errors.Is(j.ctx.Err(), context.DeadlineExceeded)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.working, r.stop = "", nil
	j.b.working = false
	switch {
	case err == nil:
		j.b.done, j.b.answer = true, a
		return
	case late:
		j.b.why = "the embedder did not answer in time"
	default:
		j.b.why = fault.Message(err)
	}
	r.known = vectors{} // the model may be another one; what an earlier turn left stays
}
