package term

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Table is drawn in columns. An empty head draws none.
type Table struct {
	Head   []string
	Right  []int // columns of numbers
	Keep   []int // columns that are cut only when the others are at minColumn
	Indent int
	Rows   [][]Line
}

const (
	// ColumnGap is the number of columns between two of a table.
	ColumnGap = 2
	minColumn = 6
)

// Without removes a column.
func (t *Table) Without(column int) {
	t.Head = slices.Delete(t.Head, column, column+1)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Delete(row, column, column+1)
	}
	t.Right, t.Keep = closeGap(t.Right, column), closeGap(t.Keep, column)
}

// closeGap returns the columns without one, those after it a place further left.
func closeGap(columns []int, removed int) (out []int) {
	for _, c := range columns {
		switch {
		case c < removed:
			out = append(out, c)
		case c > removed:
			out = append(out, c-1)
		}
	}
	return out
}

// Add appends a row of plain cells.
func (t *Table) Add(cells ...string) {
	row := make([]Line, len(cells))
	for i, c := range cells {
		row[i] = Line{Text(c)}
	}
	t.Rows = append(t.Rows, row)
}

// Row appends a row.
func (t *Table) Row(cells ...Line) { t.Rows = append(t.Rows, cells) }

// Draw writes the table, its widest columns cut until it fits.
func (t *Table) Draw(s *Screen) {
	rows := t.Rows
	if len(t.Head) > 0 {
		head := make([]Line, len(t.Head))
		for i, h := range t.Head {
			head[i] = Line{Styled(Faint, h)}
		}
		rows = append([][]Line{head}, rows...)
	}
	widths := t.widths(rows, s.Width)
	for _, row := range rows {
		out := Line{Text(strings.Repeat(" ", t.Indent))}
		for i, cell := range row {
			cell = cell.Fit(widths[i])
			if i < len(row)-1 || slices.Contains(t.Right, i) {
				cell = cell.Padded(widths[i], slices.Contains(t.Right, i))
			}
			if i > 0 {
				out = append(out, Text(strings.Repeat(" ", ColumnGap)))
			}
			out = append(out, cell...)
		}
		s.Say(out...)
	}
}

// widths returns the widths of the columns for a screen of the given width, 0
// for any.
func (t *Table) widths(rows [][]Line, screen int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cell.Width())
		}
	}
	if screen == 0 {
		return widths
	}
	room := screen - t.Indent - ColumnGap*(len(widths)-1)
	for total := sum(widths); total > room; total-- {
		widest := widestColumn(widths, t.Keep)
		if widest < 0 {
			widest = widestColumn(widths, nil)
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// widestColumn returns the widest column that can still be cut, but for some; -1
// for none.
func widestColumn(widths, but []int) int {
	widest := -1
	for i, w := range widths {
		if w > minColumn && !slices.Contains(but, i) && (widest < 0 || w > widths[widest]) {
			widest = i
		}
	}
	return widest
}

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

// Branch is a node of a tree with what hangs from it.
type Branch struct {
	Label    Line
	More     []string // names below the label, as many on a line as fit
	MoreHead string   // what stands before the first of them
	Members  []Line   // below the label, in as many columns as fit
	Children []*Branch
}

// DrawTree writes the branches under an indent.
func DrawTree(s *Screen, indent string, roots []*Branch) {
	for _, root := range roots {
		s.Say(append(Line{Text(indent)}, root.Label...)...)
		root.drawBelow(s, indent)
	}
}

// drawBelow draws what stands under the label of a branch.
func (b *Branch) drawBelow(s *Screen, indent string) {
	rail := "   "
	if len(b.Children) > 0 {
		rail = "│  "
	}
	lead, room := b.MoreHead, s.Columns()-Columns(indent+rail+b.MoreHead)
	for _, l := range WrapNames(b.More, max(room, minColumn)) {
		if l != "" {
			s.Say(Text(indent), Styled(Faint, rail+lead+l))
			lead = strings.Repeat(" ", Columns(b.MoreHead))
		}
	}
	for _, l := range inColumns(b.Members, s.Columns()-Columns(indent+rail)) {
		s.Say(append(Line{Text(indent), Styled(Faint, rail)}, l...)...)
	}
	for i, c := range b.Children {
		joint, below := "├─ ", "│  "
		if i == len(b.Children)-1 {
			joint, below = "└─ ", "   "
		}
		s.Say(append(Line{Text(indent), Styled(Faint, joint)}, c.Label...)...)
		c.drawBelow(s, indent+below)
	}
}

// inColumns puts lines beside each other, from above to below and then from the left, in as
// many columns of one width as there is room for.
func inColumns(list []Line, room int) []Line {
	wide := 0
	for _, l := range list {
		wide = max(wide, l.Width())
	}
	across := max(1, (room+ColumnGap)/(wide+ColumnGap))
	rows := (len(list) + across - 1) / across
	out := make([]Line, rows)
	for i, l := range list {
		if i+rows < len(list) { // another one follows
			l = l.Padded(wide+ColumnGap, false)
		}
		out[i%rows] = append(out[i%rows], l...)
	}
	return out
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// Bar draws how much of a whole is used, in the given columns.
func Bar(part, whole, width int) Line {
	share := 0.0
	if whole > 0 {
		share = min(1, float64(part)/float64(whole))
	}
	units := int(share*float64(width*8) + 0.5)
	if part > 0 && units == 0 {
		units = 1
	}
	filled := strings.Repeat("█", units/8)
	if rest := units % 8; rest > 0 {
		filled += string(eighths[rest])
	}
	return Line{{filled, BarStyle(share)}, {strings.Repeat("·", width-Columns(filled)), Faint}}
}

// BarStyle warns of a whole that is nearly used up.
func BarStyle(share float64) Style {
	switch {
	case share >= 0.95:
		return Bad
	case share >= 0.75:
		return Warn
	}
	return Good
}

// Number writes an integer with its thousands apart.
func Number[T ~int | ~int64 | ~uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number with its noun: "1 note", "3 notes", "2 entities", "2 ways".
func Count(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
			noun = stem + "ie"
		}
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Size writes a number of bytes.
func Size[T ~int64 | ~uint64](n T) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v /= 1024
		u++
	}
	if u == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[u])
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}

// Millis writes milliseconds with as many digits as say something.
func Millis(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 0.1:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 0.0005:
		return noTime
	}
	return fmt.Sprintf("%.0f µs", ms*1000)
}

// Elapsed writes a duration in milliseconds or seconds.
func Elapsed(d time.Duration) string { return Millis(float64(d.Microseconds()) / 1000) }

// Ago writes how long ago something was, roughly.
func Ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case t.IsZero():
		return "never"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// Day writes a time for people.
func Day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// WrapNames joins names with commas into lines of at most n columns, none of
// them broken.
func WrapNames(names []string, n int) []string {
	var lines []string
	current := ""
	for i, name := range names {
		name = Clean(name)
		if i < len(names)-1 {
			name += ","
		}
		if current != "" && Columns(current)+1+Columns(name) > n {
			lines = append(lines, current)
			current = ""
		}
		if current != "" {
			current += " "
		}
		current += name
	}
	return append(lines, current)
}
