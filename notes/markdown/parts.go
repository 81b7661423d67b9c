package markdown

// This file finds the parts of a note that links point at: the section under a
// heading, [[Note#Heading]], and the block with an identifier, [[Note#^id]].
//
//	## Goals            <- [[Note#Goals]] reaches to the next heading of its level or above
//	- Ship it. ^ship    <- [[Note#^ship]] is the item with its children
//	  - Pack
//	## Risks
//
// FindParts takes a text and returns byte ranges of it, in time linear in the length of the
// text. What a heading and an identifier are is decided by the scanner of notes.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/text"
)

// Part is a part of a note as a link names it: by a heading or by a block.
type Part struct {
	Heading string // "A#B" for a heading B under a heading A
	Block   string // without '^'
}

// PartOfLink returns the part that a link points at; false when it points at the whole note.
func PartOfLink(l Link) (Part, bool) {
	p := Part{Heading: l.Heading, Block: l.Block}
	return p, p != Part{}
}

// String returns the part as it is written behind the '#' of a link.
func (p Part) String() string {
	if p.Block != "" {
		return "^" + p.Block
	}
	return p.Heading
}

// MaxParts is how many parts of one note are looked for at a time.
const MaxParts = 16

// FindParts returns where parts lie in the body of a note, in its order: without overlaps, and
// whole lines each. Those that are not there are missing. Of several headings or blocks
// of one name the first counts. Where no heading has the text of a link, one that has it as its anchor is meant, see
// [Anchors]. At most Max parts are looked for; the others are missing.
func FindParts(text string, list []Part) (spans []Span, missing []Part) {
	f := finder{text: text, wanted: make([]wanted, 0, min(len(list), MaxParts))}
	for _, p := range list[:min(len(list), MaxParts)] {
		f.wanted = append(f.wanted, want(p))
	}
	// A rule at the beginning of a body must not be read as that of a frontmatter.
	const before = "\n"
	if f.wants(false) {
		Headings(before+text, func(h Heading) {
			h.Start, h.End = h.Start-len(before), h.End-len(before)
			f.heading(h)
		})
		f.close(0, len(text))
	}
	if f.wants(true) {
		Blocks(before+text, func(b Block) {
			b.Start, b.End = b.Start-len(before), b.End-len(before)
			f.block(b)
		})
	}
	for i := range f.wanted {
		w := &f.wanted[i]
		if !w.found && w.anchored {
			w.found, w.span = true, w.anchor
		}
		if w.found {
			spans = append(spans, w.span)
		} else {
			missing = append(missing, w.part)
		}
	}
	missing = append(missing, list[min(len(list), MaxParts):]...)
	return united(spans), missing
}

// wanted is a part that is looked for.
type wanted struct {
	part  Part
	whole string   // the heading, as key makes it
	path  []string // its headings from the outermost, likewise
	block string   // folded
	found bool
	open  int // level of its heading while its end is not known
	span  Span

	slug     string // of its text, as an anchor has it
	anchored bool   // a heading has it as its anchor
	opened   int    // level of that heading while its end is not known
	anchor   Span
}

func want(p Part) wanted {
	if p.Block != "" {
		return wanted{part: p, block: text.Fold(p.Block)}
	}
	w := wanted{part: p, whole: key(p.Heading), slug: strings.Trim(strings.ToLower(p.Heading), "-")}
	for name := range strings.SplitSeq(p.Heading, "#") {
		if k := key(name); k != "" {
			w.path = append(w.path, k)
		}
	}
	return w
}

// key is what two headings have in common that are the same to a link: editors leave
// out of a link the characters that have a meaning there, and some the marks of code and stress.
func key(heading string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("#|^:%[]\\", r):
			return ' '
		case strings.ContainsRune("`*_~", r):
			return -1
		}
		return r
	}, heading)
	return text.Fold(strings.Join(strings.Fields(plain), " "))
}

// SameHeading reports whether a link that names one heading leads to the other.
func SameHeading(a, b string) bool { return key(a) == key(b) }

// LinkableHeading is the text of a heading as a link can hold it: without the characters that have a meaning there.
func LinkableHeading(heading string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("#|^:%[]\\", r) {
			return ' '
		}
		return r
	}, heading)), " ")
}

// Anchor is a heading as the anchors of GitHub and VS Code write it: in lower case, without punctuation, a '-' for each
// blank. Those of further headings with the same end in -1, -2 and so on, see [Anchors].
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		case unicode.IsSpace(r):
			return '-'
		}
		return -1
	}, strings.TrimSpace(heading))
}

// Anchors counts the headings of a text, in their order. The zero value is ready.
type Anchors struct{ seen map[string]int }

