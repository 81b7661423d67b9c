package lsp

// This file and commands_*.go answer workspace/executeCommand: the prompt for a note, a selection or a question with
// its report, search by meaning, related notes, what is wrong in the vault, the page with the graph of a prompt, a question to a language model, a
// memory of the selection, and the note of today. [commandActions] offers those that are about a range, for a menu of
// the editor.
//
// Each command takes one object, all of its fields optional, and returns one, so that a plugin can show it in its own
// way. An editor without a plugin sees it, too: a prompt or a page is shown as a document (window/showDocument), an
// answer is streamed into the progress of the request and written into the log. Prompts are for a remote model unless
// the argument says otherwise, since they are copied to one.
//
// Documents to show are files in a folder of their own, with mode 0600, which is removed when the session ends. Notes
// are made by the editor, through workspace/applyEdit. Errors are those of the daemon, and faults that name the
// argument.

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// CommandArguments are what a command is about. A command takes those that it needs.
type CommandArguments struct {
	URI      string `json:"uri,omitempty"`      // of a document
	Range    *Range `json:"range,omitempty"`    // of it: the selection
	Text     string `json:"text,omitempty"`     // in place of a document: a question, a statement
	Audience string `json:"audience,omitempty"` // local or remote: who will read a prompt
	Limit    int    `json:"limit,omitempty"`    // of a list
	Show     bool   `json:"show,omitempty"`     // show the result as a document
	// ConversationID is that of a question which goes on.
	ConversationID string `json:"conversationId,omitempty"`
}

// command is one command.
type command struct {
	name, title string
	run         func(r *runner, ctx context.Context, c *Call, a *CommandArguments, token ProgressToken) (any, error)
}

// The names of the commands. Editors register them under these names, so they differ from those that an
// extension has of its own, such as ctxd.search.
const (
	CommandContext  = "ctxd.lsp.context"
	CommandSearch   = "ctxd.lsp.search"
	CommandRelated  = "ctxd.lsp.related"
	CommandProblems = "ctxd.lsp.problems"
	CommandGraph    = "ctxd.lsp.graph"
	CommandAsk      = "ctxd.lsp.ask"
	CommandRemember = "ctxd.lsp.remember"
	CommandToday    = "ctxd.lsp.today"
)

var allCommands = []command{
	{CommandContext, "Show the prompt for this", (*runner).context},
	{CommandSearch, "Search by meaning", (*runner).search},
	{CommandRelated, "Related notes", (*runner).related},
	{CommandProblems, "Problems of the vault", (*runner).problems},
	{CommandGraph, "Open the page with the graph of this", (*runner).graph},
	{CommandAsk, "Ask a language model", (*runner).ask},
	{CommandRemember, "Remember the selection", (*runner).remember},
	{CommandToday, "Open the note of today", (*runner).today},
}

// commandsFeature returns the commands.
func commandsFeature() Feature {
	r := &runner{asked: make(map[string]func(string)), answers: make(map[string]func(string))}
	return Feature{
		Requests: []Request{NewStableRequest("workspace/executeCommand", r.execute)},
		Announce: func(_ *Session, can *ServerCapabilities) {
			var names []string
			for _, one := range allCommands {
				names = append(names, one.name)
			}
			can.ExecuteCommandProvider = &ExecuteCommandOptions{Commands: names}
		},
		Began: func(s *Session) {
			s.Go(func(ctx context.Context) {
				<-ctx.Done()
				r.clean()
			})
		},
		Events: map[protocol.Topic]func(*Session, json.RawMessage){
			// It is no topic: a delta comes because this connection has asked.
			protocol.Topic(protocol.NotifyChatDelta): func(_ *Session, params json.RawMessage) { r.delta(params) },
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

func (r *runner) execute(ctx context.Context, c *Call, p *ExecuteCommandParams) (any, error) {
	i := slices.IndexFunc(allCommands, func(one command) bool { return one.name == p.Command })
	if i < 0 {
		return nil, fault.New(fault.Invalid, "there is no command %q", p.Command)
	}
	var a CommandArguments
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments[0], &a); err != nil {
			return nil, fault.Field("arguments", "cannot read the argument: %v", err).WithHint("give one object")
		}
	}
	return allCommands[i].run(r, ctx, c, &a, p.WorkDoneToken)
}

// commandActions returns the commands that are about a range of a document.
func commandActions(c *Call, p *CodeActionParams) (list []CodeAction) {
	names := []string{CommandContext, CommandGraph}
	a := CommandArguments{URI: p.TextDocument.URI, Show: true}
	if p.Range.Start != p.Range.End {
		names = []string{CommandContext, CommandGraph, CommandRemember, CommandAsk}
		a.Range = &p.Range
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	for _, one := range allCommands {
		if slices.Contains(names, one.name) {
			list = append(list, CodeAction{Title: one.title, Kind: commandActionKind, Command: &Command{
				Title: one.title, Command: one.name, Arguments: []json.RawMessage{raw},
			}})
		}
	}
	return list
}

// commandActionKind is that of the actions that are commands.
const commandActionKind = "source.ctxd"

// commandDocument returns the document of the arguments and what of it is meant: the selection, or all of it.
func commandDocument(c *Call, a *CommandArguments) (d *Document, selected string) {
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
func (r *runner) show(ctx context.Context, c *Call, name, content string, outside bool) (string, error) {
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
		params := ShowDocumentParams{URI: FileURI(file), External: outside, TakeFocus: true}
		if err := c.Ask(ctx, "window/showDocument", params, nil); err != nil {
			return file, err
		}
	} else {
		c.Show(MessageInfo, "ctxd: "+file)
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
