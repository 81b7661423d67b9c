package lsp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/servertest"
)

func TestMain(m *testing.M) {
	// It looks once a second whether its database is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

// commandsCapabilities is what an editor can that shows documents and makes files.
const commandsCapabilities = `{"window":{"showDocument":{"support":true}},"workspace":{"applyEdit":true,
	"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename"]}}}`

var commandsVault = map[string]string{
	"Hives.md":              "# Hives\n\nThe scale of hive two drifts on hot roofs in summer.\n",
	"Drift.md":              "# Scale drift\n\nScales of hives drift when roofs are hot: see [[Hives]].\n",
	"Secret.md":             "---\nprivate: true\n---\n# Secret\n\nThe drift of hives is a secret.\n",
	"Journal/2020-01-01.md": "x\n",
	"Journal/2020-01-02.md": "x\n",
}

// session is an editor with a vault open that notes which documents it is asked to show.
type session struct {
	*lsptest.Editor
	t     *testing.T
	d     *lsptest.Daemon
	root  string
	shown chan lsp.ShowDocumentParams
}

func openSession(t *testing.T) *session {
	t.Helper()
	d := lsptest.Start(t)
	s := &session{t: t, d: d, root: d.Vault(commandsVault), shown: make(chan lsp.ShowDocumentParams, 8)}
	s.Editor = d.Open(lsptest.Options{Capabilities: commandsCapabilities, Folders: []string{s.root}, Asked: func(method string, params json.RawMessage) any {
		switch method {
		case "window/showDocument":
			var p lsp.ShowDocumentParams
			_ = json.Unmarshal(params, &p)
			s.shown <- p
			return map[string]bool{"success": true}
		case "workspace/applyEdit":
			var p lsp.ApplyWorkspaceEditParams
			_ = json.Unmarshal(params, &p)
			s.Apply(s.root, p.Edit)
			return lsp.ApplyWorkspaceEditResult{Applied: true}
		}
		return nil
	}})
	return s
}

// run runs a command.
func (s *session) run(name string, a lsp.CommandArguments, result any) error {
	raw, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Try("workspace/executeCommand", lsp.ExecuteCommandParams{Command: name, Arguments: []json.RawMessage{raw}}, result)
}

func (s *session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// mark opens a note with a text and returns the range of the part between ‹ and ›.
func (s *session) mark(p, content string) (uri string, r *lsp.Range) {
	uri = lsptest.URI(s.root, p)
	before, rest, _ := strings.Cut(content, "‹")
	selected, after, _ := strings.Cut(rest, "›")
	s.ShowMarked(uri, before+selected+after, "‸")
	whole := lsp.NewDocument(uri, "", before+selected+after).Range(len(before), len(before)+len(selected), lsp.UTF16)
	return uri, &whole
}

func TestLSP7_Context(t *testing.T) {
	s := openSession(t)
	var p lsp.ContextResult
	s.must(s.run(lsp.CommandContext, lsp.CommandArguments{URI: lsptest.URI(s.root, "Hives.md"), Show: true}, &p))
	if !strings.Contains(p.Prompt, "hive two drifts on hot roofs") || p.Report.Chars == 0 || !strings.Contains(p.Summary, "characters") {
		t.Errorf("%+v", p)
	}
	shown := <-s.shown
	data, err := os.ReadFile(p.File)
	if err != nil || !strings.HasPrefix(string(data), p.Prompt) || shown.URI != lsp.FileURI(p.File) || shown.External {
		t.Errorf("%v, %+v", err, shown)
	}
	info, err := os.Stat(p.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	uri, r := s.mark("Drift.md", "What is ‹known of @nothing in [[Hives]]›?\n")
	s.must(s.run(lsp.CommandContext, lsp.CommandArguments{URI: uri, Range: r}, &p))
	if !strings.Contains(p.Prompt, "Scale drift") {
		t.Errorf("%s", p.Prompt)
	}
	for audience, private := range map[string]bool{"": false, "local": true} {
		var p lsp.ContextResult
		s.must(s.run(lsp.CommandContext, lsp.CommandArguments{Text: "What of [[Secret]]?", Audience: audience}, &p))
		if got := strings.Contains(p.Prompt, "is a secret"); got != private {
			t.Errorf("for %q the prompt has a private note: %v", audience, got)
		}
	}
	if err := s.run(lsp.CommandContext, lsp.CommandArguments{}, nil); err == nil || !strings.Contains(err.Error(), "nothing to assemble") {
		t.Error(err)
	}
	file := p.File
	s.Close()
	if _, err := os.Stat(file); err == nil {
		t.Error("the document stays when the session is over")
	}
}

func TestLSP7_SearchAndRelated(t *testing.T) {
	s := openSession(t)
	var f lsp.SearchResult
	s.must(s.run(lsp.CommandSearch, lsp.CommandArguments{Text: "drifting scales", Limit: 2}, &f))
	if len(f.Notes) == 0 || len(f.Notes) > 2 || f.Notes[0].URI != lsptest.URI(s.root, f.Notes[0].Path) || f.Notes[0].Snippet == "" {
		t.Errorf("%+v", f)
	}
	s.must(s.run(lsp.CommandRelated, lsp.CommandArguments{URI: lsptest.URI(s.root, "Hives.md")}, &f))
	if !slices.ContainsFunc(f.Notes, func(n lsp.SearchResultNote) bool { return n.Path == "Drift.md" }) {
		t.Errorf("%+v", f)
	}
	if err := s.run(lsp.CommandRelated, lsp.CommandArguments{URI: "untitled:1"}, nil); err == nil {
		t.Error("a document that is no note has related ones")
	}
}

// TestSRCH53_ProblemsOfTheVault are those that the diagnostics of its notes are, each at its file.
func TestSRCH53_ProblemsOfTheVault(t *testing.T) {
	s := openSession(t)
	for p, text := range map[string]string{"Lost.md": "# Lost\n\n[[Hivs]] [[Nowhere]]\n", "Empty.md": ""} {
		s.must(os.WriteFile(filepath.Join(s.root, p), []byte(text), 0o600))
	}
	s.d.Call("vault.import", protocol.VaultImport{Path: s.root}, nil)
	var all lsp.ProblemsResult
	s.must(s.run(lsp.CommandProblems, lsp.CommandArguments{URI: lsptest.URI(s.root, "Hives.md"), Show: true}, &all))
	shown, err := os.ReadFile(all.File)
	if err != nil || all.Total == 0 || strings.Count(string(shown), "\n") != all.Total || len(all.Problems) != all.Total {
		t.Errorf("%v %+v\n%s", err, all, shown)
	}
	<-s.shown
	p := all.Problems[0]
	line := fmt.Sprintf("%s:%d: %s: %s (%s)\n", filepath.Join(s.root, p.Path), max(p.Line, 1), p.Kind, p.What, p.Fix)
	if p.URI != lsptest.URI(s.root, p.Path) || !strings.HasPrefix(string(shown), line) {
		t.Errorf("%+v\n%s", p, shown)
	}
	s.must(s.run(lsp.CommandProblems, lsp.CommandArguments{Limit: 1}, &all))
	if len(all.Problems) != 1 || all.Total == 1 && len(all.Counts) != 1 {
		t.Errorf("%+v", all)
	}
	if err := s.run(lsp.CommandProblems, lsp.CommandArguments{URI: "file:///nowhere/x.md"}, nil); err == nil {
		t.Error("a document outside every vault has problems")
	}
}

func TestLSP7_Remember(t *testing.T) {
	s := openSession(t)
	uri, r := s.mark("Hives.md", "😀 ‹ The scale drifts in July. ›\n")
	var m lsp.RememberResult
	s.must(s.run(lsp.CommandRemember, lsp.CommandArguments{URI: uri, Range: r}, &m))
	var kept record.Memory
	s.d.Call("memory.get", protocol.MemoryRef{Ref: m.ID}, &kept)
	if kept.Statement != "The scale drifts in July." || len(kept.NoteIDs) != 1 {
		t.Errorf("%+v", kept)
	}
	if err := s.run(lsp.CommandRemember, lsp.CommandArguments{}, nil); err == nil {
		t.Error("nothing is remembered")
	}
}

func TestLSP7_Today(t *testing.T) {
	s := openSession(t)
	for _, created := range []bool{true, false} {
		before := time.Now().Format(time.DateOnly)
		var o lsp.TodayResult
		s.must(s.run(lsp.CommandToday, lsp.CommandArguments{}, &o))
		after := time.Now().Format(time.DateOnly)
		day := strings.TrimSuffix(o.URI[strings.LastIndexByte(o.URI, '/')+1:], ".md")
		if day != before && day != after || o.URI != lsptest.URI(s.root, "Journal/"+day+".md") || o.Created != created {
			t.Errorf("%+v", o)
		}
		if shown := <-s.shown; shown.URI != o.URI {
			t.Errorf("%+v is shown", shown)
		}
		if got := s.Files(s.root)["Journal/"+day+".md"]; got != "# "+day+"\n" {
			t.Errorf("%q", got)
		}
		if before != after {
			return // the day has changed meanwhile
		}
	}
}

func TestLSP7_Ask(t *testing.T) {
	s := openSession(t)
	var a lsp.AskResult
	s.must(s.run(lsp.CommandAsk, lsp.CommandArguments{Text: "Which hive drifts?", URI: lsptest.URI(s.root, "Hives.md")}, &a))
	if a.Answer == "" || a.ConversationID == "" { // without a provider it says how to configure one
		t.Errorf("%+v", a)
	}
	var said lsp.ShowMessageParams
	s.AwaitWhere("window/logMessage", &said, func() bool { return said.Message == a.Answer })
	if err := s.run(lsp.CommandAsk, lsp.CommandArguments{}, nil); err == nil {
		t.Error("nothing was asked")
	}
}

// TestLSP7_AnAnswerIsStreamed: what is reported is the line that is being written.
func TestLSP7_AnAnswerIsStreamed(t *testing.T) {
	srv := provider.Start(func(_ *provider.Request, to *provider.Reply) { to.Text("The first.\nThe ", "second", " line.") })
	t.Cleanup(srv.Close)
	set, err := llm.NewSet(llm.SetOptions{Default: "near", Providers: []llm.Options{{Name: "near", Kind: llm.OpenAI, Base: srv.URL, Model: "m", Key: "none", Local: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	d := lsptest.StartWith(t, servertest.Options{Models: set})
	e := d.Open(lsptest.Options{})
	var a lsp.AskResult
	e.Call("workspace/executeCommand", map[string]any{
		"command": lsp.CommandAsk, "arguments": []lsp.CommandArguments{{Text: "What?"}}, "workDoneToken": "t",
	}, &a)
	if a.Answer != "The first.\nThe second line." {
		t.Errorf("%q", a.Answer)
	}
	for _, want := range []lsp.WorkDoneProgress{{Kind: "begin"}, {Kind: "report", Message: "The second line."}, {Kind: "end"}} {
		var p struct {
			Token string
			Value lsp.WorkDoneProgress
		}
		e.AwaitWhere("$/progress", &p, func() bool {
			fits := p.Token == "t" && p.Value.Kind == want.Kind && (want.Message == "" || p.Value.Message == want.Message)
			p.Value = lsp.WorkDoneProgress{} // what the next one leaves out would stay
			return fits
		})
	}
}

func TestLSP7_TheGraphIsShownInABrowser(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(commandsVault)
	e := d.Open(lsptest.Options{Page: func(message, audience string, of *prompt.Result) (string, error) {
		return "<p>" + message + " " + audience + " " + of.System, nil
	}})
	var p lsp.GraphResult
	e.Call("workspace/executeCommand", map[string]any{
		"command": lsp.CommandGraph, "arguments": []lsp.CommandArguments{{Text: "Why?", URI: lsptest.URI(root, "Hives.md")}},
	}, &p)
	data, err := os.ReadFile(p.File)
	if err != nil || !strings.HasPrefix(string(data), "<p>Why? local ") || !strings.Contains(string(data), "hot roofs") {
		t.Errorf("%v, %s", err, data)
	}
	e.Await("window/showMessage", nil) // an editor that shows no documents is told where it is
}

func TestLSP7_CommandsAreOffered(t *testing.T) {
	s := openSession(t)
	if len(s.Result.Capabilities.ExecuteCommandProvider.Commands) != 8 {
		t.Errorf("%+v", s.Result.Capabilities.ExecuteCommandProvider)
	}
	uri, r := s.mark("Hives.md", "a ‹selection of words›\n")
	for title, rg := range map[string]lsp.Range{"Show the prompt for this": {}, "Remember the selection": *r} {
		var list []lsp.CodeAction
		s.Call("textDocument/codeAction", lsp.CodeActionParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}, Range: rg}, &list)
		i := slices.IndexFunc(list, func(a lsp.CodeAction) bool { return a.Title == title })
		if i < 0 {
			t.Errorf("%s is not offered: %+v", title, list)
			continue
		}
		s.Call("workspace/executeCommand", lsp.ExecuteCommandParams{Command: list[i].Command.Command, Arguments: list[i].Command.Arguments}, nil)
	}
	if err := s.Try("workspace/executeCommand", lsp.ExecuteCommandParams{Command: "ctxd.none"}, nil); err == nil {
		t.Error("a command that is none")
	}
	if err := s.run(lsp.CommandGraph, lsp.CommandArguments{Text: "x"}, nil); err == nil || !strings.Contains(err.Error(), "makes no pages") {
		t.Error(err)
	}
}
