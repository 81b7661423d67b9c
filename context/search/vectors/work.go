package vectors

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
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
	// lateSettle is how long they have to rest before their words are read.
	lateSettle = time.Second
)

// The stages of progress.
const (
	stageEmbed  = "embed"
	stageTokens = "tokens"
	stageModel  = "model"
)

// run does the work, until the store is closed.
func (x *Index) run() {
	defer close(x.done)
	select {
	case <-x.begin:
	case <-x.ctx.Done():
		return
	}
	x.load()
	x.learn()
	if g := x.serving; x.tokens != nil && g != nil && g.index.Len() > 0 {
		_, _, _ = x.tokens.EmbedQuestion(x.ctx, "") // it is ready then before a question waits for it
	}
	for x.ctx.Err() == nil {
		x.retryDue()
		if x.step() {
			continue
		}
		x.swap()
		x.waitForWork()
	}
}

// again sees to what was asked for, or may be tried again.
func (x *Index) retryDue() {
	x.mu.Lock()
	anew, ask := x.anew, x.retry.why != "" && x.retry.due()
	serving, unwanted := x.serving, x.unwanted
	x.mu.Unlock()
	if unwanted {
		x.abandon()
	}
	if ask {
		x.learn()
	}
	if anew && serving != nil {
		x.abandon()
		failed := x.rebuild(serving)
		x.mu.Lock()
		withdrawn := !x.anew
		x.anew, x.notBegun = false, failed // not before: until there is something to wait for, a second one is refused by it
		x.mu.Unlock()
		if withdrawn {
			x.abandon()
		}
	}
}

// step does a part of the work, and reports whether there may be more to do now.
func (x *Index) step() (worked bool) {
	x.mu.RLock()
	all := x.generations()
	x.mu.RUnlock()
	for _, g := range all {
		x.deleteGone(g)
		if g.index.Broken() {
			x.mend(g)
		}
		if x.waitForQuiet(g) && x.embed(g) {
			worked = true
			break // the serving one goes first
		}
	}
	for _, g := range all {
		if !worked && g.index.Wasteful() && !x.mend(g) {
			x.report(g.index.Compact(x.ctx))
		}
		x.report(g.index.Flush())
	}
	return worked
}

// mend has notes wait whose vectors are damaged on disk, and reports whether there
// are any.
func (x *Index) mend(g *generation) bool {
	damaged, err := g.index.Check(x.ctx)
	x.report(err)
	if len(damaged) > 0 {
		x.log.Warn("search: vectors were damaged on disk; they are made anew", "notes", len(damaged))
		x.repeat(g, damaged)
	}
	return len(damaged) > 0 || err != nil
}

// repeat has notes wait that did not change.
func (x *Index) repeat(g *generation, ids []string) {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		if g.waiting[id] == nil {
			g.add(id, now)
			g.backlog = append(g.backlog, id)
		}
	}
}

// waitForQuiet waits until the notes rest, unless somebody waits for them, and reports
// whether there is anything to do.
func (x *Index) waitForQuiet(g *generation) bool {
	for {
		x.mu.RLock()
		n := len(g.edited) + len(g.backlog)
		now := time.Now()
		left := quietLeft(now, x.changed, x.imported, g.firstEdit())
		if x.tokens != nil { // nothing else is to be done then
			left = max(left, min(x.changed.Add(lateSettle).Sub(now), g.firstEdit().Add(longImport).Sub(now)))
		}
		x.mu.RUnlock()
		if n == 0 || left <= 0 || len(x.hurry) > 0 {
			return n > 0
		}
		select {
		case <-x.ctx.Done():
			return false
		case <-x.hurry:
			poke(x.hurry)
		case <-time.After(left):
		}
	}
}

