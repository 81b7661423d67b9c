package servertest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/cites"
	chatdoc "github.com/ctxd/ctxd/chat/document"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/learn/concepts"
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
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// patience is how long a test waits for what must come.
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
	return func() time.Time {
		n := read.Load()
		if !rehearses() {
			n = read.Add(1)
		}
		return start.Add(time.Duration(n) * time.Millisecond)
	}
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

// Options are what a daemon has that not all have. The zero value works.
type Options struct {
	Models  *llm.Set     // that answer; nil: none does
	Methods []rpc.Method // in the place of those of the same name
	Machine string       // what it is called in a shared store; "": the store is not shared

	Write []vault.WriteRule // folders of vaults that may be written
}

// Daemon is a whole daemon over a store in memory, on a socket.
type Daemon struct {
	Rooms *rpc.Deps

	t    testing.TB
	opts Options
	path string
	srv  *rpc.Server
}

// Start starts a daemon, which ends with the test.
func Start(t testing.TB, opts Options) *Daemon {
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
	index := search.Open(db, notedoc.New(ns, notedoc.Options{Public: seen.Public, Revealed: seen.Revealed, Copies: vault.CopiesIn(db)}), search.Options{})
	seen.SetSearch(index)
	mem, err := memory.Open(db, memory.Options{
		Now: now, NewID: CountedIDs("memory-"), Entity: entities.EntityRecords.Has, Source: noteState, Deleted: learn.Forget,
		Machine: func() string { return opts.Machine },
	})
	must(t, err)
	chats, err := chat.Open(db, chat.Options{Memories: mem, Remote: seen.View(audience.Remote)})
	must(t, err)
	learning, err := background.OpenLearning(db, mem, chats, learn.Options{Outcomes: learn.ScorerOptions{Now: now}})
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
	read, err := books.NewSource(db, seen)
	must(t, err)
	passages := search.Open(db, read, search.Options{})
	ranker := recall.New(recall.Indexes{
		Memories: recall.Index{Search: memories, Source: remembered}, Store: mem,
		Messages: recall.Index{Search: messages, Source: said}, Message: chatdoc.Recalled,
		Passages: passages, Books: books.Library{Store: shelf, Source: read},
	}, recall.Options{})
	completing := chat.OpenCompleter(db, seen, ents, mem, chats)
	referred := gather.NewResolver(gather.ResolverOptions{
		Memories: mem, Conversation: chats.Handled, Message: chats.Referred, Near: completing.Suggest,
	})
	voices, err := personality.Open(db, personality.Options{})
	must(t, err)
	dir, err := os.MkdirTemp("", "rpc") // that of t.TempDir has a long path
	must(t, err)
	vaults := vault.NewImporter(db, ents, ns, vault.ImporterOptions{Write: opts.Write})
	must(t, vaults.Start(context.Background(), vault.Host{Enter: func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }}))
	d := &Daemon{t: t, opts: opts, path: filepath.Join(dir, "s"), Rooms: &rpc.Deps{
		Handles: completing, Refs: referred,
		Personalities: voices, Books: shelf, Passages: passages,
		KV: db, Entities: ents, Notes: ns, WQL: engine, Graph: gr,
		Chat: chats, Cites: cites.OpenIndex(db, chats, said.Messages()), Memory: mem, Learn: learning, Memories: memories, Recall: ranker, Messages: messages, Concepts: spoken,
		Search: index, Audience: seen, Gather: gather.Open(db, seen, gather.Options{
			Memories: mem, Finder: ranker, Conversations: chats, Personality: voices.Active,
			Refs: referred, DayNotes: vaults.DayNotes,
		}),
		Vaults: vaults,
	}}
	t.Cleanup(func() {
		must(t, db.Close())
		_ = os.RemoveAll(dir)
	})
	d.Listen()
	t.Cleanup(d.Stop)
	return d
}

// Listen serves, after Stop anew.
func (d *Daemon) Listen() {
	d.t.Helper()
	d.srv = rpc.New(rpc.Options{
		Methods: append(rpc.Methods(), d.opts.Methods...), Rooms: d.Rooms, Providers: d.opts.Models,
		Info:   protocol.ServerInfo{Name: "ctxd", Version: "0.0.0"},
		Logger: slog.New(slog.NewTextHandler(d.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	ln, err := socket.Listen(d.path, socket.Options{})
	must(d.t, err)
	go func(srv *rpc.Server) { _ = srv.Serve(ln) }(d.srv)
}

// Stop ends every connection. The store stays.
func (d *Daemon) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(d.t, d.srv.Shutdown(ctx))
}

// Socket is the path of its socket.
func (d *Daemon) Socket() string { return d.path }

// Dial connects as a client.
func (d *Daemon) Dial(ctx context.Context, as client.Options) (*client.Client, error) {
	return client.Dial(ctx, d.path, as)
}

// Call calls a method, which must succeed.
func (d *Daemon) Call(method string, params, result any) {
	d.t.Helper()
	c, err := d.Dial(context.Background(), client.Options{Name: "test"})
	must(d.t, err)
	defer func() { _ = c.Close() }() // the answer is here
	if err := c.Call(context.Background(), method, params, result); err != nil {
		d.t.Fatalf("%s: %v", method, err)
	}
}

// Vault writes files into a new folder and imports it. It returns the folder.
func (d *Daemon) Vault(files map[string]string) string {
	d.t.Helper()
	root := WriteFolder(d.t, files)
	d.Call("vault.import", protocol.VaultImport{Path: root, Watch: true}, nil)
	return root
}

// WriteFolder writes files into a new folder, named by path with slashes. All have one time, so
// that nothing is ranked by it.
func WriteFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(content), 0o600))
		written := time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)
		must(t, os.Chtimes(file, written, written))
	}
	return root
}
