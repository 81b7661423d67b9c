package notedoc

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/notes/vault"
)

// The fields of a note, by their numbers.
const (
	Title = iota
	Headings
	Tags
	Path
	Body
	Properties
)

// fields are the fields of notes. A heading stands in the body as well. Properties are those
// that the prompt shows (CTX-3). The weights were
// chosen on Cranfield and the sample vault: see quality.golden of package search.
var fields = []text.Field{
	Title:      {Name: "title", Weight: 8, Counted: true},
	Headings:   {Name: "headings", Weight: 1},
	Tags:       {Name: "tags", Weight: 4},
	Path:       {Name: "path", Weight: 1},
	Body:       {Name: "body", Weight: 1, Counted: true},
	Properties: {Name: "properties", Weight: 1, Counted: true},
}

// Options say what a Source needs to know from rooms to its right. The zero value works.
type Options struct {
	// Public is a note as a reader sees it for whom private records do not exist: the
	// note itself when nothing in it is hidden. It is not asked for private notes. It
	// must be quick, and ask no index; nil: notes hide nothing.
	Public func(*notes.Note) *notes.Note
	// Revealed returns the ids of the notes whose Public a commit changes, beside
	// those that it changes itself; nil: none.
	Revealed func(*kv.ChangeSet) []string
	// Copies are the copies of notes that conflict: finds; nil: there are none.
	Copies func(context.Context) ([]vault.Copy, error)
}

// Source is the Source of notes.
type Source struct {
	notes *notes.Store
	opts  Options
}

// New returns the Source of the notes of a store.
func New(ns *notes.Store, opts Options) *Source { return &Source{ns, opts} }

var _ text.Source = (*Source)(nil)

// doc is a note. It is a pointer, so that an interface holds it as it is.
type doc struct{ *notes.Note }

// Of returns the Doc of a note, nil for nil.
func Of(n *notes.Note) text.Doc {
	if n == nil {
		return nil
	}
	return doc{n}
}

// Note returns the note that a Doc of a Source of notes is, nil for any other. For a
// reader who may not see all of it, it is a copy without what is hidden.
func Note(d text.Doc) *notes.Note {
	n, _ := d.(doc)
	return n.Note
}

// Keep makes a test of Docs of one of notes.
func Keep(test func(*notes.Note) bool) func(text.Doc) bool {
	return func(d text.Doc) bool { return test(Note(d)) }
}

// Kind returns what documents are called.
func (*Source) Kind() text.DocKind { return text.DocKind{One: "note", Many: "notes"} }

// Fields returns title, headings, tags, path, body and properties.
func (*Source) Fields() []text.Field { return fields }

// All returns all notes, archived ones included, in no order.
func (s *Source) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for n := range s.notes.All() {
			if !yield(doc{n}) {
				return
			}
		}
	}
}

// Get returns a note.
func (s *Source) Get(id string) text.Doc { return Of(s.notes.Get(id)) }

// Count counts all notes.
func (s *Source) Count() (docs int, bytes int64) {
	_, docs, bytes = s.notes.Count()
	return docs, bytes
}

// Changes returns what a commit does to notes.
func (s *Source) Changes(cs *kv.ChangeSet) (list []text.Change) {
	for _, ch := range cs.Changes {
		if old, now, ok := notes.Records.Of(ch); ok {
			list = append(list, text.Change{ID: ch.ID, Old: Of(old), Now: Of(now)})
		}
	}
	return list
}

// Revealed returns what Options.Revealed does.
func (s *Source) Revealed(cs *kv.ChangeSet) []string {
	if s.opts.Revealed == nil {
		return nil
	}
	return s.opts.Revealed(cs)
}

// Public returns what Options.Public makes of a note.
func (s *Source) Public(d text.Doc) text.Doc {
	n := Note(d)
	if n.Private {
		return nil
	}
	if s.opts.Public == nil {
		return d
	}
	public := s.opts.Public(n)
	if public == n {
		return d
	}
	return Of(public)
}

// Usual reports whether a note is not archived.
func (*Source) Usual(d text.Doc) bool { return Note(d).Live() }

func (d doc) ID() string           { return d.Note.ID }
func (d doc) Title() string        { return d.Note.Title }
func (d doc) Version() uint64      { return uint64(d.Note.Version) }
func (d doc) UpdatedAt() time.Time { return d.Note.UpdatedAt }
func (d doc) Private() bool        { return d.Note.Private }
func (d doc) Size() int            { return len(d.Body) }
func (d doc) Plain() string        { return markdown.PlainNote(shown(d.Body)) }

// Fields gives the texts of a note. What links name behind other words is of the body.
// Frontmatter is read as the prompt reads it; one that can't be read is found as it stands.
func (d doc) Fields(visit func(int, string) bool) {
	if !visit(Title, d.Note.Title) {
		return
	}
	for _, text := range d.Aliases {
		if !visit(Title, text) {
			return
		}
	}
	for _, text := range d.Tags {
		if !visit(Tags, text) {
			return
		}
	}
	if !visit(Path, placeOf(d.Note)) {
		return
	}
	heads, front, plain, targets := markdown.Outline(shown(d.Body))
	for text := range heads {
		if !visit(Headings, text) {
			return
		}
	}
	for _, text := range [...]string{plain, targets} {
		if text != "" && !visit(Body, text) {
			return
		}
	}
	if front != "" {
		d.properties(front, visit)
	}
}

// placeOf returns the path of a note without the ending of Markdown files, which
// says nothing, or its folder when it has no path.
func placeOf(n *notes.Note) string {
	if n.Path == "" {
		return n.Folder
	}
	return strings.TrimSuffix(strings.TrimSuffix(n.Path, ".md"), ".markdown")
}

// Stored gives the texts that Fields are made of.
func (d doc) Stored(visit func(string)) {
	visit(d.Note.Title)
	visit(placeOf(d.Note))
	for _, list := range [][]string{d.Aliases, d.Tags} {
		for _, text := range list {
			visit(text)
		}
		visit("")
	}
	visit(d.Body)
}

// Chunks splits the note.
func (d doc) Chunks() []text.Chunk { return Chunks(d.Note.Title, shown(d.Body)) }

// ChunkedFrom returns the version of Chunks, the title and the body.
func (d doc) ChunkedFrom() []string { return []string{chunksVersion, d.Note.Title, d.Body} }
