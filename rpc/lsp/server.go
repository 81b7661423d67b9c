package lsp

// This file and server_*.go are the core of the language server: the connection to an editor, the life of a session,
// the open documents, settings, and the connection to the daemon. What an editor can ask is not here: features are
// given to [ServeFeatures], and [Features] lists them.
//
// # A feature
//
// A [Feature] is a value with the requests that it answers, what it adds to the capabilities, and what it wants to be
// told. See Feature and [NewRequest]. A handler gets a [Call]:
//
//   - Call.Document is the open document that the request is about, in the state that it had when the request came;
//     later edits do not change it. When the editor has changed the document by the time the answer is there, the core
//     answers ContentModified instead, unless the request is made with [NewStableRequest].
//   - Call.Read returns any other document: open, else from its file.
//   - Session.Daemon calls a method of the daemon that reads, and reconnects when the connection was lost;
//     Session.Change one that writes, never twice.
//   - Session.Tell notifies the editor, Session.Ask asks it.
//   - Session.Place says which vault and path a document has, Session.NoteID which note it is, Session.URI the way
//     back.
//   - The context ends when the editor withdraws the request or the session ends: a handler returns its error then.
//
// A handler returns a message of wire_*.go; nil is answered as null. A fault.Error is answered as RequestFailed with
// its message and hint.
//
// # Lifetime and concurrency
//
// ServeFeatures runs one session. Messages are read by one goroutine, which applies notifications in their order and
// takes the state of the document for each request; requests run in goroutines of their own, 16 at a time. Hooks of a
// Feature run in the reading goroutine: they must not block, and start what takes longer with Session.Go.
//
// Records come from the daemon's connection, which is that of a local audience; nothing is filtered and nothing is
// kept here but ids and the folders of vaults.

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/client"
)

// Options say where the daemon is.
type Options struct {
	// Dial connects to the daemon with the Audience and OnNotify that it is given, and
	// starts the daemon first if that is wanted. It is called for the first request that
	// needs a daemon, and again after the connection was lost.
	Dial func(ctx context.Context, as client.Options) (*client.Client, error)
	// Page makes the page of a prompt; nil: there is none. See Session.Page.
	Page func(message, audience string, of *prompt.Result) (string, error)
	// Declined is a file that keeps which folders the user does not want to be imported; "" keeps none.
	Declined string
	Version  string       // of this program
	Logger   *slog.Logger // nil: nothing is logged
}

// ErrNoShutdown is returned for a session that the editor ended without shutdown. The
// protocol asks for exit status 1 then.
var ErrNoShutdown = errors.New("the editor ended the session without shutdown")

// ServeFeatures speaks to one editor over a pair of streams until it says exit, the input ends, or
// ctx ends. What was asked before the end of the input is answered. When it returns the
// input may still be read from.
func ServeFeatures(ctx context.Context, in io.Reader, out io.Writer, opts Options, features []Feature) error {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		opts: opts, features: features, requests: make(map[string]Request),
		slots: make(chan struct{}, maxCalls), settings: defaultSettings(),
		open: make(map[string]*Buffer), running: make(map[jsonrpc2.ID]context.CancelCauseFunc),
		asked: make(map[string]bool), configured: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	s.asking, s.stopAsking = context.WithCancel(s.ctx)
	defer s.stopAsking()
	for _, f := range features {
		for _, r := range f.Requests {
			s.requests[r.method] = r
		}
	}
	s.daemon = client.NewReconnectingConn(client.ReconnectOptions{
		Dial: s.dial, Failed: s.noDaemon, Hint: "ctxd serve --vault FOLDER",
	})
	st := newStream(in, out, opts.Logger)
	st.drained = func() {
		s.stopAsking() // nobody answers any more
		s.pending.Wait()
		s.closing.Wait()
	}
	began := make(chan struct{})
	s.conn = jsonrpc2.NewConn(s.ctx, st, handler{s, began}, jsonrpc2.SetLogger(slog.NewLogLogger(opts.Logger.Handler(), slog.LevelWarn)))
	close(began)
	<-s.conn.DisconnectNotify()
	s.cancel()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.work.Wait()
	s.daemon.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != ending && s.phase != over {
		return ErrNoShutdown
	}
	return nil
}

// handler gets the messages of the editor, one at a time.
type handler struct {
	*Session
	began chan struct{} // closed when Session.conn is set
}

// Handle is called by the library.
func (h handler) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-h.began
	h.message(req)
}

// capabilities are what the core and the features can do.
func (s *Session) capabilities() ServerCapabilities {
	var can ServerCapabilities
	can.PositionEncoding = s.Encoding().String()
	can.TextDocumentSync = TextDocumentSyncOptions{OpenClose: true, Change: SyncIncremental, Save: &SaveOptions{}}
	can.Workspace = &ServerWorkspaceCapabilities{WorkspaceFolders: &WorkspaceFoldersServerCapabilities{
		Supported: true, ChangeNotifications: true,
	}}
	for _, f := range s.features {
		if f.Announce != nil {
			f.Announce(s, &can)
		}
	}
	return can
}
