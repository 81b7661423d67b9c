package natstest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy stands between a client and a server and loses what it is told to lose. It may be used
// concurrently.
type Proxy struct {
	ln     net.Listener
	target string

	mu             sync.Mutex // of all below
	cut            bool       // nobody gets through
	dropFromServer bool       // what the server sends is lost
	dropFromClient bool       // what the client sends is lost
	pairs          map[*pair]bool
}

type pair struct{ client, server net.Conn }

// NewProxy begins to pass on to a server, until the end of the test.
func NewProxy(t testing.TB, c *Cluster, i int) *Proxy {
	t.Helper()
	p, err := OpenProxy(c.URLOf(i)[len("nats://"):])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// OpenProxy begins to pass on to HOST:PORT.
func OpenProxy(target string) (*Proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{ln: ln, target: target, pairs: make(map[*pair]bool)}
	go p.serve()
	return p, nil
}

// URL is where clients connect to.
func (p *Proxy) URL() string { return "nats://" + p.ln.Addr().String() }

// Close ends it and all connections.
func (p *Proxy) Close() {
	closes(p.ln)
	p.Cut()
}

// Cut ends all connections and lets no new one in, until Heal.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.endAll()
}

// DropFromServer loses what the server says on all connections, until Heal, which ends those.
func (p *Proxy) DropFromServer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropFromServer = true
}

// DropFromClient loses what clients say on all connections, until Heal, which ends those.
func (p *Proxy) DropFromClient() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropFromClient = true
}

// Heal passes everything on again. Connections that have lost something end.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	if p.dropFromServer || p.dropFromClient {
		p.dropFromServer, p.dropFromClient = false, false
		p.endAll()
	}
}

func (p *Proxy) endAll() {
	for c := range p.pairs {
		closes(c.client)
		closes(c.server)
	}
	clear(p.pairs)
}

func (p *Proxy) serve() {
	for {
		client, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.connect(client)
	}
}

func (p *Proxy) connect(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.cut {
		closes(client)
		if err == nil {
			closes(server)
		}
		return
	}
	c := &pair{client, server}
	p.pairs[c] = true
	go p.pass(c, server, client, &p.dropFromClient)
	go p.pass(c, client, server, &p.dropFromServer)
}

// pass copies until either side ends, but for what comes while lose is set.
func (p *Proxy) pass(c *pair, to, from net.Conn, lose *bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		lost := *lose
		p.mu.Unlock()
		if n > 0 && !lost {
			_, failed := to.Write(buf[:n])
			if failed != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	closes(c.client)
	closes(c.server)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, c)
}

// closes ends a connection or a listener, which may have ended before.
func closes(c io.Closer) { _ = c.Close() }
