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
	MaxDepth       = 32        // lists and maps inside each other
	MaxValues      = 20_000    // values in all, aliases expanded
)

// Frontmatter is the YAML map at the head of a note, keys in file order.
type Frontmatter struct {
	Fields []Field
}

// Field is one top-level key of the frontmatter.
type Field struct {
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
func (f *Frontmatter) Get(key string) (Field, bool) {
	if f != nil {
		for i := range f.Fields {
			if len(f.Fields[i].Key) == len(key) && strings.EqualFold(f.Fields[i].Key, key) {
				return f.Fields[i], true
			}
		}
	}
	return Field{}, false
}

// Texts returns a scalar as one text and a list of scalars as its items, both
// as written; nil for null, maps and lists of lists.
func (f Field) Texts() []string {
	switch f.Value.(type) {
	case nil, map[string]any:
		return nil
	case []any:
		return f.RawItems
	}
	return []string{f.Raw}
}

func (f Field) isScalar() bool {
	switch f.Value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// frontBlock is where the YAML text lies in the source.
type frontBlock struct {
	found      bool
	unclosed   bool // a first line --- with YAML behind it and no end
	start, end int  // between the markers
	line       int  // of the first line of YAML
}

// splitFrontmatter finds the frontmatter and the offset at which the body
// starts, a byte order mark skipped. The first line must be ---, the last one
// --- or ..., and what lies between must begin like YAML: a note that merely
// opens with a thematic break keeps its text.
func splitFrontmatter(src string) (frontBlock, int) {
	base := 0
	if strings.HasPrefix(src, "\uFEFF") {
		base = 3
	}
	if !strings.HasPrefix(src[base:], "---") {
		return frontBlock{}, base
	}
	le, next := lineEnd(src, base)
	if !isMarker(src[base:le], "---") || next == len(src) {
		return frontBlock{}, base
	}
	b := frontBlock{start: next, line: 2}
	for pos := next; pos < len(src); {
		le, n := lineEnd(src, pos)
		if l := src[pos:le]; isMarker(l, "---") || isMarker(l, "...") {
			b.end = pos
			b.found = beginsLikeYAML(src[b.start:b.end])
			if !b.found {
				return frontBlock{}, base
			}
			return b, n
		}
		pos = n
	}
	return frontBlock{unclosed: opensWithKey(src[b.start:])}, base
}

func isMarker(line, marker string) bool {
	return strings.HasPrefix(line, marker) && strings.TrimRight(line[3:], " \t") == ""
}

// beginsLikeYAML looks at the first line that is neither blank nor a comment.
func beginsLikeYAML(yaml string) bool {
	for pos := 0; pos < len(yaml); {
		le, next := lineEnd(yaml, pos)
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
	le, _ := lineEnd(rest, 0)
	key, value, ok := strings.Cut(rest[:le], ":")
	return ok && plainKey(key) && !strings.ContainsRune(key, ' ') && (value == "" || value[0] == ' ')
}

// readFrontmatter reads the YAML text, whose first line has the given number.
func readFrontmatter(yaml string, line int) (*Frontmatter, *fault.Error) {
	if len(yaml) > MaxFrontmatter {
		return nil, brokenFrontmatter(line, "the frontmatter is larger than 256 KiB", "move the text into the note's body")
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

// brokenFrontmatter makes the one error of this package. Reasons never hold
// text of the note.
func brokenFrontmatter(line int, reason, hint string) *fault.Error {
	return &fault.Error{Kind: fault.Invalid, Op: "markdown.frontmatter", Field: "frontmatter", Msg: reason, Hint: hint, Line: line}
}

// frontmatterTags reads tag and tags: a list, or a text separated by commas or
// blanks, each with or without '#'.
func (s *scanner) frontmatterTags(f *Frontmatter) {
	for _, key := range [...]string{"tags", "tag"} {
		field, ok := f.Get(key)
		if !ok {
			continue
		}
		items := field.Texts()
		if field.isScalar() && len(items) == 1 {
			items = splitTags(items[0])
		}
		for _, t := range items {
			if t = strings.Trim(strings.TrimSpace(strings.TrimLeft(linkTarget(t), "#")), "/"); t != "" {
				s.addTag(t)
			}
		}
	}
}

// splitTags cuts a text at commas and blanks, links kept whole.
func splitTags(s string) []string {
	if strings.Contains(s, "[[") {
		return splitComma(s)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// frontmatterAliases reads alias and aliases: a list, or a text separated by
// commas.
func frontmatterAliases(f *Frontmatter) []string {
	var out []string
	var seen folded
	for _, key := range [...]string{"aliases", "alias"} {
		field, ok := f.Get(key)
		if !ok {
			continue
		}
		items := field.Texts()
		if field.isScalar() && len(items) == 1 {
			items = splitComma(items[0])
		}
		for _, a := range items {
			if a = oneLine(linkTarget(a)); a != "" && seen.see(a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// splitComma cuts at commas that lie outside wikilinks.
func splitComma(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		case '[':
			if n := linkLen(s[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// linkTarget returns the target of a text that is a wikilink, else the text.
func linkTarget(s string) string {
	if l, ok := ParseLink(s); ok && l.Target != "" {
		return l.Target
	}
	return s
}

// folded remembers texts without regard to case. Few of them are compared one
// by one, many through a map, so that a note made of tags stays linear.
type folded struct {
	few  []string
	many map[string]struct{}
}

const fewTexts = 16

// see reports whether the text is new, and remembers it.
func (f *folded) see(s string) bool {
	if f.many == nil {
		for _, t := range f.few {
			if strings.EqualFold(t, s) {
				return false
			}
		}
		if len(f.few) < fewTexts {
			f.few = append(f.few, s)
			return true
		}
		f.many = make(map[string]struct{}, 4*fewTexts)
		for _, t := range f.few {
			f.many[strings.ToLower(t)] = struct{}{}
		}
	}
	k := strings.ToLower(s)
	if _, ok := f.many[k]; ok {
		return false
	}
	f.many[k] = struct{}{}
	return true
}

func (f *folded) reset() {
	clear(f.few)
	f.few, f.many = f.few[:0], nil
}