// quietLeft is how long the notes still have to rest at least, by when they last
// changed, when last many did at once, and since when the first of them waits.
func quietLeft(now, changed, imported, first time.Time) time.Duration {
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
func (x *Index) waitForWork() {
	x.mu.Lock()
	x.wakeIdle()
	var again <-chan time.Time
	if at := x.soonest(); !at.IsZero() {
		t := time.NewTimer(max(time.Until(at), time.Millisecond))
		defer t.Stop()
		again = t.C
	}
	x.mu.Unlock()
	select {
	case <-x.ctx.Done():
	case <-x.wake:
	case <-again:
	}
}

// soonest is when something may be tried again, the zero time for nothing. The
// caller has the lock.
func (x *Index) soonest() (at time.Time) {
	list := []retry{x.retry}
	for _, g := range x.generations() {
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
func (x *Index) wakeIdle() {
	if x.serving != nil && x.serving.ready || x.retry.why != "" {
		x.wakeWaiters()
	}
}

func (x *Index) wakeWaiters() {
	for _, c := range x.waiters {
		close(c)
	}
	x.waiters = nil
	select {
	case <-x.hurry:
	default:
	}
}

// job is a note that is being embedded.
type job struct {
	id    string
	w     *wait
	doc   text.Doc
	fresh bool // it was edited, and is no part of a backlog
	item  Item
	texts []string // that are not known yet
	at    []int    // their places among the parts
	more  bool     // there are others, for the next time
	got   []embed.Tokens
}

// next takes a note off the lists, the latest edit first. Without an embedder only
// those edited whose unchanged parts are not served yet.
func (x *Index) next(g *generation, able bool) (id string, w *wait, fresh bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
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
			return id, w, true
		}
	}
	for able && len(g.backlog) > 0 {
		id := g.backlog[len(g.backlog)-1]
		g.backlog = g.backlog[:len(g.backlog)-1]
		if w := g.waiting[id]; w != nil {
			return id, w, false
		}
	}
	return "", nil, false
}

// batch is how many texts are embedded before their vectors are kept.
func (x *Index) batch() int {
	if x.tokens != nil {
		return max(1, batchTexts/8) // of which one may take a tenth of a second
	}
	return batchTexts
}

// embed makes the vectors of some notes, and reports whether it did anything.
func (x *Index) embed(g *generation) (worked bool) {
	x.mu.RLock()
	able := g.embedder != nil && g.retry.due()
	x.mu.RUnlock()
	began := time.Now()
	var batch []*job
	taken := true // by the disk; else what waits stays on the list that it is taken from here
	for texts := 0; texts < x.batch() && taken && x.ctx.Err() == nil; {
		id, w, fresh := x.next(g, able)
		if w == nil {
			break
		}
		worked = true
		j := x.prepare(g, id, w, able, fresh)
		switch {
		case j == nil || !able:
		case len(j.texts) == 0:
			taken = x.put(g, j)
		default:
			texts += len(j.texts)
			batch = append(batch, j)
		}
	}
	if len(batch) > 0 {
		x.embedBatch(g, batch)
	}
	if len(batch) > 0 {
		x.mu.Lock()
		x.work.note(time.Since(began) / time.Duration(len(batch)))
		x.mu.Unlock()
	}
	x.progress(g)
	if x.busy() { // leave room for what is written meanwhile
		select {
		case <-x.ctx.Done():
		case <-time.After(time.Since(began)):
		}
	}
	return worked
}

// busy reports whether notes are being written, and nobody waits for the queue.
func (x *Index) busy() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return time.Since(x.changed) < settle && len(x.waiters) == 0
}

