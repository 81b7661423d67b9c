package lsp_test

import (
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/protocol"
)

var (
	adjectives = []string{"Quiet", "Broad", "Early", "Late", "Green", "Small", "Heavy", "Open", "Plain", "Warm"}
	nouns      = []string{"River", "Kitchen", "Project", "Meeting", "Budget", "Garden", "Ledger", "Walk", "Plan", "Letter"}
)

// BenchmarkLSP3_Completion40000 types one character and asks for the list: through a pipe to the
// server, and over the socket to a daemon with 40,000 notes.
func BenchmarkLSP3_Completion40000(b *testing.B) {
	d := lsptest.Start(b)
	for i := 0; i < 40_000; i += 1000 {
		var many protocol.NotePutMany
		for j := i; j < i+1000; j++ {
			title := fmt.Sprintf("%s %s %d", adjectives[j%10], nouns[j/10%10], j/100)
			many.Notes = append(many.Notes, protocol.NoteRecord{Title: title, Path: fmt.Sprintf("%s/%s.md", nouns[j%7], title), Body: "Text of " + title + ".\n"})
		}
		d.Call("notes.putMany", many, nil)
	}
	e := d.Open(lsptest.Options{})
	const uri = "untitled:new.md"
	for _, typed := range []string{"q", "quiet pro", "meeting 17"} {
		b.Run(typed, func(b *testing.B) {
			at := e.Show(uri, "See [["+typed+"|")
			version := int32(1000)
			for b.Loop() {
				version++
				last := at.Position
				last.Character--
				e.Notify("textDocument/didChange", lsp.DidChangeTextDocumentParams{
					TextDocument: lsp.VersionedTextDocumentIdentifier{URI: uri, Version: version},
					ContentChanges: []lsp.TextDocumentContentChangeEvent{
						{Range: &lsp.Range{Start: last, End: at.Position}, Text: typed[len(typed)-1:]},
					},
				})
				var list lsp.CompletionList
				e.Call("textDocument/completion", at, &list)
				if len(list.Items) == 0 {
					b.Fatal("nothing was found")
				}
			}
		})
	}
}
