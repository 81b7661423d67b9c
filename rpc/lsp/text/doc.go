// Package text holds the documents that an editor has open: their bytes, where their
// lines begin, positions in any of the encodings of the Language Server Protocol, and
// what the rooms that parse files find in them.
//
// A Buffer is edited; a Document is one state of it and never changes. Edits are
// incremental: bytes lie in a gap buffer and the starts of lines in a slice, so that an
// edit costs the distance from the last one and a move of the line starts behind it, not
// a copy of the document. Buffer.Document copies the bytes once for each state that
// somebody asks for. What is parsed of a Document is parsed when it is first asked for,
// by notes/markdown and notes/frontmatter, in time linear in its length.
//
// Offsets are bytes of UTF-8, half-open. Positions are lines and characters from 0;
// a character is a byte, a UTF-16 code unit or a code point, by Encoding. Lines end with
// LF, CR LF or CR. A position behind the end of a line stands for the end of the line,
// before its line break; one behind the last line for the end of the text; one inside a
// character for its beginning. Nothing here fails: any numbers give an offset within
// the text.
//
// A Buffer belongs to one goroutine. A Document may be used by any number of them.
package text
