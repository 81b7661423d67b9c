package lsp

import (
	"sort"
	"unicode/utf8"
)

// Encoding is the unit in which characters of a line are counted.
type Encoding uint8

// The encodings; that of a client that names none is UTF-16.
const (
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// String is the name of the encoding in the protocol.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "utf-8"
	case UTF32:
		return "utf-32"
	default:
		return "utf-16"
	}
}

// ChooseEncoding returns the encoding to use with a client that reads the given ones: UTF-8, in
// which nothing is converted, where it can, else the first that is known.
func ChooseEncoding(offered []string) Encoding {
	first, any := UTF16, false
	for _, name := range offered {
		switch name {
		case "utf-8":
			return UTF8
		case "utf-16":
			first, any = pickEncoding(first, UTF16, any), true
		case "utf-32":
			first, any = pickEncoding(first, UTF32, any), true
		}
	}
	return first
}

func pickEncoding(first, next Encoding, chosen bool) Encoding {
	if chosen {
		return first
	}
	return next
}

// Units returns how long a text is in the encoding.
func (e Encoding) Units(s string) int {
	if e == UTF8 {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += e.width(r)
	}
	return n
}

// width is how many units a character has; of UTF-8 it is not asked.
func (e Encoding) width(r rune) int {
	if e == UTF16 && r > 0xFFFF {
		return 2
	}
	return 1
}

// bytesOf returns how many bytes of a line its first units are.
func (e Encoding) bytesOf(line string, units int) int {
	if units <= 0 {
		return 0
	}
	if e == UTF8 {
		at := min(units, len(line))
		for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
			at--
		}
		return at
	}
	for at, r := range line {
		if units <= 0 {
			return at
		}
		units -= e.width(r)
		if units < 0 {
			return at // inside a character of two units
		}
	}
	return len(line)
}

// lineStarts returns where the lines of a text begin.
func lineStarts(s string) []int32 {
	starts := make([]int32, 1, 1+len(s)/64)
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}

// Lines returns how many lines the text has: one more than it has line breaks.
func (d *Document) Lines() int { return len(d.lines) }

// LineSpan returns where a line begins and where it ends, without its line break. A line
// that is not there is empty, at the end of the text.
func (d *Document) LineSpan(line int) (start, end int) {
	if line < 0 || line >= len(d.lines) {
		return len(d.Text), len(d.Text)
	}
	start, end = int(d.lines[line]), len(d.Text)
	if line+1 < len(d.lines) {
		end = int(d.lines[line+1])
		end = withoutBreak(d.Text, start, end)
	}
	return start, end
}

// withoutBreak returns the end of a line without its line break.
func withoutBreak(s string, start, end int) int {
	if end > start && s[end-1] == '\n' {
		end--
	}
	if end > start && s[end-1] == '\r' {
		end--
	}
	return end
}

// Line returns the text of a line without its line break.
func (d *Document) Line(line int) string {
	start, end := d.LineSpan(line)
	return d.Text[start:end]
}

// LineAt returns the line of an offset.
func (d *Document) LineAt(offset int) int {
	return sort.Search(len(d.lines), func(i int) bool { return int(d.lines[i]) > offset }) - 1
}

// Offset returns the byte of a position.
func (d *Document) Offset(p Position, e Encoding) int {
	if int64(p.Line) >= int64(len(d.lines)) {
		return len(d.Text)
	}
	start, end := d.LineSpan(int(p.Line))
	return start + e.bytesOf(d.Text[start:end], clampUnits(p.Character))
}

// Position returns the position of a byte; one outside the text counts as its end.
func (d *Document) Position(offset int, e Encoding) Position {
	offset = max(0, min(offset, len(d.Text)))
	line := d.LineAt(offset)
	start, end := d.LineSpan(line)
	return Position{Line: uint32(line), Character: uint32(e.Units(d.Text[start:min(offset, end)]))}
}

// Range returns the range of two bytes.
func (d *Document) Range(start, end int, e Encoding) Range {
	return Range{Start: d.Position(start, e), End: d.Position(end, e)}
}

// Span returns the bytes of a range, in their order even where the range is the wrong way round.
func (d *Document) Span(r Range, e Encoding) (start, end int) {
	start, end = d.Offset(r.Start, e), d.Offset(r.End, e)
	return min(start, end), max(start, end)
}

// clampUnits is a number of characters as an int on every system.
func clampUnits(n uint32) int { return int(min(n, 1<<30)) }
