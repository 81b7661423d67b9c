package term

import (
	"io"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Limits of a table. Its rows are drawn when its last one has come, since the widest of a column makes its width.
const (
	maxTableRows = 200 // beyond them a table is drawn in parts
	cellGap      = " │ "
)

var isDelimiter = text.Pattern(`^:?-+:?$`)

// isRow reports whether a line is one of a table.
func isRow(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "|") }

// flushTable draws the table that has ended, if one has.
func (w *MarkdownWriter) flushTable() {
	lines := w.table
	w.table = nil
	if len(lines) == 0 {
		return
	}
	rows, right, ok := w.tableOf(lines)
	var widths []int
	if ok {
		widths, ok = fitted(rows, w.width)
	}
	if !ok { // as it came
		for _, l := range lines {
			w.raw(l, Normal)
			w.lineBreak()
		}
		return
	}
	for i, row := range rows {
		w.tableRow(row, widths, right)
		if i == 0 {
			rule := make([]string, len(widths))
			for c, n := range widths {
				rule[c] = strings.Repeat("─", n)
			}
			w.raw(strings.Join(rule, "─┼─"), Faint)
			w.lineBreak()
		}
	}
}

func (w *MarkdownWriter) lineBreak() {
	_, _ = io.WriteString(w.out, "\n") // an error shows when the buffer is flushed
	w.column = 0
}

// tableOf reads the rows of a table, the first of which is its head, and which columns stand to the right. It is none without
// the line of delimiters.
func (w *MarkdownWriter) tableOf(lines []string) (rows [][]Line, right []bool, ok bool) {
	if len(lines) < 2 {
		return nil, nil, false
	}
	marks := cellsOf(lines[1])
	for _, mark := range marks {
		if !isDelimiter().MatchString(mark) {
			return nil, nil, false
		}
		right = append(right, strings.HasSuffix(mark, ":") && !strings.HasPrefix(mark, ":"))
	}
	for i, l := range slices.Delete(slices.Clone(lines), 1, 2) {
		style := Normal
		if i == 0 {
			style = strong
		}
		var row []Line
		for _, cell := range cellsOf(l) {
			row = append(row, w.spans(cell, style))
		}
		if len(row) > len(marks) {
			return nil, nil, false // nothing is left out
		}
		rows = append(rows, append(row, make([]Line, len(marks)-len(row))...))
	}
	return rows, right, true
}

// cellsOf splits a row at the bars that no backslash stands before.
func cellsOf(row string) (cells []string) {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			i++
			cell.WriteByte('|')
		case row[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(row[i])
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" || len(cells) == 0 {
		cells = append(cells, rest)
	}
	return cells
}

// spans returns what a text with its marks looks like.
func (w *MarkdownWriter) spans(s string, style Style) (line Line) {
	inner := MarkdownWriter{out: w.out, into: &line}
	inner.styled(strings.ReplaceAll(s, "\t", " "), style)
	inner.flushWord()
	return line
}

// fitted returns the widths of the columns, the widest narrowed until all fit; none where they are too many for the screen.
func fitted(rows [][]Line, screen int) (widths []int, ok bool) {
	widths = make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], cell.Width(), 1)
		}
	}
	room := screen - Columns(cellGap)*(len(widths)-1)
	for sum(widths) > room {
		widest := widestColumn(widths, nil)
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// tableRow draws a row, on as many lines as its longest cell takes.
func (w *MarkdownWriter) tableRow(row []Line, widths []int, right []bool) {
	cells := make([][]Line, len(row))
	height := 1
	for i, cell := range row {
		cells[i] = broken(WrapSpans(cell, widths[i]), widths[i])
		height = max(height, len(cells[i]))
	}
	for l := range height {
		var out Line
		for i := range cells {
			var part Line
			if l < len(cells[i]) {
				part = cells[i][l]
			}
			if i > 0 {
				out = append(out, Span{Text: cellGap, Style: Faint})
			}
			if i < len(cells)-1 || right[i] {
				part = part.Padded(widths[i], right[i])
			}
			out = append(out, part...)
		}
		_, _ = io.WriteString(w.out, w.out.Render(out.trimmed())) // an error shows when the buffer is flushed
		w.lineBreak()
	}
}

// broken breaks lines that are a word too long for n columns.
func broken(lines []Line, n int) (out []Line) {
	for _, l := range lines {
		var part Line
		room := n
		for _, sp := range l {
			for Columns(sp.Text) > room {
				head, rest := CutColumns(sp.Text, room)
				if head == "" && room == n { // a character that is wider than the column
					break
				}
				out, part, room = append(out, append(part, Span{head, sp.Style})), nil, n
				sp.Text = rest
			}
			part = append(part, sp)
			room -= Columns(sp.Text)
		}
		out = append(out, part)
	}
	return out
}
