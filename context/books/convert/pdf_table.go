package convert

import "math"

const (
	aligned = 0.6 // how far the ends of cells of one column may be apart, in heights of the letters
	rowGap  = 3.2 // how far rows of one table may be apart
)

// column is where the cells of one column stand.
type column struct{ left, right float64 }

// tableEnd returns the line behind the table that begins with the line i; i when none does.
func (p *pageBuilder) tableEnd(i int) int {
	first := &p.lines[i]
	if len(first.cells) < 2 || first.fixed || i+1 >= len(p.lines) || !alike(first, &p.lines[i+1]) {
		return i
	}
	columns := columnsOf(first)
	end := i + 1
	for end < len(p.lines) {
		l := &p.lines[end]
		last := &p.lines[end-1]
		if l.page != first.page || p.level[end] > 0 || last.top-l.top > rowGap*last.em || last.top < l.top-last.em {
			break
		}
		if !fits(columns, l) {
			break
		}
		widen(columns, l)
		end++
	}
	return end
}

// alike reports whether two lines are rows of one table: the same number of cells, each over another.
func alike(a, b *line) bool {
	if a.page != b.page || len(a.cells) != len(b.cells) || a.top <= b.top || a.top-b.top > rowGap*a.em {
		return false
	}
	for i := range a.cells {
		x, y := a.cells[i], b.cells[i]
		off := min(math.Abs(x.left-y.left), math.Abs(x.right-y.right), math.Abs(x.left+x.right-y.left-y.right)/2)
		if off > aligned*a.em {
			return false
		}
	}
	return true
}

func columnsOf(l *line) []column {
	list := make([]column, len(l.cells))
	for i, c := range l.cells {
		list[i] = column{c.left, c.right}
	}
	return list
}

// fits reports whether the cells of a line can be told by the columns: each has one of its own.
func fits(columns []column, l *line) bool {
	at := -1
	for _, c := range l.cells {
		n := columnOf(columns, c)
		if n <= at {
			return false
		}
		at = n
	}
	if len(l.cells) > 1 {
		return true
	}
	// The rest of a cell that has several lines, not a text below the table.
	c, last := l.cells[0], columns[at]
	return len(columns) > 1 && c.left >= last.left-aligned*l.em && (at+1 == len(columns) || c.right < columns[at+1].left) && at > 0
}

// columnOf returns the column that a cell stands in: the one that it overlaps most, else the nearest.
func columnOf(columns []column, c cell) int {
	best, most := 0, math.Inf(-1)
	for i, col := range columns {
		if over := min(col.right, c.right) - max(col.left, c.left); over > most {
			best, most = i, over
		}
	}
	return best
}

func widen(columns []column, l *line) {
	for _, c := range l.cells {
		n := columnOf(columns, c)
		columns[n] = column{min(columns[n].left, c.left), max(columns[n].right, c.right)}
	}
}

// table adds the rows of a table.
func (p *pageBuilder) table(lines []line) error {
	columns := columnsOf(&lines[0])
	t := p.b.Table()
	var row []string
	flush := func() error {
		if row == nil {
			return nil
		}
		cells := row
		row = nil
		for i := range cells {
			cells[i] = p.whole(cells[i])
		}
		return t.Row(cells, false, lines[0].page)
	}
	for i := range lines {
		l := &lines[i]
		if len(l.cells) == 1 && row != nil {
			n := columnOf(columns, l.cells[0])
			row[n] = joined(row[n], l.cells[0].text)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		row = make([]string, len(columns))
		for _, c := range l.cells {
			row[columnOf(columns, c)] = c.text
		}
		widen(columns, l)
	}
	if err := flush(); err != nil {
		return err
	}
	return t.Close()
}
