package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// historySearch is a search for an earlier text, with Ctrl-R.
type historySearch struct {
	words  string
	before string // the text that there was, and its cursor
	at     int
	back   int // the entry that is shown; 0: none
}

// searchKey gives a key to the search. It reports whether the search is over and
// the key means what it does without one.
func (e *Editor) searchKey(k key) (over bool) {
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
func (e *Editor) find(back int) {
	for ; back <= e.History.len(); back++ {
		text := e.History.back(back)
		if i := strings.Index(strings.ToLower(text), strings.ToLower(e.search.words)); i >= 0 {
			e.search.back, e.text, e.at = back, text, min(i, len(text))
			return
		}
	}
}

// tab completes what stands before the cursor, as far as all choices agree, and
// lists them when they agree no further.
func (e *Editor) tab() {
	c := e.Complete(e.text, e.at)
	if len(c.Choices) == 0 {
		return
	}
	common := c.Choices[0].Text
	for _, ch := range c.Choices[1:] {
		common = commonPrefix(common, ch.Text)
	}
	if len(c.Choices) == 1 || len(common) > e.at-c.From {
		e.replace(c.From, e.at, editable(common))
		return
	}
	names := make([]string, len(c.Choices))
	for i, ch := range c.Choices {
		names[i] = term.Clean(cmp.Or(ch.Shown, strings.TrimSpace(ch.Text)))
	}
	width, _ := e.Size()
	at := e.at
	e.leave("")
	e.at = at
	e.Write(strings.Join(inColumns(names, width), "\r\n") + "\r\n")
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
		widest = max(widest, term.Columns(w))
	}
	perRow := max(1, (width+term.ColumnGap)/(widest+term.ColumnGap))
	rowsNeeded := (len(words) + perRow - 1) / perRow
	rows := make([]string, rowsNeeded)
	for i, w := range words {
		cell := term.Line{{Text: w}}.Fit(width)
		if i+rowsNeeded < len(words) {
			cell = cell.Padded(min(widest, width)+term.ColumnGap, false)
		}
		rows[i%rowsNeeded] += cell.Plain()
	}
	if hidden > 0 {
		return slices.Concat(rows, []string{fmt.Sprintf("and %s more", term.Number(hidden))})
	}
	return rows
}

// layText lays a text out on the rows of a terminal. first stands before it, next
// before each further line of it. The place is that of the offset at.
func layText(first, next, text string, at, width int) (rows []string, row, column int) {
	var b strings.Builder
	used := 0
	begin := func(head string) {
		head, _ = term.CutColumns(head, width-1)
		b.WriteString(head)
		used = term.Columns(head)
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
		shown := term.Clean(cluster)
		n := term.Columns(shown)
		if used+n > width {
			end()
		}
		b.WriteString(shown)
		used += n
		if used >= width {
			end()
		}
	}
}

// draw draws the text over what was drawn before.
func (e *Editor) draw() {
	width, height := e.Size()
	prompt, paint := e.prompt, e.Paint
	if s := e.search; s != nil {
		prompt, paint = "(search) "+s.words+": ", nil
	}
	next := fmt.Sprintf("%*s", term.Columns(prompt), "...> ")
	if s := e.search; s != nil {
		next = strings.Repeat(" ", min(term.Columns(prompt), width/2))
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
	e.Write(b.String())
}

// toFirstRow returns what takes away what was drawn.
func (e *Editor) toFirstRow() string {
	if e.row > 0 {
		return fmt.Sprintf("\x1b[%dA\r", e.row) + term.ClearRest
	}
	return "\r" + term.ClearRest
}

// leave ends what is drawn with a mark, and goes to a row of its own.
func (e *Editor) leave(mark string) {
	e.at, e.search = len(e.text), nil
	e.draw()
	e.Write(mark + "\r\n")
	e.row = 0
}

func (e *Editor) Write(s string) { _, _ = io.WriteString(e.Out, s) } // reading tells that a terminal is gone
