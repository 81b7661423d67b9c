package prompt

import (
	"github.com/ctxd/ctxd/entities/text"
)

// Format is how a prompt is written.
type Format uint8

// The formats.
const (
	Markdown Format = iota
	XML
	PKB // of memories alone, see BuildMemories
)

// style is what tells the formats apart: how the pieces of a prompt are
// written. What is shown and what it may cost is decided without it.
type style struct {
	inline      func(string) string       // a text of one line, safe among the marks of the format
	text        func(string) string       // a text of several lines that has the form of NoteBody
	cost        func(rune) int            // how many characters one takes in such a text; nil: one
	whole       func(string, int) int     // the last place at or before a byte offset where an escaped text can be cut
	frames      map[string]frame          // of the sections, by name
	note        func(*Note) string        // what stands before the boundary of a note
	passage     func(*Passage) string     // what stands before the boundary of a passage
	entity      func(*Card) string        // the heading, as far as it is the same in every prompt
	field       func(n, v string) string  // one line of an entity, of an escaped name and a rendered value
	ref         func(*Ref, string) string // a reference by its escaped name
	more        func(int) string          // how many are left out; "" for none
	event       func(*Event) string
	action      func(*Action) string
	memory      func(to []byte, m *Memory, secret []byte) []byte // with its boundary, by the secret of the store
	personality func(*Personality) string
	part        func(Part) string // what stands before the first memory of a part

	marksNotes         bool   // notes have a boundary
	noteMid, noteEnd   string // between the boundary and the text, and after it
	passageEnd         string // after the text of a passage
	ownNote, ownEnd    string // around what leads to the note of an entity
	whyMark, whyEnd    string // around what leads to an entity
	headEnd, entityEnd string // after the heading of an entity, and after its lines
	notExpanded        string // instead of fields
	itemMark, itemEnd  string // around one text of a list
	separator          string // between the items of a list

	whyChars, bareChars, notExpandedChars int // of whyMark and whyEnd; of an entity around its heading; of notExpanded
}

// frame is what stands around the items of a section.
type frame struct {
	head, tail string
	chars      int // of both
}

// finished counts what does not change.
func (s style) finished() *style {
	for name, f := range s.frames {
		f.chars = Chars(f.head) + Chars(f.tail)
		s.frames[name] = f
	}
	s.notExpandedChars = Chars(s.notExpanded)
	s.whyChars = Chars(s.whyMark) + Chars(s.whyEnd)
	s.bareChars = len("\n") + Chars(s.headEnd) + Chars(s.entityEnd)
	return &s
}

func (f Format) style() *style {
	switch f {
	case XML:
		return xmlStyle
	case PKB:
		return pkbStyle
	}
	return markdownStyle
}

// cut is Cut for an escaped text: no mark of the format falls apart.
func (s *style) cut(content string, limit int) string {
	if len(content) <= limit || Chars(content) <= limit {
		return content
	}
	if limit < 1 {
		return ""
	}
	for at := text.CharOffset(content, limit-1); ; {
		at = text.BoundaryBefore(content, at)
		back := s.whole(content, at)
		if back == at {
			return content[:at] + Ellipsis
		}
		at = back
	}
}

// reference renders a reference. It is whole or not there, so its name may not
// fill the field.
func (s *style) reference(r *Ref) string {
	name := s.cut(s.inline(r.Name), nameChars)
	return s.ref(r, name)
}

// noteText escapes the text of a note and cuts it to limit characters.
func (s *style) noteText(b NoteBody, limit int) (string, bool) {
	text, cut := b.Cut(limit, s.cost)
	return s.text(text), cut
}
