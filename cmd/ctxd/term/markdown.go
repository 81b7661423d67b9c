package term

// This file and markdown_inline.go draw Markdown on a terminal while it comes: headings, lists, quotes, code, emphasis,
// links and tables.
//
// It is no parser of CommonMark. What can't be told before its end has come, such as emphasis, is waited for within
// its line and for a limited length, and a table for its last row; then it is written as it stands, so no character of a text is lost. What is
// written consists of whole words with whole escape sequences, and what could steer a terminal is made visible.
//
// A [MarkdownWriter] is made for one text and used by one goroutine.

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxd/ctxd/entities/text"
)

// The styles of what Markdown marks.
const (
	heading  = Strong
	strong   = Strong
	emphasis = Style("3")
	code     = Accent
	fenced   = Faint
	linked   = Style("4")
)

// MarkdownWriter draws a text that comes in pieces.
type MarkdownWriter struct {
	out   *Screen
	width int

	line   string // what of the current line is not drawn yet, behind its mark
	kind   kind   // of the current line
	fence  string // that ends the code block; "": none is open
	hang   int    // columns before what a line of the paragraph goes on with
	column int
	word   Line     // that is not drawn yet, since it may go on
	space  string   // that stands before it
	last   rune     // character before what is not drawn
	table  []string // rows of a table that has not ended
	into   *Line    // gets the words instead of the screen; nil but for cells of a table
}

// kind is what a line is.
type kind int

const (
	unknown   kind = iota // too little of it has come
	paragraph             // and all that has words
	headed                // a heading
	verbatim              // a line of code, or a row within a quote
	row                   // of a table
	unseen                // a line that begins or ends a block of code
)

// NewMarkdownWriter returns a Writer that draws on a screen.
func NewMarkdownWriter(out *Screen) *MarkdownWriter {
	return &MarkdownWriter{out: out, width: out.Columns()}
}

// Write draws a piece of the text, as far as it can be told what it is.
func (w *MarkdownWriter) Write(piece string) {
	w.line += clean(piece)
	for {
		at := strings.IndexByte(w.line, '\n')
		if at < 0 {
			break
		}
		rest := w.line[at+1:]
		w.line = w.line[:at]
		w.draw(true)
		w.endLine()
		w.line = rest
	}
	w.draw(false)
}

// Close draws what is left, and ends the last line.
func (w *MarkdownWriter) Close() {
	if w.line != "" || w.kind != unknown {
		w.draw(true)
		w.endLine()
	}
	w.flushTable()
}

// clean is term.CleanLines for a piece, which may begin or end amid a line break.
func clean(piece string) string { return CleanLines(strings.ReplaceAll(piece, "\r", "")) }

func (w *MarkdownWriter) endLine() {
	w.flushWord()
	if w.kind != unseen && w.kind != row {
		_, _ = io.WriteString(w.out, "\n") // an error shows when the buffer is flushed
	}
	w.line, w.kind, w.hang, w.column, w.space, w.last = "", unknown, 0, 0, "", 0
}

// draw draws what can be drawn of the line. whole tells that its end has come.
func (w *MarkdownWriter) draw(whole bool) {
	if w.kind == unknown && !w.begin(whole) {
		return
	}
	switch w.kind {
	case unseen:
	case row:
		if whole {
			w.table, w.line = append(w.table, w.line), ""
			if len(w.table) > maxTableRows {
				w.flushTable()
			}
		}
	case verbatim:
		style := Normal
		if w.fence != "" {
			style = fenced
		}
		w.raw(w.line, style)
		w.line = ""
	case headed:
		w.inline(heading, whole)
	default:
		w.inline(Normal, whole)
	}
	if whole {
		w.flushWord()
	}
}

var (
	openFence = text.Pattern("^ {0,3}(```+|~~~+)")
	isHeading = text.Pattern(`^ {0,3}#{1,6} +`)
	isRule    = text.Pattern(`^ {0,3}(-( *-){2,}|\*( *\*){2,}|_( *_){2,}) *$`)
	isItem    = text.Pattern(`^( *)([-*+]|\d{1,9}[.)]) +`)
	isQuote   = text.Pattern(`^ {0,3}((> ?)+)`)
	// What may become one of those when more has come.
	mayBegin = text.Pattern("^ {0,3}(`{0,2}|~{0,2}|#{0,6} *|[-*_]( *[-*_])* *|\\d{1,9}[.)]? *|>[> ]*)$|^ *([-*+]|\\d{1,9}[.)])? *$")
)

// codeIndent stands before a line of a block of code.
const codeIndent = "    "

