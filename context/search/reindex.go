package search

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vector"
	"github.com/ctxd/ctxd/entities/fault"
)

// remade is how often whoever waits for an index looks at it.
const remade = 20 * time.Millisecond

// ReindexWords makes the index of words anew from the notes, and returns when
// all of them are in it. Searches find meanwhile what is in it already, and say
// so. When ctx ends it leaves the rest to the background. Of two at a time the
// second is refused with Conflict. progress, if not nil, is told how far it is.
func (x *Index) ReindexWords(ctx context.Context, progress func(done, total int)) error {
	x.mu.Lock()
	if len(x.waiting) > 0 {
		x.mu.Unlock()
		return &fault.Error{
			Kind: fault.Conflict, Msg: "the index of words is being made already", Hint: "wait for that to end: admin.stats tells", Retryable: true,
		}
	}
	x.x = newInverted(x.stem)
	x.docs, x.heads, x.free = nil, nil, nil
	clear(x.number)
	x.file.forget()
	for n := range x.notes.All() {
		x.waiting[n.ID] = struct{}{}
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

// ReindexVectors makes the vectors of all notes anew, and returns when they serve.
// Those that are there serve until then. When ctx ends it leaves the rest to the
// background. Of two at a time the second is refused with Conflict. progress, if
// not nil, is told how far it is.
func (x *Index) ReindexVectors(ctx context.Context, progress func(done, total int)) error {
	m := x.meaning
	if m == nil {
		return fault.New(fault.Unavailable, "no embedder is configured").WithHint("set embedder in the configuration")
	}
	m.mu.Lock()
	switch {
	case m.serving == nil && m.retry.why != "":
		defer m.mu.Unlock()
		return fault.New(fault.Unavailable, "the embedder can't be asked: %s", m.retry.why).WithHint("ctxd inspect index says more")
	case m.serving == nil || m.building != nil || m.anew || !m.serving.ready:
		m.mu.Unlock()
		return &fault.Error{
			Kind: fault.Conflict, Msg: "the vectors are being made already", Hint: "wait for that to end: admin.stats tells", Retryable: true,
		}
	}
	old := m.serving
	m.anew = true
	m.mu.Unlock()
	poke(m.wake)
	tick := time.NewTicker(remade)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.ctx.Done():
			return fault.New(fault.Unavailable, "the store was closed before the vectors were made")
		case <-tick.C:
		}
		m.mu.RLock()
		over := m.serving != old
		waiting := 0
		if m.building != nil {
			waiting = len(m.building.waiting)
		}
		m.mu.RUnlock()
		_, total, _ := m.notes.Count()
		if progress != nil {
			progress(max(0, total-waiting), total)
		}
		if over {
			return nil
		}
	}
}

// OnProgress has tell called as vectors come to be: with the stage embed, or model
// for those of another model, and how many of the notes have them. It is called
// often, by one goroutine, and must not wait.
func (x *Index) OnProgress(tell func(stage string, done, total int)) {
	if m := x.meaning; m != nil {
		m.mu.Lock()
		m.tell = tell
		m.mu.Unlock()
	}
}

// CheckVectors compares the vectors with their file and with the notes, and has
// made anew what is not right. It returns the ids of those notes.
func (x *Index) CheckVectors(ctx context.Context) ([]string, error) {
	m := x.meaning
	if m == nil {
		return nil, nil
	}
	m.mu.RLock()
	g := m.serving
	m.mu.RUnlock()
	if g == nil {
		return nil, nil
	}
	wrong, err := g.index.Check(ctx)
	if err != nil {
		return nil, err
	}
	for id, key := range g.index.All() {
		n := m.notes.Get(id)
		m.mu.RLock()
		_, waits := g.waiting[id]
		m.mu.RUnlock()
		if n != nil && !waits && key != (vector.Key{}) && key != keyOf(n) && m.notes.Get(id) == n {
			wrong = append(wrong, id)
		}
	}
	m.repeat(g, wrong)
	poke(m.wake)
	return wrong, ctx.Err()
}

// Stats are what an Index holds, and what it waits for.
type Stats struct {
	Words    WordStats
	Meanings MeaningStats
	Weights  Weights
}

