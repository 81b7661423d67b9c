package lsp_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

// renameCapabilities is what an editor can that can all that a rename needs.
const renameCapabilities = `{"workspace":{"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename","delete"]}}}`

var renameVault = map[string]string{
	"Boss.md":     "---\ntype: Person\nrole: Lead\n---\n# Boss\n\n## Goals\n\nShip. ^ship\n",
	"notes/a.md":  "\uFEFF😀 [[Boss]] and [[boss#Goals|g]] and [b](../Boss.md#Goals)\r\n#work ![[Boss#^ship]]\r\n",
	"notes/b.md":  "nothing\n",
	"notes/c.md":  "---\ntags: [work]\n---\n# Other\n@Boss said\n",
	"other/d.md":  "[c](../notes/c.md) [[notes/c]] [[c]]\n",
	"other/e.md":  "---\naliases: [Eve]\n---\n[[Eve]]\n",
	"other/p.png": "\x89PNG",
}

// with returns the vault with other texts in it; "" takes a file out.
func with(texts map[string]string) map[string]string {
	files := maps.Clone(renameVault)
	for p, text := range texts {
		if files[p] = text; text == "" {
			delete(files, p)
		}
	}
	return files
}

func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for p, text := range want {
		if g, ok := got[p]; !ok || g != text {
			t.Errorf("%s is %q, want %q", p, g, text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

func TestLSP6_Rename(t *testing.T) {
	chief := map[string]string{
		"Boss.md": "", "Chief.md": "---\ntype: Person\nrole: Lead\n---\n# Chief\n\n## Goals\n\nShip. ^ship\n",
		"notes/a.md": "\uFEFF😀 [[Chief]] and [[Chief#Goals|g]] and [b](../Chief.md#Goals)\r\n#work ![[Chief#^ship]]\r\n",
		"notes/b.md": "typed [[Chief]]\n", "notes/c.md": "---\ntags: [work]\n---\n# Other\n@Chief said\n",
	}
	aims := map[string]string{
		"Boss.md":    "---\ntype: Person\nrole: Lead\n---\n# Boss\n\n## Aims\n\nShip. ^ship\n",
		"notes/a.md": "\uFEFF😀 [[Boss]] and [[boss#Aims|g]] and [b](../Boss.md#Aims)\r\n#work ![[Boss#^ship]]\r\n",
		"notes/b.md": "typed [[Boss]]\n",
	}
	tag := map[string]string{
		"notes/a.md": "\uFEFF😀 [[Boss]] and [[boss#Goals|g]] and [b](../Boss.md#Goals)\r\n#job/x ![[Boss#^ship]]\r\n",
		"notes/b.md": "typed [[Boss]]\n", "notes/c.md": "---\ntags: [job/x]\n---\n# Other\n@Boss said\n",
	}
	block := map[string]string{
		"Boss.md":    "---\ntype: Person\nrole: Lead\n---\n# Boss\n\n## Goals\n\nShip. ^it\n",
		"notes/a.md": "\uFEFF😀 [[Boss]] and [[boss#Goals|g]] and [b](../Boss.md#Goals)\r\n#work ![[Boss#^it]]\r\n",
		"notes/b.md": "typed [[Boss]]\n",
	}
	for name, c := range map[string]struct {
		path, text, holder, to string
		want                   map[string]string
	}{
		"a link":                 {"notes/a.md", strings.TrimPrefix(strings.Replace(renameVault["notes/a.md"], "[[Boss]]", "[[Bo‸ss]]", 1), "\uFEFF"), "Boss", "Chief", chief},
		"a Markdown link":        {"notes/a.md", strings.TrimPrefix(strings.Replace(renameVault["notes/a.md"], "../Boss.md", "../Bo‸ss.md", 1), "\uFEFF"), "Boss", "Chief", chief},
		"the first heading":      {"Boss.md", strings.Replace(renameVault["Boss.md"], "# Boss", "# Bo‸ss", 1), "Boss", "Chief", chief},
		"a mention":              {"notes/c.md", strings.Replace(renameVault["notes/c.md"], "@Boss", "@Bo‸ss", 1), "Boss", "Chief", chief},
		"a heading":              {"Boss.md", strings.Replace(renameVault["Boss.md"], "Goals", "Go‸als", 1), "Goals", "Aims", aims},
		"the heading of a link":  {"notes/a.md", strings.TrimPrefix(strings.Replace(renameVault["notes/a.md"], "#Goals|", "#Goals‸|", 1), "\uFEFF"), "Goals", "Aims", aims},
		"a block":                {"Boss.md", strings.Replace(renameVault["Boss.md"], "^ship", "^‸ship", 1), "ship", "it", block},
		"the block of a link":    {"notes/a.md", strings.TrimPrefix(strings.Replace(renameVault["notes/a.md"], "^ship", "^sh‸ip", 1), "\uFEFF"), "ship", "it", block},
		"a tag":                  {"notes/a.md", strings.TrimPrefix(strings.Replace(renameVault["notes/a.md"], "#work", "#wo‸rk", 1), "\uFEFF"), "work", "job/x", tag},
		"a tag of a frontmatter": {"notes/c.md", strings.Replace(renameVault["notes/c.md"], "[work]", "[‸work]", 1), "work", "job/x", tag},
	} {
		t.Run(name, func(t *testing.T) {
			d := lsptest.Start(t)
			root := d.Vault(renameVault)
			e := d.Open(lsptest.Options{Capabilities: renameCapabilities})
			e.Show(lsptest.URI(root, "notes/b.md"), "typed [[Boss]]\n")
			at := e.ShowMarked(lsptest.URI(root, c.path), c.text, "‸")
			var can lsp.PrepareRenameResult
			e.Call("textDocument/prepareRename", at, &can)
			if can.Placeholder != c.holder {
				t.Errorf("it would rename %q, want %q", can.Placeholder, c.holder)
			}
			var edit lsp.WorkspaceEdit
			e.Call("textDocument/rename", lsp.RenameParams{TextDocumentPositionParams: at, NewName: c.to}, &edit)
			want := with(c.want)
			for p, text := range want {
				if p == c.path { // an open document has no byte order mark
					want[p] = strings.TrimPrefix(text, "\uFEFF")
				}
			}
			compare(t, e.Apply(root, edit), want)
		})
	}
}

func TestLSP6_RenameRefuses(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(renameVault)
	e := d.Open(lsptest.Options{Capabilities: renameCapabilities})
	var can *lsp.PrepareRenameResult
	e.Call("textDocument/prepareRename", e.ShowMarked(lsptest.URI(root, "notes/b.md"), "not‸hing [[None]]\n", "‸"), &can)
	if can != nil {
		t.Errorf("plain words can be renamed: %+v", can)
	}
	for name, c := range map[string][3]string{
		"an alias":           {"other/e.md", "[[E‸ve]]\n", "alias"},
		"a name that is bad": {"notes/b.md", "[[Bo‸ss]]\n", "has none of"},
	} {
		at := e.ShowMarked(lsptest.URI(root, c[0]), c[1], "‸")
		err := e.Try("textDocument/rename", lsp.RenameParams{TextDocumentPositionParams: at, NewName: "a|b"}, nil)
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	titles := d.Open(lsptest.Options{Settings: `{"rename":"title"}`})
	at := titles.ShowMarked(lsptest.URI(root, "notes/b.md"), "[[Bo‸ss]]\n", "‸")
	var edit lsp.WorkspaceEdit
	titles.Call("textDocument/rename", lsp.RenameParams{TextDocumentPositionParams: at, NewName: "Chief"}, &edit)
	if len(edit.DocumentChanges) > 0 || len(edit.Changes[lsptest.URI(root, "Boss.md")]) != 1 {
		t.Errorf("the title alone: %+v", edit)
	}
}

// An editor that announces the change of files alone, as Neovim does, renames with it.
func TestLSP9_RenameWithoutDocumentChanges(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(renameVault)
	e := d.Open(lsptest.Options{Name: "Neovim", Capabilities: `{"workspace":{"workspaceEdit":{"resourceOperations":["rename","create","delete"]}}}`})
	at := e.ShowMarked(lsptest.URI(root, "notes/b.md"), "[[Bo‸ss]]\n", "‸")
	var edit lsp.WorkspaceEdit
	e.Call("textDocument/rename", lsp.RenameParams{TextDocumentPositionParams: at, NewName: "Chief"}, &edit)
	files := e.Apply(root, edit)
	if files["Chief.md"] == "" || files["Boss.md"] != "" || files["notes/b.md"] != "[[Chief]]\n" {
		t.Errorf("%q", files)
	}
	if told := e.Sent("window/showMessage"); len(told) > 0 {
		t.Errorf("the user is told %s", told[0].Params)
	}
}

// An editor that renames no files, as Eglot and vim-lsp, gets all other changes, and its user is told of the file.
func TestLSP9_RenameInAnEditorThatRenamesNoFiles(t *testing.T) {
	for name, can := range map[string]string{
		"Eglot": `{"workspace":{"workspaceEdit":{"documentChanges":true}}}`, "vim-lsp": `{"workspace":{"applyEdit":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := lsptest.Start(t)
			root := d.Vault(renameVault)
			e := d.Open(lsptest.Options{Capabilities: can})
			at := e.ShowMarked(lsptest.URI(root, "notes/b.md"), "[[Bo‸ss]]\n", "‸")
			var edit lsp.WorkspaceEdit
			e.Call("textDocument/rename", lsp.RenameParams{TextDocumentPositionParams: at, NewName: "Chief"}, &edit)
			if versioned := len(edit.DocumentChanges) > 0; versioned != (name == "Eglot") {
				t.Errorf("the edit is %+v", edit)
			}
			var told lsp.ShowMessageParams
			e.Await("window/showMessage", &told)
			if !strings.Contains(told.Message, "Boss.md to Chief.md") || told.Type != lsp.MessageWarning {
				t.Errorf("the user is told %q", told.Message)
			}
			files := e.Apply(root, edit)
			if !strings.Contains(files["Boss.md"], "# Chief\n") || files["notes/b.md"] != "[[Chief]]\n" ||
				!strings.Contains(files["notes/a.md"], "[b](../Chief.md#Goals)") {
				t.Errorf("%q", files)
			}
		})
	}
}

func TestLSP6_WillRenameFiles(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(renameVault)
	e := d.Open(lsptest.Options{Capabilities: renameCapabilities})
	var edit lsp.WorkspaceEdit
	params := map[string]any{"files": []map[string]string{
		{"oldUri": lsptest.URI(root, "notes"), "newUri": lsptest.URI(root, "deep/er")},
		{"oldUri": "file:///nowhere/x.md", "newUri": "file:///nowhere/y.md"},
	}}
	e.Call("workspace/willRenameFiles", params, &edit)
	compare(t, e.Apply(root, edit), with(map[string]string{
		"notes/a.md": strings.Replace(renameVault["notes/a.md"], "../Boss.md", "../../Boss.md", 1),
		"other/d.md": "[c](../deep/er/c.md) [[deep/er/c]] [[c]]\n",
	}))
	if e.Result.Capabilities.Workspace.FileOperations.WillRename == nil || e.Result.Capabilities.RenameProvider == nil {
		t.Error("the server does not say that it wants to know")
	}
	var none *lsp.WorkspaceEdit
	e.Call("workspace/willRenameFiles", map[string]any{"files": []any{}}, &none)
	if none != nil {
		t.Errorf("no file moves: %+v", none)
	}
}
