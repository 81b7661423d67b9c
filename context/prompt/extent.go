package prompt

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
)

// Extent is how much of an item is in the prompt when not all of it is.
type Extent struct {
	Kept int  `json:"kept" jsonschema:"how much of it is in the prompt"`
	Of   int  `json:"of" jsonschema:"how much there is"`
	Unit Unit `json:"unit" enum:"rows,lines,items,chars" jsonschema:"what is counted: rows of tables, lines of code or of the fields of an entity, items of lists, or characters"`
}

// String is such as "12 of 40 rows".
func (e *Extent) String() string { return fmt.Sprintf("%d of %d %s", e.Kept, e.Of, e.Unit) }

// Unit is what an Extent counts.
type Unit string

// The units.
const (
	Characters Unit = "chars"
	Rows       Unit = "rows"  // of tables, without their heads
	Lines      Unit = "lines" // of code, or of the fields of an entity
	ListItems  Unit = "items" // of lists
)

// The classes of a tally, and what is counted of each.
const (
	proseClass = iota
	rowClass
	codeClass
	itemClass
	classes
)

var units = [classes]Unit{proseClass: Characters, rowClass: Rows, codeClass: Lines, itemClass: ListItems}

// tally counts what a text in Markdown is made of, by class.
type tally struct {
	count [classes]int // rows, lines, items
	chars [classes]int
	size  int // characters in all
}

// newTally counts a text. O(length of the text).
func newTally(body string) tally {
	t := tally{size: text.CountChars(body)}
	var r lines
	for start := 0; start < len(body); {
		end, next := bodyLineEnd(body, start)
		v := visible(body[start:end])
		l := r.next(v.text)
		start = next
		if l.kind == blank || strings.Trim(v.text, " \t") == Ellipsis {
			continue
		}
		class, begins := r.classOf(&l, v.text[l.start:])
		if begins {
			t.count[class]++
		}
		t.chars[class] += text.CountChars(v.text)
	}
	return t
}

// classOf returns the class of a line that was read, and whether one of its kind begins there.
func (r *lines) classOf(l *line, content string) (class int, begins bool) {
	switch {
	case l.kind == code:
		return codeClass, true
	case l.kind != textLine:
	case r.table && !isDelimiterRow(content):
		return rowClass, true
	case l.bullet || r.items > 0:
		return itemClass, l.bullet
	}
	return proseClass, false
}

// extent says how much of a text is shown, in the unit in which most of what is missing is counted.
func (t *tally) extent(shown *tally) *Extent {
	e := &Extent{Kept: max(0, min(shown.size, t.size-1)), Of: t.size, Unit: Characters}
	all := 0
	for i := range units {
		all += max(0, t.chars[i]-shown.chars[i])
	}
	for i, unit := range units {
		if t.count[i] > shown.count[i] && 2*(t.chars[i]-shown.chars[i]) >= all {
			e.Kept, e.Of, e.Unit = shown.count[i], t.count[i], unit
		}
	}
	return e
}
