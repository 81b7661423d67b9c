package search

import (
	"runtime"
	"sync"

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

// read takes both versions apart.
func (c *change) read(s *splitter) {
	if c.now != nil {
		c.words = analyse(s, c.now)
	}
	if c.was != nil {
		c.wasWords = analyse(s, c.was)
	}
}

// commit is the Index's part in a commit. O(words of the notes that changed).
func (x *Index) commit(cs *kv.ChangeSet) {
	var list []change
	for _, ch := range cs.Changes {
		if _, now, ok := notes.Records.Of(ch); ok {
			list = append(list, change{id: ch.ID, now: now})
		}
	}
	x.file.waiting.Add(1) // whoever writes the file leaves
	defer x.file.waiting.Add(-1)
	if len(list) == 0 {
		x.mu.Lock()
		x.seq = cs.Seq
		x.mu.Unlock()
		return
	}
	x.mu.RLock()
	for i := range list {
		list[i].was = x.held(list[i].id)
	}
	x.mu.RUnlock()
	x.readAll(list)

	x.mu.Lock()
	defer x.mu.Unlock()
	x.seq = cs.Seq
	for i := range list {
		c := &list[i]
		if was := x.held(c.id); was != c.was { // the background was quicker
			c.was, c.wasWords = was, analyse(&x.split, was)
		}
		x.take(c)
	}
	x.x.average()
	x.x.tidy()
	x.file.changed += len(list)
}

// readAll takes the notes of changes apart, several at a time when there are
// many.
func (x *Index) readAll(list []change) {
	if len(list) < 8 {
		for i := range list {
			list[i].read(&x.split)
		}
		return
	}
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for w := range n {
		workers.Add(1)
		go func() {
			defer workers.Done()
			var s splitter
			for i := w; i < len(list); i += n {
				list[i].read(&s)
			}
		}()
	}
	workers.Wait()
}

// held returns the version of a note that the index holds, nil for none. The
// caller has the lock.
func (x *Index) held(id string) *notes.Note {
	if d, ok := x.number[id]; ok {
		return x.docs[d]
	}
	return nil
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
}

// put takes a note in that the index does not hold. The caller has the lock.
func (x *Index) put(n *notes.Note, a *analysis) {
	x.take(&change{id: n.ID, now: n, words: a})
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
