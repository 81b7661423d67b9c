package lsp

// This file and diagnose_*.go tell an editor what is wrong with the documents that it has open, pushed
// (textDocument/publishDiagnostics) to an editor that does not ask, and answered to one that does
// (textDocument/diagnostic); and what can be done with a range (textDocument/codeAction).
//
// The daemon checks notes (vault.checkNote) with the texts of all open documents; the declarations of types,
// .ctxd/types/*.yaml, are checked line by line here, their queries by wql.check. A push waits until nobody has typed
// for a moment ([diagnosticsDelay]), and is repeated when the daemon says that notes have changed. Only the last state
// of a document is told of.
//
// An action is an edit that the editor applies: a fix of a problem, a new note where the vault keeps such notes, a
// type declared as it was inferred, a selection that becomes a link or a note. Nothing is kept but which documents
// wait. Errors are those of the daemon; a document outside every vault has no diagnostics.

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// diagnosticsDelay is how long nobody must have typed before diagnostics are pushed.
const diagnosticsDelay = 300 * time.Millisecond

// moreActions offers actions that other packages have: commandActions.
type moreActions func(c *Call, p *CodeActionParams) []CodeAction

// diagnosticsFeature returns diagnostics and code actions, those of others after its own; more may be nil.
func diagnosticsFeature(more moreActions) Feature {
	p := make(pusher, 1)
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/diagnostic", pull),
			NewRequest("textDocument/codeAction", more.actions),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.DiagnosticProvider = &DiagnosticOptions{Identifier: "ctxd", InterFileDependencies: true}
			can.CodeActionProvider = &CodeActionOptions{
				CodeActionKinds: []string{ActionQuickFix, ActionRefactorExtract, ActionRefactorRewrite, ActionSource},
			}
		},
		Began:   func(s *Session) { s.Go(func(ctx context.Context) { p.run(ctx, s) }) },
		Opened:  func(*Session, *OpenDocument) { p.due(0) },
		Changed: func(*Session, *OpenDocument) { p.due(diagnosticsDelay) },
		Saved:   func(*Session, *OpenDocument) { p.due(0) },
		Closed: func(s *Session, uri string) {
			if !pulls(s) {
				s.Tell("textDocument/publishDiagnostics", PublishDiagnosticsParams{URI: uri, Diagnostics: []Diagnostic{}})
			}
			p.due(diagnosticsDelay)
		},
		Events: map[protocol.Topic]func(*Session, json.RawMessage){
			protocol.TopicNotes:    func(*Session, json.RawMessage) { p.due(diagnosticsDelay) },
			protocol.TopicEntities: func(*Session, json.RawMessage) { p.due(diagnosticsDelay) },
		},
	}
}

// pulls reports whether an editor asks for diagnostics itself.
func pulls(s *Session) bool { return s.Client().TextDocument.Diagnostic != nil }

// pusher pushes the diagnostics of all open documents of a session once it is quiet. It has room for one wish: how long
// to wait.
type pusher chan time.Duration

// due has diagnostics pushed after a while, unless something else changes within it.
func (p pusher) due(after time.Duration) {
	select {
	case p <- after:
	default: // the wish before was not looked at yet
	}
}

// run pushes until the session ends.
func (p pusher) run(ctx context.Context, s *Session) {
	for {
		select {
		case <-ctx.Done():
			return
		case after := <-p:
			if !p.wait(ctx, after) {
				return
			}
			push(ctx, s)
		}
	}
}

// wait waits until nothing has changed for a while. It reports false when the session has ended.
func (p pusher) wait(ctx context.Context, after time.Duration) bool {
	timer := time.NewTimer(after)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case again := <-p:
			timer.Reset(again)
		case <-timer.C:
			return true
		}
	}
}

// push tells of all open documents. An editor that asks itself is told to ask again.
func push(ctx context.Context, s *Session) {
	if pulls(s) {
		if s.Client().Workspace.Diagnostics.RefreshSupport {
			_ = s.Ask(ctx, "workspace/diagnostic/refresh", nil, nil)
		}
		return
	}
	c := &Call{Session: s}
	for _, d := range s.Documents() {
		list, err := diagnosticsOf(ctx, c, d)
		if now := s.Opened(d.URI); err != nil || ctx.Err() != nil || now == nil || now.Version != d.Version {
			continue // it has changed, and its turn comes again; or there is no daemon
		}
		s.Tell("textDocument/publishDiagnostics", PublishDiagnosticsParams{URI: d.URI, Version: &d.Version, Diagnostics: list})
	}
}

