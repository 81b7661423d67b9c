package complete

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/text"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Feature returns the completion of links.
func Feature() server.Feature {
	return server.Feature{
		Requests: []server.Request{server.On("textDocument/completion", complete)},
		Announce: func(_ *server.Session, can *wire.ServerCapabilities) {
			can.CompletionProvider = &wire.CompletionOptions{TriggerCharacters: []string{"["}}
		},
	}
}

func complete(ctx context.Context, c *server.Call, p *wire.CompletionParams) (*wire.CompletionList, error) {
	if c.Document == nil {
		return nil, nil
	}
	e := c.Encoding()
	at := c.Document.Offset(p.Position, e)
	link, ok := openLink(c.Document, at)
	if !ok {
		return nil, nil
	}
	return link.notes(ctx, c)
}

// link is a wikilink that is being typed. All but doc are offsets into its text.
type link struct {
	doc    *text.Document
	inner  int  // behind [[
	at     int  // the cursor
	end    int  // of what an item replaces
	closed bool // ]] follows
}

// openLink finds the link that the cursor is in.
func openLink(d *text.Document, at int) (link, bool) {
	start, lineEnd := d.LineSpan(d.LineAt(at))
	before, after := d.Text[start:at], d.Text[at:max(at, lineEnd)]
	open := strings.LastIndex(before, "[[")
	if open < 0 || strings.Contains(before[open:], "]]") {
		return link{}, false
	}
	l := link{doc: d, inner: start + open + len("[["), at: at, end: at}
	closing := strings.Index(after, "]]")
	if next := strings.Index(after, "[["); closing >= 0 && (next < 0 || closing < next) {
		l.closed = true
		l.end = at + strings.IndexAny(after, "]|#")
	} else if strings.HasPrefix(after, "]") {
		l.end = at + len("]") // one bracket that the editor has written
	}
	return l, true
}

// typed is what stands between [[ and the cursor.
func (l link) typed() string { return l.doc.Text[l.inner:l.at] }

// edit replaces what was typed from an offset on.
func (l link) edit(c *server.Call, from int, with string) *wire.TextEdit {
	if !l.closed {
		with += "]]"
	}
	return &wire.TextEdit{Range: l.doc.Range(from, l.end, c.Encoding()), NewText: with}
}

// notes completes the note of a link.
func (l link) notes(ctx context.Context, c *server.Call) (*wire.CompletionList, error) {
	from, err := c.NoteID(ctx, l.doc.URI)
	if err != nil {
		return nil, err
	}
	typed := l.typed()
	var found protocol.NoteItems
	ask := protocol.NoteComplete{Prefix: strings.TrimSpace(typed), From: from, Limit: c.Settings().Limit}
	if err := c.Daemon(ctx, "notes.complete", ask, &found); err != nil {
		return nil, err
	}
	list := &wire.CompletionList{IsIncomplete: true, Items: []wire.CompletionItem{}}
	for _, n := range found.Items {
		target := written(n, c.Settings().Links)
		if target == "" {
			continue // no text leads to this note alone
		}
		list.Items = append(list.Items, wire.CompletionItem{
			Label: n.Title, Kind: wire.KindFile, Detail: n.Path,
			SortText: fmt.Sprintf("%04d", len(list.Items)), FilterText: filter(typed, n.Title),
			TextEdit: l.edit(c, l.inner, target),
		})
	}
	return list, nil
}

// written is what stands between the brackets of a link to a note.
func written(n protocol.NoteItem, links string) string {
	path := strings.TrimSuffix(n.Path, ".md")
	switch {
	case links == "path" && path != "":
		return path
	case links == "alias" && path != "":
		return path + "|" + n.Title
	}
	return n.Insert
}

// filter is what an editor compares with what was typed: it begins with it, since the
// daemon has found the item by rules of its own.
func filter(typed, label string) string {
	if typed == "" {
		return label
	}
	return typed + " " + label
}
