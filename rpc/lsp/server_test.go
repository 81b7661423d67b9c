package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/servertest"
)

var files = map[string]string{"Kickoff.md": "# Kickoff\n\nThe start.\n"}

// code is that of an error, 0 for none.
func code(err error) int64 {
	var e *jsonrpc2.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func vaults(d *lsptest.Daemon) []record.VaultStatus {
	var list protocol.VaultList
	d.Call("vault.list", protocol.ReadAll{}, &list)
	return list.Vaults
}

// answer returns an editor's answers: to the question about an import, and settings.
func answer(title, settings string) func(string, json.RawMessage) any {
	return func(method string, _ json.RawMessage) any {
		switch {
		case method == "window/showMessageRequest" && title != "":
			return lsp.MessageActionItem{Title: title}
		case method == "workspace/configuration" && settings != "":
			return []json.RawMessage{json.RawMessage(settings)}
		}
		return nil
	}
}

func TestLSP1_ImportAfterConsent(t *testing.T) {
	const capable = `{"window":{"workDoneProgress":true},"workspace":{"configuration":true}}`
	for name, c := range map[string]struct {
		settings, asked, answer string
		imported                bool
	}{
		"asked, yes":              {"", "", "Import", true},
		"asked, no":               {"", "", "No", false},
		"asked, closed":           {"", "", "", false},
		"always":                  {`{"import":"always"}`, "", "", true},
		"never":                   {`{"import":"never"}`, "", "Import", false},
		"never, by configuration": {"", `{"import":"never"}`, "Import", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := lsptest.Start(t)
			dir := servertest.WriteFolder(t, map[string]string{"Kickoff.md": files["Kickoff.md"], ".obsidian/app.json": "{}"})
			e := d.Open(lsptest.Options{Settings: c.settings, Capabilities: capable, Folders: []string{dir}, Asked: answer(c.answer, c.asked)})
			if c.imported {
				var shown lsp.ShowMessageParams
				e.Await("window/logMessage", &shown)
				if list := vaults(d); len(list) != 1 || !list[0].Watching || !strings.Contains(shown.Message, list[0].Vault) {
					t.Errorf("%+v, %s", list, shown.Message)
				}
				var last struct {
					Value lsp.WorkDoneProgress `json:"value"`
				}
				e.AwaitWhere("$/progress", &last, func() bool { return last.Value.Kind == "end" })
				if len(e.Sent("window/workDoneProgress/create")) != 1 {
					t.Error("the progress was not announced")
				}
			} else {
				e.Notify("workspace/didChangeWorkspaceFolders", json.RawMessage(`{"event":{"added":[],"removed":[]}}`))
				e.Close()
				if list := vaults(d); len(list) > 0 {
					t.Errorf("%+v", list)
				}
			}
			want := 1
			if c.settings != "" || c.asked != "" {
				want = 0
			}
			if got := len(e.Sent("window/showMessageRequest")); got > want || got < want && c.imported {
				t.Errorf("asked %d times, want %d", got, want)
			}
		})
	}
}

func TestLSP1_AVaultIsNotImportedAgain(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(files)
	e := d.Open(lsptest.Options{Settings: `{"import":"always"}`, Folders: []string{root}})
	other := servertest.WriteFolder(t, map[string]string{"x.md": "x"})
	e.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
		"added": []lsp.WorkspaceFolder{{URI: lsp.FileURI(other)}}, "removed": []lsp.WorkspaceFolder{},
	}})
	e.Await("window/logMessage", nil)
	if list := vaults(d); len(list) != 2 || len(e.Sent("window/logMessage")) != 1 {
		t.Errorf("%+v, %v", list, e.Sent("window/logMessage"))
	}
}

