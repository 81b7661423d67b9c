package lsptest

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/servertest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Options say what an editor can do and has open.
type Options struct {
	Capabilities string // JSON; "{}" when empty
	Settings     string // JSON, of initializationOptions
	Name         string // of clientInfo; none when empty
	Folders      []string
	Features     []lsp.Feature // those of lsp.Features when nil
	Dial         func(ctx context.Context, as client.Options) (*client.Client, error)
	Page         func(message, audience string, of *prompt.Result) (string, error) // see lsp.Options
	Declined     string                                                            // see lsp.Options
	// Asked answers what the server asks; null when nil.
	Asked func(method string, params json.RawMessage) any
	// Idle leaves initialize to the test.
	Idle bool
}

// Message is a notification or a request that the server has sent.
type Message struct {
	Method string
	Params json.RawMessage
}

// Editor is a client of a server in this process.
type Editor struct {
	t    testing.TB
	conn *jsonrpc2.Conn
	opts Options

	Result lsp.InitializeResult
	Err    chan error // what Serve has returned
	left   bool

	mu   sync.Mutex // guards got
	got  []Message
	news *sync.Cond

	encoding lsp.Encoding
	docs     map[string]*doc
}

// doc is a document as the editor has it.
type doc struct {
	version int32
	text    string
}

// Daemon is a daemon that editors are opened over.
type Daemon struct {
	*servertest.Daemon
	t testing.TB
}

// Start starts a daemon, which ends with the test.
func Start(t testing.TB) *Daemon {
	t.Helper()
	return StartWith(t, servertest.Options{})
}

// StartWith is Start for a daemon with something of its own.
func StartWith(t testing.TB, opts servertest.Options) *Daemon {
	t.Helper()
	return &Daemon{servertest.Start(t, opts), t}
}

// Open starts a server and connects an editor to it.
func (d *Daemon) Open(opts Options) *Editor {
	d.t.Helper()
	if opts.Dial == nil {
		opts.Dial = d.Dial
	}
	return Open(d.t, opts)
}

// Open is Daemon.Open with the Dial of the options.
func Open(t testing.TB, opts Options) *Editor {
	t.Helper()
	near, far := net.Pipe()
	e := &Editor{t: t, opts: opts, Err: make(chan error, 1), docs: make(map[string]*doc)}
	e.news = sync.NewCond(&e.mu)
	features := opts.Features
	if features == nil {
		features = lsp.Features()
	}
	go func() {
		err := lsp.ServeFeatures(context.Background(), far, far, lsp.Options{
			Dial: opts.Dial, Page: opts.Page, Version: "0.0.0", Declined: opts.Declined,
		}, features)
		_ = far.Close()
		e.Err <- err
	}()
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(near, jsonrpc2.VSCodeObjectCodec{}), handler{e}, jsonrpc2.SetLogger(quiet{}))
	t.Cleanup(e.Close)
	if !opts.Idle {
		e.Initialize()
	}
	return e
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Initialize begins the session.
func (e *Editor) Initialize() {
	e.t.Helper()
	capabilities, settings := e.opts.Capabilities, e.opts.Settings
	if capabilities == "" {
		capabilities = "{}"
	}
	params := map[string]any{"processId": nil, "rootUri": nil, "capabilities": json.RawMessage(capabilities)}
	if settings != "" {
		params["initializationOptions"] = json.RawMessage(settings)
	}
	if e.opts.Name != "" {
		params["clientInfo"] = lsp.ProgramInfo{Name: e.opts.Name}
	}
	var folders []lsp.WorkspaceFolder
	for _, dir := range e.opts.Folders {
		folders = append(folders, lsp.WorkspaceFolder{URI: lsp.FileURI(dir), Name: filepath.Base(dir)})
	}
	if folders != nil {
		params["workspaceFolders"] = folders
	}
	e.Call("initialize", params, &e.Result)
	e.encoding = lsp.ChooseEncoding([]string{e.Result.Capabilities.PositionEncoding})
	e.Notify("initialized", struct{}{})
}

// Close ends the session as the protocol says.
func (e *Editor) Close() {
	if e.left {
		return
	}
	e.left = true
	if err := e.conn.Call(context.Background(), "shutdown", nil, nil); err != nil {
		e.t.Errorf("shutdown: %v", err)
	}
	_ = e.conn.Notify(context.Background(), "exit", nil)
	if err := <-e.Err; err != nil {
		e.t.Errorf("the server has ended with %v", err)
	}
	_ = e.conn.Close()
}

