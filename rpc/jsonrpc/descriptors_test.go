package jsonrpc_test

import (
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// descriptors are those of a process, which may have so many. It is a listener, too:
// each connection that it accepts takes one.
type descriptors struct {
	backlog chan dialled
	closed  chan struct{}
	close   sync.Once

	mu   sync.Mutex // guards what follows
	left int
}

// dialled waits to be accepted, and gives up after a second.
type dialled struct {
	end
	gaveUp *time.Timer
}

// serveWith has the world serve a listener of a process with so many descriptors. Who
// dials from now on connects to that.
func (w *world) serveWith(n int) {
	d := &descriptors{backlog: make(chan dialled, 1000), closed: make(chan struct{}), left: n}
	w.SetSpare(func() (io.Closer, error) {
		if !d.take() {
			return nil, syscall.EMFILE
		}
		return &taken{of: d}, nil
	})
	w.accept = func(e end) { d.backlog <- dialled{e, time.AfterFunc(time.Second, func() { _ = e.Close() })} }
	go func() {
		if err := w.Serve(d); err != nil {
			w.t.Error(err)
		}
	}()
	synctest.Wait()
}

func (d *descriptors) take() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		return false
	}
	d.left--
	return true
}

// Accept fails without a descriptor whether or not somebody connects, as that of the
// system does.
func (d *descriptors) Accept() (net.Conn, error) {
	if !d.take() {
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	select {
	case who := <-d.backlog:
		who.gaveUp.Stop()
		return end{&taken{Conn: who.Conn, of: d}, who.pid}, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *descriptors) Close() error {
	d.close.Do(func() { close(d.closed) })
	return nil
}

func (d *descriptors) Addr() net.Addr { return &net.UnixAddr{} }

// taken is a descriptor that is given back when it is closed.
type taken struct {
	net.Conn // nil for one that is none
	of       *descriptors
	once     sync.Once
}

func (c *taken) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.left++
	})
	if c.Conn == nil {
		return nil
	}
	return c.Conn.Close()
}

// Where one process has taken all descriptors, with far fewer connections than may be
// open, another gets in at once all the same, and stays.
func TestREL9_NobodyIsLockedOutWithoutDescriptors(t *testing.T) {
	const most = 20
	for _, state := range []string{silent, idle, following, busy, early} {
		t.Run(state, func(t *testing.T) {
			inWorld(t, jsonrpc.Limits{Running: 2}, func(w *world) {
				w.serveWith(most)
				app := w.dial(1)
				app.ask("begin")
				for range 4 * most {
					w.connect(100, state)
				}
				if n := w.ConnStats().Open; n < most-2 {
					t.Fatalf("%d connections are open, so the test shows nothing", n)
				}
				var late []*caller
				for i := range 5 {
					c := w.dial(2 + i)
					c.ask("begin")
					c.ask("storeless")
					late = append(late, c)
					w.connect(100, state)
				}
				for _, c := range append(late, app) {
					c.ask("storeless")
				}
				if n := strings.Count(w.log.String(), "accept failed"); n > 2 {
					t.Errorf("the log has %d lines", n)
				}
				w.cutAll()
			})
		})
	}
}

// Who has all descriptors and needs them keeps them: another connection of the same
// client is refused.
func TestREL9_WithoutDescriptorsAClientKeepsWhatItNeeds(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 2}, func(w *world) {
		w.serveWith(4)
		var open []*caller
		for range 3 {
			open = append(open, w.connect(1, following))
		}
		for range 10 {
			if w.dial(1).isOpen() {
				t.Error("another connection is open")
			}
		}
		for _, c := range open {
			if !c.isOpen() {
				t.Error("a connection that is needed was closed")
			}
		}
		if stats := w.ConnStats(); stats.Evicted != 0 || stats.Refused != 10 {
			t.Errorf("figures: %+v", stats)
		}
	})
}