// prepare splits a note and finds what of it is known. It returns nil when nothing
// is left to do for it.
func (x *Index) prepare(g *generation, id string, w *wait, able, fresh bool) *job {
	n := x.src.Get(id)
	if n == nil { // its deletion is told of by itself
		x.finish(g, id, w, nil)
		return nil
	}
	if able && n.Private() && isRemote(g.embedder) {
		g.index.Delete(id)
		x.finish(g, id, w, g.held)
		return nil
	}
	j := &job{id: id, w: w, doc: n, fresh: fresh, item: Item{ID: id, Key: x.keyOf(n)}}
	if g.index.Key(id) == j.item.Key { // changed and changed back
		x.finish(g, id, w, nil)
		return nil
	}
	chunks := EmbeddedDoc(x.src, n).Chunks()
	for _, c := range chunks {
		j.item.Parts = append(j.item.Parts, NewTextKey(c.Embedded()))
	}
	j.item.New = make([][]float32, len(chunks))
	if x.tokens != nil {
		j.item.Tokens = make([][]byte, len(chunks))
	}
	for i, has := range g.index.Keep(id, j.item.Parts) {
		if !has && i >= w.from {
			j.texts, j.at = append(j.texts, chunks[i].Embedded()), append(j.at, i)
		}
	}
	x.mu.Lock()
	w.kept = sameText(x.src.Get(id), n)
	if w.from == 0 {
		x.work.reused += uint64(len(chunks) - len(j.texts))
	}
	if x.tokens != nil && len(j.texts) > batchTexts { // which take seconds: a stop in a huge note costs no more than that
		j.texts, j.at, j.item.Key, j.more = j.texts[:batchTexts], j.at[:batchTexts], TextKey{}, true
	}
	x.mu.Unlock()
	return j
}

// embedBatch embeds the texts of some notes and keeps the vectors.
func (x *Index) embedBatch(g *generation, batch []*job) {
	ctx, over := x.send(g, batch)
	vectors, err := x.embedTexts(ctx, g, batch)
	over()
	switch {
	case x.ctx.Err() != nil:
	case errors.Is(err, errOutdated): // they wait in their new version
		x.later(g, batch)
	case err == nil:
		for _, j := range batch {
			j.got, vectors = vectors[:len(j.texts)], vectors[len(j.texts):]
			x.put(g, j)
		}
	case isRefusal(err) && len(batch) > 1: // find out which of them it is
		for _, j := range batch {
			x.embedBatch(g, []*job{j})
		}
	case isRefusal(err):
		x.log.Info("search: the embedder refuses a note; it is asked again when the note changes", "note", batch[0].id,
			"error", fault.KindOf(err))
		x.finish(g, batch[0].id, batch[0].w, g.refused)
	default:
		x.mu.Lock()
		g.retry.fail(err)
		x.mu.Unlock()
		x.log.Info("search: the embedder can't be asked", "error", fault.Message(err))
		x.later(g, batch)
	}
}

