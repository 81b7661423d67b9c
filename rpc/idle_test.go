package rpc_test

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

func TestIdleWatch(t *testing.T) {
	const after = 10 * time.Minute
	for _, c := range []struct {
		name string
		do   func(w *rpc.IdleWatch, wait func(time.Duration), busy *atomic.Bool)
		want time.Duration // until it is told; 0: never
	}{
		{"nobody ever", func(*rpc.IdleWatch, func(time.Duration), *atomic.Bool) {}, after},
		{"one that stays", func(w *rpc.IdleWatch, _ func(time.Duration), _ *atomic.Bool) { w.Enter() }, 0},
		{"one that goes", func(w *rpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			wait(9 * time.Minute)
			w.Enter()
			wait(time.Hour)
			w.Leave()
		}, 69*time.Minute + after},
		{"two, one of whom stays", func(w *rpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			w.Enter()
			w.Enter()
			w.Leave()
			wait(time.Hour)
		}, 0},
		{"probes", func(w *rpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			for range 10 {
				wait(9 * time.Minute)
				w.Enter()
				w.Leave()
			}
		}, 90*time.Minute + after},
		{"a job goes on", func(_ *rpc.IdleWatch, wait func(time.Duration), busy *atomic.Bool) {
			busy.Store(true)
			wait(25 * time.Minute)
			busy.Store(false)
		}, 30 * time.Minute},
		{"the end for another reason", func(w *rpc.IdleWatch, _ func(time.Duration), _ *atomic.Bool) { w.Stop() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var busy atomic.Bool
				var told []time.Duration
				w := rpc.NewIdleWatch(after, func() { told = append(told, time.Since(began)) }, busy.Load)
				c.do(w, func(d time.Duration) { time.Sleep(d); synctest.Wait() }, &busy) //nolint:forbidigo // the clock is not the real one
				time.Sleep(24 * time.Hour)                                               //nolint:forbidigo // likewise
				synctest.Wait()
				w.Stop()
				if c.want == 0 && len(told) > 0 || c.want > 0 && (len(told) != 1 || told[0] != c.want) {
					t.Errorf("told after %v, want %v", told, c.want)
				}
			})
		})
	}
}

// The same with a server: the last connection starts the clock.
func TestServerIsIdleAfterTheLastConnection(t *testing.T) {
	const after = 50 * time.Millisecond
	told := make(chan struct{}, 10)
	b := &bench{t: t, started: make(chan string, 8), gates: map[string]chan struct{}{}}
	b.path = filepath.Join(shortDir(t), "s")
	b.srv = rpc.New(rpc.Options{
		Methods: append(rpc.Methods(), b.methods()...), Rooms: &rpc.Rooms{},
		OnIdle: func() { told <- struct{}{} }, IdleAfter: after,
	})
	ln, err := socket.Listen(b.path, socket.Options{})
	must(t, err)
	conn, other := net.Pipe()
	go b.srv.ServeConn(other) // open before the first listener
	for len(b.srv.Sessions()) == 0 {
		if len(told) > 0 {
			t.Fatal("told before it serves")
		}
		runtime.Gosched()
	}
	go func() { _ = b.srv.Serve(ln) }()
	t.Cleanup(func() { must(t, b.srv.Shutdown(context.Background())) })

	p := b.connect()
	p.call(1, "test.job", `{"name":"job"}`)
	b.begun("job")
	must(t, conn.Close())
	must(t, p.nc.Close())
	var over atomic.Bool
	time.AfterFunc(5*after, func() { // the job outlasts the wait
		over.Store(true)
		b.open("job")
	})
	select {
	case <-told:
		if !over.Load() {
			t.Error("told while a job ran")
		}
	case <-time.After(patience):
		t.Fatal("it is not told")
	}
}
