package rpc

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate bounds how many reads of all connections run at a time: reads compute,
// and more of them than there are processors help nobody, but keep everybody
// who waits for a processor waiting, such as those who read a cancellation.
// Connections take turns, one read each.
type gate struct {
	run func(func())

	mu   sync.Mutex // guards what follows; taken after schedule.mu
	free int
	line []*connection // that have a read to run, each once
	turn bool          // of the one that has waited for longest
}

// enter puts a connection in line. Its schedule.mu is held.
func (g *gate) enter(c *connection) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line = append(g.line, c)
	if g.free > 0 {
		g.free--
		g.run(g.serve)
	}
}

// serve gives turns until nobody is in line.
func (g *gate) serve() {
	for {
		g.mu.Lock()
		if len(g.line) == 0 {
			g.line = nil
			g.free++
			g.mu.Unlock()
			return
		}
		c := g.next()
		g.mu.Unlock()
		c.turn()
	}
}

// next takes a connection out of the line: by turns the one that has waited for
// longest, which nobody can keep from its turn, and the one whose reads have
// been shortest, so that most need not wait for long ones. mu is held.
func (g *gate) next() *connection {
	best := 0
	g.turn = !g.turn
	for i, c := range g.line {
		if g.turn && c.short.mean.Load() < g.line[best].short.mean.Load() {
			best = i
		}
	}
	c := g.line[best]
	g.line = slices.Delete(g.line, best, best+1)
	return c
}

// shortTurn is the mean time that the reads of a connection may take to be
// called short.
const shortTurn = 5 * time.Millisecond

// turnPace is the moving mean of the time that the reads of a connection take.
// What is not known yet waits for its turn.
type turnPace struct{ mean atomic.Int64 } // nanoseconds

func (p *turnPace) took(d time.Duration) {
	old := p.mean.Load()
	p.mean.Store(old + (int64(d)-old)/4)
}

func (p *turnPace) brief() bool { return p.mean.Load() < int64(shortTurn) }