// WordStats are those of words.
type WordStats struct {
	Notes, Waiting, Terms  int
	Postings               int // of each term the notes that have it
	MemoryBytes, DiskBytes int64
	// Kept is how many notes the start found in the file as they are, and Differed how
	// many had changed, come or gone since that was written.
	Kept, Differed int
	// Anew is why the index was made anew at the start; "" when it was not, or when
	// there was no file.
	Anew    string
	Unsaved int       // notes that changed since the file was written
	Saved   time.Time // zero: not since the start
}

// MeaningStats are those of vectors.
type MeaningStats struct {
	Model             *embed.Model // nil: there are none
	Notes, Waiting    int
	Oldest            time.Duration // of the waiting
	HeldBack, Refused int
	Vectors           int
	Size              vector.Sizes // of all files
	Rate              float64      // texts a second of work
	Embedded, Reused  uint64       // texts
	Error             string
	Retry             time.Duration // until the embedder is asked again
	Building          *Building
}

// Building is an index that takes the place of another when it is whole.
type Building struct {
	Model       embed.Model
	Done, Total int
}

// Stats returns the present figures. O(notes).
func (x *Index) Stats() (s Stats) {
	s.Weights = x.opts.Weights
	x.mu.RLock()
	s.Words = WordStats{Notes: len(x.number), Waiting: len(x.waiting), Terms: x.x.terms()}
	s.Words.Postings, s.Words.MemoryBytes = x.x.weigh()
	f := &x.file
	s.Words.Kept, s.Words.Differed, s.Words.Anew, s.Words.Unsaved, s.Words.Saved = f.taken, f.late, f.anew, len(f.fresh), f.written
	x.mu.RUnlock()
	if x.opts.Dir != "" {
		if info, err := os.Stat(filepath.Join(x.opts.Dir, fileName)); err == nil {
			s.Words.DiskBytes = info.Size()
		}
	}
	if x.meaning != nil {
		s.Meanings = x.meaning.stats()
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

// Size is how many notes are in the index of words, and how many are not yet.
func (x *Index) Size() (notes, waiting int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.number), len(x.waiting)
}

// Anew is why the file of the words was of no use at the start, "" when it was used
// or when there was none.
func (x *Index) Anew() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.file.anew
}

// Waiting is how many notes wait for their vectors.
func (x *Index) Waiting() int {
	if x.meaning == nil {
		return 0
	}
	x.meaning.mu.RLock()
	defer x.meaning.mu.RUnlock()
	if g := x.meaning.serving; g != nil {
		return len(g.waiting)
	}
	return 0
}

// Embedder is how the embedder is; ok tells whether there is one.
func (x *Index) Embedder() (status embed.Status, ok bool) {
	if x.meaning == nil {
		return status, false
	}
	return x.meaning.embedder.Status(), true
}

func (m *meaning) stats() (s MeaningStats) {
	_, total, _ := m.notes.Count()
	now := time.Now()
	m.mu.RLock()
	s.Rate, s.Embedded, s.Reused = m.work.rate(), m.work.embedded, m.work.reused
	fail := m.retry
	all, serving := m.generations(), m.serving
	if g := m.serving; g != nil {
		model := g.model
		s.Model = &model
		s.Waiting, s.HeldBack, s.Refused = len(g.waiting), len(g.held), len(g.refused)
		for _, w := range g.waiting {
			s.Oldest = max(s.Oldest, now.Sub(w.since))
		}
		if g.retry.why != "" {
			fail = g.retry
		}
	}
	if g := m.building; g != nil {
		s.Building = &Building{Model: g.model, Done: max(0, total-len(g.waiting)), Total: total}
		if g.retry.why != "" {
			fail = g.retry
		}
	}
	m.mu.RUnlock()
	if s.Error = fail.why; s.Error != "" {
		s.Retry = max(0, fail.at.Sub(now))
	}
	for _, g := range all {
		size := g.index.Sizes()
		s.Size.Memory += size.Memory
		s.Size.Disk += size.Disk
		s.Size.Waste += size.Waste
		if g == serving {
			s.Vectors = g.index.Len()
			s.Notes = max(0, total-s.Waiting-s.HeldBack-s.Refused)
		}
	}
	return s
}
