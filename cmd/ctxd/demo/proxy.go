package demo

import (
	"io"
	"net"
	"sync"
)

// proxy passes connections on to a server until it is cut, so that one machine can be shown
// without its network.
type proxy struct {
	listener net.Listener
	server   string // HOST:PORT
	running  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	cut   bool
	conns map[net.Conn]bool // of both sides
}

// newProxy begins to listen. Call close.
func newProxy(server string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed by close
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, server: server, conns: make(map[net.Conn]bool)}
	p.running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			p.running.Go(func() { p.forward(client) })
		}
	})
	return p, nil
}

// URL is the address that stands for that of the server.
func (p *proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// forward copies both ways until one side ends.
func (p *proxy) forward(client net.Conn) {
	server, err := net.Dial("tcp", p.server) //nolint:noctx // it is on this machine
	if err != nil {
		_ = client.Close()
		return
	}
	if !p.add(client, server) {
		return
	}
	p.running.Go(func() {
		_, _ = io.Copy(server, client) // an error ends both sides, as the end of one does
		p.remove(client, server)
	})
	_, _ = io.Copy(client, server)
	p.remove(client, server)
}

// add keeps connections, or closes them while the proxy is cut.
func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.cut {
			_ = c.Close()
		} else {
			p.conns[c] = true
		}
	}
	return !p.cut
}

func (p *proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

// setCut closes all connections and takes no new ones, or takes them again.
func (p *proxy) setCut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for c := range p.conns {
			_ = c.Close()
		}
	}
}

func (p *proxy) close() {
	p.setCut(true)
	_ = p.listener.Close()
	p.running.Wait()
}
