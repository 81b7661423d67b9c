package embed

import (
	"context"
	"slices"
	"sync"
)

// How many requests an endpoint is sent at a time. Most work at one after the
// other, so more passages would only make a query wait.
const (
	maxQueries  = 4
	maxPassages = 1
)

// gate lets requests through: queries before passages that wait, and passages
// only while no query is under way. The zero value is open.
type gate struct {
	mu       sync.Mutex // guards what follows
	queries  int        // under way
	passages int
	waiting  [2][]chan struct{} // by purpose, the first first; closed to let in
}

// enter waits for a place, which leave gives back. The error is that of ctx.
func (g *gate) enter(ctx context.Context, p Purpose) error {
	turn := make(chan struct{})
	g.mu.Lock()
	g.waiting[p] = append(g.waiting[p], turn)
	g.admit()
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting[p], turn); i >= 0 {
		g.waiting[p] = slices.Delete(g.waiting[p], i, i+1)
	} else { // it was just let in
		*g.running(p)--
	}
	g.admit()
	return ctx.Err()
}

func (g *gate) leave(p Purpose) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*g.running(p)--
	g.admit()
}

func (g *gate) running(p Purpose) *int {
	if p == Query {
		return &g.queries
	}
	return &g.passages
}

// admit lets in whoever may go. g.mu is held.
func (g *gate) admit() {
	for len(g.waiting[Query]) > 0 && g.queries < maxQueries {
		g.let(Query)
	}
	for len(g.waiting[Passage]) > 0 && g.queries == 0 && g.passages < maxPassages {
		g.let(Passage)
	}
}

func (g *gate) let(p Purpose) {
	close(g.waiting[p][0])
	g.waiting[p] = g.waiting[p][1:]
	*g.running(p)++
}
