package lsp_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

// diagnosticsCapabilities is what an editor can that pulls diagnostics and can make files.
const diagnosticsCapabilities = `{"workspace":{"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename"]},
	"diagnostics":{"refreshSupport":true}},"textDocument":{"diagnostic":{}}}`

const taskType = "name: Task\nfields:\n  - {name: state, type: select, options: [open, closed]}\n"

var diagnosticsVault = map[string]string{
	"Kickoff.md": "# Kickoff\n## Goals\n", "n.md": "nothing\n", ".ctxd/types/Task.yaml": taskType, "o.md": "---\ntype: Odd\nsize: 3\n---\n",
	"a/Plan.md": "# Same\n", "b/Other.md": "# Same\n",
}

// lines are diagnostics as texts: what stands there, the code and the severity.
func lines(content string, list []lsp.Diagnostic) (out []string) {
	d := lsp.NewDocument("", "", content)
	for _, f := range list {
		start, end := d.Span(f.Range, lsp.UTF16)
		out = append(out, fmt.Sprintf("%s: %s %d", content[start:end], f.Code, f.Severity))
	}
	return out
}

func TestLSP5_DiagnosticsArePulled(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(diagnosticsVault)
	e := d.Open(lsptest.Options{Capabilities: diagnosticsCapabilities})
	for p, c := range map[string]struct {
		content string
		want    []string
	}{
		"n.md": {
			"---\r\ntype: Task\r\nstate: opne\r\n---\r\n😀 [[Kickof]] [[Kickoff#Gaols]] [[Same]]\r\n```wql\r\nSELECT t FROM Taks t\r\n```\r\n",
			[]string{"opne: field.value 2", "Kickof: link.unresolved 2", "Gaols: link.heading 2", "Same: link.ambiguous 2", "Taks: query 1"},
		},
		".ctxd/types/New.yaml": {
			"name: New\nfields:\n  - name: all\n    type: computed\n    query: SELECT t FROM Task t WHERE 😀 = t.stat\n  - {name: x, type: text}\n",
			[]string{"😀: query 1"},
		},
		".ctxd/types/Task.yaml": {
			"name: Task\nfields:\n  - name: all\n    type: computed\n    query: \"SELECT t FROM Taks t\"\n", []string{"Taks: query 1"},
		},
	} {
		uri := lsptest.URI(root, p)
		e.ShowMarked(uri, c.content, "‸")
		var report lsp.DocumentDiagnosticReport
		e.Call("textDocument/diagnostic", lsp.TextDocumentParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &report)
		if got := lines(c.content, report.Items); !slices.Equal(got, c.want) || report.Kind != "full" {
			t.Errorf("%s: %q, want %q", p, got, c.want)
		}
	}
	e.Await("workspace/diagnostic/refresh", nil)
	if len(e.Sent("textDocument/publishDiagnostics")) > 0 {
		t.Error("they are pushed too")
	}
}

func TestLSP5_DiagnosticsArePushed(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(diagnosticsVault)
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "n.md")
	var told lsp.PublishDiagnosticsParams
	await := func(content string, want ...string) {
		t.Helper()
		e.AwaitWhere("textDocument/publishDiagnostics", &told, func() bool {
			return told.URI == uri && slices.Equal(lines(content, told.Diagnostics), want)
		})
	}
	e.ShowMarked(uri, "[[Kickof]]\n", "‸")
	await("[[Kickof]]\n", "Kickof: link.unresolved 2")
	e.ShowMarked(uri, "[[Kickoff]] [[Later]]\n", "‸")
	await("[[Kickoff]] [[Later]]\n", "Later: link.unresolved 2")
	// A file that comes solves it, without anybody typing.
	if err := os.WriteFile(filepath.Join(root, "Later.md"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	await("[[Kickoff]] [[Later]]\n")
	outside := "untitled:Untitled-1"
	e.ShowMarked(outside, "[[Nowhere]]\n", "‸")
	e.AwaitWhere("textDocument/publishDiagnostics", &told, func() bool { return told.URI == outside && len(told.Diagnostics) == 0 })
}

func TestLSP5_Actions(t *testing.T) {
	for name, c := range map[string]struct {
		content string // the range between ‹ and ›
		want    map[string]map[string]string
	}{
		"a link without a target": {
			"[[‹Kickof›]] x\n", map[string]map[string]string{
				"Link to Kickoff.md":        {"n.md": "[[Kickoff]] x\n"},
				"Create the note Kickof.md": {"n.md": "[[Kickof]] x\n", "Kickof.md": "# Kickof\n"},
			},
		},
		"a link that could mean two": {
			"[[Sa‹›me]]\n", map[string]map[string]string{
				"Link to a/Plan.md": {"n.md": "[[Plan]]\n"}, "Link to b/Other.md": {"n.md": "[[Other]]\n"},
			},
		},
		"a heading": {"[[Kickoff#‹›Gaols|x]]\n", map[string]map[string]string{"Change to Goals": {"n.md": "[[Kickoff#Goals|x]]\n"}}},
		"a value": {
			"---\ntype: Task\nstate: o‹›pne\n---\n", map[string]map[string]string{"Change to open": {"n.md": "---\ntype: Task\nstate: open\n---\n"}},
		},
		"an inferred type": {
			"---\ntype: ‹›Odd\n---\n", map[string]map[string]string{
				"Declare the type Odd": {
					"n.md": "---\ntype: Odd\n---\n", ".ctxd/types/Odd.yaml": "name: Odd\nfields:\n  - name: size\n    type: number\n",
				},
			},
		},
		"the name of a note": {
			"See ‹kickoff›!\r\n", map[string]map[string]string{
				"Link to Kickoff.md":                          {"n.md": "See [[kickoff]]!\r\n"},
				"Move the selection into the note kickoff.md": {"n.md": "See [[kickoff]]!\r\n", "kickoff.md": "# kickoff\r\n\r\nkickoff\r\n"},
			},
		},
		"a section": {
			"a\n‹## Some: part\n\ntext\n›b\n", map[string]map[string]string{
				"Move the selection into the note Some- part.md": {"n.md": "a\n[[Some- part]]\nb\n", "Some- part.md": "# Some: part\n\ntext\n"},
			},
		},
		"plain text": {"a‹›b\n", map[string]map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			for title, files := range c.want {
				actions, e, root := ask(t, c.content)
				if len(actions) != len(c.want) {
					t.Errorf("%d actions, want %d: %v", len(actions), len(c.want), slices.Collect(maps.Keys(actions)))
				}
				a, ok := actions[title]
				if !ok {
					t.Errorf("no action %q", title)
					continue
				}
				got := e.Apply(root, *a.Edit)
				for p, want := range files {
					text, ok := got[p]
					if !ok {
						data, _ := os.ReadFile(filepath.Join(root, p)) // a hidden one
						text = string(data)
					}
					if text != want {
						t.Errorf("%s: %s is %q, want %q", title, p, text, want)
					}
				}
			}
			if len(c.want) == 0 {
				if actions, _, _ := ask(t, c.content); len(actions) > 0 {
					t.Errorf("actions %v", actions)
				}
			}
		})
	}
}

