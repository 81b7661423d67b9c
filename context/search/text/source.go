package text

// This file says what can be searched: a Source gives the documents of one kind
// (notes, memories, messages, passages of books), a Doc is one of them.
//
// An index knows documents by these interfaces only, so that a new kind is a new Source
// and nothing else: it declares its fields with their weights, says what a commit changes,
// and how a document is cut into chunks. Package notedoc is the Source of notes and the
// example to follow; other Sources live with their records. One
// index (see package search) serves one Source.
//
// A Source must be opened, and take its part in commits, before the index of it. What it
// gives is asked for with locks held: its methods are quick, and ask no index.
//
// # Privacy
//
// Public is the one place where an index learns what a remote reader sees, who never sees
// private records. The words of a document that differs from its public form are
// counted and found for the others only, and its vectors are made of the public form. When
// that changes without the document, as when the target of a link becomes private,
// Revealed names the document.

import (
	"context"
	"iter"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// Doc is one version of a document. It never changes, may be used concurrently, and is
// comparable: the same version that a Source gives twice is equal to itself.
type Doc interface {
	ID() string    // unique in its Source; never ""
	Title() string // orders hits that are equal otherwise
	// Version and UpdatedAt tell versions of a document apart, at the first look.
	Version() uint64
	UpdatedAt() time.Time
	Private() bool
	Size() int // about how many bytes of text there are
	// Fields gives the texts whose words are found, each with the number of its
	// field in Source.Fields, until visit returns false.
	Fields(visit func(field int, text string) bool)
	// Stored gives the texts that the fields are made of. They are the same as long
	// as the fields are, and cheaper to have.
	Stored(visit func(text string))
	// Plain is the text that snippets are cut from.
	Plain() string
	// Chunks are the parts that each have a vector; one at least.
	Chunks() []Chunk
	// ChunkedFrom are the texts that the chunks are made of, and the version of the
	// way that they are.
	ChunkedFrom() []string
}

// Chunk is a part of a document that has its own vector.
type Chunk struct {
	// Prefix says where the part stands: the title and the headings above it,
	// joined by " > "; "" where nothing does.
	Prefix string
	// Text is the plain text of the part: what a hit shows.
	Text string
}

// Embedded is what the vector of the chunk is made of.
func (c Chunk) Embedded() string {
	switch "" {
	case c.Text:
		return c.Prefix
	case c.Prefix:
		return c.Text
	}
	return c.Prefix + "\n" + c.Text
}

// Field is a part of the documents of a Source.
type Field struct {
	Name string // in explanations
	// Weight is how many occurrences in a field of weight 1 one here is worth.
	Weight uint8
	// Counted says that its words count for the length of a document.
	Counted bool
}

// DocKind is what the documents of a Source are called, in messages.
type DocKind struct {
	One, Many string // note, notes
}

// Change is what a commit does to one document.
type Change struct {
	ID       string
	Old, Now Doc // the document before and after; nil for none
}

// Source gives documents of one kind. All methods may be called concurrently.
type Source interface {
	Kind() DocKind
	// Fields are the fields in order; they never change.
	Fields() []Field
	All() iter.Seq[Doc]
	Get(id string) Doc // nil when there is none
	// Count is how many documents there are, and about how many bytes of text.
	Count() (docs int, bytes int64)
	// Changes are what a commit does to documents, each once. It may be asked before the
	// commit as well.
	Changes(cs *kv.ChangeSet) []Change
	// Revealed are the ids of the documents whose Public a commit changes without
	// changing them. It is asked in the commit.
	Revealed(cs *kv.ChangeSet) []string
	// Public is a document as a reader sees it for whom private records do not exist:
	// nil when it is private, the Doc itself when nothing in it is hidden.
	Public(d Doc) Doc
	// Usual reports whether a search finds a document that does not say which it
	// looks for.
	Usual(d Doc) bool
	// Filters are the operators that queries may have, such as tag for tag:work, and
	// Filter the test for one with a value; nil for a value that means nothing.
	Filters() []string
	Filter(operator, value string) func(Doc) bool
}

// PropertySource is a Source whose documents have properties of any name, which queries may have
// as operators.
type PropertySource interface {
	// Properties gives the properties of a document: names as written, and the texts that a
	// filter has to equal, folded, until visit returns false.
	Properties(d Doc, visit func(name string, values []string) bool)
}

// ReasonSource is a Source with operators that find documents for what they do not say themselves: a hit
// shows the reason instead of a snippet. Such an operator may stand without a value.
type ReasonSource interface {
	Reasoned() []string // the operators
	// Reasons returns what says why a document meets an operator, "" if it does not. public: to a reader for
	// whom private records do not exist. What it returns is quick, and asks no index.
	Reasons(ctx context.Context, operator, value string, public bool) (func(Doc) string, error)
}

// ValueSource is a Source with operators that have few values, such as type: a value that no
// document has is a mistake.
type ValueSource interface {
	Valued() []string                    // the operators
	Value(operator string, d Doc) string // of a document; "" for none
}