// begin finds out what a line is and draws what it begins with. It returns false when more must come first.
func (w *MarkdownWriter) begin(whole bool) bool {
	if w.fence != "" {
		return w.beginCode(whole)
	}
	if m := openFence().FindStringSubmatch(w.line); m != nil {
		if !whole {
			return false // its language is not shown
		}
		w.flushTable()
		w.fence, w.kind, w.line = m[1], unseen, ""
		return true
	}
	if !whole && mayBegin().MatchString(w.line) {
		return false
	}
	if isRow(w.line) {
		w.kind = row
		return true
	}
	w.flushTable()
	w.kind = paragraph
	if isRule().MatchString(w.line) {
		w.kind, w.line = verbatim, ""
		w.raw(strings.Repeat("─", min(w.width-1, 40)), Faint)
		return true
	}
	if m := isQuote().FindStringSubmatch(w.line); m != nil {
		w.line = w.line[len(m[0]):]
		w.mark(strings.Repeat("│ ", strings.Count(m[1], ">")), Faint)
	}
	switch {
	case isHeading().MatchString(w.line):
		w.kind, w.line = headed, w.line[len(isHeading().FindString(w.line)):]
	case isItem().MatchString(w.line):
		m := isItem().FindStringSubmatch(w.line)
		w.line = w.line[len(m[0]):]
		bullet := m[2]
		if len(bullet) == 1 { // no number
			bullet = "•"
		}
		w.mark(m[1]+bullet+" ", Normal)
	case strings.HasPrefix(strings.TrimLeft(w.line, " "), "|"):
		w.kind = verbatim
	default:
		indent := len(w.line) - len(strings.TrimLeft(w.line, " "))
		w.mark(w.line[:indent], Normal)
		w.line = w.line[indent:]
	}
	return true
}

// beginCode begins a line within a block of code, which may be its end.
func (w *MarkdownWriter) beginCode(whole bool) bool {
	mark := strings.Trim(w.line, " ")
	if strings.Trim(mark, w.fence[:1]) == "" && !whole {
		return false
	}
	w.kind = verbatim
	if len(mark) >= len(w.fence) && strings.Trim(mark, w.fence[:1]) == "" {
		w.fence, w.kind, w.line = "", unseen, ""
		return true
	}
	if w.line != "" {
		w.raw(codeIndent, Normal)
	}
	return true
}

// mark draws what a line begins with; what it goes on with stands below its end.
func (w *MarkdownWriter) mark(s string, style Style) {
	w.raw(s, style)
	w.hang = min(w.column, w.width/2)
}

// tab is drawn for a tab, whose columns on a terminal depend on what stands before it.
const tab = "    "

// raw draws a text as it is, but for its tabs.
func (w *MarkdownWriter) raw(s string, style Style) {
	if s == "" {
		return
	}
	s = strings.ReplaceAll(s, "\t", tab)
	_, _ = io.WriteString(w.out, w.out.Render(Line{{Text: s, Style: style}})) // an error shows when the buffer is flushed
	w.column += Columns(s)
}

// text adds a text to what is drawn, word by word.
func (w *MarkdownWriter) text(s string, style Style) {
	state := -1
	for s != "" {
		var cluster string
		var width int
		cluster, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		w.last, _ = utf8.DecodeLastRuneInString(cluster)
		if cluster == " " || cluster == "\t" {
			w.flushWord()
			w.space += " "
			continue
		}
		if width > 1 { // a line may break before and after it
			w.flushWord()
		}
		w.grow(cluster, style)
		if width > 1 || w.word.Width() > longestWord {
			w.flushWord()
		}
	}
}

// longestWord is how many columns of a word are waited for.
const longestWord = 60

func (w *MarkdownWriter) grow(cluster string, style Style) {
	if n := len(w.word); n > 0 && w.word[n-1].Style == style {
		w.word[n-1].Text += cluster
		return
	}
	w.word = append(w.word, Span{Text: cluster, Style: style})
}

// flushWord draws the word that has ended, on the next row where this one has no room for it.
func (w *MarkdownWriter) flushWord() {
	if len(w.word) == 0 {
		return
	}
	if w.into != nil {
		*w.into = append(append(*w.into, Span{Text: w.space}), w.word...)
		w.space, w.word = "", nil
		return
	}
	n := w.word.Width()
	switch {
	case w.column+len(w.space)+n > w.width && w.column > w.hang:
		_, _ = io.WriteString(w.out, "\n"+strings.Repeat(" ", w.hang)) // an error shows when the buffer is flushed
		w.column = w.hang
	default:
		w.raw(w.space, Normal)
	}
	w.space = ""
	_, _ = io.WriteString(w.out, w.out.Render(w.word)) // an error shows when the buffer is flushed
	w.column += n
	w.word = nil
}