// The home folder is asked about, whatever the setting.
func TestLSP1_TheHomeFolderIsAskedAbout(t *testing.T) {
	d := lsptest.Start(t)
	home := servertest.WriteFolder(t, files)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	e := d.Open(lsptest.Options{Settings: `{"import":"always"}`, Folders: []string{home}, Asked: answer("No", "")})
	e.Await("window/showMessageRequest", nil)
	e.Close()
	if list := vaults(d); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

func hover(e *lsptest.Editor, uri string) (string, error) {
	at := e.Show(uri, "[[Kick|off]]")
	var h *lsp.Hover
	err := e.Try("textDocument/hover", at, &h)
	if h == nil {
		return "", err
	}
	return h.Contents.Value, err
}

// A lost daemon is found again without a restart of the editor.
func TestLSP1_Reconnect(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(files)
	uri := lsptest.URI(root, "New.md")
	e := d.Open(lsptest.Options{})
	for range 3 {
		if got, err := hover(e, uri); err != nil || !strings.Contains(got, "The start.") {
			t.Fatalf("%q, %v", got, err)
		}
		d.Stop()
		d.Listen()
	}
	if _, err := hover(e, uri); err != nil {
		t.Fatal(err)
	}
	// The server may have looked for a daemon in the moment when there was none.
	before := len(e.Sent("window/showMessage"))
	d.Stop()
	for range 2 {
		if _, err := hover(e, uri); code(err) != lsp.CodeRequestFailed {
			t.Errorf("without a daemon: %v", err)
		}
	}
	n := 0
	e.AwaitWhere("window/showMessage", nil, func() bool {
		n++
		return n > before
	})
	d.Listen()
	if got, err := hover(e, uri); err != nil || !strings.Contains(got, "The start.") {
		t.Errorf("%q, %v", got, err)
	}
	if n := len(e.Sent("window/showMessage")) - before; n != 1 {
		t.Errorf("the user was told %d times", n)
	}
}

// Two editors have one document open, with texts of their own.
func TestLSP1_SeveralEditors(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(files)
	uri := lsptest.URI(root, "Kickoff.md")
	one, other := d.Open(lsptest.Options{}), d.Open(lsptest.Options{})
	one.Show(uri, "# One")
	other.Show(uri, "# Other")
	for e, want := range map[*lsptest.Editor]string{one: "One", other: "Other"} {
		var list []lsp.SymbolInformation
		e.Call("textDocument/documentSymbol", lsp.TextDocumentParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &list)
		if len(list) != 1 || list[0].Name != want {
			t.Errorf("%+v, want %s", list, want)
		}
	}
}

// Folders are imported as well when the daemon comes only later.
func TestLSP1_ImportByALateDaemon(t *testing.T) {
	d := lsptest.Start(t)
	d.Stop()
	dir := servertest.WriteFolder(t, files)
	e := d.Open(lsptest.Options{Settings: `{"import":"always"}`, Folders: []string{dir}})
	e.Await("window/showMessage", nil)
	d.Listen()
	if _, err := hover(e, lsptest.URI(dir, "New.md")); err != nil {
		t.Fatal(err)
	}
	e.Await("window/logMessage", nil)
	if list := vaults(d); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

// nobody is a Dial that finds no daemon.
func nobody(context.Context, client.Options) (*client.Client, error) {
	return nil, errors.New("no daemon")
}

func TestLSP8_RulesOfASession(t *testing.T) {
	e := lsptest.Open(t, lsptest.Options{Idle: true, Dial: nobody})
	if err := e.Try("textDocument/hover", nil, nil); code(err) != lsp.CodeServerNotInitialized {
		t.Errorf("before initialize: %v", err)
	}
	if err := e.Try("shutdown", nil, nil); code(err) != lsp.CodeServerNotInitialized {
		t.Errorf("shutdown before initialize: %v", err)
	}
	e.Notify("textDocument/didOpen", json.RawMessage(`{"textDocument":{"uri":"untitled:a","text":"# A","version":1,"languageId":"markdown"}}`))
	if err := e.Try("initialize", json.RawMessage(`[1]`), nil); code(err) != jsonrpc2.CodeInvalidParams {
		t.Errorf("bad params: %v", err)
	}
	e.Initialize()
	if err := e.Try("initialize", json.RawMessage(`{"capabilities":{}}`), nil); code(err) != jsonrpc2.CodeInvalidRequest {
		t.Errorf("initialize again: %v", err)
	}
	if err := e.Try("no/such", nil, nil); code(err) != jsonrpc2.CodeMethodNotFound {
		t.Errorf("an unknown method: %v", err)
	}
	e.Notify("no/such", nil)
	e.Notify("$/no/such", nil)
	e.Notify("textDocument/didChange", json.RawMessage(`{"contentChanges":3}`))
	var list []lsp.SymbolInformation
	e.Call("textDocument/documentSymbol", json.RawMessage(`{"textDocument":{"uri":"untitled:a"}}`), &list)
	if len(list) > 0 {
		t.Errorf("a document that was opened before initialize: %+v", list)
	}
	e.Call("shutdown", nil, nil)
	if err := e.Try("textDocument/hover", nil, nil); code(err) != jsonrpc2.CodeInvalidRequest {
		t.Errorf("after shutdown: %v", err)
	}
	e.Notify("exit", nil)
	if err := e.Leave(); err != nil {
		t.Errorf("exit after shutdown: %v", err)
	}
	for _, leave := range []func(e *lsptest.Editor){
		func(e *lsptest.Editor) { e.Notify("exit", nil) }, func(*lsptest.Editor) {},
	} {
		e := lsptest.Open(t, lsptest.Options{Dial: nobody})
		leave(e)
		if err := e.Leave(); !errors.Is(err, lsp.ErrNoShutdown) {
			t.Errorf("without shutdown: %v", err)
		}
	}
}

// transcript gives bytes to a server, ends the input, and returns what it wrote.
func transcript(t *testing.T, in string) string {
	t.Helper()
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- lsp.Serve(context.Background(), strings.NewReader(in), far, lsp.Options{Dial: nobody})
		_ = far.Close()
	}()
	out, err := io.ReadAll(near)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return string(out)
}

// Each bad message is answered, and the good ones around it are served.
func TestLSP8_NoMessageEndsTheSession(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"capabilities":{}}}` + "\n"
	const good = `{"jsonrpc":"2.0","id":"last","method":"textDocument/hover","params":{}}` + "\n"
	for bad, want := range map[string]string{
		`{`:                        `"code":-32700`,
		`nonsense`:                 `"code":-32700`,
		`[]`:                       `"code":-32600`,
		`3`:                        `"code":-32600`,
		`{"jsonrpc":"2.0","id":1}`: `"code":-32600`,
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`: `{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":-1,"method":"x"}`:  `"id":-1,"error":{"code":-32600`,
		`{"id":1,"method":"x"}`:                   `"code":-32600`,
		`{"jsonrpc":"2.0","id":1,"method":3}`:     `"code":-32600`,
		`{"jsonrpc":"2.0","id":9,"result":3}`:     ``,
		`{"jsonrpc":"2.0","id":9,"error":"x"}`:    ``,
		`{"jsonrpc":"2.0","method":"x"}`:          ``,
		strings.Repeat("[", 1000):                 `"error"`,
	} {
		out := transcript(t, hello+bad+"\n"+good)
		if want != "" && !strings.Contains(out, want) || !strings.Contains(out, `"id":"last"`) || !strings.Contains(out, `"id":"i"`) {
			t.Errorf("%.60q: %s", bad, out)
		}
	}
	framed := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
	out := transcript(t, framed(strings.TrimSpace(hello))+framed("{")+framed(strings.TrimSpace(good))+"Content-Length: x\r\n\r\n")
	if strings.Count(out, "Content-Length: ") != 4 || !strings.Contains(out, `"id":"last"`) {
		t.Errorf("with Content-Length: %s", out)
	}
}

