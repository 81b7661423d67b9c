package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table is drawn in columns. An empty head draws none.
type table struct {
	head   []string
	right  []int // columns of numbers
	keep   []int // columns that are cut only when the others are at minColumn
	indent int
	rows   [][]line
}

const (
	columnGap = 2
	minColumn = 6
)

// without removes a column.
func (t *table) without(column int) {
	t.head = slices.Delete(t.head, column, column+1)
	for i, row := range t.rows {
		t.rows[i] = slices.Delete(row, column, column+1)
	}
	t.right, t.keep = closeGap(t.right, column), closeGap(t.keep, column)
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

// add appends a row of plain cells.
func (t *table) add(cells ...string) {
	row := make([]line, len(cells))
	for i, c := range cells {
		row[i] = line{text(c)}
	}
	t.rows = append(t.rows, row)
}

// row appends a row.
func (t *table) row(cells ...line) { t.rows = append(t.rows, cells) }

// draw writes the table, its widest columns cut until it fits.
func (t *table) draw(s *screen) {
	rows := t.rows
	if len(t.head) > 0 {
		head := make([]line, len(t.head))
		for i, h := range t.head {
			head[i] = line{styled(faint, h)}
		}
		rows = append([][]line{head}, rows...)
	}
	widths := t.widths(rows, s.width)
	for _, row := range rows {
		out := line{text(strings.Repeat(" ", t.indent))}
		for i, cell := range row {
			cell = cell.fit(widths[i])
			if i < len(row)-1 || slices.Contains(t.right, i) {
				cell = cell.padded(widths[i], slices.Contains(t.right, i))
			}
			if i > 0 {
				out = append(out, text(strings.Repeat(" ", columnGap)))
			}
			out = append(out, cell...)
		}
		s.say(out...)
	}
}

// widths returns the widths of the columns for a screen of the given width, 0
// for any.
func (t *table) widths(rows [][]line, screen int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cell.width())
		}
	}
	if screen == 0 {
		return widths
	}
	room := screen - t.indent - columnGap*(len(widths)-1)
	for total := sum(widths); total > room; total-- {
		widest := widestColumn(widths, t.keep)
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

// branch is a node of a tree with what hangs from it.
type branch struct {
	label    line
	more     []string // names below the label, as many on a line as fit
	moreHead string   // what stands before the first of them
	children []*branch
}

// draw writes the branches under an indent.
func drawTree(s *screen, indent string, roots []*branch) {
	for _, root := range roots {
		s.say(append(line{text(indent)}, root.label...)...)
		root.drawBelow(s, indent)
	}
}

// drawBelow draws what stands under the label of a branch.
func (b *branch) drawBelow(s *screen, indent string) {
	rail := "   "
	if len(b.children) > 0 {
		rail = "│  "
	}
	lead, room := b.moreHead, s.columns()-columns(indent+rail+b.moreHead)
	for _, l := range wrapNames(b.more, max(room, minColumn)) {
		if l != "" {
			s.say(text(indent), styled(faint, rail+lead+l))
			lead = strings.Repeat(" ", columns(b.moreHead))
		}
	}
	for i, c := range b.children {
		joint, below := "├─ ", "│  "
		if i == len(b.children)-1 {
			joint, below = "└─ ", "   "
		}
		s.say(append(line{text(indent), styled(faint, joint)}, c.label...)...)
		c.drawBelow(s, indent+below)
	}
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar draws how much of a whole is used, in the given columns.
func bar(part, whole, width int) line {
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
	return line{{filled, barStyle(share)}, {strings.Repeat("·", width-columns(filled)), faint}}
}

// barStyle warns of a whole that is nearly used up.
func barStyle(share float64) style {
	switch {
	case share >= 0.95:
		return bad
	case share >= 0.75:
		return warn
	}
	return good
}

// number writes an integer with its thousands apart.
func number[T ~int | ~int64 | ~uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a number with its noun: "1 note", "3 notes", "2 entities", "2 ways".
func count(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
			noun = stem + "ie"
		}
		noun += "s"
	}
	return number(n) + " " + noun
}

// size writes a number of bytes.
func size[T ~int64 | ~uint64](n T) string {
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

// millis writes milliseconds with as many digits as say something.
func millis(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 0.1:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f µs", ms*1000)
}

func elapsed(d time.Duration) string { return millis(float64(d.Microseconds()) / 1000) }

// ago writes how long ago something was, roughly.
func ago(t time.Time) string {
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

// day writes a time for people.
func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