// Leave closes the pipe without a word, and returns what the server says of it.
func (e *Editor) Leave() error {
	e.left = true
	_ = e.conn.Close()
	return <-e.Err
}

// handler gets what the server sends.
type handler struct{ *Editor }

// Handle is called by the library, for one message after the other: what came before a
// reply is known when the reply is there.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	h.mu.Lock()
	h.got = append(h.got, Message{req.Method, params})
	h.news.Broadcast()
	h.mu.Unlock()
	if req.Notif {
		return
	}
	go func() {
		var answer any
		if h.opts.Asked != nil {
			answer = h.opts.Asked(req.Method, params)
		}
		_ = conn.Reply(ctx, req.ID, answer) // a server that has gone needs none
	}()
}

// Await returns the first message of a method that the server has sent or will send.
func (e *Editor) Await(method string, params any) {
	e.t.Helper()
	e.AwaitWhere(method, params, func() bool { return true })
}

// AwaitWhere is Await for a message of which fit holds once params are read.
func (e *Editor) AwaitWhere(method string, params any, fit func() bool) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(e.got); seen++ {
			m := e.got[seen]
			if m.Method != method {
				continue
			}
			if params != nil {
				must(e.t, json.Unmarshal(m.Params, params))
			}
			if fit() {
				return
			}
		}
		e.news.Wait()
	}
}

// Sent returns the messages of a method that the server has sent so far.
func (e *Editor) Sent(method string) (list []Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.got {
		if m.Method == method {
			list = append(list, m)
		}
	}
	return list
}

// Call calls a method, which must succeed.
func (e *Editor) Call(method string, params, result any) {
	e.t.Helper()
	if err := e.Try(method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// Try calls a method.
func (e *Editor) Try(method string, params, result any) error {
	return e.conn.Call(e.t.Context(), method, params, result)
}

// Conn is the connection, for calls whose course a test decides.
func (e *Editor) Conn() *jsonrpc2.Conn { return e.conn }

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) {
	e.t.Helper()
	must(e.t, e.conn.Notify(e.t.Context(), method, params))
}

// URI is the address of a file of a folder.
func URI(root, path string) string { return lsp.FileURI(filepath.Join(root, filepath.FromSlash(path))) }

// Show opens a document with a text. A bar in the text is the cursor: it is taken out, and
// its place returned.
func (e *Editor) Show(uri, content string) lsp.TextDocumentPositionParams {
	e.t.Helper()
	return e.ShowMarked(uri, content, "|")
}

// ShowMarked is Show with another mark of the cursor.
func (e *Editor) ShowMarked(uri, content, mark string) lsp.TextDocumentPositionParams {
	e.t.Helper()
	before, after, found := strings.Cut(content, mark)
	if !found {
		before, after = "", content
	}
	language := "markdown"
	if strings.HasSuffix(uri, ".yaml") {
		language = "yaml"
	}
	d := &doc{version: 1, text: before + after}
	if was := e.docs[uri]; was != nil {
		d.version = was.version + 1
		e.Notify("textDocument/didChange", lsp.DidChangeTextDocumentParams{
			TextDocument:   lsp.VersionedTextDocumentIdentifier{URI: uri, Version: d.version},
			ContentChanges: []lsp.TextDocumentContentChangeEvent{{Text: d.text}},
		})
	} else {
		e.Notify("textDocument/didOpen", lsp.DidOpenTextDocumentParams{TextDocument: lsp.TextDocumentItem{
			URI: uri, LanguageID: language, Version: 1, Text: d.text,
		}})
	}
	e.docs[uri] = d
	return lsp.TextDocumentPositionParams{
		TextDocument: lsp.TextDocumentIdentifier{URI: uri},
		Position:     lsp.NewDocument(uri, "", d.text).Position(len(before), e.encoding),
	}
}

// Text is a document as the editor has it.
func (e *Editor) Text(uri string) string { return e.docs[uri].text }

// Applied returns a document with an edit, as the editor would apply it.
func (e *Editor) Applied(uri string, edit lsp.TextEdit) string {
	d := lsp.NewDocument(uri, "", e.docs[uri].text)
	start, end := d.Span(edit.Range, e.encoding)
	return d.Text[:start] + edit.NewText + d.Text[end:]
}
