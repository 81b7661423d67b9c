package search

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vector"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

const (
	// batchTexts is how many texts an embedder is given at a time.
	batchTexts = 32
	// embedTimeout is how long it may take over them.
	embedTimeout = 2 * time.Minute
	// settle is how long the notes have to rest before they are embedded: who types
	// saves often. longSettle is how long that can put it off.
	settle     = 50 * time.Millisecond
	longSettle = time.Second
	// importSettle is how long they have to rest after a commit of many, and
	// longImport how long an import can put it off: while it goes on, the processors
	// are its own.
	importSettle = 250 * time.Millisecond
	longImport   = 30 * time.Second
)

// The stages of progress.
const (
	stageEmbed = "embed"
	stageModel = "model"
)

// run does the work, until the store is closed.
func (m *meaning) run() {
	defer close(m.done)
	select {
	case <-m.begin:
	case <-m.ctx.Done():
		return
	}
	m.load()
	m.learn()
	for m.ctx.Err() == nil {
		m.again()
		if m.step() {
			continue
		}
		m.swap()
		m.rest()
	}
}

// again sees to what was asked for, or may be tried again.
func (m *meaning) again() {
	m.mu.Lock()
	anew, ask := m.anew, m.retry.why != "" && m.retry.due()
	serving := m.serving
	m.mu.Unlock()
	if ask {
		m.learn()
	}
	if anew && serving != nil {
		m.abandon()
		m.build(serving.model)
		m.mu.Lock()
		m.anew = false // not before: until there is something to wait for, a second one is refused by it
		m.mu.Unlock()
	}
}

// step does a part of the work, and reports whether there may be more to do now.
func (m *meaning) step() (worked bool) {
	m.mu.RLock()
	all := m.generations()
	m.mu.RUnlock()
	for _, g := range all {
		m.bury(g)
		if g.index.Broken() {
			m.mend(g)
		}
		if m.calm(g) && m.embed(g) {
			worked = true
			break // the serving one goes first
		}
	}
	for _, g := range all {
		if !worked && g.index.Wasteful() && !m.mend(g) {
			m.report(g.index.Compact(m.ctx))
		}
		m.report(g.index.Flush())
	}
	return worked
}

// mend has notes wait whose vectors are damaged on disk, and reports whether there
// are any.
func (m *meaning) mend(g *generation) bool {
	damaged, err := g.index.Check(m.ctx)
	m.report(err)
	if len(damaged) > 0 {
		m.log.Warn("search: vectors were damaged on disk; they are made anew", "notes", len(damaged))
		m.repeat(g, damaged)
	}
	return len(damaged) > 0 || err != nil
}

// repeat has notes wait that did not change.
func (m *meaning) repeat(g *generation, ids []string) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if g.waiting[id] == nil {
			g.add(id, now)
			g.backlog = append(g.backlog, id)
		}
	}
}

// calm waits until the notes rest, unless somebody waits for them, and reports
// whether there is anything to do.
func (m *meaning) calm(g *generation) bool {
	for {
		m.mu.RLock()
		n := len(g.edited) + len(g.backlog)
		left := restLeft(time.Now(), m.changed, m.imported, g.firstEdit())
		m.mu.RUnlock()
		if n == 0 || left <= 0 || len(m.hurry) > 0 {
			return n > 0
		}
		select {
		case <-m.ctx.Done():
			return false
		case <-m.hurry:
			poke(m.hurry)
		case <-time.After(left):
		}
	}
}

// restLeft is how long the notes still have to rest at least, by when they last
// changed, when last many did at once, and since when the first of them waits.
func restLeft(now, changed, imported, first time.Time) time.Duration {
	edit := min(changed.Add(settle).Sub(now), first.Add(longSettle).Sub(now))
	if imported.IsZero() {
		return edit
	}
	return max(edit, min(imported.Add(importSettle).Sub(now), first.Add(longImport).Sub(now)))
}

