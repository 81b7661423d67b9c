package outbox

import "sync"

// Gate lets transactions begin, but for the time of replays. The zero value is open.
type Gate struct {
	mu   sync.Mutex
	held chan struct{} // closed by Release; nil: it is open
}

// Hold keeps transactions from beginning until Release.
func (g *Gate) Hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = make(chan struct{})
	}
}

// Release lets those begin that wait.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
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

// Open reports whether it is.
func (g *Gate) Open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held == nil
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
