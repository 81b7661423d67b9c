package markdown

import (
	"html"
	"sort"
	"strings"
	"unicode/utf8"
)

// decoded is a text without its character references, as &#91; and &amp;, and without full width, as in ［［Title］］: a
// reader takes them for the characters that they stand for, marks of links included.
type decoded struct {
	text string
	refs pile[charRef]
}

// charRef is where a character reference is in the text with it, and where what it
// stands for is in the one without.
type charRef struct {
	from, to     int32
	start, after int32
}

// decode returns a text without its character references, and with marks in full width as those of ASCII; nil where that
// makes no mark of a reference. Time is linear in the length of the text.
func decode(text string) *decoded {
	if strings.IndexByte(text, '&') < 0 && !mayBeWide(text) {
		return nil
	}
	return decodeAll(text)
}

// mayBeWide reports whether a text has marks in full width without which no reference is written so. Sentences of Chinese and
// Japanese are full of the others.
func mayBeWide(text string) bool {
	if strings.IndexByte(text, wideLead) < 0 {
		return false
	}
	for _, mark := range [...]string{"\uff3b", "\uff20", "\uff1c", "\uff1a\uff0f", "\uff1a/", "\uff0em", "\uff0eM"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// decodeAll is decode for a text that is known to have some.
func decodeAll(text string) *decoded {
	var d *decoded
	var out strings.Builder
	copied := 0
	var amp, wide place // of the next '&', and of what may be in full width
	for at := 0; at < len(text); {
		first, _ := amp.next(at, nextByte(text, '&'))
		if next, _ := wide.next(at, nextByte(text, wideLead)); first < 0 || next >= 0 && next < first {
			first = next
		}
		if first < 0 {
			break
		}
		at = first
		size, char := 1, ""
		switch text[at] {
		case '&':
			size = charRefLen(text[at:])
			char = html.UnescapeString(text[at : at+size])
			if size == 1 || char == text[at:at+size] {
				char = ""
			} else if strings.TrimSpace(char) == "" {
				char = " " // a reader sees no other blank in &nbsp;
			}
			char = strings.Map(narrow, char)
		case wideLead:
			r, n := utf8.DecodeRuneInString(text[at:])
			if as := narrow(r); as != r {
				size, char = n, string(as)
			}
		}
		if char == "" {
			at += size
			continue
		}
		if d == nil {
			d = new(decoded)
			out.Grow(len(text))
		}
		out.WriteString(text[copied:at])
		start := out.Len()
		out.WriteString(char)
		copied = at + size
		d.refs.add(charRef{int32(at), int32(copied), int32(start), int32(out.Len())})
		at += size
	}
	if d == nil {
		return nil
	}
	out.WriteString(text[copied:])
	d.text = out.String()
	return d
}

// nextByte finds a byte of a text from an offset on.
func nextByte(text string, c byte) func(from int) (at, end int) {
	return func(from int) (at, end int) {
		next := strings.IndexByte(text[from:], c)
		if next < 0 {
			return -1, -1
		}
		return from + next, from + next + 1
	}
}

// wideLead is the byte with which the characters in full width begin.
const wideLead = 0xef

// wideMarks are the marks of references in full width.
const wideMarks = "\uff01\uff02\uff03\uff05\uff06\uff07\uff08\uff09\uff0e\uff0f\uff1a\uff1c\uff1d\uff1e\uff20\uff3b\uff3c\uff3d\uff3e\uff40\uff5c"

// narrow returns the mark of ASCII that one in full width stands for; any other character as it is.
func narrow(r rune) rune {
	if '\uff01' <= r && r <= '\uff5e' && strings.ContainsRune(wideMarks, r) {
		return r - '\uff01' + '!'
	}
	return r
}

// charRefLen returns the length of what may be a character reference at the head of a
// text, 1 for none. It may lack its semicolon, as HTML takes some of them.
func charRefLen(text string) int {
	at := 1
	if at < len(text) && text[at] == '#' {
		at++
	}
	for at < len(text) && isWord(text[at]) && text[at] != '_' {
		at++
	}
	if at < len(text) && text[at] == ';' {
		at++
	}
	return at
}

// inCharRef reports whether the '#' at a byte offset is that of a character reference
// with its semicolon.
func inCharRef(text string, at int) bool {
	if at == 0 || text[at-1] != '&' {
		return false
	}
	size := charRefLen(text[at-1:])
	return size > len("&#;") && text[at-1+size-1] == ';'
}

// reference returns a reference at its place in the text with character references;
// false for one that has none in it, which was found there.
func (d *decoded) reference(r Reference) (Reference, bool) {
	reach := r.Reach(d.text)
	first, _ := sort.Find(d.refs.len(), func(i int) int { return r.Start + 1 - int(d.refs.at(i).after) })
	if first == d.refs.len() || int(d.refs.at(first).start) >= reach {
		return r, false
	}
	if r.Open() {
		r.Kind, r.Target = DecodedMentionRef, d.text[r.End:reach]
		if r.Target == "" {
			return r, false
		}
	}
	r.Start, r.End = d.source(r.Start, false), d.source(r.End, true)
	return r, true
}

// source returns where a place is in the text with character references; of one inside
// of what a reference stands for, where that begins or ends.
func (d *decoded) source(at int, end bool) int {
	i, found := sort.Find(d.refs.len(), func(i int) int { return at - int(d.refs.at(i).start) })
	switch {
	case found && !end:
		return int(d.refs.at(i).from)
	case i == 0:
		return at
	}
	c := d.refs.at(i - 1) // begins before at
	switch {
	case at >= int(c.after):
		return int(c.to) + at - int(c.after)
	case end:
		return int(c.to)
	}
	return int(c.from)
}

// EncodedLen returns how many bytes at the head of a text are read as the given number
// of bytes without character references.
func EncodedLen(text string, size int) int {
	d := decodeAll(text[:min(len(text), encodedMention)])
	if d == nil {
		return min(size, len(text))
	}
	return d.source(min(size, len(d.text)), true)
}

// encodedMention is how far the name of a mention may reach that has character
// references in it. A character takes less than 40 bytes.
const encodedMention = 40 * MaxMention
