package lsp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// The vault of a note is found above it; a loose file has none, whatever folder the editor makes its workspace of.
func TestLSP10_TheVaultIsFound(t *testing.T) {
	d := lsptest.Start(t)
	tree := servertest.WriteFolder(t, map[string]string{
		"obsidian/.obsidian/app.json": "{}", "obsidian/a/b/note.md": "x",
		"logseq/logseq/config.edn": "{}", "logseq/pages/note.md": "x",
		"ours/.ctxd/types/T.yaml": "name: T\n", "ours/note.md": "x",
		"older/.logseq/x": "", "older/a/note.md": "x",
		"code/.git/HEAD": "", "code/docs/note.md": "x",
		"both/.obsidian/app.json": "{}", "both/clone/.git/HEAD": "", "both/clone/note.md": "x", // the checkout lies in the vault
		"plain/a/note.md": "x", "plain/note.md": "x",
	})
	home := filepath.Join(tree, "home")
	for _, name := range []string{"home/.obsidian", "home/.git"} { // settings of a program, and files that begin with a dot
		if err := os.MkdirAll(filepath.Join(tree, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for name, c := range map[string]struct {
		note, workspace string
		asked           string // the folder that is asked for
	}{
		"Obsidian":                          {"obsidian/a/b/note.md", "", "obsidian"},
		"Obsidian, a folder in it is open":  {"obsidian/a/b/note.md", "obsidian/a/b", "obsidian"},
		"Logseq":                            {"logseq/pages/note.md", "", "logseq"},
		"Logseq, its former mark":           {"older/a/note.md", "", "older"},
		"ctxd":                              {"ours/note.md", "ours", "ours"},
		"git":                               {"code/docs/note.md", "code/docs", "code"},
		"a checkout in a vault":             {"both/clone/note.md", "both/clone", "both"},
		"loose":                             {"plain/a/note.md", "", ""},
		"loose, its folder is open":         {"plain/a/note.md", "plain/a", ""},
		"a folder that was chosen":          {"plain/a/note.md", "plain", "plain"},
		"loose, another folder is open":     {"plain/note.md", "code/docs", "code"},
		"in the home folder":                {"home/note.md", "home", ""},
		"deep in the home folder":           {"home/a/note.md", "home", ""},
		"no file, and no folder":            {"", "", ""},
		"a folder with marks, and no file":  {"", "obsidian", "obsidian"},
		"a folder without, and no file yet": {"", "plain", ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := lsptest.Options{}
			if c.workspace != "" {
				opts.Folders = []string{filepath.Join(tree, filepath.FromSlash(c.workspace))}
			}
			e := d.Open(opts)
			uri := "untitled:1"
			if c.note != "" {
				uri = lsptest.URI(tree, c.note)
			}
			at := e.ShowMarked(uri, "# Here\n\n[[#he‸", "‸")
			if c.asked != "" {
				e.Await("window/showMessageRequest", nil)
			}
			var list lsp.CompletionList
			e.Call("textDocument/completion", at, &list)
			if len(list.Items) == 0 {
				t.Error("nothing is completed")
			}
			e.Close()
			asked := e.Sent("window/showMessageRequest")
			if c.asked == "" && len(asked) > 0 || c.asked != "" && len(asked) != 1 {
				t.Fatalf("asked %d times: %+v", len(asked), asked)
			}
			var question lsp.ShowMessageRequestParams
			if c.asked != "" && json.Unmarshal(asked[0].Params, &question) == nil &&
				!strings.Contains(question.Message, "notes of "+filepath.Join(tree, c.asked)+" into") {
				t.Errorf("asked %q", question.Message)
			}
		})
	}
}

// Who has said no is asked again neither in the session nor in a later one; who has closed the question is, later.
func TestLSP10_AnAnswerIsKept(t *testing.T) {
	d := lsptest.Start(t)
	dir := servertest.WriteFolder(t, map[string]string{".obsidian/app.json": "{}", "a.md": "x", "b/c.md": "x"})
	kept := filepath.Join(t.TempDir(), "new", "declined")
	for i, c := range []struct {
		answer string
		asked  int
	}{{"", 1}, {"No", 1}, {"No", 0}, {"Import", 0}} {
		e := d.Open(lsptest.Options{Folders: []string{dir}, Asked: answer(c.answer, ""), Declined: kept})
		if c.asked > 0 {
			e.Await("window/showMessageRequest", nil)
		}
		if c.answer == "No" && c.asked > 0 {
			e.Await("window/logMessage", nil)
		}
		e.Show(lsptest.URI(dir, "a.md"), "x")
		e.Show(lsptest.URI(dir, "b/c.md"), "x")
		e.Close()
		if n := len(e.Sent("window/showMessageRequest")); n != c.asked {
			t.Errorf("session %d: asked %d times, want %d", i, n, c.asked)
		}
	}
	if info, err := os.Stat(kept); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info, err)
	}
	if list := vaults(d); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

// A note of a vault that is followed is in none that would have to be found.
func TestLSP10_AFollowedFolderIsNotAskedFor(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(map[string]string{"Notes/.obsidian/app.json": "{}", "Notes/a.md": "x", ".git/HEAD": "x"})
	e := d.Open(lsptest.Options{Folders: []string{filepath.Join(root, "Notes")}})
	e.Call("textDocument/hover", e.Show(lsptest.URI(root, "Notes/a.md"), "[[a|]]"), nil)
	e.Close()
	if asked := e.Sent("window/showMessageRequest"); len(asked) > 0 {
		t.Errorf("%s", asked[0].Params)
	}
}
