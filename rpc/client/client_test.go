package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const patience = 2 * time.Minute

type text struct {
	Text string `json:"text" long:"true"`
}

// daemon is a server with methods whose course a test decides.
type daemon struct {
	srv     *rpc.Server
	path    string
	started chan struct{}
	release chan struct{}
}

func start(t *testing.T, more ...rpc.Method) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{path: filepath.Join(dir, "s"), started: make(chan struct{}, 64), release: make(chan struct{})}
	wait := func(ctx context.Context, _ *rpc.Session, p text) (text, error) {
		rpc.ReportProgress(ctx, "half", 1, 2)
		d.started <- struct{}{}
		select {
		case <-d.release:
			return p, nil
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
	methods := slices.DeleteFunc(rpc.Methods(), func(m rpc.Method) bool {
		return slices.ContainsFunc(more, func(other rpc.Method) bool { return other.Name == m.Name })
	})
	methods = append(methods, more...)
	d.srv = rpc.New(rpc.Options{Info: protocol.ServerInfo{Name: "ctxd", Version: "7"}, Rooms: &rpc.Deps{}, Methods: append(methods,
		rpc.Define("t.echo", protocol.Read, func(_ context.Context, _ *rpc.Session, p text) (text, error) { return p, nil }),
		rpc.Define("t.wait", protocol.Read, wait),
		rpc.Define("t.write", protocol.Mutation, wait),
		rpc.Define("t.fail", protocol.Read, func(context.Context, *rpc.Session, text) (text, error) {
			return text{}, fault.New(fault.Conflict, "two have that title").WithHint("give an id").
				WithCandidates([]fault.Candidate{{ID: "a"}, {ID: "b"}})
		}),
		rpc.Define("t.tell", protocol.Read, func(_ context.Context, s *rpc.Session, p text) (text, error) {
			return p, s.Notify("t.told", p)
		}),
	)})
	ln, err := socket.Listen(d.path, socket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = d.srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.srv.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return d
}

func (d *daemon) dial(t *testing.T, opts client.Options) *client.Client {
	t.Helper()
	opts.Withdraw = patience
	c, err := client.Dial(context.Background(), d.path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCallAndServer(t *testing.T) {
	d := start(t)
	c := d.dial(t, client.Options{Name: "test", Version: "1"})
	if s := c.Server(); s.ServerInfo.Version != "7" || s.ProtocolVersion != protocol.Version {
		t.Errorf("%+v", s)
	}
	for _, s := range []string{"", "<é\n😀>", strings.Repeat("x", 3<<20)} {
		var got text
		if err := c.Call(context.Background(), "t.echo", text{s}, &got); err != nil || got.Text != s {
			t.Errorf("%d bytes became %d (%v)", len(s), len(got.Text), err)
		}
	}
	if err := c.Call(context.Background(), "rpc.discover", nil, nil); err != nil {
		t.Error(err)
	}
	if name := d.srv.Sessions()[0].Client().Name; name != "test" {
		t.Errorf("the daemon knows it as %q", name)
	}
}

func TestErrorsAreFaults(t *testing.T) {
	c := start(t).dial(t, client.Options{})
	err := c.Call(context.Background(), "t.fail", text{}, nil)
	var e *client.Error
	var f *fault.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeConflict || !errors.As(err, &f) {
		t.Fatalf("%v", err)
	}
	if f.Kind != fault.Conflict || f.Hint != "give an id" || len(f.Candidates) != 2 || f.Msg != "two have that title" {
		t.Errorf("%+v", f)
	}
	for method, kind := range map[string]fault.Kind{"no.such": fault.Invalid, "initialize": fault.Invalid} {
		if err := c.Call(context.Background(), method, nil, nil); fault.KindOf(err) != kind {
			t.Errorf("%s: %v", method, err)
		}
	}
	if err := c.Call(context.Background(), "t.echo", func() {}, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("params that are no JSON: %v", err)
	}
	var wrong int
	if err := c.Call(context.Background(), "t.echo", text{}, &wrong); fault.KindOf(err) != fault.Internal {
		t.Errorf("a result of another type: %v", err)
	}
}

func TestBareClientNeedsInitialize(t *testing.T) {
	c := start(t).dial(t, client.Options{Bare: true})
	var e *client.Error
	if err := c.Call(context.Background(), "t.echo", text{}, nil); !errors.As(err, &e) || e.Code != protocol.CodeNotInitialized {
		t.Errorf("%v", err)
	}
	if err := c.Call(context.Background(), "rpc.discover", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestCallsShareAConnection(t *testing.T) {
	d := start(t)
	c := d.dial(t, client.Options{})
	slow := make(chan error, 1)
	go func() { slow <- c.Call(context.Background(), "t.wait", text{"slow"}, nil) }()
	<-d.started
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := c.Call(context.Background(), "t.echo", text{"x"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(d.release)
	if err := <-slow; err != nil {
		t.Error(err)
	}
}

func TestCancelWithdrawsAReadAndAwaitsAMutation(t *testing.T) {
	d := start(t)
	c := d.dial(t, client.Options{})
	type outcome struct {
		got text
		err error
	}
	call := func(ctx context.Context, method string) chan outcome {
		out := make(chan outcome, 1)
		go func() {
			var o outcome
			o.err = c.Call(ctx, method, text{"x"}, &o.got)
			out <- o
		}()
		<-d.started
		return out
	}
	ctx, cancel := context.WithCancel(context.Background())
	read := call(ctx, "t.wait")
	cancel()
	if o := <-read; fault.KindOf(o.err) != fault.Cancelled || !errors.Is(o.err, context.Canceled) {
		t.Errorf("read: %v", o.err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	write := call(ctx, "t.write")
	cancel()
	close(d.release) // the mutation has begun: it completes, and the caller is told
	if o := <-write; o.err != nil || o.got.Text != "x" {
		t.Errorf("mutation: %+v", o)
	}
	if err := c.Call(ctx, "t.echo", text{}, nil); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a context that is over: %v", err)
	}
}

func TestProgressAndNotifications(t *testing.T) {
	d := start(t)
	told := make(chan string, 1)
	c := d.dial(t, client.Options{OnNotify: func(method string, params json.RawMessage) { told <- method + string(params) }})
	close(d.release)
	var kinds []string
	err := c.CallProgress(context.Background(), "t.wait", text{"x"}, nil, func(p protocol.Progress) {
		kinds = append(kinds, p.Kind)
		if p.Kind == protocol.ProgressReport && (p.Message != "half" || p.Done != 1 || p.Total != 2) {
			t.Errorf("%+v", p)
		}
	})
	if got := strings.Join(kinds, " "); err != nil || got != "begin report end" {
		t.Errorf("%s %v", got, err)
	}
	if err := c.Call(context.Background(), "t.tell", text{"hi"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != `t.told{"text":"hi"}` {
		t.Error(got)
	}
	if err := c.Notify(context.Background(), "t.echo", text{"unanswered"}); err != nil {
		t.Error(err)
	}
}

func TestLostConnection(t *testing.T) {
	near, far := net.Pipe()
	c, err := client.New(context.Background(), near, client.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan error, 1)
	go func() { out <- c.Call(context.Background(), "t.wait", nil, nil) }()
	if _, err := far.Read(make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	var f *fault.Error
	if err := <-out; !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable {
		t.Errorf("%v", err)
	}
	<-c.Done()
	if err := c.Call(context.Background(), "t.wait", nil, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("afterwards: %v", err)
	}
	_ = c.Close()
}

func TestNobodyListens(t *testing.T) {
	_, err := client.Dial(context.Background(), "/nonexistent/s", client.Options{})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable || f.Hint == "" {
		t.Errorf("%v", err)
	}
}
