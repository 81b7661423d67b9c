package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// completion is what can stand in the place of a part of the text.
type completion struct {
	from    int // offset of the part, which ends at the cursor
	choices []suggestion
}

// suggestion is one of several texts.
type suggestion struct {
	text  string // that is inserted
	shown string // in the list; "": the text
}

// historySearch is a search for an earlier text, with Ctrl-R.
type historySearch struct {
	words  string
	before string // the text that there was, and its cursor
	at     int
	back   int // the entry that is shown; 0: none
}

// searchKey gives a key to the search. It reports whether the search is over and
// the key means what it does without one.
func (e *lineEditor) searchKey(k key) (over bool) {
	s := e.search
	switch {
	case k == ctrlR:
		e.find(s.back + 1)
	case k == ctrlG, k == ctrlC, k == keyEscape:
		e.text, e.at, e.search = s.before, s.at, nil
	case k == keyBack, k == ctrlH:
		_, n := utf8.DecodeLastRuneInString(s.words)
		s.words = s.words[:len(s.words)-n]
		e.find(1)
	case k >= ' ' && k < keyUp:
		s.words += string(rune(k))
		e.find(max(1, s.back))
	default:
		e.search = nil
		return true
	}
	return false
}

// find shows the newest entry with the words of the search that lies back at
// least so far. When there is none, what is shown stays.
func (e *lineEditor) find(back int) {
	for ; back <= e.history.len(); back++ {
		text := e.history.back(back)
		if i := strings.Index(strings.ToLower(text), strings.ToLower(e.search.words)); i >= 0 {
			e.search.back, e.text, e.at = back, text, min(i, len(text))
			return
		}
	}
}

// tab completes what stands before the cursor, as far as all choices agree, and
// lists them when they agree no further.
func (e *lineEditor) tab() {
	c := e.complete(e.text, e.at)
	if len(c.choices) == 0 {
		return
	}
	common := c.choices[0].text
	for _, ch := range c.choices[1:] {
		common = commonPrefix(common, ch.text)
	}
	if len(c.choices) == 1 || len(common) > e.at-c.from {
		e.replace(c.from, e.at, editable(common))
		return
	}
	names := make([]string, len(c.choices))
	for i, ch := range c.choices {
		names[i] = clean(firstOf(ch.shown, strings.TrimSpace(ch.text)))
	}
	width, _ := e.size()
	at := e.at
	e.leave("")
	e.at = at
	e.write(strings.Join(inColumns(names, width), "\r\n") + "\r\n")
}

// commonPrefix returns what two texts begin with, spelt as in the first; case
// makes no difference.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) {
		r, size := utf8.DecodeRuneInString(a[n:])
		other, otherSize := utf8.DecodeRuneInString(b[n:])
		if size != otherSize || !strings.EqualFold(string(r), string(other)) {
			break
		}
		n += size
	}
	return a[:n]
}

// choicesShown is how many choices are listed.
const choicesShown = 100

// inColumns lays words out in rows of the terminal.
func inColumns(words []string, width int) []string {
	hidden := len(words) - choicesShown
	words = words[:min(len(words), choicesShown)]
	widest := 1
	for _, w := range words {
		widest = max(widest, columns(w))
	}
	perRow := max(1, (width+columnGap)/(widest+columnGap))
	rowsNeeded := (len(words) + perRow - 1) / perRow
	rows := make([]string, rowsNeeded)
	for i, w := range words {
		cell := line{{w, normal}}.fit(width)
		if i+rowsNeeded < len(words) {
			cell = cell.padded(min(widest, width)+columnGap, false)
		}
		rows[i%rowsNeeded] += cell.plain()
	}
	if hidden > 0 {
		return slices.Concat(rows, []string{fmt.Sprintf("and %s more", number(hidden))})
	}
	return rows
}

// layText lays a text out on the rows of a terminal. first stands before it, next
// before each further line of it. The place is that of the offset at.
func layText(first, next, text string, at, width int) (rows []string, row, column int) {
	var b strings.Builder
	used := 0
	begin := func(head string) {
		head, _ = cutColumns(head, width-1)
		b.WriteString(head)
		used = columns(head)
	}
	end := func() {
		rows = append(rows, b.String())
		b.Reset()
		used = 0
	}
	begin(first)
	for i, state := 0, -1; ; {
		if i == at {
			row, column = len(rows), used
		}
		if i == len(text) {
			end()
			return rows, row, column
		}
		cluster, _, _, following := uniseg.FirstGraphemeClusterInString(text[i:], state)
		if i < at && at < i+len(cluster) {
			row, column = len(rows), used
		}
		i, state = i+len(cluster), following
		if cluster == "\n" {
			end()
			begin(next)
			continue
		}
		shown := clean(cluster)
		n := columns(shown)
		if used+n > width {
			end()
		}
		b.WriteString(shown)
		if used += n; used >= width {
			end()
		}
	}
}

// draw draws the text over what was drawn before.
func (e *lineEditor) draw() {
	width, height := e.size()
	prompt, paint := e.prompt, e.paint
	if s := e.search; s != nil {
		prompt, paint = "(search) "+s.words+": ", nil
	}
	next := fmt.Sprintf("%*s", columns(prompt), "...> ")
	if s := e.search; s != nil {
		next = strings.Repeat(" ", min(columns(prompt), width/2))
	}
	rows, row, column := layText(prompt, next, e.text, e.at, width)
	top := 0
	if len(rows) > height {
		top = min(max(0, row-height/2), len(rows)-height)
		rows = rows[top : top+height]
	}
	row -= top
	if paint != nil && top == 0 && strings.HasPrefix(rows[0], prompt) {
		rows[0] = paint(prompt) + rows[0][len(prompt):]
	}
	var b strings.Builder
	b.WriteString(e.toFirstRow() + strings.Join(rows, "\r\n"))
	if up := len(rows) - 1 - row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", column)
	}
	e.row = row
	e.write(b.String())
}

// toFirstRow returns what takes away what was drawn.
func (e *lineEditor) toFirstRow() string {
	if e.row > 0 {
		return fmt.Sprintf("\x1b[%dA\r", e.row) + clearRest
	}
	return "\r" + clearRest
}

// leave ends what is drawn with a mark, and goes to a row of its own.
func (e *lineEditor) leave(mark string) {
	e.at, e.search = len(e.text), nil
	e.draw()
	e.write(mark + "\r\n")
	e.row = 0
}

func (e *lineEditor) write(s string) { _, _ = io.WriteString(e.out, s) } // reading tells that a terminal is gone
