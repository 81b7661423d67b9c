package lsp

// This file and navigate_*.go answer what an editor asks about a place: what stands there (hover), where it leads
// (definition, documentLink), what leads to it (references), what has a name (workspace/symbol), and where else in the
// document it stands (documentHighlight).
//
// The documents that are open count as they are; all other notes as the daemon has them. References read each note
// that links to the one in question: that is linear in their text. Errors are those of the daemon.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// navigationFeature returns what is asked about places.
func navigationFeature() Feature {
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/hover", hover),
			NewRequest("textDocument/definition", definition),
			NewRequest("textDocument/documentLink", documentLinks),
			NewRequest("documentLink/resolve", resolveLink),
			NewRequest("textDocument/references", references),
			NewRequest("textDocument/documentHighlight", highlight),
			NewRequest("workspace/symbol", workspaceSymbols),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.HoverProvider, can.DefinitionProvider, can.ReferencesProvider = true, true, true
			can.DocumentHighlightProvider, can.WorkspaceSymbolProvider = true, true
			can.DocumentLinkProvider = &ResolveOptions{ResolveProvider: true}
		},
	}
}

// hover shows what stands at a place.
func hover(ctx context.Context, c *Call, p *HoverParams) (*Hover, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	t, ok := targetAt(d, d.Offset(p.Position, c.Encoding()))
	if !ok {
		return nil, nil
	}
	f, err := resolveTarget(ctx, c.Session, d, t)
	if err != nil {
		return nil, err
	}
	if f.End > t.Start {
		t.End = f.End
	}
	shown := ""
	switch {
	case t.Kind == targetQuery:
		shown, err = previewQuery(ctx, c.Session, t.Query)
	case t.Kind == targetTag:
		shown, err = tag(ctx, c, t.Name)
	case t.Kind == targetValue && f.Nothing():
	case f.Self:
		if start, end, ok := notePart(d, f.Heading, f.Block); ok {
			shown = d.Text[start:end]
		}
	case f.Note != "":
		shown, err = previewNote(ctx, c.Session, f.Note, f.Heading, f.Block)
	case f.Entity != "":
		shown, err = previewEntity(ctx, c.Session, f.Entity)
	case f.Memory != "":
		shown, err = previewMemory(ctx, c.Session, f.Memory)
	case len(f.Candidates) > 0:
		shown = "This may mean several notes:\n"
		for _, n := range f.Candidates {
			shown += "\n- " + strings.TrimSpace(n.Title+" · "+n.Path)
		}
	}
	if shown == "" || err != nil {
		return nil, err
	}
	r := d.Range(t.Start, t.End, c.Encoding())
	return &Hover{Contents: MarkupContent{Kind: MarkupMarkdown, Value: shown}, Range: &r}, nil
}

// tag says how many notes have a tag.
func tag(ctx context.Context, c *Call, name string) (string, error) {
	var list protocol.TagPage
	if err := c.Daemon(ctx, "tags.list", protocol.TagFilter{Prefix: name, Page: protocol.Page{Limit: 100}}, &list); err != nil {
		return "", ignoreAbsent(err)
	}
	shown := ""
	for _, t := range list.Tags {
		if strings.EqualFold(t.Name, name) {
			shown = fmt.Sprintf("**#%s** · %d notes\n%s", t.Name, t.Count, shown)
		} else if strings.HasPrefix(strings.ToLower(t.Name), strings.ToLower(name)+"/") {
			shown += fmt.Sprintf("\n- #%s · %d notes", t.Name, t.Count)
		}
	}
	return shown, nil
}

// definition returns where what stands at a place leads: several places when it may mean
// several notes.
func definition(ctx context.Context, c *Call, p *DefinitionParams) (any, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	t, ok := targetAt(d, d.Offset(p.Position, c.Encoding()))
	if !ok {
		return nil, nil
	}
	f, err := resolveTarget(ctx, c.Session, d, t)
	if err != nil {
		return nil, err
	}
	if f.End > t.Start {
		t.End = f.End
	}
	var places []documentPlace
	switch {
	case f.Self:
		places = append(places, placeWithin(d, f.Heading, f.Block))
	case f.File != "":
		return []Location{{URI: f.File}}, nil
	case len(f.Candidates) > 0 && f.Note == "":
		for _, n := range f.Candidates {
			if places, err = locate(ctx, c, places, n.ID, f); err != nil {
				return nil, err
			}
		}
	default:
		note, err := noteToOpen(ctx, c.Session, f)
		if note == "" || err != nil {
			return nil, err
		}
		if places, err = locate(ctx, c, places, note, f); err != nil {
			return nil, err
		}
	}
	if !c.Client().TextDocument.Definition.LinkSupport {
		locations := make([]Location, len(places))
		for i, at := range places {
			locations[i] = at.Location(c.Session)
		}
		return locations, nil
	}
	links := make([]LocationLink, len(places))
	origin := d.Range(t.Start, t.End, c.Encoding())
	for i, at := range places {
		links[i] = LocationLink{
			OriginSelectionRange: &origin, TargetURI: at.Doc.URI,
			TargetRange:          at.Doc.Range(at.Start, max(at.End, at.Name), c.Encoding()),
			TargetSelectionRange: at.Doc.Range(at.Start, at.Name, c.Encoding()),
		}
	}
	return links, nil
}

func locate(ctx context.Context, c *Call, list []documentPlace, note string, f resolvedTarget) ([]documentPlace, error) {
	at, ok, err := locateNotePart(ctx, c.Session, note, f.Heading, f.Block)
	if ok && err == nil {
		list = append(list, at)
	}
	return list, err
}

// linkData is what a link of documentLink keeps to be resolved.
type linkData struct {
	URI  string `json:"uri"`
	Link string `json:"link"` // as written, or the destination of a Markdown link
}

// documentLinks are the links to notes and files. Where they lead is found out when one is
// followed or pointed at.
func documentLinks(_ context.Context, c *Call, p *TextDocumentParams) ([]DocumentLink, error) {
	list := []DocumentLink{}
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() {
		return list, nil
	}
	for _, l := range d.Links() {
		data, err := json.Marshal(linkData{d.URI, l.Raw})
		if err != nil {
			return nil, err
		}
		list = append(list, DocumentLink{Range: d.Range(l.Start, l.End, c.Encoding()), Data: data})
	}
	return list, nil
}

func resolveLink(ctx context.Context, c *Call, l *DocumentLink) (*DocumentLink, error) {
	var of linkData
	if err := json.Unmarshal(l.Data, &of); err != nil || !markdown.IsLink(of.Link) {
		return nil, fault.New(fault.Invalid, "the data of the link is not what the server gave it")
	}
	f, err := resolveDocumentLink(ctx, c.Session, of.URI, markdown.ReadLink(of.Link))
	if err != nil {
		return nil, err
	}
	switch {
	case f.File != "":
		l.Target = f.File
	case f.Self:
		if d := c.Read(of.URI); d != nil {
			l.Target = address(placeWithin(d, f.Heading, f.Block))
		}
	case f.Note != "":
		at, ok, err := locateNotePart(ctx, c.Session, f.Note, f.Heading, f.Block)
		if err != nil || !ok {
			return l, err
		}
		l.Target = address(at)
	}
	return l, nil
}

// address is the address of a place, with its line as editors write it.
func address(p documentPlace) string {
	if line := p.Doc.LineAt(p.Start); line > 0 {
		return fmt.Sprintf("%s#L%d", p.Doc.URI, line+1)
	}
	return p.Doc.URI
}