// waiting is a feature whose answers a test decides.
func waiting(began chan struct{}, release chan struct{}) lsp.Feature {
	wait := func(ctx context.Context, _ *lsp.Call, _ *lsp.TextDocumentParams) (string, error) {
		began <- struct{}{}
		select {
		case <-release:
			return "done", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return lsp.Feature{Requests: []lsp.Request{
		lsp.NewRequest("test/wait", wait), lsp.NewStableRequest("test/last", wait),
		lsp.NewRequest("test/panic", func(context.Context, *lsp.Call, *struct{}) (any, error) { panic("x") }),
		lsp.NewRequest("test/progress", func(ctx context.Context, c *lsp.Call, p *lsp.WorkDoneProgressParams) (any, error) {
			show := c.Progress(ctx, p.WorkDoneToken, "Working")
			show.Report("half", 1, 2)
			show.End("")
			return nil, nil
		}),
		lsp.NewRequest("test/ask", func(ctx context.Context, c *lsp.Call, _ *struct{}) (any, error) {
			began <- struct{}{}
			var got any
			return got, c.Ask(ctx, "test/question", nil, &got)
		}),
		lsp.NewRequest("test/text", func(_ context.Context, c *lsp.Call, _ *lsp.TextDocumentParams) (string, error) {
			return c.Document.Text, nil
		}),
	}}
}

func TestLSP8_Cancellation(t *testing.T) {
	began, release := make(chan struct{}, 64), make(chan struct{})
	e := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{waiting(began, release)}})
	for _, id := range []jsonrpc2.ID{{Num: 77}, {Str: "a", IsString: true}} {
		w, err := e.Conn().DispatchCall(t.Context(), "test/wait", struct{}{}, jsonrpc2.PickID(id))
		if err != nil {
			t.Fatal(err)
		}
		<-began
		e.Notify("$/cancelRequest", map[string]any{"id": id})
		if err := w.Wait(t.Context(), nil); code(err) != lsp.CodeRequestCancelled {
			t.Errorf("%v", err)
		}
		e.Notify("$/cancelRequest", map[string]any{"id": id}) // of one that is over
	}
	// One that waits for its turn is withdrawn too.
	var waits []jsonrpc2.Waiter
	for range 20 {
		w, err := e.Conn().DispatchCall(t.Context(), "test/wait", struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, w)
	}
	for range 16 {
		<-began
	}
	w, err := e.Conn().DispatchCall(t.Context(), "test/wait", struct{}{}, jsonrpc2.PickID(jsonrpc2.ID{Num: 999}))
	if err != nil {
		t.Fatal(err)
	}
	e.Notify("$/cancelRequest", map[string]any{"id": 999})
	if err := w.Wait(t.Context(), nil); code(err) != lsp.CodeRequestCancelled {
		t.Errorf("in the queue: %v", err)
	}
	close(release)
	for _, w := range waits {
		if err := w.Wait(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}

func TestLSP8_ContentModified(t *testing.T) {
	began, release := make(chan struct{}, 8), make(chan struct{})
	e := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{waiting(began, release)}})
	var waits []jsonrpc2.Waiter
	for _, uri := range []string{"untitled:a", "untitled:b", "untitled:c"} {
		at := e.Show(uri, "x")
		method := "test/wait"
		if uri == "untitled:b" {
			method = "test/last"
		}
		w, err := e.Conn().DispatchCall(t.Context(), method, at)
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, w)
		<-began
	}
	e.Show("untitled:a", "y")
	e.Show("untitled:b", "y")
	e.Show("untitled:a", "x") // the same text is not the same state
	var now string
	e.Call("test/text", lsp.TextDocumentParams{TextDocument: lsp.TextDocumentIdentifier{URI: "untitled:b"}}, &now)
	close(release)
	for i, want := range []int64{lsp.CodeContentModified, 0, 0} {
		if err := waits[i].Wait(t.Context(), nil); code(err) != want {
			t.Errorf("%d: %v, want %d", i, err, want)
		}
	}
	if now != "y" {
		t.Errorf("%q", now)
	}
}

