package rpc_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

func TestMain(m *testing.M) {
	// It looks once a second whether its store has been closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// patience is how long a test waits for what must come. Nothing waits for it
// when all is well.
const patience = 2 * time.Minute

// secret stands for what must never leave the daemon.
const secret = "canary-5f2e/home/secret"

// bench is a server with the test methods on a real socket, and the levers by
// which a test controls the methods that block.
type bench struct {
	t    testing.TB
	srv  *rpc.Server
	path string
	log  *lockedBuffer

	started chan string              // names of blocking calls as they begin
	mu      sync.Mutex               // guards what follows
	gates   map[string]chan struct{} // by name: closed to let the call go on
	written []string
}

// lockedBuffer is a log that can be waited on.
type lockedBuffer struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	written chan struct{} // closed and replaced at each write
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written != nil {
		close(b.written)
		b.written = nil
	}
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// await waits until text stands in the log.
func (b *lockedBuffer) await(t testing.TB, text string) {
	t.Helper()
	timeout := time.After(patience)
	for {
		b.mu.Lock()
		if b.written == nil {
			b.written = make(chan struct{})
		}
		there, next := strings.Contains(b.buf.String(), text), b.written
		b.mu.Unlock()
		if there {
			return
		}
		select {
		case <-next:
		case <-timeout:
			t.Fatalf("%q does not come into the log:\n%s", text, b.String())
		}
	}
}

type (
	named struct {
		Name string `json:"name,omitempty"`
	}
	item struct {
		Name  string   `json:"name"`
		Count int      `json:"count,omitempty" min:"0" max:"10"`
		Tags  []string `json:"tags,omitempty" enum:"a,b"`
	}
	everything struct {
		Text    string                    `json:"text" long:"true"`
		N       int                       `json:"n,omitempty" min:"1" max:"100" default:"7"`
		Ratio   float64                   `json:"ratio,omitempty"`
		On      bool                      `json:"on,omitempty"`
		Items   []item                    `json:"items,omitempty"`
		Extra   map[string]any            `json:"extra,omitempty"`
		At      *time.Time                `json:"at,omitempty"`
		Maybe   protocol.Optional[string] `json:"maybe,omitzero"`
		Mode    string                    `json:"mode,omitempty" enum:"fast,slow" default:"fast"`
		Version *int                      `json:"ifVersion,omitempty"`
	}
)

func (b *bench) gate(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gates[name] == nil {
		b.gates[name] = make(chan struct{})
	}
	return b.gates[name]
}

func (b *bench) open(name string) { close(b.gate(name)) }

// begun waits for the named call to begin.
func (b *bench) begun(name string) {
	b.t.Helper()
	select {
	case got := <-b.started:
		if got != name {
			b.t.Fatalf("call %q began, want %q", got, name)
		}
	case <-time.After(patience):
		b.t.Fatalf("call %q did not begin", name)
	}
}

func (b *bench) history() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.written, " ")
}

