package rpc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The first call of a method is run by the goroutine that read it. When it is
// withdrawn its handler is told, though the connection stays open.
func TestREL8_CancelReachesTheHandlerOfAnInlineCall(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, rpc.Define("test.long", protocol.Read, func(ctx context.Context, _ *rpc.Session, _ protocol.Empty) (string, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}))
	p := b.connect()
	p.call(1, "test.long", "")
	<-begun
	p.cancel(1)
	p.wantError("1", protocol.CodeCancelled)
	select {
	case err := <-ended:
		if err != context.Canceled {
			t.Errorf("the handler was told %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the handler was not told")
	}
}

// What a call was read into stays its own while more is read.
func TestCallsKeepTheirParams(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p := b.connect()
	p.call("first", "test.write", `{"name":"slow"}`)
	b.begun("slow")
	names := map[string]string{}
	for i, size := range []int{10, 5000, 9000, 70, 40_000, 3} {
		for _, letter := range []string{"a", "b", "c"} {
			id := letter + strings.Repeat("i", i)
			names[id] = strings.Repeat(letter, size)
			p.call(id, "test.write", `{"name":"`+names[id]+`"}`)
		}
	}
	b.open("slow")
	p.wantResult(`"first"`, `"slow"`)
	for range names {
		r := p.reply()
		id := strings.Trim(string(r.ID), `"`)
		if want := `"` + names[id] + `"`; string(r.Result) != want {
			t.Errorf("call %s: got %.40s of %d bytes, want %.40s of %d", id, r.Result, len(r.Result), want, len(want))
		}
	}
}

// The context of a call ends with it, also when the call ran inline.
func TestContextOfAnInlineCallEnds(t *testing.T) {
	ended := make(chan struct{})
	b := serveRooms(t, rpc.Limits{}, rpc.Deps{}, rpc.Define("test.ctx", protocol.Read, func(ctx context.Context, _ *rpc.Session, _ protocol.Empty) (string, error) {
		context.AfterFunc(ctx, func() { close(ended) })
		return "", nil
	}))
	p := b.connect()
	p.call(1, "test.ctx", "")
	p.wantResult("1", "")
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("it goes on")
	}
}
