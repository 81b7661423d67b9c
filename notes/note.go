package notes

import (
	"iter"
	"path"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Note is one note: the record that clients see, and what is kept beside it.
type Note struct {
	record.Note

	Vault  string     `json:"-"` // the vault that Path lies in; "" for none
	Given  *Given     `json:"-"` // nil: nothing
	Places LinkPlaces `json:"-"` // of the wikilinks in Body; see Links

	Sources Sources `json:"-"` // of its names; see SourceOf

	// Worked is what a writer has worked out of Places for the index; nil of a note that is stored.
	Worked *linkHashes `json:"-"`
}

// Given is what a client stated apart from the text. It is kept so that a
// change of the text alone changes what was read from the text and no more.
type Given struct {
	Title   string
	Tags    []string
	Aliases []string
	Private bool
	// Archived is when a client archived the note; a text can also say that it
	// is archived.
	Archived *time.Time
}

// Get returns what was stated, also of a nil Given.
func (g *Given) Get() Given {
	if g == nil {
		return Given{}
	}
	return *g
}

// orNil returns where g is kept. Of most notes nothing is stated: a whole Given in
// each would be a tenth of what notes cost in memory.
func (g Given) orNil() *Given {
	if g.Title == "" && len(g.Tags)+len(g.Aliases) == 0 && !g.Private && g.Archived == nil {
		return nil
	}
	kept := g // so that it is allocated here only
	return &kept
}

// Live reports whether the note exists and is not archived.
func (n *Note) Live() bool { return n != nil && n.Note.Live() }

// Record returns what clients see of a note, nil of nil. It is a part of the note.
func (n *Note) Record() *record.Note {
	if n == nil {
		return nil
	}
	return &n.Note
}

// PlainText returns the text for a reader: without frontmatter and markup.
func (n *Note) PlainText() string { return markdown.PlainNote(n.Body) }

// Records is the collection that notes lie in.
var Records = kv.NewCollection("note", kv.Codec[Note]{Encode: encode, Decode: decode, Carry: carryHashes})

// stored is the same collection, read as it is at a start.
var stored = Records.With(kv.Codec[Note]{Encode: encode, Decode: decodeStored})

// paths maps the vault and path of a note to its id, so that no two notes of a
// vault have one path.
var paths = kv.NewCollection("note-path", kv.JSONText())

func pathKey(vault, p string) string { return vault + "/" + p }

// folderOf returns the folder of a path, "" for the root.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// baseOf returns the file name of a path without its Markdown ending.
func baseOf(p string) string { return trimExt(path.Base(p)) }

func trimExt(p string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if len(p) > len(ext) && strings.EqualFold(p[len(p)-len(ext):], ext) {
			return p[:len(p)-len(ext)]
		}
	}
	return p
}

// Links returns the wikilinks of the text, and its Markdown links to files, in its order,
// read anew each time. See markdown.Link.Possible for those that are links only where
// they lead somewhere.
func (n *Note) Links() []markdown.Link {
	var links []markdown.Link
	for l := range n.eachLink() {
		links = append(links, l)
	}
	return links
}

func (n *Note) eachLink() iter.Seq[markdown.Link] { return n.Places.Links(n.Body) }
