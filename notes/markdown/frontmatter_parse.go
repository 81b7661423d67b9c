package markdown

import (
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Bounds of the frontmatter that is read; beyond them it is reported as
// broken. They keep a hostile file from costing more than a large honest one.
// What is more than plain keys and lists has tighter ones, see fullYAML.
const (
	MaxFrontmatter = 256 << 10 // bytes between the markers
	maxYAMLDepth   = 32        // lists and maps inside each other
	maxYAMLValues  = 20_000    // values in all, aliases expanded
)

// Frontmatter is the YAML map at the head of a note, keys in file order.
type Frontmatter struct {
	Fields []FrontmatterField
}

// FrontmatterField is one top-level key of the frontmatter.
type FrontmatterField struct {
	Key  string
	Line int // of the key, from 1 in the whole source

	// Value is nil, string, bool, float64, []any or map[string]any, the
	// latter two holding the same. Dates and times stay strings; so do numbers
	// that would change by being read as one: 007, and integers beyond 2^53.
	// Unquoted wikilinks are strings: [[A]] is "[[A]]" and [[A]], [[B]] a list
	// of two, although YAML would see nested lists.
	Value any

	// Raw is a scalar as text, unquoted and unescaped but not interpreted:
	// "1.10" where Value is 1.1. "" for lists and maps.
	Raw string

	// RawItems is Raw for each item of a list of scalars; nil when Value is
	// anything else.
	RawItems []string
}

// Get returns the first field of that name, compared without case.
func (f *Frontmatter) Get(key string) (FrontmatterField, bool) {
	if f != nil {
		for i := range f.Fields {
			if len(f.Fields[i].Key) == len(key) && strings.EqualFold(f.Fields[i].Key, key) {
				return f.Fields[i], true
			}
		}
	}
	return FrontmatterField{}, false
}

// Texts returns a scalar as one text and a list of scalars as its items, both
// as written; nil for null, maps and lists of lists.
func (f FrontmatterField) Texts() []string {
	switch f.Value.(type) {
	case nil, map[string]any:
		return nil
	case []any:
		return f.RawItems
	}
	return []string{f.Raw}
}

// IsScalar reports a value that is neither a list nor a map.
func (f FrontmatterField) IsScalar() bool {
	switch f.Value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// FrontmatterBlock is where the YAML text lies in the source.
type FrontmatterBlock struct {
	Found      bool
	Unclosed   bool // a first line --- with YAML behind it and no end
	Start, End int  // between the markers, byte offsets
	Line       int  // of the first line of YAML, from 1
}

// SplitFrontmatter finds the frontmatter and the offset at which the body
// starts, a byte order mark skipped. The first line must be ---, the last one
// --- or ..., and what lies between must begin like YAML: a note that merely
// opens with a thematic break keeps its text.
func SplitFrontmatter(src string) (b FrontmatterBlock, body int) {
	base := 0
	if strings.HasPrefix(src, "\uFEFF") {
		base = 3
	}
	if !strings.HasPrefix(src[base:], "---") {
		return FrontmatterBlock{}, base
	}
	le, next := LineEnd(src, base)
	if !isMarker(src[base:le], "---") || next == len(src) {
		return FrontmatterBlock{}, base
	}
	b = FrontmatterBlock{Start: next, Line: 2}
	for pos := next; pos < len(src); {
		le, n := LineEnd(src, pos)
		if l := src[pos:le]; isMarker(l, "---") || isMarker(l, "...") {
			b.End = pos
			b.Found = beginsLikeYAML(src[b.Start:b.End])
			if !b.Found {
				return FrontmatterBlock{}, base
			}
			return b, n
		}
		pos = n
	}
	return FrontmatterBlock{Unclosed: opensWithKey(src[b.Start:])}, base
}

func isMarker(line, marker string) bool {
	return strings.HasPrefix(line, marker) && strings.TrimRight(line[3:], " \t") == ""
}

// beginsLikeYAML looks at the first line that is neither blank nor a comment.
func beginsLikeYAML(yaml string) bool {
	for pos := 0; pos < len(yaml); {
		le, next := LineEnd(yaml, pos)
		l := strings.TrimSpace(yaml[pos:le])
		pos = next
		if l == "" || l[0] == '#' {
			continue
		}
		return strings.HasSuffix(l, ":") || strings.Contains(l, ": ") || strings.Contains(l, ":\t") ||
			strings.HasPrefix(l, "- ") || strings.ContainsRune(`{[?&!%"'`, rune(l[0]))
	}
	return true
}

// opensWithKey is the stricter look at a block without an end, which is far
// more often a thematic break: its very next line must be "word: …".
func opensWithKey(rest string) bool {
	le, _ := LineEnd(rest, 0)
	key, value, ok := strings.Cut(rest[:le], ":")
	return ok && plainKey(key) && !strings.ContainsRune(key, ' ') && (value == "" || value[0] == ' ')
}

// ReadFrontmatter reads the YAML text, whose first line has the given number. The error says
// what keeps it from being read, with the line and without text of the note.
func ReadFrontmatter(yaml string, line int) (*Frontmatter, *fault.Error) {
	if len(yaml) > MaxFrontmatter {
		return nil, broken(line, "the frontmatter is larger than 256 KiB", "move the text into the note's body")
	}
	if fields, ok := simpleYAML(yaml, line); ok {
		return &Frontmatter{Fields: fields}, nil
	}
	fields, err := fullYAML(yaml, line)
	if err != nil {
		return nil, err
	}
	return &Frontmatter{Fields: fields}, nil
}

// notClosed is the error of a block without an end.
func notClosed() *fault.Error {
	return broken(1, "the frontmatter is not closed", "end it with a line that holds only ---")
}

// broken makes the one error of this package. Reasons never hold
// text of the note.
func broken(line int, reason, hint string) *fault.Error {
	return &fault.Error{
		Kind: fault.Invalid, Op: "markdown.frontmatter", Field: "frontmatter", Msg: reason, Hint: hint,
		Line: line,
	}
}
