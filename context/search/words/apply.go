package words

import (
	"errors"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
)

// change is what a commit does to one note.
type change struct {
	id       string
	now      text.Doc  // nil when it is gone
	words    *analysis // of now
	was      text.Doc  // that the index holds; nil for none
	wasWords *analysis
}

// size is about how much work it is to take both versions apart.
func (c *change) size() int {
	size := 512
	if c.now != nil {
		size += c.now.Size()
	}
	if c.was != nil {
		size += c.was.Size()
	}
	return size
}

// part are changes of which one goroutine takes the texts apart.
type part struct {
	*reading
	list []change
}

// read takes the texts apart. It needs no lock.
func (p *part) read(fields []text.Field) {
	for i := range p.list {
		c := &p.list[i]
		if c.now != nil {
			c.words = analyse(p.reading, fields, c.now)
		}
		if c.was != nil {
			c.wasWords = analyse(p.reading, fields, c.was)
		}
	}
}

func (p *part) lookUpIn(x *Index) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p.lookUp(&x.x.dictionary)
}

// changesOf returns what a change set does to notes. It needs no lock.
func (x *Index) changesOf(cs *kv.ChangeSet) (list []change) {
	for _, c := range x.src.Changes(cs) {
		list = append(list, change{id: c.ID, now: c.Now})
	}
	return list
}

// findOld finds the versions that the index holds of what changes.
func (x *Index) findOld(list []change) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range list {
		list[i].was = x.held(list[i].id)
	}
}

// prepared are the changes of a commit with their texts tokenised.
type prepared struct {
	list  []change
	parts []part // nil: none is tokenised yet
	large bool
	// partly says that other commits were being entered, so that it is not known what the
	// index holds of what changes.
	partly bool
}

// Commits of more changes, or of more bytes of texts, are large.
const (
	fewChanges = 8
	fewText    = 64 << 10
)

// isLarge reports whether changes are too many, or too long, to be entered before a commit
// returns.
func isLarge(list []change) bool {
	size := 0
	for i := range list {
		size += list[i].size()
	}
	return len(list) > fewChanges || size > fewText
}

// prepare tokenises the notes of a small commit before its turn comes. Those of a large one
// are tokenised behind it: other commits would wait for its turn.
func (x *Index) prepare(cs *kv.ChangeSet) {
	ahead := &prepared{list: x.changesOf(cs), partly: x.queue.Busy()}
	if len(ahead.list) == 0 {
		return
	}
	if !ahead.partly {
		x.findOld(ahead.list)
	}
	ahead.large = isLarge(ahead.list)
	if !ahead.large {
		ahead.parts = x.readAll(ahead.list, 1)
	}
	x.ahead.Put(cs.Seq, ahead)
}

// commit is the Index's part in a commit. O(words of the notes that changed). A large one
// is queued, and so are those that come before it is entered: no writer waits for it, and
// whoever searches does.
func (x *Index) commit(cs *kv.ChangeSet) {
	x.file.waiting.Add(1) // whoever writes the file leaves
	e := entry{prepared: x.ahead.Take(cs.Seq), seq: cs.Seq, at: cs.Time.UnixNano(), revealed: x.src.Revealed(cs)}
	if e.prepared == nil { // it changes no notes, or its preparation panicked
		e.prepared = &prepared{list: x.changesOf(cs)}
		e.partly = len(e.list) > 0
	}
	if !e.large && x.queue.Busy() {
		x.giveBack(e.leaveWords())
		e.partly = len(e.list) > 0
	}
	if x.queue.Follow(e.seq, e, e.large) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken == nil && (e.large || e.partly || isLarge(x.reread(e.revealed))) {
		x.queue.Begin(e.seq, e, e.large)
		go x.enterQueued()
		return
	}
	x.queue.Last.Store(e.seq)
	x.enter(e)
}

// reread returns the documents that are tokenised because others see something else of
// them. The caller has the lock.
func (x *Index) reread(revealed []string) (list []change) {
	if x.hidden == nil {
		return nil
	}
	for _, id := range revealed {
		list = append(list, change{id: id, was: x.held(id)})
	}
	return list
}

// errHalf is what keeps an index from being used again when a commit breaks off.
var errHalf = errors.New("a commit is not entered as a whole")

// enter applies the changes of a commit. The caller has the lock. It panics when an
// earlier one did so that nobody heard of.
func (x *Index) enter(e entry) {
	defer x.file.waiting.Add(-1)
	x.seq, x.at = e.seq, e.at
	if x.broken != nil {
		panic(x.broken)
	}
	x.broken = errHalf
	x.takeAll(e.parts)
	x.reveal(e.revealed)
	x.broken = nil
	x.giveBack(e.parts)
}

