package jsonrpc

// This file and places_*.go share a number of places among reads, on which they compute: more of them than there are
// processors would help nobody. They know no protocol and no store.
//
// Who has reads to run is a [poolConn] of a [poolClient], which comes in line for a place and is called when it has
// got one; a client may have any number of connections and gets no more by it. A [poolRead] says when it ends and, if
// it can, gives way between its steps (Yield). How places are shared stands at [readPool]: the client that has waited
// for longest comes first, and long reads have half of the places.
//
// A server makes one readPool and keeps the other three in its connections, processes and calls, so that a read costs
// no allocation here. The work of handlers reaches Yield by way of its context (entities/yield).
//
// A readPool may be used by any number of goroutines. Its lock is taken after those of the caller, and nothing is
// called or waited for with it held, but for the function that Init was given to run others, which must not wait.

import (
	"slices"
	"sync"
	"time"
)

// readPool bounds how many reads of all connections compute at a time: more of them
// than there are processors help nobody, but keep everybody who waits for a processor
// waiting, such as those who read a cancellation. It has a number of places, and a
// read needs one to compute.
//
// A read that has computed for a slice is long. Long reads have at most half of the
// places, and take turns on them: at the end of its slice one that can give way
// (Yield) waits in line again when others wait. So short reads find a place free,
// and the other half of the processors. One that can't give way keeps computing; when
// short reads wait for its place they get it, and it computes aside.
//
// Who gets a place is decided by client: the one that has waited for longest since it
// had one, and of its connections again that one.
type readPool struct {
	run    func(func())
	places int
	half   int // of the places, at least one: for long reads
	slice  time.Duration

	mu       sync.Mutex  // guards what follows
	free     int         // places that nobody has
	holders  []*poolRead // of the others, but for those that are being given away
	long     int         // long reads that compute, those aside included
	aside    int         // reads that compute without a place that they had
	waiting  [2][]waiter
	lastLong bool   // the last place that both waited for went to a long read
	turns    uint64 // that were given so far
	looking  bool   // the next look for reads that don't give way is set
}

// poolLine is one of the two lines of those who wait.
type poolLine int

const (
	shortLine poolLine = iota
	longLine
	noLine poolLine = -1
)

// waiter waits for a place: a connection for one that runs its next read, or a read
// that gave way.
type waiter struct {
	conn *poolConn
	read *poolRead // nil for a connection
}

// Init makes a pool of so many places. run runs a function on a goroutine that the
// caller waits for at its end, and does not wait itself.
func (p *readPool) Init(run func(func()), places int, slice time.Duration) {
	p.run, p.places, p.half, p.slice, p.free = run, places, max(1, places/2), slice, places
}

// await puts somebody in line. mu is held.
func (p *readPool) await(line poolLine, w waiter) {
	p.waiting[line] = append(p.waiting[line], w)
	now := time.Now()
	for _, k := range p.holders {
		if now.Sub(k.since) >= p.slice {
			p.overran(k)
		}
	}
	p.wake()
	p.watch()
}

// wake has a free place given away when somebody may have it. mu is held.
func (p *readPool) wake() {
	if p.free > 0 && p.line() != noLine {
		p.free--
		p.run(p.serve)
	}
}

// line returns whose turn it is, noLine when nobody's. mu is held.
func (p *readPool) line() poolLine {
	short := len(p.waiting[shortLine]) > 0
	long := len(p.waiting[longLine]) > 0 && p.long < p.half
	switch {
	case long && short && p.places == 1: // the only place goes to either by turns
		if p.lastLong {
			return shortLine
		}
		return longLine
	case long: // short reads have the other half
		return longLine
	case short:
		return shortLine
	}
	return noLine
}

// next takes whose turn it is out of its line. mu is held.
func (p *readPool) next() (w waiter, line poolLine) {
	line = p.line()
	for line != noLine {
		w = p.take(line)
		if line == longLine || !w.conn.readTime.long(p.slice) {
			break
		}
		p.waiting[longLine] = append(p.waiting[longLine], w) // one of its reads has become long meanwhile
		line = p.line()
	}
	if line == noLine {
		return w, line
	}
	p.turns++
	w.conn.lastTurns[line], w.conn.client.lastTurns[line] = p.turns, p.turns
	p.lastLong = line == longLine
	if p.lastLong {
		p.long++
	}
	return w, line
}

