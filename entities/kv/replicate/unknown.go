package replicate

import (
	"errors"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/kv/commitlog"
)

// ErrFound is why a transaction must not run again that was sent to the log: it was found there.
var ErrFound = errors.New("the transaction was found in the log")

// maxFound is how many entries are kept in mind. Who asks for one has waited since it was sent.
const maxFound = 1000

// found are entries of the Runner itself that it has read from the log, since the outcome of their
// append was not known.
type found struct {
	mu   sync.Mutex
	list [][16]byte
}

// Found reports whether a transaction, whose outcome was not known, was applied since. While the
// gate is open this does not change.
func (r *Runner) Found(sent commitlog.Sent) bool {
	r.found.mu.Lock()
	defer r.found.mu.Unlock()
	return slices.Contains(r.found.list, sent.Entry)
}

// noteFound is called with what the store was given to apply, before the gate is opened.
func (r *Runner) noteFound(list []Foreign) {
	at := r.store.At()
	own := &r.found
	own.mu.Lock()
	defer own.mu.Unlock()
	for _, f := range list {
		if f.Entry.Writer() == r.me && f.At.Seq <= at.Seq {
			own.list = append(own.list, f.Entry.ID)
		}
	}
	own.list = own.list[max(0, len(own.list)-maxFound):]
}
