package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// errWithdrawn is why the context of a request ends that the editor has withdrawn.
var errWithdrawn = errors.New("withdrawn by the editor")

// exitGrace is how long requests that were made before shutdown may take after exit, and
// questions to the editor after shutdown.
const exitGrace = 2 * time.Second

// message sees to one message of the editor.
func (s *Session) message(req *jsonrpc2.Request) {
	raw := json.RawMessage(nil)
	if req.Params != nil {
		raw = *req.Params
	}
	if req.Notif {
		defer s.rescue(req.Method, nil)
		s.notified(req.Method, raw)
		return
	}
	s.mu.Lock()
	now := s.phase
	s.mu.Unlock()
	switch {
	case req.Method == "initialize" && now == fresh:
		result, err := s.initialize(raw)
		s.reply(context.Background(), req.ID, result, err)
	case req.Method == "initialize":
		s.refuse(req.ID, jsonrpc2.CodeInvalidRequest, "initialize was called before")
	case now == fresh:
		s.refuse(req.ID, CodeServerNotInitialized, "initialize comes first")
	case now != active:
		s.refuse(req.ID, jsonrpc2.CodeInvalidRequest, "the session is over: shutdown was called")
	case req.Method == "shutdown":
		s.mu.Lock()
		s.phase = ending
		s.mu.Unlock()
		s.closing.Go(func() {
			// An editor that answers no questions any more still gets this answer.
			defer time.AfterFunc(exitGrace, s.stopAsking).Stop()
			s.pending.Wait() // what was asked before is answered before
			s.reply(context.Background(), req.ID, nil, nil)
		})
	default:
		s.request(req, raw)
	}
}

func (s *Session) refuse(id jsonrpc2.ID, code int64, why string) {
	s.reply(context.Background(), id, nil, &jsonrpc2.Error{Code: code, Message: why})
}

// reply answers a request. An editor that has gone is answered by nobody.
func (s *Session) reply(ctx context.Context, id jsonrpc2.ID, result any, err error) {
	if err == nil {
		if err = s.conn.Reply(context.Background(), id, result); err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
			return
		}
	}
	_ = s.conn.ReplyWithError(context.Background(), id, wireError(ctx, err))
}

// request runs a request in a goroutine of its own, with the state that its document has now.
func (s *Session) request(req *jsonrpc2.Request, raw json.RawMessage) {
	r, ok := s.requests[req.Method]
	if !ok {
		s.refuse(req.ID, jsonrpc2.CodeMethodNotFound, "there is no method "+req.Method)
		return
	}
	var about TextDocumentParams
	_ = json.Unmarshal(raw, &about) // the handler says what is wrong with it
	ctx, cancel := context.WithCancelCause(s.ctx)
	call := &Call{Session: s}
	s.mu.Lock()
	if b := s.open[about.TextDocument.URI]; b != nil {
		call.Document = b.Document()
	}
	s.running[req.ID] = cancel
	s.mu.Unlock()
	s.pending.Add(1)
	launched := s.launch(func() {
		defer s.pending.Done()
		defer cancel(nil)
		result, err := s.run(ctx, r, call, raw)
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		if err == nil && errors.Is(context.Cause(ctx), errWithdrawn) {
			err = ctx.Err()
		}
		s.reply(ctx, req.ID, result, err)
	})
	if !launched { // nobody is there to be answered
		s.pending.Done()
		cancel(nil)
	}
}

// run calls a handler when its turn comes.
func (s *Session) run(ctx context.Context, r Request, c *Call, raw json.RawMessage) (result any, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer s.rescue(r.method, &err)
	result, err = r.handle(ctx, c, raw)
	if ctx.Err() == nil && c.Document != nil && !r.lasting && !s.current(c.Document) {
		return nil, errModified
	}
	return result, err
}

// current reports whether a document still is as it was.
func (s *Session) current(d *Document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.open[d.URI]
	return b != nil && b.Is(d)
}

// rescue answers for a handler that panics: the editor keeps its session.
func (s *Session) rescue(method string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	// The value may hold what a user wrote; the stack does not.
	s.opts.Logger.Error("a handler has panicked", "method", method, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	if err != nil {
		*err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "internal error; the log of the server has the details"}
	}
}

// initialize begins the session.
func (s *Session) initialize(raw json.RawMessage) (any, error) {
	var p InitializeParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	settings, bad := readSettings(p.InitializationOptions)
	s.mu.Lock()
	s.params, s.settings = p, settings
	s.encoding = ChooseEncoding(p.Capabilities.General.PositionEncodings)
	s.folders = p.WorkspaceFolders
	switch {
	case len(s.folders) > 0:
	case p.RootURI != nil && *p.RootURI != "":
		s.folders = []WorkspaceFolder{{URI: *p.RootURI}}
	case p.RootPath != nil && *p.RootPath != "":
		s.folders = []WorkspaceFolder{{URI: FileURI(*p.RootPath)}}
	}
	s.phase = active
	s.mu.Unlock()
	for _, name := range bad {
		s.opts.Logger.Warn("a setting has no such value", "setting", name)
	}
	return InitializeResult{
		Capabilities: s.capabilities(), ServerInfo: ProgramInfo{Name: "ctxd", Version: s.opts.Version},
	}, nil
}