// giveBack keeps the memory of readings for later commits.
func (x *Index) giveBack(parts []part) {
	for _, p := range parts {
		x.readings.Put(p.reading)
	}
}

// Up to so many words are kept for the next commit: few where one note changed at a
// time, since all of them are looked at; many in an import, whose notes share most
// of their words. The latter go with a collection or two when no more come.
const (
	fewWords  = 2 << 10
	manyWords = 128 << 10
)

// readAll tokenises the notes of changes, in up to so many parts at once when they are
// large.
func (x *Index) readAll(list []change, atOnce int) (parts []part) {
	if !isLarge(list) {
		p := part{x.newReading(fewWords), list}
		p.read(x.fields)
		return []part{p}
	}
	for _, some := range shares(list, atOnce) {
		parts = append(parts, part{x.newReading(manyWords), some})
	}
	inParallel(len(parts), func(k, _ int) { parts[k].read(x.fields) })
	return parts
}

// newReading returns a reading that has at most so many words of commits before.
func (x *Index) newReading(words int) *reading {
	r := x.readings.Get().(*reading)
	r.forget(words)
	return r
}

// shares cuts changes into n parts of about the same work. None is empty.
func shares(list []change, n int) (parts [][]change) {
	left := 0
	for i := range list {
		left += list[i].size()
	}
	for ; n > 1 && len(list) > 1; n-- {
		share, end := 0, 0
		for end < len(list)-1 && share < left/n {
			share += list[end].size()
			end++
		}
		if end == 0 {
			break
		}
		parts = append(parts, list[:end:end])
		list, left = list[end:], left-share
	}
	return append(parts, list)
}

// held returns the version of a note that the index holds, nil for none. The
// caller has the lock.
func (x *Index) held(id string) text.Doc {
	if d, ok := x.number[id]; ok {
		return x.docs[d]
	}
	return nil
}

// takeAll applies changes whose texts are tokenised. Notes that are new are
// entered all at once: that is most of an import. The caller has the lock.
func (x *Index) takeAll(parts []part) {
	if len(parts) == 0 {
		return
	}
	var rest []*change
	heaps := make([]heap, 0, len(parts))
	few := isFew(parts)
	for _, p := range parts {
		h := heap{words: &p.glossary}
		for i := range p.list {
			c := &p.list[i]
			if _, ok := x.number[c.id]; ok || few || c.now == nil {
				rest = append(rest, c)
				continue
			}
			delete(x.waiting, c.id)
			d := x.newNumber()
			x.number[c.id] = d
			x.docs[d], x.heads[d] = c.now, headOf(c.now.Title())
			h.notes = append(h.notes, numbered{d, c.words})
		}
		if len(h.notes) > 0 {
			heaps = append(heaps, h)
		}
	}
	x.x.enterAll(heaps)
	x.describeAll(heaps)
	x.hideAll(heaps)
	for _, c := range rest {
		if was := x.held(c.id); was != c.was { // the background was quicker
			c.was, c.wasWords = was, nil
			if was != nil {
				c.wasWords = analyse(new(reading), x.fields, was)
			}
		}
		x.take(c)
	}
	x.x.average()
	x.x.tidy()
	x.settleHidden()
}

// isFew reports whether changes are entered one by one: to enter them together looks at all terms of the index
// (BenchmarkPut).
func isFew(parts []part) bool {
	n := 0
	for i := range parts {
		n += len(parts[i].list)
	}
	return n < manyNew
}

// take applies one change. The caller has the lock.
func (x *Index) take(c *change) {
	delete(x.waiting, c.id)
	var old, now contents
	if c.was != nil {
		old = x.x.take(c.wasWords)
		x.show(x.number[c.id], old)
	}
	if c.now == nil {
		if c.was != nil {
			d := x.number[c.id]
			x.x.replace(d, old, contents{})
			x.x.docs--
			delete(x.number, c.id)
			x.docs[d] = nil
			x.free = append(x.free, d)
			x.file.put(d, nil)
		}
		return
	}
	now = x.x.take(c.words)
	d, ok := x.number[c.id]
	if !ok {
		d = x.newNumber()
		x.x.docs++
	} else {
		delete(x.number, c.id) // its key is a part of the old record
	}
	x.number[c.now.ID()] = d
	x.docs[d], x.heads[d] = c.now, headOf(c.now.Title())
	x.x.replace(d, old, now)
	x.describe(d, now)
	x.hide(d, now)
}

func (x *Index) newNumber() docID {
	if n := len(x.free); n > 0 {
		d := x.free[n-1]
		x.free = x.free[:n-1]
		return d
	}
	x.docs, x.heads = append(x.docs, nil), append(x.heads, 0)
	return docID(len(x.docs) - 1)
}
