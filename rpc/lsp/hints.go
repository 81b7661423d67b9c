package lsp

// This file answers what an editor shows beside the text: the title behind a link that does not say it, the values of
// the computed fields of the entity that a note describes (inlayHint), and how much leads to the note (codeLens).
//
// What is saved decides: where a link leads is taken from the note that the daemon has, and links that were typed
// since then get their hint when the file is saved. Each answer takes a few calls of the daemon, whatever the length
// of the document. Errors are those of the daemon. When notes change, an editor that can is told to ask again.

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// ShowReferencesCommand is the command of a lens. It is the editor's: it shows the references of
// the place that its arguments name, an address and a position.
const ShowReferencesCommand = "ctxd.showReferences"

// refreshEvery is the least time between two requests to ask again.
const refreshEvery = 500 * time.Millisecond

// hintsFeature returns the hints and lenses.
func hintsFeature() Feature {
	r := &refresher{}
	return Feature{
		Requests: []Request{
			NewRequest("textDocument/inlayHint", hints),
			NewRequest("textDocument/codeLens", lenses),
		},
		Announce: func(_ *Session, can *ServerCapabilities) {
			can.InlayHintProvider, can.CodeLensProvider = true, &ResolveOptions{}
		},
		Configured: r.soon,
		Events: map[protocol.Topic]func(*Session, json.RawMessage){
			protocol.TopicNotes:    func(s *Session, _ json.RawMessage) { r.soon(s) },
			protocol.TopicEntities: func(s *Session, _ json.RawMessage) { r.soon(s) },
		},
	}
}

// refresher has the editor ask again, not too often.
type refresher struct {
	mu      sync.Mutex // guards waiting
	waiting bool
}

func (r *refresher) soon(s *Session) {
	can := s.Client().Workspace
	if !can.InlayHint.RefreshSupport && !can.CodeLens.RefreshSupport {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting {
		return
	}
	r.waiting = true
	s.Go(func(ctx context.Context) {
		select {
		case <-time.After(refreshEvery):
		case <-ctx.Done():
		}
		r.mu.Lock()
		r.waiting = false
		r.mu.Unlock()
		if can.InlayHint.RefreshSupport {
			_ = s.Ask(ctx, "workspace/inlayHint/refresh", nil, nil) // an editor that has gone asks no more
		}
		if can.CodeLens.RefreshSupport {
			_ = s.Ask(ctx, "workspace/codeLens/refresh", nil, nil) // likewise
		}
	})
}

// hints are those of a range.
func hints(ctx context.Context, c *Call, p *InlayHintParams) ([]InlayHint, error) {
	list := []InlayHint{}
	d := c.Document
	if d == nil || !d.IsNote() || !c.Settings().InlayHints {
		return list, nil
	}
	n, err := c.Note(ctx, d.URI)
	if n == nil || err != nil {
		return list, err
	}
	start, end := d.Span(p.Range, c.Encoding())
	titles := make(map[string]string)
	for _, l := range n.Links {
		if l.ID != "" && l.Kind == "" {
			titles[l.Target] = l.Title
		}
	}
	for _, l := range d.Links() {
		title := titles[l.Target]
		if l.Start < start || l.End > end || l.Markdown || l.Alias != "" || l.InFrontmatter || title == "" || says(l.Target, title) {
			continue
		}
		list = append(list, InlayHint{Position: d.Position(l.End, c.Encoding()), Label: title, PaddingLeft: true})
	}
	computed, err := computedHint(ctx, c, d, n.EntityID)
	if computed != nil {
		if at := d.Offset(computed.Position, c.Encoding()); start <= at && at <= end {
			list = append(list, *computed)
		}
	}
	return list, err
}

// says reports whether the target of a link says the title of its note.
func says(target, title string) bool {
	name := path.Base(strings.TrimSuffix(target, ".md"))
	return text.Fold(name) == text.Fold(title)
}

// computedHint shows the computed fields of the entity of a note behind its type.
func computedHint(ctx context.Context, c *Call, d *Document, id string) (*InlayHint, error) {
	if id == "" {
		return nil, nil
	}
	line := -1
	for _, k := range d.FrontKeys() {
		if strings.EqualFold(k.Key, "type") {
			line = k.Line
		}
	}
	if line < 0 {
		return nil, nil
	}
	var e protocol.EntityFull
	if err := c.Daemon(ctx, "entities.get", protocol.EntityGet{Ref: id, Resolve: 1}, &e); err != nil {
		return nil, ignoreAbsent(err)
	}
	var t record.Type
	if err := c.Daemon(ctx, "types.get", protocol.TypeGet{Ref: e.Type, Vault: e.TypeVault}, &t); err != nil {
		return nil, ignoreAbsent(err)
	}
	var parts []string
	for _, f := range t.Fields {
		if f.Type != record.Computed {
			continue
		}
		if v := previewValue(e.Fields[f.Name]); v != "" {
			parts = append(parts, f.Name+": "+clipHint(v))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	_, end := d.LineSpan(line)
	return &InlayHint{Position: d.Position(end, c.Encoding()), Label: strings.Join(parts, " · "), PaddingLeft: true}, nil
}

// maxValue is how many bytes of a value a hint shows.
const maxValue = 60

func clipHint(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}

// lenses say above a note how many notes link to it, and how many links are in them.
func lenses(ctx context.Context, c *Call, p *TextDocumentParams) ([]CodeLens, error) {
	list := []CodeLens{}
	d := c.Read(p.TextDocument.URI)
	if d == nil || !d.IsNote() || !c.Settings().CodeLens {
		return list, nil
	}
	n, err := c.Note(ctx, d.URI)
	if n == nil || err != nil {
		return list, err
	}
	at := 0
	if h := d.Headings(); len(h) > 0 && h[0].Level == 1 {
		at = h[0].Start
	}
	links := 0
	for _, b := range n.Backlinks {
		links += b.Count
	}
	title := plural(links, "backlink") + " in " + plural(len(n.Backlinks), "note")
	if n.EntityID != "" {
		referring, err := referring(ctx, c, n.EntityID)
		if err != nil {
			return nil, err
		}
		if referring > 0 {
			title += " · in fields of " + plural(referring, "entity")
		}
	}
	where := d.Position(at, c.Encoding())
	uri, _ := json.Marshal(d.URI)      // a text can't fail
	position, _ := json.Marshal(where) // two numbers can't
	list = append(list, CodeLens{
		Range:   Range{Start: where, End: where},
		Command: &Command{Title: title, Command: ShowReferencesCommand, Arguments: []json.RawMessage{uri, position}},
	})
	return list, nil
}

// referring counts the entities whose fields lead to one.
func referring(ctx context.Context, c *Call, id string) (int, error) {
	var near record.GraphSubgraph
	if err := c.Daemon(ctx, "graph.neighbors", protocol.GraphNeighbors{Ref: id, Kinds: []string{"entity"}}, &near); err != nil {
		return 0, ignoreAbsent(err)
	}
	from := make(map[string]bool)
	for _, e := range near.Edges {
		if e.To == id && e.From != id && e.Field != "link" {
			from[e.From] = true
		}
	}
	return len(from), nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
