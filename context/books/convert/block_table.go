package convert

import (
	"fmt"
	"strings"
)

// TableBuilder adds the rows of one table to a document, with the names of their columns. Those are the rows that
// the file calls heads; without one the first row, if it reads like names.
type TableBuilder struct {
	b       *Builder
	columns []string
	rows    int
	first   *Block // until it is known whether it is names
	named   bool   // columns are known, or there are none
	single  bool   // it has rows of one cell alone so far
	told    bool   // a row has been added since columns were set
	page    int    // of columns
	values  bool   // of a file of values, whose first line names the columns wherever it may
}

// Table begins a table.
func (b *Builder) Table() *TableBuilder { return &TableBuilder{b: b, single: true} }

// At says which number the next row has, where the file says it.
func (t *TableBuilder) At(row int) { t.rows = row - 1 }

// Row adds a row. head says that the file calls it the names of columns.
func (t *TableBuilder) Row(cells []string, head bool, page int) error {
	t.rows++
	row := Block{Kind: RowBlock, Cells: cells, Page: page, Row: t.rows}
	t.single = t.single && len(cells) <= 1
	switch {
	case head && !t.told && t.first == nil:
		t.setNames(&row)
		return nil
	case t.named:
		return t.add(row)
	case t.first == nil:
		t.first = &row
		return nil
	}
	first := t.first
	t.first = nil
	if areNames(first.Cells, cells) || t.values && mayBeNames(first.Cells, cells) {
		t.setNames(first)
	} else {
		t.named = true
		if err := t.add(*first); err != nil {
			return err
		}
	}
	return t.add(row)
}

// setNames takes a row for names; several of them are joined cell by cell.
func (t *TableBuilder) setNames(row *Block) {
	if t.columns == nil {
		t.page = row.Page
	}
	for i, name := range row.Cells {
		name = CleanName(name)
		if i == len(t.columns) {
			t.columns = append(t.columns, name)
		} else if name != "" && name != t.columns[i] {
			t.columns[i] = CleanName(t.columns[i] + " " + name)
		}
	}
	if len(t.columns) > maxRowCells {
		t.columns = t.columns[:maxRowCells]
	}
	t.named = true
}

func (t *TableBuilder) add(row Block) error {
	if !t.told {
		t.columns = distinct(t.columns)
	}
	t.told = true
	if t.single { // what lays a page out is no table
		return t.b.Add(Block{Kind: TextBlock, Text: strings.Join(row.Cells, " "), Page: row.Page})
	}
	row.Columns = t.columns
	return t.b.Add(row)
}

// distinct tells names apart that a table has more than once: "Amount", "Amount (2)".
func distinct(names []string) []string {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	seen := make(map[string]int, len(names))
	for i, name := range names {
		seen[name]++
		if name == "" || seen[name] == 1 {
			continue
		}
		other := name
		for n := seen[name]; all[other]; n++ {
			other = fmt.Sprintf("%s (%d)", name, n)
		}
		names[i], all[other] = other, true
	}
	return names
}

// Close ends the table.
func (t *TableBuilder) Close() error {
	if t.first != nil {
		t.named = true
		if err := t.add(*t.first); err != nil {
			return err
		}
	}
	if !t.told && t.columns != nil {
		names := t.columns
		t.columns = nil
		return t.add(Block{Kind: RowBlock, Cells: names, Page: t.page, Row: 1})
	}
	return nil
}

// areNames reports whether the first row of a table reads like the names of its columns: short texts without
// digits, each another one unless it stands over a number, over a row that has digits or is one of three columns at least.
func areNames(first, second []string) bool {
	seen := make(map[string]bool, len(first))
	digits := false
	for i, cell := range first {
		cell = oneLine(cell)
		if cell == "" && i == 0 {
			continue // the corner
		}
		if cell == "" || len(cell) > 60 || strings.ContainsAny(cell, "0123456789") && !isUnit(cell) ||
			seen[cell] && (i >= len(second) || !strings.ContainsAny(second[i], "0123456789")) {
			return false
		}
		seen[cell] = true
		digits = digits || i < len(second) && strings.ContainsAny(second[i], "0123456789")
	}
	return len(seen) > 0 && len(first) > 1 && (digits || len(first) > 2)
}

// mayBeNames reports whether the first line of a file of values can name its columns: short cells, not all the same, none a
// number, unless it is a year over what is none; the second row has another kind of cells or none of these names.
func mayBeNames(first, second []string) bool {
	seen := make(map[string]bool, len(first))
	for i, cell := range first {
		cell = oneLine(cell)
		below := ""
		if i < len(second) {
			below = oneLine(second[i])
		}
		if cell == "" && (i == 0 || below == "") {
			continue // the corner, or a sign at the end of each line
		}
		if cell == "" || len(cell) > 60 || cell == below || isNumber(cell) && (i == 0 || !isYear(cell) || isYear(below)) ||
			strings.ContainsAny(cell, "@") || strings.Contains(cell, "://") {
			return false
		}
		seen[cell] = true
	}
	return len(seen) > 1
}

// isNumber reports a cell that is a number, an amount or a date: digits and signs.
func isNumber(cell string) bool {
	return strings.ContainsAny(cell, "0123456789") && strings.Trim(cell, "0123456789.,:;/+-%$€£ ") == ""
}

func isYear(cell string) bool {
	return len(cell) == 4 && strings.Trim(cell, "0123456789") == "" && (cell[:2] == "19" || cell[:2] == "20")
}

// isUnit reports a name with digits, as of a year in "Sales 2024": it begins with a letter.
func isUnit(cell string) bool {
	return cell[0] >= 'A' && cell[0] <= 'Z' || cell[0] >= 'a' && cell[0] <= 'z' || cell[0] >= 0x80
}