// firstEdit is since when the first of the edits waits. The caller has the lock.
func (g *generation) firstEdit() time.Time {
	for _, id := range g.edited {
		if w := g.waiting[id]; w != nil {
			return w.since
		}
	}
	return time.Now()
}

// rest waits until there is something to do.
func (m *meaning) rest() {
	m.mu.Lock()
	m.wakeIdle()
	var again <-chan time.Time
	if at := m.soonest(); !at.IsZero() {
		t := time.NewTimer(max(time.Until(at), time.Millisecond))
		defer t.Stop()
		again = t.C
	}
	m.mu.Unlock()
	select {
	case <-m.ctx.Done():
	case <-m.wake:
	case <-again:
	}
}

// soonest is when something may be tried again, the zero time for nothing. The
// caller has the lock.
func (m *meaning) soonest() (at time.Time) {
	list := []backoff{m.retry}
	for _, g := range m.generations() {
		list = append(list, g.retry)
	}
	for _, b := range list {
		if b.why != "" && (at.IsZero() || b.at.Before(at)) {
			at = b.at
		}
	}
	return at
}

// wakeIdle tells those who wait for the queue when it is as short as it can be.
// The caller has the lock.
func (m *meaning) wakeIdle() {
	if m.serving != nil && m.serving.ready || m.retry.why != "" {
		m.wakeWaiters()
	}
}

func (m *meaning) wakeWaiters() {
	for _, c := range m.waiters {
		close(c)
	}
	m.waiters = nil
	select {
	case <-m.hurry:
	default:
	}
}

// job is a note that is being embedded.
type job struct {
	id    string
	w     *wait
	note  *notes.Note
	item  vector.Item
	texts []string // that are not known yet
	at    []int    // their places among the parts
	got   [][]float32
}

// next takes a note off the lists, the latest edit first. Without an embedder only
// those edited whose unchanged parts are not served yet.
func (m *meaning) next(g *generation, able bool) (id string, w *wait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(g.edited) - 1; i >= 0; i-- {
		id := g.edited[i]
		w := g.waiting[id]
		if w != nil && w.kept && !able {
			continue
		}
		if able || w == nil {
			g.edited = append(g.edited[:i], g.edited[i+1:]...)
		}
		if w != nil {
			return id, w
		}
	}
	for able && len(g.backlog) > 0 {
		id := g.backlog[len(g.backlog)-1]
		g.backlog = g.backlog[:len(g.backlog)-1]
		if w := g.waiting[id]; w != nil {
			return id, w
		}
	}
	return "", nil
}

// embed makes the vectors of some notes, and reports whether it did anything.
func (m *meaning) embed(g *generation) (worked bool) {
	m.mu.RLock()
	able := g.embedder != nil && g.retry.due()
	m.mu.RUnlock()
	began := time.Now()
	var batch []*job
	for texts := 0; texts < batchTexts; {
		id, w := m.next(g, able)
		if w == nil {
			break
		}
		worked = true
		j := m.prepare(g, id, w, able)
		switch {
		case j == nil || !able:
		case len(j.texts) == 0:
			m.put(g, j)
		default:
			texts += len(j.texts)
			batch = append(batch, j)
		}
	}
	if len(batch) > 0 {
		m.embedBatch(g, batch)
	}
	if len(batch) > 0 {
		m.mu.Lock()
		m.work.note(time.Since(began) / time.Duration(len(batch)))
		m.mu.Unlock()
	}
	m.progress(g)
	if m.busy() { // leave room for what is written meanwhile
		select {
		case <-m.ctx.Done():
		case <-time.After(time.Since(began)):
		}
	}
	return worked
}

// busy reports whether notes are being written, and nobody waits for the queue.
func (m *meaning) busy() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return time.Since(m.changed) < settle && len(m.waiters) == 0
}

