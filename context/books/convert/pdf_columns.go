package convert

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pages of prose in columns whose lines are drawn row by row, as layers of OCR and some writers do: read in their order they
// would be a table of half sentences. What is a column of prose is told by its cells, which are long and fill it.
const (
	gutter        = 0.8  // least width between two columns, in heights of the letters
	columnCells   = 4    // of a column at least
	proseWords    = 4    // of most cells of a column of prose
	proseFill     = 0.55 // of its column that most cells fill
	proseEnds     = 0.5  // of its lines that may end a sentence
	mostColumns   = 4
	columnCrosses = 0.2 // of the lines that may go over a gutter: headings
)

// columned puts the lines of pages of columns that are drawn row by row in their order: of what stands between two lines over
// all columns, one column, then the next.
func (f *file) columned() {
	var out []line
	for start := 0; start < len(f.lines); {
		end := start
		for end < len(f.lines) && f.lines[end].page == f.lines[start].page {
			end++
		}
		out = append(out, byColumn(f.lines[start:end])...)
		start = end
	}
	f.lines = out
}

// byColumn returns the lines of one page in the order of its columns, if it has some and they are mixed.
func byColumn(lines []line) []line {
	pieces := piecesOf(lines)
	columns := columnsOfProse(pieces)
	if len(columns) < 2 {
		return lines
	}
	at := func(l *line) int { // -1 for one over several columns
		found := -1
		for i, c := range columns {
			if min(c.right, l.right)-max(c.left, l.left) > 0 {
				if found >= 0 {
					return -1
				}
				found = i
			}
		}
		return found
	}
	changes, last, bands := 0, -1, 1
	for i := range pieces {
		switch n := at(&pieces[i]); {
		case n < 0:
			bands++
			last = -1
		case last >= 0 && n != last:
			changes++
			last = n
		default:
			last = n
		}
	}
	if changes <= bands*len(columns) { // they are drawn one by one
		return lines
	}
	slices.SortStableFunc(pieces, func(a, b line) int { return cmp.Compare(b.top, a.top) })
	out := make([]line, 0, len(pieces))
	band := make([][]line, len(columns))
	flush := func() {
		for i := range band {
			out = append(out, band[i]...)
			band[i] = nil
		}
	}
	for _, l := range pieces {
		n := at(&l)
		if n < 0 {
			flush()
			out = append(out, l)
			continue
		}
		band[n] = append(band[n], l)
	}
	flush()
	return out
}

// piecesOf takes lines apart into their cells.
func piecesOf(lines []line) []line {
	var out []line
	for _, l := range lines {
		if len(l.cells) < 2 || l.fixed {
			out = append(out, l)
			continue
		}
		for i, c := range l.cells {
			one := l
			one.text, one.left, one.right = c.text, c.left, c.right
			if cut, ok := strings.CutSuffix(one.text, "-"); ok && i+1 < len(l.cells) { // PDFium sees the end of the line only
				if r, _ := utf8.DecodeLastRuneInString(cut); unicode.IsLetter(r) {
					one.text = cut + hyphen
				}
			}
			one.cells = []cell{{one.text, one.left, one.right}}
			out = append(out, one)
		}
	}
	return out
}

// columnsOfProse returns the columns of prose of a page, from the left; fewer than two where it has none.
func columnsOfProse(pieces []line) []column {
	em, spans := 0.0, make([]column, 0, len(pieces))
	for i := range pieces {
		if l := &pieces[i]; l.right > l.left {
			spans = append(spans, column{l.left, l.right})
			em += l.em
		}
	}
	if len(spans) < 2*columnCells {
		return nil
	}
	em /= float64(len(spans))
	columns := partedBy(spans, int(columnCrosses*float64(len(spans))), gutter*em)
	if len(columns) < 2 || len(columns) > mostColumns {
		return nil
	}
	for i := range columns {
		if !isProse(pieces, columns[i]) {
			return nil
		}
	}
	return columns
}

// partedBy parts a page where at most so many spans go over a strip of a width.
func partedBy(spans []column, crossing int, width float64) []column {
	type edge struct {
		x    float64
		open int
	}
	edges := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		edges = append(edges, edge{s.left, 1}, edge{s.right, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.open, a.open)) })
	var list []column
	over, from, inside := 0, 0.0, false
	for i, e := range edges {
		over += e.open
		switch {
		case over > crossing && !inside:
			from, inside = e.x, true
			if n := len(list); n > 0 && e.x-list[n-1].right < width {
				from, list = list[n-1].left, list[:n-1]
			}
		case over <= crossing && inside:
			list, inside = append(list, column{from, e.x}), false
		}
		if i == len(edges)-1 && inside {
			list = append(list, column{from, e.x})
		}
	}
	return list
}

// isProse reports whether what stands in a column is text that runs on from line to line.
func isProse(pieces []line, c column) bool {
	var words []int
	var fill []float64
	ends := 0
	for i := range pieces {
		l := &pieces[i]
		if l.left < c.left-l.em || l.right > c.right+l.em {
			continue
		}
		words = append(words, len(strings.Fields(l.text)))
		if wide := utf8.RuneCountInString(l.text); words[len(words)-1] < proseWords && wide > 3*proseWords && !strings.Contains(l.text, " ") {
			words[len(words)-1] = wide / 3 // of a script without blanks
		}
		fill = append(fill, (l.right-l.left)/(c.right-c.left))
		if endsSentence(l.text) {
			ends++
		}
	}
	if len(words) < columnCells || float64(ends) > proseEnds*float64(len(words)) {
		return false
	}
	slices.Sort(words)
	slices.Sort(fill)
	return words[len(words)/2] >= proseWords && fill[len(fill)/2] >= proseFill
}
