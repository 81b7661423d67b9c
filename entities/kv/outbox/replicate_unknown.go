package outbox

import (
	"errors"
	"math"
	"slices"
	"sync"
)

// ErrFoundInLog is why a transaction must not run again that was sent to the log: it was found there.
var ErrFoundInLog = errors.New("the transaction was found in the log")

// maxFound is how many entries are kept in mind. Who asks for one has waited since it was sent.
const maxFound = 1000

// found are the entries that this Runner has appended and read from the log later, since the outcome
// was not known.
type found struct {
	mu   sync.Mutex
	list []foundEntry
}

type foundEntry struct {
	id   [16]byte
	done int // how many of its transactions are applied
}

// Found reports whether a transaction, whose outcome was not known, was read from the log and applied.
// Nothing is applied while the gate is open, so a transaction that has passed it may rely on the answer.
func (r *Runner) Found(sent SentTransaction) bool {
	r.found.mu.Lock()
	defer r.found.mu.Unlock()
	return slices.ContainsFunc(r.found.list, func(e foundEntry) bool { return e.id == sent.Entry && sent.Index < e.done })
}

// noteFound is called with what the store was given to apply, before the gate is opened.
func (r *Runner) noteFound(list []ForeignEntry) {
	at, done := r.store.At(), r.store.Done()
	own := &r.found
	own.mu.Lock()
	defer own.mu.Unlock()
	for _, f := range list {
		e := foundEntry{f.Entry.ID, math.MaxInt}
		if f.At.Seq > at.Seq {
			e.done, done = done, 0 // of the first one that is not applied as a whole
		}
		if f.Entry.Writer() == r.me && e.done > 0 {
			own.list = append(own.list, e)
		}
	}
	own.list = own.list[max(0, len(own.list)-maxFound):]
}
