package complete_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
)

func TestMain(m *testing.M) {
	// It looks once a second whether its database is closed.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"))
}

var vault = map[string]string{
	"Projects/Project Alpha.md": "# Project Alpha\n\nThe plan of the project.\n\n## Goals\n\nShip it.\n\n## Risks\n\nNone. ^none\n",
	"Project Beta.md":           "See [[Project Alpha]].\n",
	"Daily/2026-01-31.md":       "# Kickoff\n\nWith the team.\n",
}

// completions are the texts of a document after each item of a completion was applied.
func completions(e *lsptest.Editor, uri, content string) (texts []string, list wire.CompletionList) {
	at := e.ShowMarked(uri, content, "‸")
	e.Call("textDocument/completion", at, &list)
	for _, item := range list.Items {
		texts = append(texts, e.Applied(uri, *item.TextEdit))
	}
	return texts, list
}

func TestLSP3_LinkToANote(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(vault)
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"See [[Proj‸":              "See [[Project Alpha]]",
		"See [[Proj‸]]":            "See [[Project Alpha]]",
		"See [[Proj‸] x":           "See [[Project Alpha]] x",
		"é😀 [[Proj‸]] z\r\nb\r\n":  "é😀 [[Project Alpha]] z\r\nb\r\n",
		"a\r\nSee [[Proj‸\r\nb":    "a\r\nSee [[Project Alpha]]\r\nb",
		"[[Pro‸ject Gamma|x]]":     "[[Project Alpha|x]]",
		"[[Pro‸ject Gamma#Goals]]": "[[Project Alpha#Goals]]",
		"[[Proj‸ and [[Kickoff]]":  "[[Project Alpha]] and [[Kickoff]]",
		"![[Proj‸":                 "![[Project Alpha]]",
	} {
		texts, list := completions(e, uri, content)
		if len(texts) == 0 || texts[0] != want || !list.IsIncomplete {
			t.Errorf("%q: %q, want %q first", content, texts, want)
		}
	}
	for _, content := range []string{"See [Proj‸", "[[Kickoff]] Proj‸", "[[a|Proj‸"} {
		if texts, _ := completions(e, uri, content); len(texts) > 0 {
			t.Errorf("%q: %q, want nothing", content, texts)
		}
	}
}