// send returns the context of the embedding of some notes, which over ends. Texts on
// their way to a remote embedder, or that it is to be sent again after a failure, are
// called back when one of the notes is deleted or becomes private.
func (x *Index) send(g *generation, batch []*job) (ctx context.Context, over func()) {
	ctx, cancel := context.WithCancel(x.ctx)
	if !isRemote(g.embedder) {
		return ctx, cancel
	}
	flight := make(map[string]bool, len(batch))
	for _, j := range batch {
		flight[j.id] = true
	}
	x.mu.Lock()
	x.flight, x.recall = flight, cancel
	x.mu.Unlock()
	return ctx, func() {
		x.mu.Lock()
		x.flight, x.recall = nil, nil
		x.mu.Unlock()
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
func (x *Index) embedTexts(ctx context.Context, g *generation, batch []*job) ([]embed.Tokens, error) {
	total, fresh := 0, false
	for _, j := range batch {
		total += len(j.texts)
		fresh = fresh || j.fresh
	}
	all := make([]embed.Tokens, total)
	var texts []string
	var at []int // their places in all
	place := 0
	for _, j := range batch {
		for i, text := range j.texts {
			if i%batchTexts == 0 && !x.mayEmbed(g, j) {
				place += len(j.texts) - i
				break
			}
			texts, at = append(texts, text), append(at, place)
			place++
			if len(texts) == batchTexts {
				if err := x.embedPart(ctx, g, texts, at, all, fresh); err != nil {
					return nil, err
				}
				texts, at = texts[:0], at[:0]
			}
		}
	}
	return all, x.embedPart(ctx, g, texts, at, all, fresh)
}

// embedPart embeds texts, whose vectors go to their places.
func (x *Index) embedPart(ctx context.Context, g *generation, texts []string, at []int, all []embed.Tokens,
	fresh bool,
) error {
	if len(texts) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, embedTimeout)
	if x.tokens != nil { // which reads when nothing else wants the processors, however long that is
		cancel()
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	done := x.turns.take(limited, x, fresh)
	began := time.Now()
	model, vectors, err := x.made(limited, g, texts)
	done()
	switch {
	case err != nil && ctx.Err() != nil:
		return errOutdated
	case err != nil:
		return err
	case model != g.model:
		x.target(model)
		return errOutdated
	case len(vectors) != len(texts):
		return fault.New(fault.Unavailable, "the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		all[at[i]] = v
	}
	x.mu.Lock()
	g.retry = retry{}
	x.work.add(len(texts), time.Since(began))
	x.mu.Unlock()
	return nil
}

// made has the embedder of a generation make the vectors of texts.
func (x *Index) made(ctx context.Context, g *generation, texts []string) (embed.Model, []embed.Tokens, error) {
	if x.tokens != nil && g.embedder == embed.Embedder(x.tokens) {
		return x.tokens.EmbedTokens(ctx, texts)
	}
	model, vectors, err := g.embedder.Embed(ctx, embed.Passage, texts)
	all := make([]embed.Tokens, len(vectors))
	for i, v := range vectors {
		all[i].Pooled = v
	}
	return model, all, err
}

// mayEmbed reports whether a note still is what it was, and may be shown to the
// embedder.
func (x *Index) mayEmbed(g *generation, j *job) bool {
	n := x.src.Get(j.id)
	return x.isCurrent(g, j.id, j.w) && sameText(n, j.doc) && !(n.Private() && isRemote(g.embedder))
}

// sameText reports whether two versions of a document have the same chunks, but for what
// they hide from others.
func sameText(a, b text.Doc) bool {
	return a == b || a != nil && b != nil && slices.Equal(a.ChunkedFrom(), b.ChunkedFrom())
}

// put keeps the vectors of a note, unless it has changed meanwhile. It returns false when
// the disk does not take them.
func (x *Index) put(g *generation, j *job) (taken bool) {
	for i, v := range j.got {
		j.item.New[j.at[i]] = v.Pooled
		if x.tokens != nil {
			j.item.Tokens[j.at[i]] = v.Codes
		}
	}
	ok, err := x.seam.put(g.index, j.item,
		func() bool { return x.isCurrent(g, j.id, j.w) && sameText(x.src.Get(j.id), j.doc) })
	switch {
	case err != nil && fault.KindOf(err) == fault.Invalid: // no vectors at all
		x.log.Warn("search: the embedder gave what are no vectors", "note", j.id)
		x.finish(g, j.id, j.w, g.refused)
	case err != nil:
		why := notKept(err)
		x.mu.Lock()
		g.retry.fail(why)
		g.unkept = why
		x.mu.Unlock()
		x.later(g, []*job{j})
		return false
	case ok:
		if j.more {
			j.w.from = j.at[len(j.at)-1] + 1 // only the worker reads it
			x.later(g, []*job{j})
		} else {
			x.finish(g, j.id, j.w, nil)
		}
		x.mu.Lock()
		g.unkept = nil
		x.mu.Unlock()
	default:
		x.later(g, []*job{j})
	}
	return true
}

// notKept says that the disk does not take vectors.
func notKept(err error) *fault.Error {
	why := kv.ExplainDiskError(err)
	if why == "" {
		why = withoutPath(err).Error()
	}
	e := fault.Wrap(fault.Unavailable, err, "the vectors can't be kept: %s", why).
		WithHint("free some disk space if it is full, and try again; those that are there serve meanwhile")
	e.Retryable = true
	return e
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
func (x *Index) later(g *generation, batch []*job) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, j := range batch {
		if g.waiting[j.id] == j.w {
			g.backlog = append(g.backlog, j.id)
		}
	}
}

// progress tells how far a generation is.
func (x *Index) progress(g *generation) {
	total, _ := x.src.Count()
	x.mu.RLock()
	tell, done, stage := x.tell, max(0, total-len(g.waiting)), g.stage
	if x.tokens != nil {
		stage = stageTokens
	}
	x.mu.RUnlock()
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
	w.busy += took
	if w.busy > time.Minute {
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
