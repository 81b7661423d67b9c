package lsp

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// maxCalls is how many requests of an editor are worked on at once; the daemon takes no
// more than 64 of a connection.
const maxCalls = 16

// Session is one editor and what it has open. Its methods may be called concurrently.
type Session struct {
	opts     Options
	features []Feature
	requests map[string]Request
	daemon   *client.ReconnectingConn
	conn     *jsonrpc2.Conn
	slots    chan struct{} // one token a request under way
	ctx      context.Context
	cancel   context.CancelFunc

	asking     context.Context // ends when the editor answers no more
	stopAsking context.CancelFunc

	work    sync.WaitGroup // requests and what Go has started
	pending sync.WaitGroup // requests alone
	closing sync.WaitGroup // the reply to shutdown
	places  places

	began      sync.Once
	configured chan struct{} // closed when the editor was asked for its settings

	mu       sync.Mutex // guards what follows
	phase    phase
	params   InitializeParams
	encoding Encoding
	settings Settings
	open     map[string]*Buffer
	running  map[jsonrpc2.ID]context.CancelCauseFunc
	folders  []WorkspaceFolder
	asked    map[string]bool // folders whose import was asked for or made
	ended    bool            // nothing is launched any more
	warned   bool            // the user was told that there is no daemon
	tokens   int             // progress tokens that were made
}

// phase is where a session stands in its life.
type phase uint8

const (
	fresh phase = iota // before initialize
	active
	ending // after shutdown
	over   // after exit
)

// Client returns what the editor can do.
func (s *Session) Client() *ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &s.params.Capabilities
}

// Editor names the program at the other end.
func (s *Session) Editor() ProgramInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.params.ClientInfo == nil {
		return ProgramInfo{}
	}
	return *s.params.ClientInfo
}

// Encoding returns the unit of positions.
func (s *Session) Encoding() Encoding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.encoding
}

// Settings returns what the user has set.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Folders returns the folders that the editor has open.
func (s *Session) Folders() []WorkspaceFolder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]WorkspaceFolder(nil), s.folders...)
}

// Documents returns the open documents.
func (s *Session) Documents() (list []*Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.open {
		list = append(list, b.Document())
	}
	return list
}

// Opened returns an open document in its present state, nil when it is not open.
func (s *Session) Opened(uri string) *Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.open[uri]; b != nil {
		return b.Document()
	}
	return nil
}

// Read returns a document: one that is open, or a file. It returns nil for one that is
// nowhere, or too large to be a note.
func (s *Session) Read(uri string) *Document {
	if d := s.Opened(uri); d != nil {
		return d
	}
	path, ok := URIPath(uri)
	if !ok {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxMessage {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	language := ""
	if strings.HasSuffix(strings.ToLower(path), ".md") {
		language = "markdown"
	}
	return NewDocument(uri, language, string(data))
}

// Daemon calls a method of the daemon that reads.
func (s *Session) Daemon(ctx context.Context, method string, params, result any) error {
	return s.daemon.Call(ctx, method, params, result)
}

// Change calls a method of the daemon that writes. It is never called twice.
func (s *Session) Change(ctx context.Context, method string, params, result any) error {
	return s.daemon.Once(ctx, method, params, result)
}

// Tell notifies the editor. An editor that has gone is not told.
func (s *Session) Tell(method string, params any) {
	_ = s.conn.Notify(s.ctx, method, params)
}

// Ask asks the editor. It may not be called by a hook, which would keep the answer from
// being read.
func (s *Session) Ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.asking, cancel)()
	return s.conn.Call(ctx, method, params, result)
}

// Log writes a line into the log that the editor keeps of the server. kind is one of
// MessageError and its siblings.
func (s *Session) Log(kind int, message string) {
	s.Tell("window/logMessage", ShowMessageParams{Type: kind, Message: message})
}

// Show shows the user a message.
func (s *Session) Show(kind int, message string) {
	s.Tell("window/showMessage", ShowMessageParams{Type: kind, Message: message})
}

// Go runs what takes longer than a hook may. The context ends with the session, which
// waits for it. After the end nothing is run.
func (s *Session) Go(run func(ctx context.Context)) { s.launch(func() { run(s.ctx) }) }

// launch runs work that the session waits for at its end. It reports false when that has
// come: then nothing is run.
func (s *Session) launch(run func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.work.Go(run)
	return true
}

// dial connects to the daemon and follows what features want to be told of.
func (s *Session) dial(ctx context.Context) (*client.Client, error) {
	topics := make(map[protocol.Topic]bool)
	for _, f := range s.features {
		for topic := range f.Events {
			topics[topic] = true
		}
	}
	topics[protocol.TopicNotes] = true
	c, err := s.opts.Dial(ctx, client.Options{Audience: protocol.Local, OnNotify: s.event})
	if err != nil {
		return nil, err
	}
	list := protocol.EventTopics{}
	for _, name := range protocol.Topics {
		if topics[name] {
			list.Topics = append(list.Topics, name)
		}
	}
	if err := c.Call(ctx, "events.subscribe", list, nil); err != nil {
		_ = c.Close()
		return nil, err
	}
	s.places.forget()
	s.mu.Lock()
	late := s.warned
	s.warned = false
	s.mu.Unlock()
	if late {
		s.Go(s.offerImports) // nothing could be found out about the folders before
	}
	return c, nil
}

// event passes a notification of the daemon on.
func (s *Session) event(method string, params json.RawMessage) {
	if protocol.Topic(method) == protocol.TopicNotes {
		s.places.forgetNotes()
	}
	for _, f := range s.features {
		if told := f.Events[protocol.Topic(method)]; told != nil {
			told(s, params)
		}
	}
}

// noDaemon tells the user once that no daemon answers.
func (s *Session) noDaemon(err error) {
	s.opts.Logger.Warn("no daemon", "error", err)
	s.mu.Lock()
	told := s.warned || s.phase != active
	s.warned = s.warned || !told
	s.mu.Unlock()
	if !told {
		s.Show(MessageWarning, "ctxd: no daemon answers, and none could be started: "+err.Error())
	}
}
