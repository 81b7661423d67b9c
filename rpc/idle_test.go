package rpc_test

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// The last connection starts the clock.
func TestServerIsIdleAfterTheLastConnection(t *testing.T) {
	const after = 50 * time.Millisecond
	told := make(chan struct{}, 10)
	b := &bench{t: t, started: make(chan string, 8), gates: map[string]chan struct{}{}}
	b.path = filepath.Join(shortDir(t), "s")
	b.srv = rpc.New(rpc.Options{
		Methods: append(rpc.Methods(), b.methods()...), Rooms: &rpc.Deps{},
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