// prepare splits a note and finds what of it is known. It returns nil when nothing
// is left to do for it.
func (m *meaning) prepare(g *generation, id string, w *wait, able bool) *job {
	n := m.notes.Get(id)
	if n == nil { // its deletion is told of by itself
		m.finish(g, id, w, nil)
		return nil
	}
	if able && n.Private && isRemote(g.embedder) {
		g.index.Delete(id)
		m.finish(g, id, w, g.held)
		return nil
	}
	j := &job{id: id, w: w, note: n, item: vector.Item{ID: id, Key: keyOf(n)}}
	if g.index.Key(id) == j.item.Key { // changed and changed back
		m.finish(g, id, w, nil)
		return nil
	}
	chunks := Chunks(n.Title, n.Body)
	for _, c := range chunks {
		j.item.Parts = append(j.item.Parts, vector.KeyOf(c.Embedded()))
	}
	j.item.New = make([][]float32, len(chunks))
	for i, has := range g.index.Keep(id, j.item.Parts) {
		if !has {
			j.texts, j.at = append(j.texts, chunks[i].Embedded()), append(j.at, i)
		}
	}
	m.mu.Lock()
	w.kept = sameText(m.notes.Get(id), n)
	m.work.reused += uint64(len(chunks) - len(j.texts))
	m.mu.Unlock()
	return j
}

// embedBatch embeds the texts of some notes and keeps the vectors.
func (m *meaning) embedBatch(g *generation, batch []*job) {
	ctx, over := m.send(g, batch)
	vectors, err := m.embedTexts(ctx, g, batch)
	over()
	switch {
	case m.ctx.Err() != nil:
	case errors.Is(err, errOutdated): // they wait in their new version
		m.later(g, batch)
	case err == nil:
		for _, j := range batch {
			j.got, vectors = vectors[:len(j.texts)], vectors[len(j.texts):]
			m.put(g, j)
		}
	case isRefusal(err) && len(batch) > 1: // find out which of them it is
		for _, j := range batch {
			m.embedBatch(g, []*job{j})
		}
	case isRefusal(err):
		m.log.Info("search: the embedder refuses a note; it is asked again when the note changes", "note", batch[0].id, "error", fault.KindOf(err))
		m.finish(g, batch[0].id, batch[0].w, g.refused)
	default:
		m.mu.Lock()
		g.retry.fail(err)
		m.mu.Unlock()
		m.log.Info("search: the embedder can't be asked", "error", fault.Message(err))
		m.later(g, batch)
	}
}

// send returns the context of the embedding of some notes, which over ends. Texts on
// their way to a remote embedder, or that it is to be sent again after a failure, are
// called back when one of the notes is deleted or becomes private.
func (m *meaning) send(g *generation, batch []*job) (ctx context.Context, over func()) {
	ctx, cancel := context.WithCancel(m.ctx)
	if !isRemote(g.embedder) {
		return ctx, cancel
	}
	flight := make(map[string]bool, len(batch))
	for _, j := range batch {
		flight[j.id] = true
	}
	m.mu.Lock()
	m.flight, m.recall = flight, cancel
	m.mu.Unlock()
	return ctx, func() {
		m.mu.Lock()
		m.flight, m.recall = nil, nil
		m.mu.Unlock()
		cancel()
	}
}

// errOutdated ends a batch of which no text is of use any more, or which the
// embedder would read with another model.
var errOutdated = errors.New("nothing of this is of use any more")

func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Invalid || kind == fault.Limit
}

// embedTexts asks the embedder, for a few texts at a time. Those of notes that
// have changed, or may not be shown to it any more, have no vector.
func (m *meaning) embedTexts(ctx context.Context, g *generation, batch []*job) ([][]float32, error) {
	total := 0
	for _, j := range batch {
		total += len(j.texts)
	}
	all := make([][]float32, total)
	var texts []string
	var at []int // their places in all
	place := 0
	for _, j := range batch {
		for i, text := range j.texts {
			if i%batchTexts == 0 && !m.mayEmbed(g, j) {
				place += len(j.texts) - i
				break
			}
			texts, at = append(texts, text), append(at, place)
			place++
			if len(texts) == batchTexts {
				if err := m.embedPart(ctx, g, texts, at, all); err != nil {
					return nil, err
				}
				texts, at = texts[:0], at[:0]
			}
		}
	}
	return all, m.embedPart(ctx, g, texts, at, all)
}