func (b *bench) methods() []rpc.Method {
	wait := func(ctx context.Context, name string) error {
		b.started <- name
		select {
		case <-b.gate(name):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	write := func(ctx context.Context, _ *rpc.Session, p named) (string, error) {
		if strings.HasPrefix(p.Name, "slow") {
			if err := wait(ctx, p.Name); err != nil {
				return "", err
			}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.written = append(b.written, p.Name)
		return p.Name, nil
	}
	return []rpc.Method{
		rpc.Define("test.echo", protocol.Read, func(_ context.Context, _ *rpc.Session, p everything) (everything, error) { return p, nil }),
		rpc.Define("test.size", protocol.Read, func(_ context.Context, _ *rpc.Session, p struct {
			N int `json:"n"`
		},
		) (string, error) {
			return strings.Repeat("x", p.N), nil
		}),
		rpc.Define("test.wait", protocol.Read, func(ctx context.Context, _ *rpc.Session, p named) (string, error) {
			return p.Name, wait(ctx, p.Name)
		}),
		rpc.Define("test.stubborn", protocol.Read, func(_ context.Context, _ *rpc.Session, p named) (string, error) {
			return p.Name, wait(context.Background(), p.Name)
		}),
		rpc.Define("test.write", protocol.Mutation, write),
		rpc.Define("test.history", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (string, error) {
			return b.history(), nil
		}),
		rpc.Define("test.job", protocol.Job, func(ctx context.Context, _ *rpc.Session, p named) (string, error) {
			rpc.ReportProgress(ctx, "working", 1, 2)
			return p.Name, wait(ctx, p.Name)
		}),
		rpc.Define("test.panic", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (string, error) {
			panic(secret)
		}),
		rpc.Define("test.panicWrite", protocol.Mutation, func(context.Context, *rpc.Session, protocol.Empty) (string, error) {
			return secret[strings.Index(secret, "not in it"):], nil
		}),
		rpc.Define("test.fail", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (string, error) {
			return "", errors.New(secret)
		}),
		rpc.Define("test.fault", protocol.Read, func(_ context.Context, _ *rpc.Session, p named) (string, error) {
			return "", faultOf(p.Name)
		}),
		rpc.Define("test.unencodable", protocol.Read, func(context.Context, *rpc.Session, protocol.Empty) (any, error) {
			return func() {}, nil
		}),
	}
}

func faultOf(name string) error {
	cause := errors.New(secret)
	switch name {
	case "invalid":
		return fault.Field("fields.role", "role must be a string").WithHint("give a text")
	case "not_found":
		return fault.Missing("note", "n1")
	case "conflict":
		return fault.New(fault.Conflict, "two notes have that title").WithCandidates([]fault.Candidate{{ID: "a", Title: "A"}})
	case "unavailable":
		return &fault.Error{Kind: fault.Unavailable, Msg: "the disk is full", Retryable: true, Err: cause}
	case "limit":
		return fault.TooLarge("title", 600, 512, "characters")
	case "deadline":
		return fault.Wrap(fault.Deadline, cause, "the search took too long")
	case "query":
		return &fault.Error{Kind: fault.Query, Msg: "there is no type Persn", Line: 1, Column: 15, Hint: "did you mean Person?"}
	case "cancelled":
		return context.Canceled
	case "internal":
		return fault.Wrap(fault.Internal, cause, "%s", secret)
	}
	return cause
}

// serve starts a server with the test methods.
func serve(t testing.TB, limits rpc.Limits) *bench {
	t.Helper()
	return serveRooms(t, limits, rpc.Deps{})
}

// serveRooms starts a server with the test methods and those of the protocol
// over the given rooms, and further methods.
func serveRooms(t testing.TB, limits rpc.Limits, rooms rpc.Deps, further ...rpc.Method) *bench {
	t.Helper()
	return serveRoomsBy(t, rpc.Options{Limits: limits, Methods: further}, rooms)
}

// serveRoomsBy is serveRooms with further options.
func serveRoomsBy(t testing.TB, opts rpc.Options, rooms rpc.Deps) *bench {
	t.Helper()
	dir := shortDir(t)
	b := &bench{
		t: t, path: filepath.Join(dir, "s"), log: &lockedBuffer{},
		started: make(chan string, 256), gates: map[string]chan struct{}{},
	}
	if opts.Limits.Running == 0 {
		opts.Limits.Running = 64 // tests have calls that wait
	}
	opts.Limits = unhurried(opts.Limits)
	level := slog.LevelDebug
	if _, ok := t.(*testing.B); ok {
		level = slog.LevelWarn
	}
	opts.Methods = slices.Concat(rpc.Methods(), b.methods(), opts.Methods)
	opts.Info = protocol.ServerInfo{Name: "ctxd", Version: "0.0.0"}
	opts.Rooms = &rooms
	opts.Logger = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: level}))
	b.srv = rpc.New(opts)
	ln, err := socket.Listen(b.path, socket.Options{Version: "0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.srv.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return b
}

// unhurried leaves out limits of time that a test has not set: on a slow machine a
// client of a test may well do nothing for ten seconds.
func unhurried(l rpc.Limits) rpc.Limits {
	for _, d := range []*time.Duration{&l.WriteStall, &l.FrameTimeout, &l.ReadTimeout, &l.InitializeTimeout} {
		*d = cmp.Or(*d, time.Hour)
	}
	return l
}

// shortDir returns a folder for a socket; that of t.TempDir has a long path.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// peer is a client that writes bytes.
type peer struct {
	t  testing.TB
	nc *net.UnixConn
	in *bufio.Reader
}

// dial connects without a handshake.
func (b *bench) dial() *peer {
	b.t.Helper()
	nc, err := socket.Dial(context.Background(), b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	p := &peer{t: b.t, nc: nc.(*net.UnixConn), in: bufio.NewReaderSize(nc, 64<<10)}
	if _, ok := b.t.(*testing.B); !ok {
		_ = nc.SetDeadline(time.Now().Add(patience))
	}
	b.t.Cleanup(func() { _ = nc.Close() })
	return p
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"clientInfo":{"name":"test"}}}`

// connect connects and initializes, by lines.
func (b *bench) connect() *peer {
	b.t.Helper()
	p := b.dial()
	p.send(hello + "\n")
	if got := p.line(); !strings.Contains(got, `"protocolVersion"`) {
		b.t.Fatalf("initialize: %s", got)
	}
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := p.nc.Write([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// call sends a request by line without waiting.
func (p *peer) call(id any, method, params string) {
	p.t.Helper()
	raw, _ := json.Marshal(id)
	if params == "" {
		params = "{}"
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", raw, method, params))
}

// sizes asks for n replies of that many bytes, in one piece: the connection may be
// cut before the last of them would be sent.
func (p *peer) sizes(n, bytes int) {
	p.t.Helper()
	p.send(strings.Repeat(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"test.size","params":{"n":%d}}`+"\n", bytes), n))
}

