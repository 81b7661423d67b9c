package navigate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/lsp/preview"
	"github.com/ctxd/ctxd/rpc/lsp/server"
	"github.com/ctxd/ctxd/rpc/lsp/target"
	"github.com/ctxd/ctxd/rpc/lsp/wire"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Feature returns what is asked about places.
func Feature() server.Feature {
	return server.Feature{
		Requests: []server.Request{
			server.On("textDocument/hover", hover),
			server.On("textDocument/definition", definition),
			server.On("textDocument/documentLink", documentLinks),
			server.On("documentLink/resolve", resolveLink),
			server.On("textDocument/references", references),
			server.On("textDocument/documentHighlight", highlight),
			server.On("workspace/symbol", symbols),
		},
		Announce: func(_ *server.Session, can *wire.ServerCapabilities) {
			can.HoverProvider, can.DefinitionProvider, can.ReferencesProvider = true, true, true
			can.DocumentHighlightProvider, can.WorkspaceSymbolProvider = true, true
			can.DocumentLinkProvider = &wire.ResolveOptions{ResolveProvider: true}
		},
	}
}

// hover shows what stands at a place.
func hover(ctx context.Context, c *server.Call, p *wire.HoverParams) (*wire.Hover, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	t, ok := target.At(d, d.Offset(p.Position, c.Encoding()))
	if !ok {
		return nil, nil
	}
	f, err := target.Resolve(ctx, c.Session, d, t)
	if err != nil {
		return nil, err
	}
	if f.End > t.Start {
		t.End = f.End
	}
	shown := ""
	switch {
	case t.Kind == target.Query:
		shown, err = preview.Query(ctx, c.Session, t.Query)
	case t.Kind == target.Tag:
		shown, err = tag(ctx, c, t.Name)
	case t.Kind == target.Value && f.Nothing():
	case f.Self:
		if start, end, ok := preview.Part(d, f.Heading, f.Block); ok {
			shown = d.Text[start:end]
		}
	case f.Note != "":
		shown, err = preview.Note(ctx, c.Session, f.Note, f.Heading, f.Block)
	case f.Entity != "":
		shown, err = preview.Entity(ctx, c.Session, f.Entity)
	case f.Memory != "":
		shown, err = preview.Memory(ctx, c.Session, f.Memory)
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
	return &wire.Hover{Contents: wire.MarkupContent{Kind: wire.Markdown, Value: shown}, Range: &r}, nil
}

// tag says how many notes have a tag.
func tag(ctx context.Context, c *server.Call, name string) (string, error) {
	var list protocol.TagPage
	if err := c.Daemon(ctx, "tags.list", protocol.TagFilter{Prefix: name, Page: protocol.Page{Limit: 100}}, &list); err != nil {
		return "", preview.Absent(err)
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
func definition(ctx context.Context, c *server.Call, p *wire.DefinitionParams) (any, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	t, ok := target.At(d, d.Offset(p.Position, c.Encoding()))
	if !ok {
		return nil, nil
	}
	f, err := target.Resolve(ctx, c.Session, d, t)
	if err != nil {
		return nil, err
	}
	if f.End > t.Start {
		t.End = f.End
	}
	var places []target.Place
	switch {
	case f.Self:
		places = append(places, target.Within(d, f.Heading, f.Block))
	case f.File != "":
		return []wire.Location{{URI: f.File}}, nil
	case len(f.Candidates) > 0 && f.Note == "":
		for _, n := range f.Candidates {
			if places, err = locate(ctx, c, places, n.ID, f); err != nil {
				return nil, err
			}
		}
	default:
		note, err := target.NoteOf(ctx, c.Session, f)
		if note == "" || err != nil {
			return nil, err
		}
		if places, err = locate(ctx, c, places, note, f); err != nil {
			return nil, err
		}
	}
	if !c.Client().TextDocument.Definition.LinkSupport {
		locations := make([]wire.Location, len(places))
		for i, at := range places {
			locations[i] = at.Location(c.Session)
		}
		return locations, nil
	}
	links := make([]wire.LocationLink, len(places))
	origin := d.Range(t.Start, t.End, c.Encoding())
	for i, at := range places {
		links[i] = wire.LocationLink{
			OriginSelectionRange: &origin, TargetURI: at.Doc.URI,
			TargetRange:          at.Doc.Range(at.Start, max(at.End, at.Name), c.Encoding()),
			TargetSelectionRange: at.Doc.Range(at.Start, at.Name, c.Encoding()),
		}
	}
	return links, nil
}

func locate(ctx context.Context, c *server.Call, list []target.Place, note string, f target.Found) ([]target.Place, error) {
	at, ok, err := target.Locate(ctx, c.Session, note, f.Heading, f.Block)
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
func documentLinks(_ context.Context, c *server.Call, p *wire.TextDocumentParams) ([]wire.DocumentLink, error) {
	list := []wire.DocumentLink{}
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() {
		return list, nil
	}
	for _, l := range d.Links() {
		data, err := json.Marshal(linkData{d.URI, l.Raw})
		if err != nil {
			return nil, err
		}
		list = append(list, wire.DocumentLink{Range: d.Range(l.Start, l.End, c.Encoding()), Data: data})
	}
	return list, nil
}

func resolveLink(ctx context.Context, c *server.Call, l *wire.DocumentLink) (*wire.DocumentLink, error) {
	var of linkData
	if err := json.Unmarshal(l.Data, &of); err != nil || !markdown.IsLink(of.Link) {
		return nil, fault.New(fault.Invalid, "the data of the link is not what the server gave it")
	}
	f, err := target.ResolveLink(ctx, c.Session, of.URI, markdown.ReadLink(of.Link))
	if err != nil {
		return nil, err
	}
	switch {
	case f.File != "":
		l.Target = f.File
	case f.Self:
		if d := c.Read(of.URI); d != nil {
			l.Target = address(target.Within(d, f.Heading, f.Block))
		}
	case f.Note != "":
		at, ok, err := target.Locate(ctx, c.Session, f.Note, f.Heading, f.Block)
		if err != nil || !ok {
			return l, err
		}
		l.Target = address(at)
	}
	return l, nil
}

// address is the address of a place, with its line as editors write it.
func address(p target.Place) string {
	if line := p.Doc.LineAt(p.Start); line > 0 {
		return fmt.Sprintf("%s#L%d", p.Doc.URI, line+1)
	}
	return p.Doc.URI
}
