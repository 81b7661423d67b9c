package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cited"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/chat/feedback"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	bookdoc "github.com/ctxd/ctxd/context/books/document"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/gather/resolve"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/learn/outcomes"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

func TestMain(m *testing.M) {
	// It looks once a second whether its database is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

const patience = 2 * time.Minute

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ticks is a clock that goes on by a millisecond whenever it is read, so that the
// order of records by time is the same in every run.
func ticks() func() time.Time {
	var read atomic.Int64
	start := time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)
	return func() time.Time { return start.Add(time.Duration(read.Add(1)) * time.Millisecond) }
}

// noteState is what memories ask about a note that they come from.
func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

// counted makes ids that are the same in every run.
func counted(what string) func() string {
	var made atomic.Int64
	return func() string { return fmt.Sprintf("%s-%d", what, made.Add(1)) }
}

// daemon is the whole server over a store in memory.
type daemon struct {
	t     *testing.T
	rooms *rpc.Rooms
	path  string
	srv   *rpc.Server
}

func start(t *testing.T, more ...rpc.Method) *daemon {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	var engine *wql.Engine
	now := ticks()
	ents, err := entities.Open(db, entities.Options{Now: now, CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic {
		return engine.CheckField(ty, f)
	}})
	must(t, err)
	engine = wql.New(ents, wql.Options{})
	ns, err := notes.Open(db, ents, notes.Options{Now: now})
	must(t, err)
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, ents, ns, engine)
	seen := audience.Open(db, audience.Stores{Entities: ents, Notes: ns, WQL: engine, Graph: gr})
	index := search.Open(db, notedoc.New(ns, notedoc.Options{Public: seen.Public, Revealed: seen.Revealed}), search.Options{})
	seen.SetSearch(index)
	mem, err := memory.Open(db, memory.Options{Now: now, NewID: counted("memory"), Entity: entities.EntityRecords.Has, Source: noteState, Deleted: learn.Forget})
	must(t, err)
	chats, err := chat.Open(db, chat.Options{Memory: mem.Numbered, Remote: seen.View(audience.Remote)})
	must(t, err)
	learning, err := feedback.Open(db, mem, chats, learn.Options{Outcomes: outcomes.Options{Now: now}})
	must(t, err)
	remembered := document.New(db, mem, seen)
	memories := search.Open(db, remembered, search.Options{})
	said, err := chatdoc.New(db, seen, chatdoc.Options{Now: now})
	must(t, err)
	messages := search.Open(db, said, search.Options{})
	spoken := concepts.Open(db, seen, concepts.Options{Store: mem, Memories: remembered, Messages: said, Said: chatdoc.Spoken, SaidField: chatdoc.Said})
	shelf, err := books.Open(db, books.Options{
		Now: now, Dir: t.TempDir(),
		Conversation: func(tx *kv.Tx, id string) (private, found bool, err error) { return chat.State(tx, id, nil) },
	})
	must(t, err)
	read, err := bookdoc.New(db, seen)
	must(t, err)
	passages := search.Open(db, read, search.Options{})
	ranker, err := recall.New(recall.Indexes{
		Memories: recall.Index{Search: memories, Source: remembered}, Store: mem,
		Messages: recall.Index{Search: messages, Source: said}, Message: chatdoc.Recalled,
		Passages: passages, Books: bookdoc.Library{Store: shelf, Source: read},
	}, recall.Options{})
	must(t, err)
	voices, err := personality.Open(db, personality.Options{})
	must(t, err)
	dir, err := os.MkdirTemp("", "mcp") // that of t.TempDir has a long path
	must(t, err)
	d := &daemon{t: t, path: filepath.Join(dir, "s"), rooms: &rpc.Rooms{
		Personalities: voices, Books: shelf, Passages: passages,
		KV: db, Entities: ents, Notes: ns, WQL: engine, Graph: gr,
		Chat: chats, Cites: cited.Open(db, chats, said.Messages()), Memory: mem, Learn: learning, Memories: memories, Recall: ranker, Messages: messages, Concepts: spoken,
		Search: index, Audience: seen, Gather: gather.Open(db, seen, gather.Options{
			Memories: mem, Finder: ranker, Conversations: chats, Personality: voices.Active,
			Refs: resolve.New(resolve.Options{Memories: mem, Conversation: chats.Handled, Message: chats.Referred}),
		}),
		Vaults: watch.New(db, ents, ns, watch.Options{}),
	}}
	t.Cleanup(func() {
		must(t, db.Close())
		_ = os.RemoveAll(dir)
	})
	d.listen(more...)
	t.Cleanup(d.stop)
	return d
}

// listen serves; methods given here stand in for those of the same name.
func (d *daemon) listen(more ...rpc.Method) {
	d.t.Helper()
	d.srv = rpc.New(rpc.Options{
		Methods: append(rpc.Methods(), more...), Rooms: d.rooms, Info: protocol.ServerInfo{Name: "ctxd", Version: "0.0.0"},
	})
	ln, err := socket.Listen(d.path, socket.Options{})
	must(d.t, err)
	go func() { _ = d.srv.Serve(ln) }()
}

func (d *daemon) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(d.t, d.srv.Shutdown(ctx))
}

func (d *daemon) dial(ctx context.Context) (*client.Client, error) {
	return client.Dial(ctx, d.path, client.Options{Name: "test"})
}

// dialFor connects as ctxd mcp does.
func (d *daemon) dialFor(ctx context.Context, as client.Options) (*client.Client, error) {
	return client.Dial(ctx, d.path, as)
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
	for n := range d.rooms.Notes.All() {
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
		opts.Dial = d.dialFor
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
