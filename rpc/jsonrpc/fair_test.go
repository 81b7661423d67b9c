package jsonrpc_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const slice = 10 * time.Millisecond

// world is a server in a time that passes only when all of it waits. A read computes
// by sleeping.
type world struct {
	*jsonrpc.Server
	t   *testing.T
	log bytes.Buffer

	accept func(end) // serves the daemon's end of a connection

	computing, most atomic.Int64 // long reads, and the most of them since most was set to 0

	writing, mostWriting atomic.Int64 // long replies, and the most of them
	written              order
}

// inWorld runs a test with a server that has so many places for reads.
func inWorld(t *testing.T, limits jsonrpc.Limits, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		limits.ReadSlice = cmp.Or(limits.ReadSlice, slice)
		limits.InitializeTimeout = cmp.Or(limits.InitializeTimeout, 24*time.Hour)
		w := &world{t: t}
		read := func(name string, storeless bool, run func(ctx context.Context, ms int) error) jsonrpc.Method {
			return jsonrpc.Method{
				Name: name, Mode: protocol.Read, Early: true, Storeless: storeless,
				Run: func(ctx context.Context, k *jsonrpc.Call) (*jsonrpc.Buffer, error) {
					var p struct{ MS int }
					if err := json.Unmarshal(k.Params(), &p); err != nil {
						return nil, err
					}
					err := run(ctx, p.MS)
					if err != nil {
						return nil, err
					}
					return new(jsonrpc.Encoder).Encode("done")
				},
			}
		}
		w.Server = jsonrpc.New(jsonrpc.Options{
			Limits: limits, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
			Attach:    func(*jsonrpc.Conn) any { return new(bool) },
			Follows:   func(c *jsonrpc.Conn) bool { return *c.Data().(*bool) },
			ProcessOf: func(nc net.Conn) int { return nc.(end).pid },
			Failed: func(context.Context, *jsonrpc.Method, error) *protocol.Error {
				return jsonrpc.Cancelled()
			},
			Methods: []jsonrpc.Method{
				read("long", false, w.long),
				read("stubborn", false, func(_ context.Context, ms int) error { compute(ms); return nil }),
				read("short", false, func(_ context.Context, ms int) error { compute(ms); return nil }),
				read("storeless", true, func(_ context.Context, ms int) error { compute(ms); return nil }),
				w.reply("reply", replySize),
				w.reply("huge", 4*replySize),
				control("begin", func(c *jsonrpc.Conn) { c.Begin("test") }),
				control("follow", func(c *jsonrpc.Conn) { *c.Data().(*bool) = true }),
			},
		})
		w.accept = func(e end) { go w.ServeConn(e) }
		w.Gate().Open("", struct{}{})
		test(w)
		if err := w.Shutdown(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
}

// control makes a method that runs where it is read.
func control(name string, do func(*jsonrpc.Conn)) jsonrpc.Method {
	return jsonrpc.Method{
		Name: name, Mode: protocol.Control, Early: true, Storeless: true,
		Run: func(_ context.Context, k *jsonrpc.Call) (*jsonrpc.Buffer, error) {
			do(k.Conn())
			return new(jsonrpc.Encoder).Encode("done")
		},
	}
}

func compute(ms int) {
	time.Sleep(time.Duration(ms) * time.Millisecond) //nolint:forbidigo // the clock is not the real one
}

// long computes for so many milliseconds and gives way after each.
func (w *world) long(ctx context.Context, ms int) error {
	for range ms {
		now := w.computing.Add(1)
		for most := w.most.Load(); now > most && !w.most.CompareAndSwap(most, now); {
			most = w.most.Load()
		}
		compute(1)
		w.computing.Add(-1)
		if err := yield.Point(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end is the daemon's end of a connection of a process.
type end struct {
	net.Conn
	pid int
}

// caller is the client's end of a connection.
type caller struct {
	t       *testing.T
	nc      net.Conn
	in      *bufio.Scanner
	answers atomic.Int64
}

// dial connects as a process.
func (w *world) dial(pid int) *caller {
	near, far := net.Pipe()
	w.accept(end{far, pid})
	c := &caller{t: w.t, nc: near, in: bufio.NewScanner(near)}
	w.t.Cleanup(func() { _ = near.Close() })
	return c
}

// send sends requests of one method in one piece, so that none of several runs where
// it is read.
func (c *caller) send(n int, method string, ms int) {
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"MS":%d}}`+"\n", method, ms)
	_, err := c.nc.Write([]byte(strings.Repeat(request, n)))
	if err != nil {
		c.t.Error(err)
	}
}

// flood keeps n calls under way until the connection is closed.
func (c *caller) flood(n int, method string, ms int) {
	go func() {
		request := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"MS":%d}}`+"\n", method, ms))
		for c.in.Scan() {
			c.answers.Add(1)
			_, err := c.nc.Write(request)
			if err != nil {
				return
			}
		}
	}()
	c.send(n, method, ms)
}