// embedPart embeds texts, whose vectors go to their places.
func (m *meaning) embedPart(ctx context.Context, g *generation, texts []string, at []int, all [][]float32) error {
	if len(texts) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	began := time.Now()
	model, vectors, err := g.embedder.Embed(limited, embed.Passage, texts)
	switch {
	case err != nil && ctx.Err() != nil:
		return errOutdated
	case err != nil:
		return err
	case model != g.model:
		m.target(model)
		return errOutdated
	case len(vectors) != len(texts):
		return fault.New(fault.Unavailable, "the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		all[at[i]] = v
	}
	m.mu.Lock()
	g.retry = backoff{}
	m.work.add(len(texts), time.Since(began))
	m.mu.Unlock()
	return nil
}

// mayEmbed reports whether a note still is what it was, and may be shown to the
// embedder.
func (m *meaning) mayEmbed(g *generation, j *job) bool {
	n := m.notes.Get(j.id)
	return m.isCurrent(g, j.id, j.w) && sameText(n, j.note) && !(n.Private && isRemote(g.embedder))
}

func sameText(a, b *notes.Note) bool {
	return a == b || a != nil && b != nil && a.Title == b.Title && a.Body == b.Body
}

// put keeps the vectors of a note, unless it has changed meanwhile.
func (m *meaning) put(g *generation, j *job) {
	for i, v := range j.got {
		j.item.New[j.at[i]] = v
	}
	ok, err := g.index.Put(j.item, func() bool { return m.isCurrent(g, j.id, j.w) && sameText(m.notes.Get(j.id), j.note) })
	switch {
	case err != nil && fault.KindOf(err) == fault.Invalid: // no vectors at all
		m.log.Warn("search: the embedder gave what are no vectors", "note", j.id)
		m.finish(g, j.id, j.w, g.refused)
	case err != nil:
		m.mu.Lock()
		g.retry.fail(fault.Wrap(fault.Unavailable, err, "the vectors can't be kept: %s", withoutPath(err)))
		m.mu.Unlock()
		m.later(g, []*job{j})
	case ok:
		m.finish(g, j.id, j.w, nil)
	default:
		m.later(g, []*job{j})
	}
}

// withoutPath is an error for those who may not know where files lie.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// later puts notes back on the list, if they still wait.
func (m *meaning) later(g *generation, batch []*job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range batch {
		if g.waiting[j.id] == j.w {
			g.backlog = append(g.backlog, j.id)
		}
	}
}

// progress tells how far a generation is.
func (m *meaning) progress(g *generation) {
	_, total, _ := m.notes.Count()
	m.mu.RLock()
	tell, done, stage := m.tell, max(0, total-len(g.waiting)), g.stage
	m.mu.RUnlock()
	tell(stage, done, total)
}

// workload is what was done.
type workload struct {
	embedded, reused uint64
	texts            float64       // of the last minute of work
	busy             time.Duration // over them
	perNote          time.Duration // a guess
}

func (w *workload) add(texts int, took time.Duration) {
	w.embedded += uint64(texts)
	w.texts += float64(texts)
	if w.busy += took; w.busy > time.Minute {
		w.busy, w.texts = w.busy/2, w.texts/2
	}
}

func (w *workload) note(took time.Duration) { w.perNote = (7*w.perNote + took) / 8 }

// rate is how many texts are embedded in a second of work.
func (w *workload) rate() float64 {
	if w.busy == 0 {
		return 0
	}
	return w.texts / w.busy.Seconds()
}
