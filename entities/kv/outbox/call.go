package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Later is what has to be done again once the log can be reached.
type Later struct {
	// Kind says what is done: the name of a method, say. It is for whoever replays.
	Kind string
	// Body returns all that it needs, ids that were given included. It is called at the end
	// of a transaction that is taken here, in it: it must neither read nor write the store,
	// and is called again when the transaction runs again.
	Body func() ([]byte, error)
}

// Waiting is an item of the outbox.
type Waiting struct {
	Number  uint64    `json:"number"` // grows in the order in which items are replayed
	Kind    string    `json:"kind"`
	Body    []byte    `json:"body"`
	Time    time.Time `json:"time"`              // when it was accepted here
	Keys    []string  `json:"keys,omitempty"`    // collection/id of the records that it wrote, in their order
	Refused *Refusal  `json:"refused,omitempty"` // why its replay was refused; nil: it waits
}

// Refusal is why an item can't be done any more.
type Refusal struct {
	Kind    string    `json:"kind"` // as fault.Kind.String
	Message string    `json:"message"`
	Field   string    `json:"field,omitempty"`
	Ref     string    `json:"ref,omitempty"`
	Hint    string    `json:"hint,omitempty"`
	Time    time.Time `json:"time"`
}

// Call is what the context of a transaction says of it.
type Call struct {
	later       *Later
	number      uint64 // of the item that it replays
	replay      bool
	provisional bool          // it is replayed here, while the log can't be reached
	before      *Call         // what is replayed directly before it, and may not have ended; nil: it goes first
	queued      chan struct{} // of a replay: closed when its transaction is queued

	mu     sync.Mutex
	once   bool             // queued is closed
	ended  bool             // its function has returned, and there was nothing to be done
	batch  uint64           // generation of the store in which its transaction was queued last, and one
	logged bool             // something of it is in the log; of a replay: its item has ended
	lost   bool             // the log could not be used for it
	item   uint64           // item that a transaction of it is in
	sent   *SentTransaction // its first transaction, which may be in the log
}

type key struct{}

// NewContext returns a context whose transactions may be taken here while the log can't be reached.
// One that is such a context already, or that of a replay, stays as it is.
func NewContext(ctx context.Context, l Later) context.Context {
	if FromContext(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, &Call{later: &l})
}

// FromContext returns the Call of a context, nil when there is none. All methods of a Call are for
// nil, too.
func FromContext(ctx context.Context) *Call {
	c, _ := ctx.Value(key{}).(*Call)
	return c
}

// Replays reports whether it is the replay of an item.
func (c *Call) Replays() bool { return c != nil && c.replay }

// Queued returns the item that a transaction of the context was taken into, or that it replays.
func (c *Call) Queued() (number uint64, ok bool) {
	switch {
	case c == nil:
		return 0, false
	case c.replay:
		return c.number, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.item, c.item != 0
}

// Sent returns the first transaction of the context, if it was sent to the log and may be there,
// and no item waits for that.
func (c *Call) Sent() (sent SentTransaction, ok bool) {
	if c == nil {
		return sent, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil || c.logged || c.item != 0 {
		return sent, false
	}
	return *c.sent, true
}

// Provisional reports whether a transaction is to be taken here, without asking the log. trouble
// is why the log could not be used the last time, nil: it could. It is a *UnknownError where
// this very transaction may be in the log, which the Call then notes, see Sent.
func (c *Call) Provisional(trouble error) bool {
	if c == nil {
		return false
	}
	if c.replay {
		return c.provisional
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var unknown *UnknownError
	if errors.As(trouble, &unknown) {
		first := !c.logged && c.item == 0
		if first {
			c.sent = &unknown.SentTransaction
		}
		return first
	}
	return !c.logged && mayReplayLater(trouble)
}

// MayWait reports whether a transaction may be taken here, behind what waits.
func (c *Call) MayWait() bool {
	if c == nil || c.replay {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.logged
}

// mayReplayLater reports whether an error of the log lets additions be taken here: it can't be
// reached now, or a join anew will bring them to it. A log that has no room has answered: it can
// be read, so what others write would have to be applied, and all that waits done again, each
// time; and nobody knows whether room is ever made. So additions are refused, as all writes are.
func mayReplayLater(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || errors.Is(err, ErrFull) {
		return false
	}
	return f.Retryable || errors.Is(err, ErrGone) || errors.Is(err, ErrForked)
}

// Accepted notes that a transaction that wrote something for others was accepted, here, in the
// item of that number, or by the log.
func (c *Call) Accepted(provisional bool, number uint64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if provisional {
		c.item = number
	} else {
		c.logged = true
	}
}

// Enqueued notes that a transaction that wrote something for others is queued. A store has a new
// generation when it takes back what is queued.
func (c *Call) Enqueued(generation uint64) {
	if !c.Replays() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = generation + 1
	if !c.once && c.queued != nil {
		c.once = true
		close(c.queued)
	}
}

// Follows reports whether it is replayed behind another item whose transaction may be taken back: it
// runs once then, and only in its turn.
func (c *Call) Follows() bool {
	if c == nil || c.before == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.logged && c.item == 0
}

// ErrOutOfTurn is what a replay gets that comes before the item that it has to stand behind.
var ErrOutOfTurn = errors.New("what this stands behind is not there")

// CheckTurn returns ErrOutOfTurn unless the item before is done, or is queued in a generation.
func (c *Call) CheckTurn(generation uint64) error {
	if !c.Follows() {
		return nil
	}
	b := c.before
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.logged || b.item != 0 || b.ended || b.batch == generation+1 {
		return nil
	}
	return ErrOutOfTurn
}

// retry forgets that the log could not be used for it.
func (c *Call) retry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = false
}

func (c *Call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// Lost notes that the log could not be used for a transaction.
func (c *Call) Lost() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lost = true
	}
}

func (c *Call) isLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// endsItem reports whether the next transaction that writes something ends the item.
func (c *Call) endsItem() bool {
	if c == nil || !c.replay || c.provisional {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.logged
}
