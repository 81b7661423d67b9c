package lexical

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ctxd/ctxd/context/search/source"
	"github.com/ctxd/ctxd/entities/kv"
)

// change is what a commit does to one note.
type change struct {
	id       string
	now      source.Doc // nil when it is gone
	words    *analysis  // of now
	was      source.Doc // that the index holds; nil for none
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
func (p *part) read(fields []source.Field) {
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

// changesOf returns what a change set does to notes, which the index may hold.
func (x *Index) changesOf(cs *kv.ChangeSet) (list []change) {
	for _, c := range x.src.Changes(cs) {
		list = append(list, change{id: c.ID, now: c.Now})
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range list {
		list[i].was = x.held(list[i].id)
	}
	return list
}

// prepared are the changes of a commit with their texts tokenised.
type prepared struct {
	parts []part
	large bool
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

// prepare tokenises the notes of a commit before its turn comes. However long they are, and
// in whatever script, no other commit waits for it.
func (x *Index) prepare(cs *kv.ChangeSet) {
	list := x.changesOf(cs)
	if len(list) == 0 {
		return
	}
	// Beside another one there is no processor for a second part.
	atOnce := max(1, runtime.GOMAXPROCS(0)/int(x.preparing.Add(1)))
	defer x.preparing.Add(-1)
	x.ahead.Put(cs.Seq, x.readAll(list, atOnce))
}

// commit is the Index's part in a commit. O(words of the notes that changed). Those of
// a large one are entered when it has returned, so that the next part of an import
// does not wait for them: whoever searches waits for the lock, which is had already.
func (x *Index) commit(cs *kv.ChangeSet) {
	x.file.waiting.Add(1) // whoever writes the file leaves
	ahead := x.ahead.Take(cs.Seq)
	if ahead.parts == nil { // it changes no notes, or its preparation panicked
		ahead = x.readAll(x.changesOf(cs), runtime.GOMAXPROCS(0))
	}

	x.mu.Lock()
	x.seq, x.at = cs.Seq, cs.Time.UnixNano()
	revealed := x.src.Revealed(cs)
	if x.broken != nil || !ahead.large && !isLarge(x.reread(revealed)) {
		defer x.mu.Unlock()
		x.enter(ahead.parts, revealed)
		return
	}
	go func() {
		defer x.mu.Unlock()
		defer func() {
			x.broken = recover()
			if x.broken != nil {
				x.log.Error("search: a large commit panicked", "panic", fmt.Sprintf("%T", x.broken), "stack",
					string(debug.Stack()))
			}
		}()
		x.enter(ahead.parts, revealed)
	}()
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
func (x *Index) enter(parts []part, revealed []string) {
	defer x.file.waiting.Add(-1)
	if x.broken != nil {
		panic(x.broken)
	}
	x.broken = errHalf
	x.takeAll(parts)
	x.reveal(revealed)
	x.broken = nil
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

// readAll tokenises the notes of changes. When they are large it does so in up to so many
// parts at once, and looks their words up.
func (x *Index) readAll(list []change, atOnce int) prepared {
	if len(list) == 0 {
		return prepared{}
	}
	if !isLarge(list) {
		p := part{x.newReading(fewWords), list}
		p.read(x.fields)
		return prepared{parts: []part{p}}
	}
	var parts []part
	for _, some := range shares(list, atOnce) {
		parts = append(parts, part{x.newReading(manyWords), some})
	}
	inParallel(len(parts), func(k, _ int) {
		p := &parts[k]
		p.read(x.fields)
		p.lookUpIn(x)
		p.stemRest(x.stem)
	})
	return prepared{parts, true}
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
func (x *Index) held(id string) source.Doc {
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
