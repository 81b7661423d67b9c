package lsp

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// pageOfRecords is how many records are asked for at once.
const pageOfRecords = 500

// sought is what references are looked for.
type sought struct {
	*Call
	ctx    context.Context
	note   string // id
	uri    string // of the note
	part   string // heading, folded; or ^block; "" for the whole note
	entity string // id
	list   []Location
}

// references returns what leads to what stands at a place: to what a link or a mention
// means, to the heading or the block there, and else to the note itself.
func references(ctx context.Context, c *Call, p *ReferenceParams) ([]Location, error) {
	d := c.Read(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	s := &sought{Call: c, ctx: ctx, list: []Location{}}
	at := d.Offset(p.Position, c.Encoding())
	if d.IsTypeFile() {
		return s.users(d, at)
	}
	found, err := s.whatIsAt(d, at)
	if !found || err != nil {
		return nil, err
	}
	if p.Context.IncludeDeclaration && s.note != "" {
		place, ok, err := locateNotePart(ctx, c.Session, s.note, strings.TrimPrefix(s.part, "^"), "")
		if err != nil {
			return nil, err
		}
		if ok {
			s.list = append(s.list, place.Location(c.Session))
		}
	}
	return s.list, s.find()
}

// whatIsAt finds out what is looked for.
func (s *sought) whatIsAt(d *Document, at int) (bool, error) {
	t, ok := targetAt(d, at)
	f, err := resolveTarget(s.ctx, s.Session, d, t)
	if err != nil {
		return false, err
	}
	if ok && (t.Kind != targetValue || !f.Nothing()) {
		switch {
		case t.Kind == targetQuery, t.Kind == targetTag:
			return t.Kind == targetTag, s.tagged(t.Name)
		case f.Self:
			s.note, err = s.NoteID(s.ctx, d.URI)
			s.uri = d.URI
		default:
			s.entity = f.Entity
			s.note, err = noteToOpen(s.ctx, s.Session, f)
		}
		if s.part = text.Fold(f.Heading); f.Block != "" {
			s.part = "^" + text.Fold(f.Block)
		}
		return s.note != "" || s.entity != "" || s.uri != "", err
	}
	s.uri = d.URI
	s.note, err = s.NoteID(s.ctx, d.URI)
	line := d.LineAt(at)
	for _, h := range d.Headings() {
		if h.Line == line+1 && !(h.Level == 1 && h.Text == d.Note().Title) {
			s.part = text.Fold(h.Text)
		}
	}
	for _, b := range d.Blocks() {
		if b.Line == line+1 {
			s.part = "^" + text.Fold(b.ID)
		}
	}
	return true, err
}

// find collects the references.
func (s *sought) find() error {
	read := make(map[string]bool)
	if s.note != "" {
		var n protocol.NoteFull
		if err := s.Daemon(s.ctx, "notes.get", protocol.NoteGet{Ref: s.note}, &n); err != nil {
			return ignoreAbsent(err)
		}
		if uri, ok, err := s.URI(s.ctx, n.Vault, n.Path); ok && err == nil {
			s.uri = uri
		}
		if s.entity == "" {
			s.entity = n.EntityID
		}
		for _, from := range n.Backlinks {
			if err := s.inNote(from.ID, read); err != nil {
				return err
			}
		}
	}
	// What was typed and not saved counts too.
	for _, d := range s.Documents() {
		if !read[d.URI] && d.IsNote() && s.note+s.uri != "" {
			read[d.URI] = true
			if err := s.in(d, nil); err != nil {
				return err
			}
		}
	}
	if s.entity == "" || s.part != "" {
		return nil
	}
	if err := s.fields(); err != nil {
		return err
	}
	return s.mentions()
}

// inNote collects the links of a note that is stored.
func (s *sought) inNote(id string, read map[string]bool) error {
	var n protocol.NoteFull
	if err := s.Daemon(s.ctx, "notes.get", protocol.NoteGet{Ref: id}, &n); err != nil {
		return ignoreAbsent(err)
	}
	d := noteSource(s.ctx, s.Session, &n)
	if d.URI == "" || read[d.URI] {
		return nil
	}
	read[d.URI] = true
	return s.in(d, &n)
}

// in collects the links of a document. Where they lead is known of those that are stored.
func (s *sought) in(d *Document, stored *protocol.NoteFull) error {
	known := make(map[string]string) // note by target
	if stored != nil {
		for _, l := range stored.Links {
			known[l.Target] = l.ID
		}
	}
	for _, l := range d.Links() {
		if s.part != "" && !s.isPart(l) {
			continue
		}
		id, ok := known[l.Target]
		if l.Target == "" {
			if d.URI == s.uri {
				s.add(d, l.Start, l.End)
			}
			continue
		}
		if !ok {
			f, err := resolveDocumentLink(s.ctx, s.Session, d.URI, l)
			if err != nil {
				return err
			}
			id = f.Note
			known[l.Target] = id
		}
		if id != "" && id == s.note {
			s.add(d, l.Start, l.End)
		}
	}
	return nil
}

// isPart reports whether a link points at the part that is looked for.
func (s *sought) isPart(l markdown.Link) bool {
	if block, ok := strings.CutPrefix(s.part, "^"); ok {
		return text.Fold(l.Block) == block
	}
	last := l.Heading[strings.LastIndexByte(l.Heading, '#')+1:]
	return l.Heading != "" && (markdown.SameHeading(last, s.part) || l.Heading == markdown.Anchor(s.part))
}

func (s *sought) add(d *Document, start, end int) {
	s.list = append(s.list, Location{URI: d.URI, Range: d.Range(start, end, s.Encoding())})
}

// fields collects the fields of other entities that lead to an entity by its name alone;
// those that do by a link are found as links.
func (s *sought) fields() error {
	var near record.GraphSubgraph
	ask := protocol.GraphNeighbors{Ref: s.entity, Kinds: []string{"entity"}}
	if err := s.Daemon(s.ctx, "graph.neighbors", ask, &near); err != nil {
		return ignoreAbsent(err)
	}
	for _, edge := range near.Edges {
		if edge.To != s.entity || edge.From == s.entity {
			continue
		}
		var e protocol.EntityFull
		if err := s.Daemon(s.ctx, "entities.get", protocol.EntityGet{Ref: edge.From}, &e); err != nil || e.NoteID == "" {
			continue // deleted meanwhile, or of no note
		}
		var n protocol.NoteFull
		if err := s.Daemon(s.ctx, "notes.get", protocol.NoteGet{Ref: e.NoteID}, &n); err != nil {
			continue // likewise
		}
		d := noteSource(s.ctx, s.Session, &n)
		for _, k := range d.FrontKeys() {
			start, end := d.LineSpan(k.Line)
			if d.URI != "" && text.Fold(k.Key) == text.Fold(edge.Field) && !strings.Contains(d.Text[start:end], "[[") && k.Value != "" {
				s.add(d, start, end)
			}
		}
	}
	return nil
}

// mentions collects where an entity is mentioned behind @: in the notes in which a search
// finds its name.
func (s *sought) mentions() error {
	var e protocol.EntityFull
	if err := s.Daemon(s.ctx, "entities.get", protocol.EntityGet{Ref: s.entity}, &e); err != nil {
		return ignoreAbsent(err)
	}
	var found protocol.SearchResult
	query := protocol.NoteSearch{Query: `"` + strings.ReplaceAll(e.Name, `"`, " ") + `"`, Mode: "lexical", Limit: 100}
	_ = s.Daemon(s.ctx, "notes.search", query, &found) // the links are found all the same
	names := append([]string{e.Name}, e.Aliases...)
	for _, hit := range found.Hits {
		var n protocol.NoteFull
		if err := s.Daemon(s.ctx, "notes.get", protocol.NoteGet{Ref: hit.ID}, &n); err != nil {
			continue
		}
		d := noteSource(s.ctx, s.Session, &n)
		if d.URI == "" {
			continue
		}
		for _, t := range marksIn(d) {
			if t.Kind != targetMention {
				continue
			}
			for _, name := range names {
				if n := len(name); len(t.Name) >= n && strings.EqualFold(t.Name[:n], name) && (t.Open || len(t.Name) == n) {
					s.add(d, t.Start, max(t.End, t.Start+1+n))
					break
				}
			}
		}
	}
	return nil
}

// tagged collects where a tag stands, in the notes that have it.
func (s *sought) tagged(name string) error {
	s.uri = "" // no links are looked for
	ask := protocol.NoteFilter{Tag: name, Page: protocol.Page{Limit: pageOfRecords}}
	for {
		var page protocol.NotePage
		if err := s.Daemon(s.ctx, "notes.list", ask, &page); err != nil {
			return ignoreAbsent(err)
		}
		for _, h := range page.Notes {
			s.tagIn(h.ID, name)
		}
		if page.NextCursor == "" {
			return nil
		}
		ask.Cursor = page.NextCursor
	}
}

// tagIn collects where a tag stands in a note.
func (s *sought) tagIn(id, name string) {
	var n protocol.NoteFull
	if err := s.Daemon(s.ctx, "notes.get", protocol.NoteGet{Ref: id}, &n); err != nil {
		return // deleted meanwhile
	}
	d := noteSource(s.ctx, s.Session, &n)
	if d.URI == "" {
		return
	}
	for _, t := range marksIn(d) {
		if t.Kind == targetTag && (strings.EqualFold(t.Name, name) || strings.HasPrefix(strings.ToLower(t.Name), strings.ToLower(name)+"/")) {
			s.add(d, t.Start, t.End)
		}
	}
}

// users collects the notes that have a value in the field that is declared at a place.
func (s *sought) users(d *Document, at int) ([]Location, error) {
	typeName, field := "", ""
	for line := range d.Lines() {
		key, value, _ := strings.Cut(strings.TrimLeft(d.Line(line), " -"), ":")
		switch {
		case key == "name" && strings.HasPrefix(d.Line(line), "name"):
			typeName = unquoteScalar(value)
		case key == "name" && line <= d.LineAt(at):
			field = unquoteScalar(value)
		}
	}
	if typeName == "" || field == "" {
		return s.list, nil
	}
	ask := protocol.EntityFilter{Type: typeName, Page: protocol.Page{Limit: pageOfRecords}}
	for {
		var page protocol.EntityPage
		if err := s.Daemon(s.ctx, "entities.list", ask, &page); err != nil {
			return s.list, ignoreAbsent(err)
		}
		for _, e := range page.Entities {
			if err := s.valueOf(&e, field); err != nil {
				return nil, err
			}
		}
		if page.NextCursor == "" {
			return s.list, nil
		}
		ask.Cursor = page.NextCursor
	}
}

// valueOf collects where an entity has a value in a field.
func (s *sought) valueOf(e *protocol.EntityHead, field string) error {
	if e.Fields[field] == nil {
		return nil
	}
	uri, ok, err := s.URI(s.ctx, e.Vault, e.Path)
	if err != nil || !ok {
		return err
	}
	user := s.Read(uri)
	if user == nil {
		return nil
	}
	for _, k := range user.FrontKeys() {
		if text.Fold(k.Key) == text.Fold(field) {
			start, end := user.LineSpan(k.Line)
			s.add(user, start, end)
		}
	}
	return nil
}