// notified sees to a notification. Before initialize only exit is looked at.
func (s *Session) notified(method string, raw json.RawMessage) {
	s.mu.Lock()
	now := s.phase
	s.mu.Unlock()
	if method == "exit" {
		s.mu.Lock()
		if s.phase == ending {
			s.phase = over
		}
		s.mu.Unlock()
		s.stopAsking()
		defer time.AfterFunc(exitGrace, s.withdrawAll).Stop()
		s.closing.Wait()
		_ = s.conn.Close()
		return
	}
	known := notifications[method]
	if now != active || known == nil {
		return // of a notification that is not known nothing may be said
	}
	if err := known(s, raw); err != nil {
		s.opts.Logger.Warn("a notification was not understood", "method", method, "error", err)
	}
}

// notifications are those that an editor may send.
var notifications = map[string]func(*Session, json.RawMessage) error{
	"initialized":                         notificationHandler((*Session).initialized),
	"$/cancelRequest":                     notificationHandler((*Session).withdraw),
	"textDocument/didOpen":                notificationHandler((*Session).didOpen),
	"textDocument/didChange":              notificationHandler((*Session).didChange),
	"textDocument/didSave":                notificationHandler((*Session).didSave),
	"textDocument/didClose":               notificationHandler((*Session).didClose),
	"workspace/didChangeConfiguration":    notificationHandler((*Session).didChangeConfiguration),
	"workspace/didChangeWorkspaceFolders": notificationHandler((*Session).didChangeFolders),
}

func notificationHandler[P any](handle func(s *Session, p *P)) func(*Session, json.RawMessage) error {
	return func(s *Session, raw json.RawMessage) error {
		var p P
		if err := decode(raw, &p); err != nil {
			return err
		}
		handle(s, &p)
		return nil
	}
}

// withdraw ends a request that the editor no longer waits for.
func (s *Session) withdraw(p *CancelParams) {
	var id jsonrpc2.ID
	if id.UnmarshalJSON(p.ID) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel(errWithdrawn)
	}
}

// withdrawAll ends the requests that are under way.
func (s *Session) withdrawAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.running {
		cancel(errWithdrawn)
	}
}

// initialized is sent when the editor is ready to be asked.
func (s *Session) initialized(*InitializedParams) {
	// The first completion finds the daemon started and connected. Who tries is told why not.
	s.Go(func(ctx context.Context) { _ = s.daemon.Connected(ctx) })
	s.Go(func(ctx context.Context) {
		s.configure(ctx)
		s.began.Do(func() { close(s.configured) })
		s.offerImports(ctx)
	})
	for _, f := range s.features {
		if f.Began != nil {
			f.Began(s)
		}
	}
}

// configure follows the settings of the editor.
func (s *Session) configure(ctx context.Context) {
	can := s.Client()
	if can.Workspace.DidChangeConfiguration.DynamicRegistration {
		_ = s.Ask(ctx, "client/registerCapability", RegistrationParams{Registrations: []Registration{{
			ID: "ctxd-settings", Method: "workspace/didChangeConfiguration",
			RegisterOptions: map[string]string{"section": "ctxd"},
		}}}, nil) // an editor that refuses may still say when they change
	}
	s.askSettings(ctx)
}

// set takes settings over.
func (s *Session) set(raw json.RawMessage) {
	settings, bad := readSettings(raw)
	s.mu.Lock()
	changed := s.settings != settings
	s.settings = settings
	s.mu.Unlock()
	for _, name := range bad {
		s.Log(MessageWarning, "the setting "+name+" has no such value; its default is used")
	}
	for _, f := range s.features {
		if changed && f.Configured != nil {
			f.Configured(s)
		}
	}
}

func (s *Session) didChangeConfiguration(p *DidChangeConfigurationParams) {
	if len(p.Settings) > 0 && string(p.Settings) != "null" && !s.Client().Workspace.Configuration {
		s.set(p.Settings)
		return
	}
	s.Go(s.askSettings)
}

// askSettings asks the editor for the settings, where it can be asked.
func (s *Session) askSettings(ctx context.Context) {
	if !s.Client().Workspace.Configuration {
		return
	}
	var answers []json.RawMessage
	err := s.Ask(ctx, "workspace/configuration", ConfigurationParams{Items: []ConfigurationItem{{Section: "ctxd"}}}, &answers)
	if err == nil && len(answers) == 1 && string(answers[0]) != "null" {
		s.set(answers[0])
	}
}
