package lsp

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Bounds of workspace/symbol.
const (
	maxNamed    = 40 // notes, and entities
	maxSearched = 10 // notes whose headings are looked through
)

// workspaceSymbols returns the notes, entities and headings that a text may name, best first.
func workspaceSymbols(ctx context.Context, c *Call, p *WorkspaceSymbolParams) ([]SymbolInformation, error) {
	list := []SymbolInformation{}
	add := func(name, vault, path, container string, kind int) error {
		uri, ok, err := c.URI(ctx, vault, path)
		if ok && err == nil {
			list = append(list, SymbolInformation{Name: name, Kind: kind, Location: Location{URI: uri}, ContainerName: container})
		}
		return err
	}
	var notes protocol.NoteItems
	if err := c.Daemon(ctx, "notes.complete", protocol.NoteComplete{Prefix: p.Query, Limit: maxNamed}, &notes); err != nil {
		return nil, err
	}
	for _, n := range notes.Items {
		if err := add(n.Title, n.Vault, n.Path, n.Path, SymbolFile); err != nil {
			return nil, err
		}
	}
	var entities protocol.EntityItems
	if err := c.Daemon(ctx, "entities.complete", protocol.EntityComplete{Prefix: strings.TrimPrefix(p.Query, "@"), Limit: maxNamed}, &entities); err != nil {
		return nil, err
	}
	for _, e := range entities.Items {
		if err := add(e.Name, e.Vault, e.Path, e.Type, SymbolObject); err != nil {
			return nil, err
		}
	}
	query := strings.ToLower(strings.TrimLeft(p.Query, "# "))
	if query == "" {
		return list, nil
	}
	var found protocol.SearchResult
	ask := protocol.NoteSearch{Query: query, Mode: "lexical", Limit: maxSearched}
	_ = c.Daemon(ctx, "notes.search", ask, &found) // the names are found all the same
	for _, hit := range found.Hits {
		var n protocol.NoteFull
		if err := c.Daemon(ctx, "notes.get", protocol.NoteGet{Ref: hit.ID}, &n); err != nil {
			continue
		}
		d := noteSource(ctx, c.Session, &n)
		for _, h := range d.Headings() {
			if d.URI != "" && strings.Contains(strings.ToLower(h.Text), query) && h.Text != n.Title {
				list = append(list, SymbolInformation{
					Name: h.Text, Kind: SymbolString, ContainerName: n.Title,
					Location: Location{URI: d.URI, Range: d.Range(h.Start, h.End, c.Encoding())},
				})
			}
		}
	}
	return list, nil
}

// highlight returns where else in the document stands what stands at a place.
func highlight(_ context.Context, c *Call, p *TextDocumentPositionParams) ([]DocumentHighlight, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() {
		return nil, nil
	}
	list := []DocumentHighlight{}
	at := d.Offset(p.Position, c.Encoding())
	add := func(start, end, kind int) {
		list = append(list, DocumentHighlight{Range: d.Range(start, end, c.Encoding()), Kind: kind})
	}
	t, ok := targetAt(d, at)
	switch {
	case ok && t.Kind == targetLink:
		for _, l := range d.Links() {
			if strings.EqualFold(l.Target, t.Link.Target) && (l.Target != "" || l.Heading == t.Link.Heading && l.Block == t.Link.Block) {
				add(l.Start, l.End, HighlightRead)
			}
		}
		if place := placeWithin(d, t.Link.Heading, t.Link.Block); t.Link.Target == "" && place.End > 0 {
			add(place.Start, place.Name, HighlightWrite)
		}
	case ok && t.Kind != targetQuery && t.Kind != targetValue:
		name := certain(t)
		for _, m := range marksIn(d) {
			if m.Kind == t.Kind && strings.EqualFold(certain(m), name) {
				add(m.Start, m.End, HighlightText)
			}
		}
	default:
		headingAt(d, at, add)
	}
	return list, nil
}

// certain is the part of a name that is sure: of an open mention its first word.
func certain(t textTarget) string {
	if !t.Open {
		return t.Name
	}
	return t.Name[:max(0, t.End-t.Start-1)]
}

// headingAt adds a heading, and the links of the document to it.
func headingAt(d *Document, at int, add func(start, end, kind int)) {
	line := d.LineAt(at)
	for _, h := range d.Headings() {
		if h.Line != line+1 {
			continue
		}
		add(h.Start, h.End, HighlightWrite)
		for _, l := range d.Links() {
			if l.Target != "" || l.Heading == "" {
				continue
			}
			if start, _, ok := notePart(d, l.Heading, ""); ok && start == h.Start {
				add(l.Start, l.End, HighlightRead)
			}
		}
	}
}
