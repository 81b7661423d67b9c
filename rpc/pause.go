package rpc

import (
	"context"
	"sync"
	"time"
)

// forCalls is how long work in the background waits for each time that a client has called.
const forCalls = 50 * time.Millisecond

// pause has work in the background wait while clients call, and tells how long none has. It is a yield.Yielder.
type pause struct {
	count func() uint64 // calls so far

	mu    sync.Mutex // guards all below
	calls uint64
	since time.Time // of the last time that calls was another one
}

// Yield waits a little where clients have called since it was asked last.
func (p *pause) Yield(ctx context.Context) {
	now := p.count()
	p.mu.Lock()
	called := now != p.calls
	if called {
		p.calls, p.since = now, time.Now()
	}
	p.mu.Unlock()
	if !called {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(forCalls):
	}
}

// idle returns how long no client has called, as far as it was asked in between.
func (p *pause) idle(calls uint64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || calls != p.calls {
		p.calls, p.since = calls, now
	}
	return now.Sub(p.since)
}

// calls is how many calls were answered.
func (s *Server) calls() (n uint64) {
	for _, m := range s.wire.MethodStats() {
		n += m.Calls
	}
	return n
}