// Next returns the anchor of the next heading.
func (a *Anchors) Next(heading string) string {
	if a.seen == nil {
		a.seen = make(map[string]int)
	}
	slug := Anchor(heading)
	n := a.seen[slug]
	a.seen[slug]++
	if n > 0 {
		return slug + "-" + strconv.Itoa(n)
	}
	return slug
}

// finder goes through a text once for the headings, and once for the blocks.
type finder struct {
	text   string
	wanted []wanted
	above  []title // the headings that a place is under, from the outermost
	slugs  Anchors
}

type title struct {
	level int
	key   string
}

// wants reports whether a block, or else a heading, is looked for.
func (f *finder) wants(block bool) bool {
	return slices.ContainsFunc(f.wanted, func(w wanted) bool { return (w.block != "") == block })
}

func (f *finder) heading(h Heading) {
	f.close(h.Level, h.Start)
	for len(f.above) > 0 && f.above[len(f.above)-1].level >= h.Level {
		f.above = f.above[:len(f.above)-1]
	}
	f.above = append(f.above, title{h.Level, key(h.Text)})
	slug := strings.Trim(f.slugs.Next(h.Text), "-")
	for i := range f.wanted {
		w := &f.wanted[i]
		if w.block == "" && !w.anchored && slug != "" && slug == w.slug {
			w.anchored, w.opened, w.anchor = true, h.Level, Span{h.Start, len(f.text)}
		}
		if w.block == "" && !w.found && f.isAt(w) {
			w.found, w.open, w.span = true, h.Level, Span{h.Start, len(f.text)}
		}
	}
}

// isAt reports whether the last heading is the wanted one.
func (f *finder) isAt(w *wanted) bool {
	last := f.above[len(f.above)-1].key
	if last == w.whole {
		return last != ""
	}
	for _, t := range f.above[:len(f.above)-1] { // a name may have a '#' of its own
		if t.key+" "+last == w.whole {
			return true
		}
	}
	n := len(w.path)
	if n < 2 || last != w.path[n-1] {
		return false
	}
	rest := w.path[:n-1]
	for _, t := range f.above[:len(f.above)-1] {
		if len(rest) > 0 && t.key == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// close ends the sections that a heading of a level ends; 0 for the end of the text.
func (f *finder) close(level, at int) {
	for i := range f.wanted {
		w := &f.wanted[i]
		if w.open >= max(level, 1) {
			w.open, w.span.End = 0, at
		}
		if w.opened >= max(level, 1) {
			w.opened, w.anchor.End = 0, at
		}
	}
}

func (f *finder) block(b Block) {
	id := text.Fold(b.ID)
	for i := range f.wanted {
		w := &f.wanted[i]
		if w.block != id || w.found {
			continue
		}
		w.found, w.span = true, Span{b.Start, b.End}
		if strings.TrimSpace(f.text[b.Start:b.End]) == "^"+b.ID {
			w.span.Start = f.before(b.Start)
		} else if mark := markLen(f.text[b.Start:b.End]); mark > 0 {
			w.span.End = f.children(b.Start, b.End)
		}
	}
}

// before returns where the block begins that ends before a line of an identifier alone:
// a table, a quote, a list or code in fences.
func (f *finder) before(at int) int {
	end := len(strings.TrimRight(f.text[:at], " \t\r\n"))
	start := lineStart(f.text, end)
	fence := strings.TrimSpace(f.text[start:end])
	if mark, ok := readFenceMark(fence); ok {
		for up := start; up > 0; {
			up = lineStart(f.text, up-1)
			if strings.HasPrefix(strings.TrimLeft(f.text[up:], " \t>"), mark) {
				return up
			}
		}
	}
	for start > 0 {
		up := lineStart(f.text, start-1)
		if strings.TrimSpace(f.text[up:start]) == "" {
			break
		}
		start = up
	}
	return start
}

// children returns where the lines end that belong to a list item: those that are
// indented more than it.
func (f *finder) children(start, end int) int {
	own := indent(f.text[start:])
	for at := end; at < len(f.text); {
		at++ // the line end
		line := f.text[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		if strings.TrimSpace(line) != "" {
			if indent(line) <= own {
				break
			}
			end = at + len(line)
		}
		at += len(line)
	}
	return end
}

// markLen returns the length of the mark of a list item that a line begins with, 0 for
// none.
func markLen(line string) int {
	line = strings.TrimLeft(line, " \t")
	if line == "" {
		return 0
	}
	return ListMark(line)
}

// readFenceMark returns the first three characters of a line that can end code in fences.
func readFenceMark(line string) (mark string, ok bool) {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "" {
			return mark, true
		}
	}
	return "", false
}

// indent counts the columns of blanks that a line begins with; a tab goes to the next
// multiple of four.
func indent(line string) (columns int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}

// lineStart returns where the line begins that a place is in.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// united puts spans in order, and those that overlap together.
func united(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}