// wait makes a call that does not run where it is read, and returns how long it takes.
func (c *caller) wait(method string, ms int) time.Duration {
	c.t.Helper()
	began := time.Now()
	c.send(2, method, ms)
	for range 2 {
		if !c.in.Scan() || !strings.Contains(c.in.Text(), "done") {
			c.t.Fatalf("%s: %s %v", method, c.in.Text(), c.in.Err())
		}
	}
	return time.Since(began)
}

func (c *caller) close() {
	_ = c.nc.Close()
	synctest.Wait()
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock is not the real one
	synctest.Wait()
}

// One connection with many long reads keeps a place free for the others, who don't
// wait longer than for the end of a slice.
func TestREL7_LongReadsLeavePlaces(t *testing.T) {
	for _, c := range []struct {
		name                  string
		places, clients, each int
		method                string
		atOnce                int64         // long reads that may compute at a time
		bound                 time.Duration // of what a short read waits for
	}{
		{"one connection", 2, 1, 1, "long", 1, 3 * time.Millisecond},
		{"many connections", 2, 1, 20, "long", 1, 3 * time.Millisecond},
		{"many clients", 2, 20, 1, "long", 1, 3 * time.Millisecond},
		{"more places", 8, 4, 4, "long", 4, 3 * time.Millisecond},
		{"one place", 1, 1, 4, "long", 1, 2*slice + 4*time.Millisecond},
		{"that don't give way", 2, 1, 1, "stubborn", 0, 3 * time.Millisecond},
		{"of many clients that don't give way", 2, 3, 1, "stubborn", 0, 3 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, jsonrpc.Limits{Running: c.places}, func(w *world) {
				for i := range c.clients {
					for range c.each {
						w.dial(100+i).flood(12, c.method, 1900)
					}
				}
				modest := w.dial(1)
				// At first nobody knows who reads for long.
				if d := modest.wait("short", 1); d > 30*time.Duration(c.clients)*slice {
					t.Errorf("at first a short read waits %v", d)
				}
				pass(time.Second)
				w.most.Store(0)
				for range 300 {
					if d := modest.wait("short", 1); d > c.bound {
						t.Errorf("a short read waits %v", d)
					}
					pass(3 * time.Millisecond)
				}
				if n := w.most.Load(); c.atOnce > 0 && n != c.atOnce {
					t.Errorf("%d long reads computed at a time, want %d", n, c.atOnce)
				}
			})
		})
	}
}

// Who opens many connections gets no more than who has one.
func TestREL7_ClientsShareThePlaces(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 2}, func(w *world) {
		for range 20 {
			w.dial(100).flood(12, "long", 1900)
		}
		pass(time.Second)
		modest := w.dial(1)
		modest.wait("long", 500)
		// Two reads of 100 ms have one of two turns on the one place.
		d := modest.wait("long", 100)
		if want := 400*time.Millisecond + 4*slice; d > want {
			t.Errorf("a long read of a client with one connection takes %v, want %v at most", d, want)
		}
	})
}

// Connections of one client take turns too.
func TestREL7_ConnectionsOfAClientTakeTurns(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 2}, func(w *world) {
		w.dial(1).flood(12, "long", 1900)
		other := w.dial(1)
		pass(time.Second)
		other.wait("long", 500)
		if d, want := other.wait("long", 100), 400*time.Millisecond+4*slice; d > want {
			t.Errorf("a long read over another connection of the client takes %v, want %v at most", d, want)
		}
	})
}

