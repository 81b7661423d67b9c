package lsp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

const core = "---\ntype: Team\n---\n# Core Team\n\nSee [[202601311200]], [[Alice Novak]] and [[202601311200|the start]].\n"

var hintsVault = map[string]string{
	".ctxd/types/Person.yaml": "name: Person\nfields:\n  - name: team\n    type: entity_ref\n    targetType: Team\n",
	".ctxd/types/Team.yaml":   "name: Team\nfields:\n  - name: people\n    type: computed\n    query: SELECT p FROM Person WHERE p.team = {this}\n",
	"Alice Novak.md":          "---\ntype: Person\nteam: \"[[Core Team]]\"\n---\n# Alice Novak\n\nIn [[Core Team]] and [[Core Team]].\n",
	"202601311200.md":         "# Kickoff\n",
	"Core Team.md":            core,
}

func TestLSP4_InlayHints(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(hintsVault)
	uri := lsptest.URI(root, "Core Team.md")
	all := lsp.InlayHintParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}, Range: lsp.Range{End: lsp.Position{Line: 99}}}
	e := d.Open(lsptest.Options{})
	e.Show(uri, core)
	var got []lsp.InlayHint
	e.Call("textDocument/inlayHint", all, &got)
	if len(got) != 2 || got[0].Label != "Kickoff" || got[0].Position != (lsp.Position{Line: 5, Character: 20}) ||
		got[1].Label != "people: @Alice Novak" || got[1].Position != (lsp.Position{Line: 1, Character: 10}) {
		t.Errorf("%+v", got)
	}
	e.Call("textDocument/inlayHint", lsp.InlayHintParams{TextDocument: all.TextDocument, Range: lsp.Range{Start: lsp.Position{Line: 3}, End: lsp.Position{Line: 4}}}, &got)
	if len(got) != 0 {
		t.Errorf("outside the range: %+v", got)
	}
	off := d.Open(lsptest.Options{Settings: `{"inlayHints":false,"codeLens":false}`})
	off.Show(uri, core)
	off.Call("textDocument/inlayHint", all, &got)
	var lenses []lsp.CodeLens
	off.Call("textDocument/codeLens", all, &lenses)
	if len(got)+len(lenses) != 0 {
		t.Errorf("switched off: %+v %+v", got, lenses)
	}
}

func TestLSP4_CodeLens(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(hintsVault)
	uri := lsptest.URI(root, "Core Team.md")
	e := d.Open(lsptest.Options{})
	e.Show(uri, core)
	var got []lsp.CodeLens
	e.Call("textDocument/codeLens", lsp.TextDocumentParams{TextDocument: lsp.TextDocumentIdentifier{URI: uri}}, &got)
	if len(got) != 1 || got[0].Command.Title != "3 backlinks in 1 note · in fields of 1 entity" || got[0].Command.Command != lsp.ShowReferencesCommand || got[0].Range.Start.Line != 3 {
		t.Fatalf("%+v", got)
	}
	var address string
	if json.Unmarshal(got[0].Command.Arguments[0], &address) != nil || address != uri {
		t.Errorf("%s", got[0].Command.Arguments)
	}
}

// An editor that can is told to ask again when notes have changed on the disk.
func TestLSP4_HintsAreRefreshed(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(hintsVault)
	e := d.Open(lsptest.Options{Capabilities: `{"workspace":{"codeLens":{"refreshSupport":true}}}`})
	at := e.Show(lsptest.URI(root, "Core Team.md"), core)
	e.Call("textDocument/codeLens", at, nil) // the daemon is followed from now on
	if err := os.WriteFile(filepath.Join(root, "New.md"), []byte("[[Core Team]]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Call("vault.import", map[string]any{"path": root}, nil)
	e.Await("workspace/codeLens/refresh", nil)
	var got []lsp.CodeLens
	e.Call("textDocument/codeLens", at, &got)
	if len(got) != 1 || got[0].Command.Title != "4 backlinks in 2 notes · in fields of 1 entity" {
		t.Errorf("%+v", got)
	}
}
