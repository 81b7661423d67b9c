package words

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// remade is how often whoever waits for an index looks at it.
const remade = 20 * time.Millisecond

// Reindex makes the index anew from the documents, and returns when all of them are in
// it. Searches find meanwhile what is in it already, and say so. When ctx ends it leaves
// the rest to the background. Of two at a time the second is refused with Conflict.
// progress, if not nil, is told how far it is.
func (x *Index) Reindex(ctx context.Context, progress func(done, total int)) error {
	x.mu.Lock()
	if len(x.waiting) > 0 {
		x.mu.Unlock()
		return &fault.Error{
			Kind: fault.Conflict, Reason: fault.Busy, Msg: "the index of words is being made already",
			Hint: "wait until that is done; admin.stats shows it", Retryable: true,
		}
	}
	x.reset()
	for d := range x.src.All() {
		x.waiting[d.ID()] = struct{}{}
	}
	total := len(x.waiting)
	x.building.Add(1)
	x.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer x.building.Done()
		defer close(done)
		x.build()
	}()
	tick := time.NewTicker(remade)
	defer tick.Stop()
	for {
		select {
		case <-done:
			if x.stopped() {
				return fault.New(fault.Unavailable, "the store was closed before the index of words was made")
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if progress != nil {
				x.mu.RLock()
				waiting := len(x.waiting)
				x.mu.RUnlock()
				progress(max(0, total-waiting), total)
			}
		}
	}
}

// reset empties the index. The caller has the lock.
func (x *Index) reset() {
	x.x, x.hidden = newInverted(x.stem), nil
	x.docs, x.heads, x.free = nil, nil, nil
	clear(x.number)
	x.file.forget()
}

// Stats are what an Index holds, and what it waits for.
type Stats struct {
	Docs, Waiting, Terms   int
	Postings               int // of each term the documents that have it
	MemoryBytes, DiskBytes int64
	// Kept is how many documents the start found in the file as they are, and Differed
	// how many had changed, come or gone since that was written.
	Kept, Differed int
	// Anew is why the index was made anew at the start; "" when it was not, or when
	// there was no file.
	Anew    string
	Unsaved int       // documents that changed since the file was written
	Saved   time.Time // zero: not since the start
}

// Stats returns the present figures. O(documents).
func (x *Index) Stats() (s Stats) {
	x.rlock()
	s = Stats{Docs: len(x.number), Waiting: len(x.waiting), Terms: x.x.terms()}
	s.Postings, s.MemoryBytes = x.x.weigh()
	if x.hidden != nil {
		_, more := x.hidden.x.weigh()
		s.MemoryBytes += more
	}
	f := &x.file
	s.Kept, s.Differed, s.Anew, s.Unsaved, s.Saved = f.taken, f.late, f.anew, len(f.fresh), f.written
	x.mu.RUnlock()
	if x.opts.Dir != "" {
		if info, err := os.Stat(filepath.Join(x.opts.Dir, FileName)); err == nil {
			s.DiskBytes = info.Size()
		}
	}
	return s
}

// terms is how many words have postings.
func (x *inverted) terms() (n int) {
	for i := range x.words {
		if x.words[i].docs > 0 {
			n++
		}
	}
	return n
}

// Size is how many documents are in the index, and how many are not yet.
func (x *Index) Size() (docs, waiting int) {
	x.rlock()
	defer x.mu.RUnlock()
	return len(x.number), len(x.waiting)
}

// Most is how many documents a search can find at most.
func (x *Index) Most() int {
	x.rlock()
	defer x.mu.RUnlock()
	return len(x.docs)
}

// Anew is why the file was of no use at the start, "" when it was used or when there was
// none.
func (x *Index) Anew() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file.anew
}

// Stem returns the stem of a folded word, as the index finds it.
func (x *Index) Stem(word string) string { return x.stem(word) }