func TestLSP8_ProgressPanicsAndQuestionsAtTheEnd(t *testing.T) {
	began := make(chan struct{}, 8)
	e := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{waiting(began, nil)}})
	e.Call("test/progress", json.RawMessage(`{"workDoneToken":7}`), nil)
	var got []string
	for _, m := range e.Sent("$/progress") {
		got = append(got, string(m.Params))
	}
	want := `{"token":7,"value":{"kind":"begin","title":"Working"}} {"token":7,"value":{"kind":"report","message":"half","percentage":50}} {"token":7,"value":{"kind":"end"}}`
	if strings.Join(got, " ") != want {
		t.Errorf("%s", got)
	}
	if err := e.Try("test/panic", nil, nil); code(err) != jsonrpc2.CodeInternalError {
		t.Errorf("a panic: %v", err)
	}
	// The session ends although the server waits for an answer that never comes.
	block := make(chan struct{})
	defer close(block)
	asker := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{waiting(began, nil)}, Asked: func(string, json.RawMessage) any {
		<-block
		return nil
	}})
	if _, err := asker.Conn().DispatchCall(t.Context(), "test/ask", struct{}{}); err != nil {
		t.Fatal(err)
	}
	<-began
	asker.Await("test/question", nil)
	if err := asker.Leave(); !errors.Is(err, lsp.ErrNoShutdown) {
		t.Error(err)
	}
}

