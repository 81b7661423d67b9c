package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

// openOutline opens an editor without a daemon: the structure of a document needs none.
func openOutline(t *testing.T, capabilities string) *lsptest.Editor {
	t.Helper()
	return lsptest.Open(t, lsptest.Options{Capabilities: capabilities, Dial: func(context.Context, client.Options) (*client.Client, error) {
		return nil, errors.New("no daemon")
	}})
}

const outlineSource = "---\ntype: Person\nrole: x\n---\n# Title\n\nText [[A link|x]] here\nand more.\n\n## One\n\na\n\n### Deep\n\n```go\n# no heading\n```\n\n## Two\n"

// symbolTree writes symbols with their selection, one a line.
func symbolTree(list []lsp.DocumentSymbol, d *lsp.Document, indent string) string {
	out := ""
	for _, s := range list {
		start, end := d.Span(s.SelectionRange, lsp.UTF16)
		out += fmt.Sprintf("%s%s %q\n", indent, s.Name, d.Text[start:end]) + symbolTree(s.Children, d, indent+" ")
	}
	return out
}

func TestLSP4_DocumentSymbols(t *testing.T) {
	const uri = "file:///elsewhere/a.md"
	e := openOutline(t, `{"textDocument":{"documentSymbol":{"hierarchicalDocumentSymbolSupport":true}}}`)
	at := e.Show(uri, strings.ReplaceAll(outlineSource, "|x", ""))
	var list []lsp.DocumentSymbol
	e.Call("textDocument/documentSymbol", lsp.TextDocumentParams{TextDocument: at.TextDocument}, &list)
	want := `frontmatter ""
 type "type: Person"
 role "role: x"
Title "# Title"
 One "## One"
  Deep "### Deep"
 Two "## Two"
`
	if got := symbolTree(list, lsp.NewDocument(uri, "", e.Text(uri)), ""); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	flat := openOutline(t, "")
	flat.Show(uri, strings.ReplaceAll(outlineSource, "|x", ""))
	var infos []lsp.SymbolInformation
	flat.Call("textDocument/documentSymbol", lsp.TextDocumentParams{TextDocument: at.TextDocument}, &infos)
	if len(infos) != 7 || infos[5].Name != "Deep" || infos[5].ContainerName != "One" || infos[5].Location.URI != uri {
		t.Errorf("%+v", infos)
	}
}

func TestLSP4_FoldingRanges(t *testing.T) {
	e := openOutline(t, "")
	at := e.Show("untitled:a", strings.ReplaceAll(outlineSource, "|x", ""))
	var list []lsp.FoldingRange
	e.Call("textDocument/foldingRange", lsp.TextDocumentParams{TextDocument: at.TextDocument}, &list)
	got := ""
	for _, f := range list {
		got += fmt.Sprintf("%d-%d ", f.StartLine, f.EndLine)
	}
	if want := "0-3 4-19 9-17 13-17 15-17 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLSP4_SelectionRanges(t *testing.T) {
	const uri = "untitled:a"
	e := openOutline(t, "")
	at := e.ShowMarked(uri, strings.Replace(outlineSource, "A link", "A li‸nk", 1), "‸")
	var list []lsp.SelectionRange
	e.Call("textDocument/selectionRange", lsp.SelectionRangeParams{TextDocument: at.TextDocument, Positions: []lsp.Position{at.Position, {Line: 99}}}, &list)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	d, got := lsp.NewDocument(uri, "", e.Text(uri)), []string{}
	for r := &list[0]; r != nil; r = r.Parent {
		start, end := d.Span(r.Range, lsp.UTF16)
		got = append(got, fmt.Sprintf("%.12q", d.Text[start:end]))
	}
	if want := `"link" "A link|x" "[[A link|x]]" "Text [[A lin" "Text [[A lin" "# Title\n\nTex" "---\ntype: Pe"`; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
