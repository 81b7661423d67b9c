package search

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// change is what a commit does to one note.
type change struct {
	id       string
	now      *notes.Note // nil when it is gone
	words    *analysis   // of now
	was      *notes.Note // that the index holds; nil for none
	wasWords *analysis
}

// size is about how much work it is to take both versions apart.
func (c *change) size() int {
	size := 512
	if c.now != nil {
		size += len(c.now.Body)
	}
	if c.was != nil {
		size += len(c.was.Body)
	}
	return size
}

// part are changes of which one goroutine takes the texts apart.
type part struct {
	*reading
	list []change
}

// read takes the texts apart. It needs no lock.
func (p *part) read() {
	for i := range p.list {
		c := &p.list[i]
		if c.now != nil {
			c.words = analyse(p.reading, c.now)
		}
		if c.was != nil {
			c.wasWords = analyse(p.reading, c.was)
		}
	}
}

func (p *part) lookUpIn(x *Index) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	p.lookUp(&x.x.dictionary)
}

// changesOf returns what a change set does to notes, which the index may hold.
func (x *Index) changesOf(cs *kv.ChangeSet) (list []change) {
	for _, ch := range cs.Changes {
		if _, now, ok := notes.Records.Of(ch); ok {
			list = append(list, change{id: ch.ID, now: now})
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range list {
		list[i].was = x.held(list[i].id)
	}
	return list
}

// prepare takes the notes of a large commit apart before its turn comes: an import
// meanwhile has the notes before it entered into every index.
func (x *Index) prepare(cs *kv.ChangeSet) {
	if len(cs.Changes) <= fewChanges {
		return
	}
	if list := x.changesOf(cs); len(list) > fewChanges {
		// Beside another one there is no processor for a second part.
		parts := max(1, runtime.GOMAXPROCS(0)/int(x.preparing.Add(1)))
		defer x.preparing.Add(-1)
		x.ahead.Put(cs.Seq, x.readAll(list, parts))
	}
}

// commit is the Index's part in a commit. O(words of the notes that changed). Those of
// a large one are entered when it has returned, so that the next part of an import
// does not wait for them: whoever searches waits for the lock, which is had already.
func (x *Index) commit(cs *kv.ChangeSet) {
	x.file.waiting.Add(1) // whoever writes the file leaves
	large := x.ahead.Take(cs.Seq)
	parts := large
	if parts == nil {
		parts = x.readAll(x.changesOf(cs), runtime.GOMAXPROCS(0))
	}

	x.mu.Lock()
	x.seq, x.at = cs.Seq, cs.Time.UnixNano()
	if large == nil || x.broken != nil {
		defer x.mu.Unlock()
		x.enter(parts)
		return
	}
	go func() {
		defer x.mu.Unlock()
		defer func() {
			if x.broken = recover(); x.broken != nil {
				x.log.Error("search: a large commit panicked", "panic", fmt.Sprintf("%T", x.broken), "stack", string(debug.Stack()))
			}
		}()
		x.enter(parts)
	}()
}

// errHalf is what keeps an index from being used again when a commit breaks off.
var errHalf = errors.New("a commit is not entered as a whole")

// enter applies the changes of a commit. The caller has the lock. It panics when an
// earlier one did so that nobody heard of.
func (x *Index) enter(parts []part) {
	defer x.file.waiting.Add(-1)
	if x.broken != nil {
		panic(x.broken)
	}
	x.broken = errHalf
	x.takeAll(parts)
	x.broken = nil
	for _, p := range parts {
		if p.reading != &x.reading {
			x.readings.Put(p.reading)
		}
	}
}

// fewChanges is up to how many changes are not worth a second goroutine.
const fewChanges = 8

// Up to so many words are kept for the next commit: few where one note changed at a
// time, since all of them are looked at; many in an import, whose notes share most
// of their words. The latter go with a collection or two when no more come.
const (
	fewWords  = 2 << 10
	manyWords = 128 << 10
)

// readAll takes the notes of changes apart, and looks their words up, in up to so many
// parts at once when there are many.
func (x *Index) readAll(list []change, atOnce int) []part {
	if len(list) == 0 {
		return nil
	}
	if len(list) <= fewChanges {
		x.reading.forget(fewWords)
		p := part{&x.reading, list}
		p.read()
		return []part{p}
	}
	var parts []part
	for _, some := range shares(list, atOnce) {
		r := x.readings.Get().(*reading)
		r.forget(manyWords)
		parts = append(parts, part{r, some})
	}
	inParallel(len(parts), func(k, _ int) {
		p := &parts[k]
		p.read()
		p.lookUpIn(x)
		p.stemRest(x.stem)
	})
	return parts
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
func (x *Index) held(id string) *notes.Note {
	if d, ok := x.number[id]; ok {
		return x.docs[d]
	}
	return nil
}

// takeAll applies changes whose texts were taken apart. Notes that are new are
// entered all at once: that is most of an import. The caller has the lock.
func (x *Index) takeAll(parts []part) {
	if len(parts) == 0 {
		return
	}
	var rest []*change
	heaps := make([]heap, 0, len(parts))
	for _, p := range parts {
		h := heap{words: &p.glossary}
		for i := range p.list {
			c := &p.list[i]
			if _, ok := x.number[c.id]; ok || c.now == nil {
				rest = append(rest, c)
				continue
			}
			delete(x.waiting, c.id)
			d := x.newNumber()
			x.number[c.id] = d
			x.docs[d], x.heads[d] = c.now, headOf(c.now.Title)
			h.notes = append(h.notes, numbered{d, c.words})
		}
		if len(h.notes) > 0 {
			heaps = append(heaps, h)
		}
	}
	x.x.enterAll(heaps)
	x.describeAll(heaps)
	for _, c := range rest {
		if was := x.held(c.id); was != c.was { // the background was quicker
			c.was, c.wasWords = was, nil
			if was != nil {
				c.wasWords = analyse(new(reading), was)
			}
		}
		x.take(c)
	}
	x.x.average()
	x.x.tidy()
}

// take applies one change. The caller has the lock.
func (x *Index) take(c *change) {
	delete(x.waiting, c.id)
	var old, now contents
	if c.was != nil {
		old = x.x.take(c.wasWords)
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
	x.number[c.now.ID] = d
	x.docs[d], x.heads[d] = c.now, headOf(c.now.Title)
	x.x.replace(d, old, now)
	x.describe(d, now)
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