func pull(ctx context.Context, c *Call, _ *TextDocumentParams) (*DocumentDiagnosticReport, error) {
	report := &DocumentDiagnosticReport{Kind: "full", Items: []Diagnostic{}}
	if c.Document == nil {
		return report, nil
	}
	list, err := diagnosticsOf(ctx, c, c.Document)
	if err != nil {
		return nil, err
	}
	report.Items = list
	return report, nil
}

// diagnosticsOf returns the diagnostics of a document.
func diagnosticsOf(ctx context.Context, c *Call, d *Document) ([]Diagnostic, error) {
	list := []Diagnostic{}
	if isTypeFile(d.URI) {
		return declaration(ctx, c, d)
	}
	problems, err := checkDocument(ctx, c, d)
	if err != nil {
		return nil, err
	}
	for i := range problems {
		list = append(list, problems[i].diagnostic(d, c.Encoding()))
	}
	return list, nil
}

// problem is what the daemon says of a place, in bytes.
type problem struct {
	protocol.NoteProblem
	start, end int
}

var severities = map[string]int{
	"error": SeverityError, "warning": SeverityWarning, "information": SeverityInformation, "hint": SeverityHint,
}

func (p *problem) diagnostic(d *Document, e Encoding) Diagnostic {
	return Diagnostic{
		Range: d.Range(p.start, p.end, e), Severity: severities[p.Severity], Code: string(p.Code), Source: "ctxd", Message: p.Message,
	}
}

// checkDocument asks the daemon what is wrong with a note. A document that is none, and one outside every vault, has no problems.
func checkDocument(ctx context.Context, c *Call, d *Document) ([]problem, error) {
	if !d.IsNote() {
		return nil, nil
	}
	at, ok, err := c.Place(ctx, d.URI)
	if !ok || err != nil {
		return nil, err
	}
	ask := protocol.NoteCheck{Vault: at.Vault, Path: at.Path}
	if ask.Buffers, err = openBuffers(ctx, c, at.Vault, d); err != nil {
		return nil, err
	}
	var out protocol.NoteChecked
	err = c.Daemon(ctx, "vault.checkNote", ask, &out)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := make([]problem, len(out.Problems))
	for i, p := range out.Problems {
		list[i] = problem{p, byteOfUnit(d.Text, p.Range[0]), byteOfUnit(d.Text, p.Range[1])}
	}
	return list, nil
}

// isTypeFile reports whether a document declares a type.
func isTypeFile(uri string) bool {
	return strings.Contains(uri, "/.ctxd/types/") && (strings.HasSuffix(uri, ".yaml") || strings.HasSuffix(uri, ".yml"))
}

var (
	typeName  = regexp.MustCompile(`(?m)^name: *["']?([^"'\r\n#]+?)["']? *\r?$`)
	queryLine = regexp.MustCompile(`(?m)^([ \t-]*query: *)(.*?)[ \t]*\r?$`)
)

// declaration returns the diagnostics of the queries of a type.
func declaration(ctx context.Context, c *Call, d *Document) ([]Diagnostic, error) {
	list := []Diagnostic{}
	ask := protocol.WQLCheck{}
	if m := typeName.FindStringSubmatch(d.Text); len(m) > 1 && knows(ctx, c, m[1]) {
		ask.Type = m[1]
	}
	for _, m := range queryLine.FindAllStringSubmatchIndex(d.Text, -1) {
		start, query := m[4], d.Text[m[4]:m[5]]
		if len(query) > 1 && (query[0] == '"' || query[0] == '\'') && query[len(query)-1] == query[0] {
			start, query = start+1, query[1:len(query)-1]
		}
		if query == "" || query[0] == '|' || query[0] == '>' {
			continue
		}
		ask.Query = query
		var out protocol.WQLChecked
		if err := c.Daemon(ctx, "wql.check", ask, &out); err != nil {
			return nil, err
		}
		for _, found := range out.Diagnostics {
			at := start + byteOfUnit(query, found.Column-1)
			end := at
			for end < start+len(query) && strings.IndexByte(" \t,()=<>!'\"", d.Text[end]) < 0 {
				end++
			}
			severity := SeverityError
			if found.Severity != record.SeverityError {
				severity = SeverityWarning
			}
			message := found.Message
			if found.Hint != "" {
				message += " (try: " + found.Hint + ")"
			}
			list = append(list, Diagnostic{
				Range: d.Range(at, end, c.Encoding()), Severity: severity, Code: "query", Source: "ctxd", Message: message,
			})
		}
	}
	return list, nil
}

// knows reports whether the daemon has a type: one that is new has no queries that name it yet.
func knows(ctx context.Context, c *Call, name string) bool {
	var t record.Type
	return c.Daemon(ctx, "types.get", protocol.TypeGet{Ref: name}, &t) == nil
}
