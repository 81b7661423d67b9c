package words

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// Commits are entered in their order. A large one takes a second or more, so it is tokenised
// and entered in the background, and those that come meanwhile are queued behind it. A search
// waits until all that was committed before it is entered.

// entry is a commit that is to be entered.
type entry struct {
	*prepared
	seq      uint64
	at       int64 // when it was written, in Unix nanoseconds
	revealed []string
}

// leaveWords has the commit hold the documents alone, which are in memory anyway: they are
// tokenised again. It returns what they were tokenised with.
func (e *entry) leaveWords() (parts []part) {
	for i := range e.list {
		e.list[i].words, e.list[i].wasWords = nil, nil
	}
	parts, e.parts = e.parts, nil
	return parts
}

// enterQueued enters commits until none is queued, or until one panics, of which the next
// commit hears.
func (x *Index) enterQueued() {
	for {
		e, ok := x.queue.Next()
		if !ok {
			return
		}
		var ahead sync.WaitGroup
		next, ok := x.queue.First()
		if ok {
			ahead.Go(func() { x.readAhead(next) })
		}
		ok = x.enterNext(e)
		ahead.Wait()
		if !ok {
			return
		}
	}
}

// enterNext enters a commit that was queued, and reports whether it did not panic.
func (x *Index) enterNext(e entry) (ok bool) {
	locked := false
	defer func() {
		r := recover()
		if !locked {
			x.mu.Lock()
		}
		if r != nil {
			x.broken = r
			x.queue.Drop()
			x.log.Error("search: a large commit panicked", "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
		}
		x.mu.Unlock()
		x.entered.Broadcast()
	}()
	x.complete(e)
	x.mu.Lock()
	locked = true
	x.enter(e)
	return true
}

// readAhead tokenises the texts of the next large commit, while the one before it is entered.
func (x *Index) readAhead(e entry) {
	defer func() { _ = recover() }() // whoever enters it tries again
	e.parts = x.readAll(e.list, max(1, runtime.GOMAXPROCS(0)-1))
}

// complete tokenises what is not tokenised yet, and looks up what the commits before it may
// have changed.
func (x *Index) complete(e entry) {
	if e.parts == nil && len(e.list) > 0 {
		e.parts = x.readAll(e.list, runtime.GOMAXPROCS(0))
	}
	inParallel(len(e.parts), func(k, _ int) {
		p := &e.parts[k]
		p.readOld(x)
		p.lookUpIn(x)
		p.stemRest(x.stem)
	})
}

// readOld tokenises the versions that the index holds by now.
func (p *part) readOld(x *Index) {
	before := slices.Clone(p.list)
	x.findOld(p.list)
	for i := range p.list {
		c := &p.list[i]
		if c.was != nil && c.was != before[i].was {
			c.wasWords = analyse(p.reading, x.fields, c.was)
		}
	}
}

// rlock takes the lock for reading when all that was committed before is entered.
func (x *Index) rlock() {
	upTo := x.queue.Last.Load()
	x.mu.RLock()
	for x.seq < upTo && x.broken == nil {
		x.entered.Wait()
	}
}