func TestLSP8_VersionsOutOfOrder(t *testing.T) {
	e := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{waiting(nil, nil)}})
	const uri = "untitled:a"
	at := e.Show(uri, "one")
	for _, version := range []int32{7, 3, 3, -1} {
		e.Notify("textDocument/didChange", lsp.DidChangeTextDocumentParams{
			TextDocument: lsp.VersionedTextDocumentIdentifier{URI: uri, Version: version},
			ContentChanges: []lsp.TextDocumentContentChangeEvent{{
				Range: &lsp.Range{Start: lsp.Position{Character: 3}, End: lsp.Position{Character: 1 << 31}}, Text: fmt.Sprint(version),
			}},
		})
	}
	var got string
	e.Call("test/text", at, &got)
	if got != "one-1" {
		t.Errorf("%q", got)
	}
	e.Notify("textDocument/didOpen", json.RawMessage(`{"textDocument":{"uri":"untitled:a","text":"anew","version":1,"languageId":"markdown"}}`))
	e.Call("test/text", at, &got)
	if got != "anew" {
		t.Errorf("%q", got)
	}
}

// A document of 10 MB and a thousand edits of it.
func TestLSP8_LargeDocument(t *testing.T) {
	e := lsptest.Open(t, lsptest.Options{Dial: nobody, Features: []lsp.Feature{lsp.CompletionFeature(), lsp.OutlineFeature(), waiting(nil, nil)}})
	line := "A line of a note that is about as long as lines are, with é and 😀 in it.\r\n"
	content := strings.Repeat(line, 10<<20/len(line))
	const uri = "untitled:large.md"
	at := e.Show(uri, content)
	for i := range int32(1000) {
		place := lsp.Position{Line: uint32(50_000 + i), Character: 2}
		e.Notify("textDocument/didChange", lsp.DidChangeTextDocumentParams{
			TextDocument:   lsp.VersionedTextDocumentIdentifier{URI: uri, Version: i + 2},
			ContentChanges: []lsp.TextDocumentContentChangeEvent{{Range: &lsp.Range{Start: place, End: place}, Text: "# "}},
		})
	}
	before := 50_000 * len(line)
	edited := content[before : before+1000*len(line)]
	want := content[:before] + strings.ReplaceAll(edited, "A line", "A # line") + content[before+len(edited):]
	var got string
	e.Call("test/text", at, &got)
	if got != want {
		t.Error("the text is another one after the edits")
	}
	e.Call("textDocument/foldingRange", at, nil)
	e.Call("textDocument/completion", at, nil)
}

// TestLSP8_AnyParams: every method answers any params and any address, and none with an
// error of ours.
func TestLSP8_AnyParams(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(files)
	e := d.Open(lsptest.Options{})
	e.Show("untitled:open", "[[Kick|off]] @x #y\n```wql\nSELECT\n")
	e.Show(lsptest.URI(root, ".ctxd/types/X.yaml"), "name: X\nfields:\n  - name: y\n    query: SELECT\n")
	for _, f := range lsp.Features() {
		for _, r := range f.Requests {
			for _, uri := range []string{
				"untitled:open", "untitled:closed", "file:///elsewhere/a.md", lsp.FileURI(root), lsptest.URI(root, "Kickoff.md"),
				lsptest.URI(root, "gone.md"), lsptest.URI(root, ".ctxd/types/X.yaml"), "", "%zz", "http://x/y", "file:///\x00",
			} {
				for _, rest := range []string{
					``, `,"position":{"line":0,"character":5}`, `,"position":{"line":2,"character":4}`, `,"position":{"line":4294967295,"character":4294967295}`,
					`,"range":{"start":{"line":9,"character":9},"end":{"line":0,"character":0}}`, `,"positions":[{"line":3,"character":99}],"query":"[["`,
				} {
					name, err := json.Marshal(uri)
					if err != nil {
						t.Fatal(err)
					}
					err = e.Try(r.Method(), json.RawMessage(`{"textDocument":{"uri":`+string(name)+`}`+rest+`}`), nil)
					if c := code(err); c == jsonrpc2.CodeInternalError {
						t.Errorf("%s %s %s: %v", r.Method(), uri, rest, err)
					}
				}
			}
			for _, params := range []string{`{}`, `[]`, `{"textDocument":3}`, `{"textDocument":{"uri":[]}}`, `{"position":{"line":-1,"character":1.5}}`, `{"data":{"uri":3}}`, `{"data":"x"}`} {
				if err := e.Try(r.Method(), json.RawMessage(params), nil); code(err) == jsonrpc2.CodeInternalError {
					t.Errorf("%s %s: %v", r.Method(), params, err)
				}
			}
		}
	}
}