// Long reads end also while short ones never do.
func TestREL7_LongReadsAreNotStarved(t *testing.T) {
	for _, places := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(places, " places"), func(t *testing.T) {
			inWorld(t, jsonrpc.Limits{Running: places}, func(w *world) {
				for i := range 10 {
					w.dial(100+i).flood(12, "short", 4)
				}
				modest := w.dial(1)
				modest.wait("long", 500)
				if d, want := modest.wait("long", 100), 800*time.Millisecond; d > want {
					t.Errorf("a long read takes %v, want %v at most", d, want)
				}
			})
		})
	}
}

// What needs no store waits for no place.
func TestREL7_WhatNeedsNoStoreWaitsForNobody(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 1, Concurrency: 2}, func(w *world) {
		for i := range 5 {
			w.dial(100+i).flood(12, "stubborn", 60_000)
		}
		own := w.dial(1)
		own.send(12, "stubborn", 60_000)
		pass(time.Second)
		if d := own.wait("storeless", 0); d > 0 {
			t.Errorf("over a connection with reads under way it waits %v", d)
		}
		if d := w.dial(2).wait("storeless", 0); d > 0 {
			t.Errorf("it waits %v", d)
		}
		w.cutAll()
	})
}

// cutAll ends what would go on for long.
func (w *world) cutAll() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.Shutdown(ctx, nil)
}

// A read that was withdrawn while it waits for its turn is answered at once.
func TestREL8_WithdrawnInLine(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 2}, func(w *world) {
		w.dial(100).flood(12, "long", 1900)
		modest := w.dial(1)
		pass(time.Second)
		for range 3 {
			modest.send(2, "long", 100)
			pass(25 * time.Millisecond)
			began := time.Now()
			_, _ = modest.nc.Write([]byte(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n"))
			for range 2 {
				if !modest.in.Scan() || !strings.Contains(modest.in.Text(), "-32800") {
					t.Fatalf("got %s", modest.in.Text())
				}
			}
			if d := time.Since(began); d > 0 {
				t.Errorf("it is answered after %v", d)
			}
			synctest.Wait()
			if n := w.Places().Waiting; n > 12 {
				t.Errorf("%d wait in line, and only 12 can", n)
			}
		}
	})
}

// Whatever clients do, no place is lost.
func TestREL7_NoPlaceIsLost(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			running := 1 + r.IntN(4)
			limits := jsonrpc.Limits{Running: running, Concurrency: 1 + r.IntN(4), ReplyTotal: 2 * replySize}
			inWorld(t, limits, func(w *world) {
				methods := []string{"long", "stubborn", "short", "storeless", "reply"}
				var open []*caller
				for range 60 {
					switch n := r.IntN(8); {
					case n == 0 && len(open) > 0:
						at := r.IntN(len(open))
						open[at].close()
						open = slices.Delete(open, at, at+1)
					case n == 1 && len(open) > 0:
						_, _ = open[0].nc.Write([]byte(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n"))
					default:
						c := w.dial(r.IntN(3))
						open = append(open, c)
						for range 6 * r.IntN(2) { // its first read then runs at once
							c.wait("storeless", 0)
						}
						c.flood(1+r.IntN(5), methods[r.IntN(len(methods))], 1+r.IntN(60))
					}
					pass(time.Duration(r.IntN(30)) * time.Millisecond)
				}
				for _, c := range open {
					c.close()
				}
				pass(time.Minute)
				if got, want := w.Places(), (jsonrpc.PoolStats{Free: running}); got != want {
					t.Errorf("with %d places they stand at %+v", running, got)
				}
				w.wantNoReplies()
			})
		})
	}
}

// A read that runs where it is read may yield, get a place and end before the watchdog
// has seen it: it gives the place back.
func TestREL7_APlaceOfAnInlineReadIsGivenBack(t *testing.T) {
	inWorld(t, jsonrpc.Limits{Running: 2, ReadSlice: time.Millisecond}, func(w *world) {
		c := w.dial(1)
		defer c.close()
		call := func(ms int) {
			c.send(1, "long", ms)
			if !c.in.Scan() {
				t.Fatal(c.in.Err())
			}
		}
		for range 3 {
			call(2) // shorter than two rounds of the watchdog, longer than a slice
			synctest.Wait()
			if got := w.Places(); got != (jsonrpc.PoolStats{Free: 2}) {
				t.Fatalf("no read runs, and the places stand at %+v", got)
			}
			for range 20 {
				call(0) // so that the next one runs where it is read, too
			}
		}
	})
}
