package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/servertest"
)

func TestMain(m *testing.M) {
	// It looks once a second whether its database is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// daemon is a daemon that hosts are opened over.
type daemon struct {
	*servertest.Daemon
	t *testing.T
}

// start starts a daemon; methods given here stand in for those of the same name.
func start(t *testing.T, more ...rpc.Method) *daemon {
	t.Helper()
	return &daemon{servertest.Start(t, servertest.Options{Methods: more}), t}
}

func (d *daemon) dial(ctx context.Context) (*client.Client, error) {
	return d.Dial(ctx, client.Options{Name: "test"})
}

// put calls methods that write: pairs of a method and its params.
func (d *daemon) put(pairs ...string) {
	d.t.Helper()
	c, err := d.dial(d.t.Context())
	must(d.t, err)
	defer c.Close()
	for i := 0; i < len(pairs); i += 2 {
		if err := c.Call(d.t.Context(), pairs[i], json.RawMessage(pairs[i+1]), nil); err != nil {
			d.t.Fatalf("%s %.300s: %v", pairs[i], pairs[i+1], err)
		}
	}
}

// idAt returns the id of the note at a path of a vault.
func (d *daemon) idAt(vault, path string) string {
	d.t.Helper()
	for n := range d.Rooms.Notes.All() {
		if n.Vault == vault && n.Path == path {
			return n.ID
		}
	}
	d.t.Fatalf("no note at %s:%s", vault, path)
	return ""
}

// host is an MCP client of a server in this process.
type host struct {
	*sdk.ClientSession
	t    *testing.T
	wire *lockedBuffer // what the server has written
}

// panicsFail fails the test when a handler has panicked, although the host gets an answer (CLI-10).
type panicsFail struct {
	slog.Handler
	t *testing.T
}

func (panicsFail) Enabled(context.Context, slog.Level) bool { return true }

func (h panicsFail) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "panicked") {
		h.t.Errorf("%s", r.Message)
	}
	return nil
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// open starts a server and connects a host to it.
func (d *daemon) open(opts mcp.Options) *host {
	d.t.Helper()
	if opts.Dial == nil {
		opts.Dial = d.Dial
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(panicsFail{slog.DiscardHandler, d.t})
	}
	hostEnd, serverEnd := net.Pipe()
	h := &host{t: d.t, wire: &lockedBuffer{}}
	done := make(chan error, 1)
	go func() {
		defer serverEnd.Close()
		done <- mcp.Serve(context.Background(), serverEnd, io.MultiWriter(h.wire, serverEnd), opts)
	}()
	cl := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil)
	var err error
	h.ClientSession, err = cl.Connect(d.t.Context(), &sdk.IOTransport{Reader: hostEnd, Writer: hostEnd}, nil)
	must(d.t, err)
	d.t.Cleanup(func() {
		_ = h.Close()
		if err := <-done; err != nil {
			d.t.Errorf("the server has ended with %v", err)
		}
	})
	return h
}

// call calls a tool that must succeed, and returns its text.
func (h *host) call(tool, args string) string {
	h.t.Helper()
	res := h.result(tool, args)
	text := textOf(res)
	if res.IsError {
		h.t.Fatalf("%s %s: %s", tool, args, text)
	}
	if res.StructuredContent != nil {
		h.t.Errorf("%s %s answers twice", tool, args)
	}
	return text
}

// fails calls a tool that must not succeed, and returns what it says.
func (h *host) fails(tool, args string) string {
	h.t.Helper()
	res := h.result(tool, args)
	if !res.IsError {
		h.t.Fatalf("%s %s succeeded: %s", tool, args, textOf(res))
	}
	return textOf(res)
}

func (h *host) result(tool, args string) *sdk.CallToolResult {
	h.t.Helper()
	res, err := h.CallTool(h.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		h.t.Fatalf("%s %.300s: %v", tool, args, err)
	}
	return res
}

func textOf(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func (h *host) contains(what, text string, parts ...string) {
	h.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			h.t.Errorf("%s: no %q in\n%s", what, p, text)
		}
	}
}

// asJSON is a value on one line.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

// toolNames are the names of the tools that the host is offered.
func (h *host) toolNames() (names []string) {
	h.t.Helper()
	list, err := h.ListTools(h.t.Context(), nil)
	must(h.t, err)
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}
