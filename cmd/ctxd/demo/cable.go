package demo

import (
	"io"
	"net"
	"sync"
)

// cable is a way to a server that can be pulled out.
type cable struct {
	listener net.Listener
	server   string // HOST:PORT
	open     sync.WaitGroup

	mu     sync.Mutex // guards what follows
	pulled bool
	ends   map[net.Conn]bool
}

// newCable lays a cable to a server, which is there until it is cut up.
func newCable(server string) (*cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed by close
	if err != nil {
		return nil, err
	}
	c := &cable{listener: l, server: server, ends: make(map[net.Conn]bool)}
	c.open.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			c.open.Go(func() { c.carry(near) })
		}
	})
	return c, nil
}

// URL is the address of the server at this end.
func (c *cable) URL() string { return "nats://" + c.listener.Addr().String() }

// carry passes on what both ends say, until one of them ends.
func (c *cable) carry(near net.Conn) {
	far, err := net.Dial("tcp", c.server) //nolint:noctx // it is on this machine
	if err != nil {
		_ = near.Close()
		return
	}
	if !c.plug(near, far) {
		return
	}
	c.open.Go(func() {
		_, _ = io.Copy(far, near) // an end that breaks ends both
		c.unplug(near, far)
	})
	_, _ = io.Copy(near, far)
	c.unplug(near, far)
}

func (c *cable) plug(ends ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range ends {
		if c.pulled {
			_ = e.Close()
		} else {
			c.ends[e] = true
		}
	}
	return !c.pulled
}

func (c *cable) unplug(ends ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range ends {
		_ = e.Close()
		delete(c.ends, e)
	}
}

// pull takes the cable out, or puts it back.
func (c *cable) pull(out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = out
	if out {
		for e := range c.ends {
			_ = e.Close()
		}
	}
}

func (c *cable) close() {
	c.pull(true)
	_ = c.listener.Close()
	c.open.Wait()
}
