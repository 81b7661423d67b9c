package outbox

import (
	"slices"
	"strings"
	"sync"
)

// Gate lets transactions begin. Hold keeps all of them out; Narrow keeps out only those that read or
// write a record of an item that waits, so that whatever follows such a record stands behind it. The
// zero value is open.
type Gate struct {
	mu      sync.Mutex
	busy    bool          // from Hold to Release
	held    chan struct{} // closed when those begin that wait; nil: only records are kept
	keys    []string      // of the records that are kept, sorted; nil: none is
	counts  map[string]int
	settled chan struct{} // closed when fewer records are kept, or the gate changes
}

// Hold keeps transactions from beginning until Narrow or Release.
func (g *Gate) Hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = true
	if g.held == nil {
		g.held = make(chan struct{})
	}
}

// Release lets all begin.
func (g *Gate) Release() { g.letBegin(nil, false) }

// Narrow lets all begin that touch no record of these items.
func (g *Gate) Narrow(items []WaitingItem) { g.letBegin(items, true) }

func (g *Gate) letBegin(items []WaitingItem, busy bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = busy
	g.keys, g.counts = nil, make(map[string]int)
	for i := range items {
		for _, key := range items[i].Keys {
			g.counts[key]++
			if g.counts[key] == 1 {
				g.keys = append(g.keys, key)
			}
		}
	}
	slices.Sort(g.keys)
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
	g.changed()
}

// Settle keeps the records of items no more, unless another item has them, too.
func (g *Gate) Settle(items []WaitingItem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range items {
		for _, key := range items[i].Keys {
			if g.counts[key]--; g.counts[key] <= 0 {
				delete(g.counts, key)
			}
		}
	}
	g.changed()
}

// changed lets those look again that found a record kept. Called with mu held.
func (g *Gate) changed() {
	if g.settled != nil {
		close(g.settled)
		g.settled = nil
	}
}

// Keeps returns what is closed when it is worth to look again, if a record is kept; nil if it is not.
func (g *Gate) Keeps(key string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counts[key] == 0 {
		return nil
	}
	return g.wait()
}

// KeepsAny is Keeps for all records whose keys begin with prefix.
func (g *Gate) KeepsAny(prefix string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.counts) == 0 {
		return nil
	}
	for i, _ := slices.BinarySearch(g.keys, prefix); i < len(g.keys) && strings.HasPrefix(g.keys[i], prefix); i++ {
		if g.counts[g.keys[i]] > 0 {
			return g.wait()
		}
	}
	return nil
}

func (g *Gate) wait() <-chan struct{} {
	if g.settled == nil {
		g.settled = make(chan struct{})
	}
	return g.settled
}

// Passed returns what is closed when a transaction may begin. That of a replay always may.
func (g *Gate) Passed(c *Call) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil || c.Replays() {
		return open
	}
	return g.held
}

// Open reports whether nothing is replayed.
func (g *Gate) Open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.busy
}

// Narrowed reports whether items are replayed into a log that can be used, and others may begin.
func (g *Gate) Narrowed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy && g.held == nil
}

var open = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// IsClosed reports whether a channel is closed that nothing is sent to.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
