package lsp

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Feature is one thing that the server can do for an editor. Every member may be nil. The
// hooks are called in the order of the messages, by the goroutine that reads them.
type Feature struct {
	Requests []Request
	// Announce adds to what the editor is told that the server can do.
	Announce func(s *Session, can *ServerCapabilities)
	// Began is called when the editor is ready to be asked.
	Began func(s *Session)
	// Opened is called for a document that was opened, Changed after each change of it,
	// Saved when its file was written, Closed when it is open no more.
	Opened, Changed, Saved func(s *Session, d *OpenDocument)
	Closed                 func(s *Session, uri string)
	// Configured is called when the settings have changed.
	Configured func(s *Session)
	// Events are the topics of the daemon to be told of. They are called by the goroutine
	// that reads from the daemon; it may not call the daemon.
	Events map[protocol.Topic]func(s *Session, params json.RawMessage)
}

// OpenDocument is an open document as the hooks get it: its state is copied only when it is asked for.
type OpenDocument struct {
	URI   string
	State func() *Document
}

// Request is a method that an editor may call, with its handler. On and Lasting make one.
type Request struct {
	method  string
	lasting bool
	handle  func(ctx context.Context, c *Call, params json.RawMessage) (any, error)
}

// Method returns the name of the method.
func (r Request) Method() string { return r.method }

// NewRequest makes a request of a method and its handler. P are the params.
func NewRequest[P, R any](method string, handle func(ctx context.Context, c *Call, p *P) (R, error)) Request {
	return Request{method: method, handle: func(ctx context.Context, c *Call, raw json.RawMessage) (any, error) {
		var p P
		if err := decode(raw, &p); err != nil {
			return nil, err
		}
		return handle(ctx, c, &p)
	}}
}

// NewStableRequest is On for a method whose answer stays right when the document changes meanwhile:
// it is not answered ContentModified.
func NewStableRequest[P, R any](method string, handle func(ctx context.Context, c *Call, p *P) (R, error)) Request {
	r := NewRequest(method, handle)
	r.lasting = true
	return r
}

// decode reads params. Absent ones are the zero value.
func decode(raw json.RawMessage, v any) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "cannot read the params: " + err.Error()}
	}
	return nil
}

// Call is one request of an editor.
type Call struct {
	*Session
	// Document is the open document that the request is about, as it was when the request
	// came; nil when it is about none, or about one that is not open.
	Document *Document
}

// Read returns a document: that of the call, one that is open, or a file. It returns nil
// for one that is nowhere.
func (c *Call) Read(uri string) *Document {
	if c.Document != nil && c.Document.URI == uri {
		return c.Document
	}
	return c.Session.Read(uri)
}
