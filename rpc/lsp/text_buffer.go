package lsp

// This file and text_*.go hold the documents that an editor has open: their bytes, where their lines begin, positions
// in any of the encodings of the Language Server Protocol, and what notes/markdown finds in them.
//
// A [Buffer] is edited; a [Document] is one state of it and never changes. Edits are incremental: bytes lie in a gap
// buffer and the starts of lines in a slice, so that an edit costs the distance from the last one and a move of the
// line starts behind it, not a copy of the document. Buffer.Document copies the bytes once for each state that
// somebody asks for. What is parsed of a Document is parsed when it is first asked for, by notes/markdown, in time
// linear in its length.
//
// Offsets are bytes of UTF-8, half-open. Positions are lines and characters from 0; a character is a byte, a UTF-16
// code unit or a code point, by Encoding. Lines end with LF, CR LF or CR. A position behind the end of a line stands
// for the end of the line, before its line break; one behind the last line for the end of the text; one inside a
// character for its beginning. Nothing here fails: any numbers give an offset within the text.
//
// A Buffer belongs to one goroutine. A Document may be used by any number of them.

import (
	"slices"
	"sort"
)

// maxDocumentBytes is the size of the largest document that is held: offsets are 32 bits wide.
const maxDocumentBytes = 512 << 20

// Buffer is an open document that is edited. It belongs to one goroutine.
type Buffer struct {
	uri, language string
	version       int32
	encoding      Encoding

	bytes    []byte // the text, with a gap of unused bytes
	gap, end int    // where the gap begins and ends
	lines    []int32
	wide     int // bytes that are not ASCII

	state *Document // of the present version; nil after an edit
}

// NewBuffer makes a buffer of a document that an editor has opened. Its positions are in the
// encoding from now on.
func NewBuffer(item TextDocumentItem, e Encoding) *Buffer {
	b := &Buffer{uri: item.URI, language: item.LanguageID, version: item.Version, encoding: e}
	b.replaceAll(item.Text)
	return b
}

// Version returns the number that the editor gave to the present state.
func (b *Buffer) Version() int32 { return b.version }

// Len returns how many bytes the text has.
func (b *Buffer) Len() int { return len(b.bytes) - (b.end - b.gap) }

// Change edits the text. Changes apply one after the other, each to the result of those
// before it; the document has the version afterwards. It reports false
// for a document that would become too large: then it is of no use any more.
func (b *Buffer) Change(changes []TextDocumentContentChangeEvent, version int32) bool {
	for _, c := range changes {
		if b.Len()+len(c.Text) > maxDocumentBytes {
			return false
		}
		if c.Range == nil {
			b.replaceAll(c.Text)
			continue
		}
		start, end := b.offset(c.Range.Start), b.offset(c.Range.End)
		b.replace(min(start, end), max(start, end), c.Text)
	}
	b.version, b.state = version, nil
	return true
}

// Is reports whether a document is the present state.
func (b *Buffer) Is(d *Document) bool { return b.state == d }

// Document returns the present state. It is copied when it is first asked for.
func (b *Buffer) Document() *Document {
	if b.state == nil {
		b.state = prepareDocument(&Document{
			URI: b.uri, Language: b.language, Version: b.version, Open: true,
			Text: b.text(0, b.Len()), lines: slices.Clone(b.lines),
		})
	}
	return b.state
}

// text returns a part of the text.
func (b *Buffer) text(start, end int) string {
	switch {
	case end <= b.gap:
		return string(b.bytes[start:end])
	case start >= b.gap:
		shift := b.end - b.gap
		return string(b.bytes[start+shift : end+shift])
	}
	part := make([]byte, 0, end-start)
	part = append(part, b.bytes[start:b.gap]...)
	return string(append(part, b.bytes[b.end:b.end+end-b.gap]...))
}

// at returns a byte of the text.
func (b *Buffer) at(i int) byte {
	if i >= b.gap {
		i += b.end - b.gap
	}
	return b.bytes[i]
}

// offset returns the byte of a position, as Document.Offset does.
func (b *Buffer) offset(p Position) int {
	if int64(p.Line) >= int64(len(b.lines)) {
		return b.Len()
	}
	line := int(p.Line)
	start, end := int(b.lines[line]), b.Len()
	if line+1 < len(b.lines) {
		end = int(b.lines[line+1])
		if end > start && b.at(end-1) == '\n' {
			end--
		}
		if end > start && b.at(end-1) == '\r' {
			end--
		}
	}
	units := clampUnits(p.Character)
	if b.wide == 0 {
		return start + min(units, end-start) // a character is a byte in every encoding
	}
	return start + b.encoding.bytesOf(b.text(start, end), units)
}

func (b *Buffer) replaceAll(s string) {
	b.bytes = []byte(s)
	b.gap, b.end = len(s), len(s)
	b.lines, b.wide, b.state = lineStarts(s), wideBytes(s), nil
}

// replace puts a text in the place of a part.
func (b *Buffer) replace(start, end int, s string) {
	b.wide += wideBytes(s) - wideBytes(b.text(start, end))
	b.moveGap(start)
	b.end += end - start // the part is in the gap now
	if b.end-b.gap < len(s) {
		b.grow(len(s))
	}
	b.gap += copy(b.bytes[b.gap:], s)
	b.moveLines(start, end, len(s))
}

// moveGap has the gap begin at an offset.
func (b *Buffer) moveGap(at int) {
	switch {
	case at < b.gap:
		n := b.gap - at
		copy(b.bytes[b.end-n:b.end], b.bytes[at:b.gap])
		b.gap, b.end = at, b.end-n
	case at > b.gap:
		n := at - b.gap
		copy(b.bytes[b.gap:], b.bytes[b.end:b.end+n])
		b.gap, b.end = at, b.end+n
	}
}

// grow makes the gap larger than n bytes.
func (b *Buffer) grow(n int) {
	room := n + b.Len()/8 + 256
	larger := make([]byte, b.Len()+room)
	copy(larger, b.bytes[:b.gap])
	rest := len(b.bytes) - b.end
	copy(larger[len(larger)-rest:], b.bytes[b.end:])
	b.bytes, b.end = larger, len(larger)-rest
}

// moveLines adjusts the starts of lines to a part [start, end) that has become size
// bytes. Whether a line begins at an offset is decided by the bytes on both sides of it,
// so those from start to the end of what is new are looked at again.
func (b *Buffer) moveLines(start, end, size int) {
	low := sort.Search(len(b.lines), func(i int) bool { return int(b.lines[i]) >= max(start, 1) })
	high := sort.Search(len(b.lines), func(i int) bool { return int(b.lines[i]) > end })
	high = max(low, high)
	var fresh []int32
	for i := max(start, 1); i <= min(start+size, b.Len()); i++ {
		if c := b.at(i - 1); c == '\n' || c == '\r' && (i == b.Len() || b.at(i) != '\n') {
			fresh = append(fresh, int32(i))
		}
	}
	shift := int32(size - (end - start))
	if shift != 0 {
		for i := high; i < len(b.lines); i++ {
			b.lines[i] += shift
		}
	}
	b.lines = slices.Replace(b.lines, low, high, fresh...)
}

// wideBytes counts the bytes that are not ASCII.
func wideBytes(s string) (n int) {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			n++
		}
	}
	return n
}
