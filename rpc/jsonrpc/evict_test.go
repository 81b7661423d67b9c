package jsonrpc_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// The states in which the connection of a client may be.
const (
	silent    = "silent"    // it has said nothing
	idle      = "idle"      // it has introduced itself
	following = "following" // it waits for events
	busy      = "busy"      // a call is under way
	early     = "early"     // a call is under way that needs no introduction
)

// connect opens a connection of a process and brings it into a state, unless it is
// refused.
func (w *world) connect(pid int, state string) *caller {
	c := w.dial(pid)
	if (state == idle || state == following || state == busy) && !c.try("begin") {
		return c
	}
	switch state {
	case following:
		c.try("follow")
	case busy, early:
		_, _ = c.nc.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"stubborn","params":{"MS":3600000}}` + "\n"))
	}
	pass(time.Millisecond)
	return c
}

// try makes a call that is answered at once, and reports whether it was.
func (c *caller) try(method string) bool {
	_, _ = c.nc.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}` + "\n"))
	return c.in.Scan() && strings.Contains(c.in.Text(), "done")
}

// ask makes a call that must be answered at once.
func (c *caller) ask(method string) {
	c.t.Helper()
	if !c.try(method) {
		c.t.Errorf("%s: %q %v", method, c.in.Text(), c.in.Err())
	}
}

// isOpen reports whether the daemon has not closed the connection.
func (c *caller) isOpen() bool {
	synctest.Wait()
	_ = c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	defer func() { _ = c.nc.SetReadDeadline(time.Time{}) }()
	_, err := c.nc.Read(make([]byte, 1))
	return err != nil && strings.Contains(err.Error(), "timeout")
}

func TestREL7_WhoDoesNotInitializeIsClosed(t *testing.T) {
	const limit = 10 * time.Second
	inWorld(t, jsonrpc.Limits{InitializeTimeout: limit}, func(w *world) {
		mute, late, polling := w.dial(1), w.dial(2), w.dial(3)
		pass(limit - 2*time.Millisecond)
		late.ask("begin")
		polling.ask("storeless")
		if !mute.isOpen() {
			t.Error("it is closed before its time")
		}
		pass(5 * time.Millisecond)
		if mute.isOpen() {
			t.Error("a connection that said nothing is open")
		}
		if polling.isOpen() {
			t.Error("a connection that was not initialized is open")
		}
		pass(time.Hour)
		late.ask("storeless")
		if n := strings.Count(w.log.String(), "not initialized within 10s"); n != 2 {
			t.Errorf("the log gives the reason %d times:\n%s", n, w.log.String())
		}
		if n := w.ConnStats().Uninitialized; n != 0 {
			t.Errorf("%d are counted as not initialized", n)
		}
	})
}

// Of the connections that are open the least active one is evicted.
func TestREL7_WhoIsEvicted(t *testing.T) {
	type conn struct {
		pid   int
		state string
	}
	for _, c := range []struct {
		name   string
		open   []conn
		pid    int // of the new one
		gone   int // which of them is evicted; -1: the new one is refused
		others int // busy connections besides, each of a client of its own
	}{
		{"the oldest that says nothing", []conn{{1, idle}, {2, silent}, {3, silent}, {4, idle}}, 9, 1, 0},
		{"the oldest idle one", []conn{{1, busy}, {2, following}, {3, idle}, {4, idle}}, 9, 2, 0},
		{"one that follows before a busy one", []conn{{1, busy}, {2, following}, {3, early}, {4, following}}, 9, 1, 0},
		{"a busy one when there is no other", []conn{{1, busy}, {2, early}, {3, busy}, {4, busy}}, 9, 0, 0},
		{"of who has most", []conn{{1, idle}, {2, idle}, {3, idle}, {3, idle}}, 9, 2, 0},
		{"of who has most, though not very many", []conn{{1, idle}, {2, idle}, {3, idle}, {3, idle}}, 9, 2, 36},
		{"not of who has most, when that is busy", []conn{{1, busy}, {2, idle}, {3, busy}, {3, busy}}, 9, 1, 36},
		{"of who has very many, though it is busy", []conn{{1, silent}, {2, idle}, {3, busy}, {3, busy}}, 9, 2, 0},
		{"an idle one of its own", []conn{{1, idle}, {1, busy}, {1, idle}, {1, busy}}, 1, 0, 0},
		{"nobody for who needs all of his own", []conn{{1, following}, {1, busy}, {1, early}, {1, busy}}, 1, -1, 0},
		{"nobody for who has most", []conn{{1, busy}, {1, busy}, {1, busy}, {2, silent}}, 1, -1, 0},
		{"nobody for who has as many", []conn{{1, busy}, {1, following}, {2, idle}, {2, idle}}, 1, -1, 0},
		{"of who has most, when several have very many", []conn{{1, idle}, {1, idle}, {2, busy}, {2, busy}, {2, busy}}, 9, 2, 0},
		{"of unknown processes the oldest", []conn{{0, silent}, {0, idle}, {0, silent}, {0, busy}}, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := len(c.open) + c.others
			inWorld(t, jsonrpc.Limits{Connections: limit, Running: 1}, func(w *world) {
				for i := range c.others {
					w.connect(1000+i, busy)
				}
				var open []*caller
				for _, o := range c.open {
					open = append(open, w.connect(o.pid, o.state))
				}
				asking := w.dial(c.pid)
				gone := []int{}
				for i, o := range open {
					if !o.isOpen() {
						gone = append(gone, i)
					}
				}
				want := []int{c.gone}
				if c.gone < 0 {
					want = []int{}
				}
				if !slices.Equal(gone, want) {
					t.Errorf("gone are %v, want %v", gone, want)
				}
				if asking.isOpen() != (c.gone >= 0) {
					t.Errorf("the new one is open: %v", asking.isOpen())
				}
				stats := w.ConnStats()
				if stats.Open != limit || int(stats.Evicted) != len(want) || int(stats.Refused) != 1-len(want) {
					t.Errorf("figures: %+v", stats)
				}
				if c.gone >= 0 {
					asking.close()
					w.connect(c.pid, silent)
					if n := w.ConnStats().Evicted; n != 1 {
						t.Errorf("%d were evicted, though there was room for one", n-1)
					}
				}
				w.cutAll()
				synctest.Wait()
				if n := w.Processes(); n != 0 {
					t.Errorf("%d clients are known that have no connection", n)
				}
			})
		})
	}
}

