package commands

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/text"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Arguments are what a command is about. A command takes those that it needs.
type Arguments struct {
	URI      string      `json:"uri,omitempty"`      // of a document
	Range    *wire.Range `json:"range,omitempty"`    // of it: the selection
	Text     string      `json:"text,omitempty"`     // in place of a document: a question, a statement
	Audience string      `json:"audience,omitempty"` // local or remote: who will read a prompt
	Limit    int         `json:"limit,omitempty"`    // of a list
	Show     bool        `json:"show,omitempty"`     // show the result as a document
	// ConversationID is that of a question which goes on.
	ConversationID string `json:"conversationId,omitempty"`
}

// command is one command.
type command struct {
	name, title string
	run         func(r *runner, ctx context.Context, c *server.Call, a *Arguments, token wire.ProgressToken) (any, error)
}

// The names of the commands. Editors register them under these names, so they differ from those that an
// extension has of its own, such as ctxd.search.
const (
	Context  = "ctxd.lsp.context"
	Search   = "ctxd.lsp.search"
	Related  = "ctxd.lsp.related"
	Graph    = "ctxd.lsp.graph"
	Ask      = "ctxd.lsp.ask"
	Remember = "ctxd.lsp.remember"
	Today    = "ctxd.lsp.today"
)

var all = []command{
	{Context, "Show the prompt for this", (*runner).context},
	{Search, "Search by meaning", (*runner).search},
	{Related, "Related notes", (*runner).related},
	{Graph, "Open the page with the graph of this", (*runner).graph},
	{Ask, "Ask a language model", (*runner).ask},
	{Remember, "Remember the selection", (*runner).remember},
	{Today, "Open the note of today", (*runner).today},
}

// Feature returns the commands.
func Feature() server.Feature {
	r := &runner{asked: make(map[string]func(string)), answers: make(map[string]func(string))}
	return server.Feature{
		Requests: []server.Request{server.Lasting("workspace/executeCommand", r.execute)},
		Announce: func(_ *server.Session, can *wire.ServerCapabilities) {
			var names []string
			for _, one := range all {
				names = append(names, one.name)
			}
			can.ExecuteCommandProvider = &wire.ExecuteCommandOptions{Commands: names}
		},
		Began: func(s *server.Session) {
			s.Go(func(ctx context.Context) {
				<-ctx.Done()
				r.clean()
			})
		},
		Events: map[protocol.Topic]func(*server.Session, json.RawMessage){
			// It is no topic: a delta comes because this connection has asked.
			protocol.Topic(protocol.NotifyChatDelta): func(_ *server.Session, params json.RawMessage) { r.delta(params) },
		},
	}
}

// runner runs the commands of one session.
type runner struct {
	mu      sync.Mutex              // guards what follows
	dir     string                  // of the documents that are shown; "" until the first
	over    bool                    // the session has ended
	made    int                     // questions
	asked   map[string]func(string) // readers of answers that have not begun, by the id of the question
	answers map[string]func(string) // by the id of the answer
}

func (r *runner) execute(ctx context.Context, c *server.Call, p *wire.ExecuteCommandParams) (any, error) {
	i := slices.IndexFunc(all, func(one command) bool { return one.name == p.Command })
	if i < 0 {
		return nil, fault.New(fault.Invalid, "there is no command %q", p.Command)
	}
	var a Arguments
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments[0], &a); err != nil {
			return nil, fault.Field("arguments", "cannot read the argument: %v", err).WithHint("give one object")
		}
	}
	return all[i].run(r, ctx, c, &a, p.WorkDoneToken)
}

// Actions returns the commands that are about a range of a document.
func Actions(c *server.Call, p *wire.CodeActionParams) (list []wire.CodeAction) {
	names := []string{Context, Graph}
	a := Arguments{URI: p.TextDocument.URI, Show: true}
	if p.Range.Start != p.Range.End {
		names = []string{Context, Graph, Remember, Ask}
		a.Range = &p.Range
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	for _, one := range all {
		if slices.Contains(names, one.name) {
			list = append(list, wire.CodeAction{Title: one.title, Kind: Kind, Command: &wire.Command{
				Title: one.title, Command: one.name, Arguments: []json.RawMessage{raw},
			}})
		}
	}
	return list
}

// Kind is that of the actions that are commands.
const Kind = "source.ctxd"

// document returns the document of the arguments and what of it is meant: the selection, or all of it.
func document(c *server.Call, a *Arguments) (d *text.Document, selected string) {
	if a.URI == "" {
		return nil, ""
	}
	d = c.Read(a.URI)
	if d == nil || a.Range == nil {
		return d, ""
	}
	start, end := d.Span(*a.Range, c.Encoding())
	return d, d.Text[start:end]
}

// show writes a document and has the editor show it: outside, in a browser, or as a text. It returns its path.
func (r *runner) show(ctx context.Context, c *server.Call, name, content string, outside bool) (string, error) {
	r.mu.Lock()
	var err error
	if r.dir == "" && !r.over {
		r.dir, err = os.MkdirTemp("", "ctxd-lsp-") // 0700
	}
	dir := r.dir
	r.mu.Unlock()
	if err != nil || dir == "" {
		return "", fault.Wrap(fault.Unavailable, err, "no document can be made to show")
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "no document can be made to show")
	}
	if c.Client().Window.ShowDocument.Support {
		params := wire.ShowDocumentParams{URI: text.URIOf(file), External: outside, TakeFocus: true}
		if err := c.Ask(ctx, "window/showDocument", params, nil); err != nil {
			return file, err
		}
	} else {
		c.Show(wire.MessageInfo, "ctxd: "+file)
	}
	return file, nil
}

// clean removes the documents that were shown.
func (r *runner) clean() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.dir != "" {
		_ = os.RemoveAll(r.dir) // the system clears what is left
		r.dir = ""
	}
}
