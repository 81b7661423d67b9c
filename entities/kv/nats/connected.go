package nats

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// connected is whether there is a connection to a server. The client knows, and does not say so for
// up to dialWait while a server says nothing: it holds its lock until the attempt is over.
type connected struct {
	up atomic.Bool

	mu       sync.Mutex    // of what follows
	answered chan struct{} // closed when the client has answered; nil: it is not being asked
	err      error         // what it said last
}

// Connected reports whether there is a connection to a server now.
func (l *Log) Connected() bool { return l.connected.up.Load() }

// saidWait is how long the client is waited for.
const saidWait = 20 * time.Millisecond

// said returns what the client said last of why there is no connection.
func (c *connected) said(nc *nats.Conn) error {
	wait := time.NewTimer(saidWait)
	defer wait.Stop()
	select {
	case <-c.ask(nc):
	case <-wait.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// ask asks the client, unless it is being asked, and returns what is closed when it has answered.
func (c *connected) ask(nc *nats.Conn) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered == nil {
		answered := make(chan struct{})
		c.answered = answered
		go func() {
			err := nc.LastError()
			c.mu.Lock()
			defer c.mu.Unlock()
			c.err, c.answered = err, nil
			close(answered)
		}()
	}
	return c.answered
}

// forget is called when there is a connection.
func (c *connected) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = nil
}

// offline is the fault of a connection that is not there.
func (l *Log) offline() error {
	for _, err := range []error{l.connected.said(l.nc), l.dialer.why()} {
		if err != nil && !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrPermissionViolation) {
			return unreachable(l.dialer.precise(err))
		}
	}
	return unreachable(errors.New("no connection"))
}

// moveOn connects to the next of the servers: the one that we are connected to may be cut off
// from the others, and does not say so.
func (l *Log) moveOn() {
	if l.connected.up.Swap(false) {
		_ = l.nc.ForceReconnect() // it fails when the log is closed
	}
}