func (p *peer) cancel(id any) {
	raw, _ := json.Marshal(id)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%s}}`+"\n", raw))
}

func (p *peer) line() string {
	p.t.Helper()
	s, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading a line: %v (got %q)", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

// framed reads a message by its header.
func (p *peer) framed() string {
	p.t.Helper()
	head, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading a header: %v (got %q)", err, head)
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "Content-Length: ")))
	if err != nil {
		p.t.Fatalf("header %q", head)
	}
	if blank, _ := p.in.ReadString('\n'); blank != "\r\n" {
		p.t.Fatalf("blank line %q", blank)
	}
	body := make([]byte, n)
	for at := 0; at < n; {
		m, err := p.in.Read(body[at:])
		if err != nil {
			p.t.Fatal(err)
		}
		at += m
	}
	return string(body)
}

// closed checks that the daemon has ended the connection.
func (p *peer) closed() {
	p.t.Helper()
	if s, err := p.in.ReadString('\n'); err == nil {
		p.t.Fatalf("the connection is open: %q", s)
	} else if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		p.t.Fatal("the connection was not closed")
	}
}

// drain reads whatever still comes until the daemon has ended the connection.
func (p *peer) drain() {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p.in); errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatal("the connection was not closed")
	}
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

func parseReply(t testing.TB, text string) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("reply %q: %v", text, err)
	}
	return r
}

func (p *peer) reply() reply {
	p.t.Helper()
	return parseReply(p.t, p.line())
}

// wantError reads a reply and checks its id and code.
func (p *peer) wantError(id string, code int) *protocol.Error {
	p.t.Helper()
	text := p.line()
	r := parseReply(p.t, text)
	if string(r.ID) != id || r.Error == nil || r.Error.Code != code {
		p.t.Fatalf("got %s, want id %s and code %d", text, id, code)
	}
	return r.Error
}

// wantResult reads a reply and checks its id and result.
func (p *peer) wantResult(id, result string) {
	p.t.Helper()
	text := p.line()
	r := parseReply(p.t, text)
	if string(r.ID) != id || r.Error != nil || result != "" && string(r.Result) != result {
		p.t.Fatalf("got %s, want id %s and result %s", text, id, result)
	}
}

func frame(text string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
}

// until waits for what nothing tells of.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it did not come to that", what)
		}
	}
}