// A note that a link waits for is made where the settings of the vault put it, and that of a day as its template.
func TestSRCH60_ANoteIsMadeWhereTheVaultMakesIt(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(map[string]string{
		".obsidian/daily-notes.json": `{"folder":"Log","format":"YYYY/YYYY-MM-DD","template":"Day"}`, "Day.md": "# {{date:dddd}}\n",
		".obsidian/app.json": `{"newFileLocation":"folder","newFileFolderPath":"Inbox"}`,
	})
	e := d.Open(lsptest.Options{Capabilities: diagnosticsCapabilities})
	for content, want := range map[string]struct{ path, text string }{
		"[[‹›Idea]]\n": {"Inbox/Idea.md", "# Idea\n"}, "[[‹›2026-03-04]]\n": {"Log/2026/2026-03-04.md", "# Wednesday\n"},
		"[[‹›Other/Idea]]\n": {"Other/Idea.md", "# Idea\n"},
	} {
		a, ok := actionsOn(t, e, lsptest.URI(root, "n.md"), content)["Create the note "+want.path]
		if !ok {
			t.Errorf("%s: no action for %s", content, want.path)
			continue
		}
		if got := e.Apply(root, *a.Edit)[want.path]; got != want.text {
			t.Errorf("%s is %q, want %q", want.path, got, want.text)
		}
	}
}

// ask opens n.md with a text and asks what can be done with its marked range.
func ask(t *testing.T, content string) (map[string]lsp.CodeAction, *lsptest.Editor, string) {
	t.Helper()
	d := lsptest.Start(t)
	root := d.Vault(diagnosticsVault)
	e := d.Open(lsptest.Options{Capabilities: diagnosticsCapabilities})
	return actionsOn(t, e, lsptest.URI(root, "n.md"), content), e, root
}

// actionsOn opens a text and asks what can be done with its marked range.
func actionsOn(t *testing.T, e *lsptest.Editor, uri, content string) map[string]lsp.CodeAction {
	t.Helper()
	before, rest, _ := strings.Cut(content, "‹")
	selected, after, _ := strings.Cut(rest, "›")
	e.ShowMarked(uri, before+selected+after, "‸")
	doc := lsp.NewDocument(uri, "", before+selected+after)
	var list []lsp.CodeAction
	e.Call("textDocument/codeAction", lsp.CodeActionParams{
		TextDocument: lsp.TextDocumentIdentifier{URI: uri}, Range: doc.Range(len(before), len(before)+len(selected), lsp.UTF16),
	}, &list)
	out := make(map[string]lsp.CodeAction)
	for _, a := range list {
		if a.Command == nil { // those of other packages
			out[a.Title] = a
		}
	}
	return out
}

// A link that could mean several notes has an action for each, which spells out its path.
func TestLSP11_AnAmbiguousLinkIsSpelledOut(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(map[string]string{"a/Plan.md": "x\n", "b/Plan.md": "x\n", "n.md": "x\n"})
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "n.md")
	at := e.ShowMarked(uri, "See [[Pl‸an|it]].\n", "‸")
	var actions []lsp.CodeAction
	e.Call("textDocument/codeAction", map[string]any{
		"textDocument": at.TextDocument, "range": lsp.Range{Start: at.Position, End: at.Position}, "context": map[string]any{"diagnostics": []any{}},
	}, &actions)
	for _, target := range []string{"a/Plan", "b/Plan"} {
		if !slices.ContainsFunc(actions, func(a lsp.CodeAction) bool {
			return a.Title == "Link to "+target+".md" && e.Applied(uri, a.Edit.Changes[uri][0]) == "See [["+target+"|it]].\n"
		}) {
			t.Errorf("nothing links to %s: %+v", target, actions)
		}
	}
}
