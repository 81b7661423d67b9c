package jsonrpc

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// collector is how early the garbage collector of the process runs. Whoever
// changes that does it here.
var collector struct {
	mu      sync.Mutex
	usual   int // percent of garbage; valid while somebody is thrifty
	thrifty int // how many are
}

// SetGCPercent says how much garbage there may be before the collector runs, in
// percent of what is alive, as debug.SetGCPercent does. It holds while no server
// is short of memory; one that is lets the collector run earlier.
func SetGCPercent(percent int) {
	c := &collector
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.thrifty > 0 {
		c.usual = percent
		return
	}
	debug.SetGCPercent(percent)
}

// thriftyGC is how much garbage there may be while somebody is thrifty.
const thriftyGC = 10

// beThrifty lets the collector run early from now on, or takes that back.
func beThrifty(thrifty bool) {
	c := &collector
	c.mu.Lock()
	defer c.mu.Unlock()
	if thrifty {
		c.thrifty++
		if c.thrifty == 1 {
			c.usual = debug.SetGCPercent(thriftyGC)
		}
		return
	}
	c.thrifty--
	if c.thrifty == 0 {
		runtime.GC() // else the next one would be due at twice of what there was
		debug.SetGCPercent(c.usual)
	}
}

// thrift lets the collector run early while somebody holds much: garbage may otherwise
// grow to as much as is alive, so that what is held would count twice.
type thrift struct {
	much atomic.Bool

	mu sync.Mutex // guards what follows
	on bool
}

// set says whether much is held. It may be called with locks held.
func (t *thrift) set(much bool) {
	if much != t.much.Load() && t.much.CompareAndSwap(!much, much) {
		go t.tune()
	}
}

func (t *thrift) tune() {
	t.mu.Lock()
	defer t.mu.Unlock()
	much := t.much.Load()
	if much != t.on {
		beThrifty(much)
		t.on = much
	}
}