// take takes who has waited for longest, by client and connection, out of a line. mu is
// held.
func (p *readPool) take(line poolLine) waiter {
	list := p.waiting[line]
	best := 0
	for i := range list {
		if list[i].conn.before(list[best].conn, line) {
			best = i
		}
	}
	w := list[best]
	p.waiting[line] = slices.Delete(list, best, best+1)
	return w
}

// serve gives a place to one after the other until nobody may have it.
func (p *readPool) serve() {
	for {
		p.mu.Lock()
		w, line := p.next()
		if line == noLine {
			p.free++
			p.mu.Unlock()
			return
		}
		p.wake()
		if k := w.read; k != nil {
			p.hold(k, line)
			k.granted <- struct{}{}
			p.mu.Unlock()
			return // the read has the place now
		}
		p.mu.Unlock()
		if !w.conn.run(line) {
			return // somebody else has got the place
		}
	}
}

// hold notes that a read has a place. mu is held.
func (p *readPool) hold(k *poolRead, line poolLine) {
	k.place, k.isLong, k.since = placed, line == longLine, time.Now()
	p.holders = append(p.holders, k)
}

// let takes a read out of those that compute. mu is held.
func (p *readPool) let(k *poolRead) {
	switch k.place {
	case placed:
		p.holders = slices.DeleteFunc(p.holders, func(other *poolRead) bool { return other == k })
	case aside:
		p.aside--
	}
	if k.isLong {
		p.long--
	}
	k.place, k.isLong = unplaced, false
}

// Leave gives a place back that is the caller's.
func (p *readPool) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	p.wake()
}

// yield is called at the end of the slice of a read. It returns when the read may go
// on, or when done is closed.
func (p *readPool) yield(k *poolRead, done <-chan struct{}) {
	p.mu.Lock()
	p.overran(k)
	if k.place == placed {
		k.since = time.Now()
		others := len(p.waiting[longLine]) > 0 || p.places == 1 && len(p.waiting[shortLine]) > 0
		if !others && p.long <= p.half {
			p.mu.Unlock()
			return
		}
		p.free++
	}
	p.let(k)
	if k.granted == nil {
		k.granted = make(chan struct{}, 1)
	}
	k.known, k.place = true, inLine
	p.await(longLine, waiter{k.conn, k})
	p.mu.Unlock()
	select {
	case <-k.granted:
	case <-done:
		p.quit(k)
	}
}

// overran notes that a read has computed for a slice. Its connection and its client are
// those of long reads from now on, not only when it has ended. mu is held.
func (p *readPool) overran(k *poolRead) {
	if k.place == placed && !k.isLong {
		k.isLong = true
		p.long++
	}
	if !k.overrun {
		k.overrun = true
		k.conn.Took(countedFor(p.slice))
	}
}

// quit takes a read out of its line, which it goes on without a place for: it has been
// withdrawn and ends at once.
func (p *readPool) quit(k *poolRead) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.place != inLine {
		<-k.granted
		return
	}
	p.waiting[longLine] = slices.DeleteFunc(p.waiting[longLine], func(w waiter) bool { return w.read == k })
	k.place = unplaced
}

// watch has somebody look for reads that don't give way, while others wait. mu is held.
func (p *readPool) watch() {
	if !p.looking && len(p.waiting[shortLine]) > 0 {
		p.looking = true
		time.AfterFunc(p.slice, p.look)
	}
}

// look gives the places of reads that don't give way to short reads that wait.
func (p *readPool) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looking = false
	now := time.Now()
	for _, k := range slices.Clone(p.holders) {
		if p.free >= len(p.waiting[shortLine]) || p.aside >= asideEach*p.places {
			break
		}
		if now.Sub(k.since) < 2*p.slice {
			continue
		}
		p.overran(k)
		p.let(k)
		k.place, k.isLong = aside, true
		p.long++
		p.aside++
		p.free++
		p.wake()
	}
	p.watch()
}

// PoolStats say how a pool stands.
type PoolStats struct {
	Free    int // places
	Running int // reads that compute on a place or aside
	Aside   int // of them, those that compute without a place that they had
	Long    int // of them, those that are long
	Waiting int // connections and reads in line
}

// Figures returns how the pool stands.
func (p *readPool) Figures() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PoolStats{
		Free: p.free, Running: len(p.holders) + p.aside, Aside: p.aside, Long: p.long,
		Waiting: len(p.waiting[shortLine]) + len(p.waiting[longLine]),
	}
}