// What one process does with connections keeps no other from the daemon, and from
// being served over a connection that it has.
func TestREL7_NobodyIsLockedOut(t *testing.T) {
	const limit = 64
	for _, state := range []string{silent, idle, following, busy, early} {
		t.Run(state, func(t *testing.T) {
			inWorld(t, jsonrpc.Limits{Connections: limit, Running: 2}, func(w *world) {
				app := []*caller{w.connect(1, idle), w.connect(1, following)}
				for range 4 * limit {
					w.connect(100, state)
				}
				if n := w.ConnStats().Open; n != limit {
					t.Errorf("%d connections are open, want %d", n, limit)
				}
				for i := range 5 {
					late := w.connect(2+i, silent)
					late.ask("begin")
					late.ask("storeless")
				}
				for _, c := range app {
					c.ask("storeless")
				}
				w.cutAll()
			})
		})
	}
}

// A client that has more than its share has one of its own closed for a new one now and
// then, and is refused in between.
func TestREL7_WhoHasTooManyIsRefused(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Connections: 8}, func(w *world) {
		for range 108 {
			w.dial(1)
		}
		synctest.Wait()
		if stats := w.ConnStats(); stats.Open != 8 || stats.Evicted != 1 || stats.Refused != 99 {
			t.Errorf("%d are open, %d were evicted, %d were refused", stats.Open, stats.Evicted, stats.Refused)
		}
		pass(20 * time.Millisecond)
		w.dial(1)
		synctest.Wait()
		if n := w.ConnStats().Evicted; n != 2 {
			t.Errorf("%d were evicted, want 2", n)
		}
	})
}

// A client that opens connections one after the other gets in each time while another has
// many more: those of its own that have ended may not be forgotten yet.
func TestREL7_WhoHasFewerThanAnotherIsNotRefused(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Connections: 32, Running: 2}, func(w *world) {
		for range 32 {
			w.connect(100, busy)
		}
		for range 8 {
			w.dial(1)
		}
		synctest.Wait()
		if stats := w.ConnStats(); stats.Open != 32 || stats.Evicted != 8 || stats.Refused != 0 {
			t.Errorf("%d are open, %d were evicted, %d were refused", stats.Open, stats.Evicted, stats.Refused)
		}
		w.cutAll()
	})
}

// A storm of new connections keeps the number of those that are open within bounds.
func TestREL7_AStormOfConnections(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Connections: 8}, func(w *world) {
		for i := range 500 {
			w.dial(i % 40)
		}
		synctest.Wait()
		stats := w.ConnStats()
		if stats.Open > 8 || stats.Clients > 8 {
			t.Errorf("%d connections of %d clients are open", stats.Open, stats.Clients)
		}
		if strings.Count(w.log.String(), "the least active one is closed") != 1 {
			t.Errorf("the log has more than a line a second:\n%s", w.log.String())
		}
	})
}
