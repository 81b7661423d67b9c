package wql

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/datum"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

var utc = time.UTC

// function is one of the functions of the language. None loops over anything
// but its own text, and none makes a text much longer than it was.
type function struct {
	name     string
	usage    string // from syntax.Functions, which people see
	min, max int
	dates    bool // arguments are dates
	daily    bool // the value changes with the calendar day
	volatile bool // it changes at any time
	accepts  func(shape) bool
	result   func(args []shape) shape
	// call computes the value. Arguments that are NULL are seen by coalesce
	// only: every other function is NULL then.
	call func(m *machine, args []*datum.Value) datum.Value
}

func (f *function) arity() string {
	switch {
	case f.min == 1 && f.max == 1:
		return "1 argument"
	case f.min == f.max:
		return fmt.Sprintf("%d arguments", f.min)
	}
	return fmt.Sprintf("at least %d arguments", f.min)
}

func gives(k datum.Kind) func([]shape) shape { return func([]shape) shape { return shape{kind: k} } }

func isScalar(s shape) bool { return s.kind != datum.List }

func isDateLike(s shape) bool {
	switch s.kind {
	case datum.Date, datum.InstantKind, datum.TextKind, datum.Any, datum.Null:
		return true
	}
	return false
}

func ofText(change func(string) string) func(*machine, []*datum.Value) datum.Value {
	return func(_ *machine, args []*datum.Value) datum.Value {
		s, ok := datum.TextOf(args[0])
		if !ok {
			return datum.Value{}
		}
		return datum.Text(change(s))
	}
}

func ofDay(part func(y, m, d int) int) func(*machine, []*datum.Value) datum.Value {
	return func(m *machine, args []*datum.Value) datum.Value {
		day, ok := m.day(args[0])
		if !ok {
			return datum.Value{}
		}
		return datum.Value{Kind: datum.Number, Number: float64(part(datum.Civil(day)))}
	}
}

var functions = map[string]*function{}

var functionNames []string

// init fills functions. The functions reach it through the compiler,
// so that a literal would be an initialisation cycle.
func init() { //nolint:gochecknoinits // see above
	for _, f := range []*function{
		{name: "lower", min: 1, max: 1, accepts: isScalar, result: gives(datum.TextKind), call: ofText(strings.ToLower)},
		{name: "upper", min: 1, max: 1, accepts: isScalar, result: gives(datum.TextKind), call: ofText(strings.ToUpper)},
		{name: "trim", min: 1, max: 1, accepts: isScalar, result: gives(datum.TextKind), call: ofText(strings.TrimSpace)},
		{name: "length", min: 1, max: 1, result: gives(datum.Number), call: length},
		{
			name: "year", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(datum.Number),
			call: ofDay(func(y, _, _ int) int { return y }),
		},
		{
			name: "month", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(datum.Number),
			call: ofDay(func(_, m, _ int) int { return m }),
		},
		{
			name: "day", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(datum.Number),
			call: ofDay(func(_, _, d int) int { return d }),
		},
		{
			name: "days_between", min: 2, max: 2, dates: true, accepts: isDateLike,
			result: gives(datum.Number), call: daysBetween,
		},
		{name: "coalesce", min: 1, max: math.MaxInt32, result: coalesceShape, call: coalesce},
		{
			name: "date", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(datum.Date),
			call: func(m *machine, args []*datum.Value) datum.Value {
				if day, ok := m.day(args[0]); ok {
					return datum.Value{Kind: datum.Date, Int: day}
				}
				return datum.Value{}
			},
		},
		{
			name: "today", daily: true, result: gives(datum.Date),
			call: func(m *machine, _ []*datum.Value) datum.Value {
				return datum.Value{Kind: datum.Date, Int: datum.DayOf(m.now)}
			},
		},
		{
			name: "now", volatile: true, result: gives(datum.InstantKind),
			call: func(m *machine, _ []*datum.Value) datum.Value { return datum.Instant(m.now, m.scope.Zone) },
		},
	} {
		functions[f.name] = f
		functionNames = append(functionNames, f.name)
	}
	for _, f := range syntax.Functions {
		functions[f.Name].usage = f.Usage
	}
	slices.Sort(functionNames)
}

// length is the number of code points of a text and of items of a list.
func length(_ *machine, args []*datum.Value) datum.Value {
	if args[0].Kind == datum.List {
		return datum.Value{Kind: datum.Number, Number: float64(args[0].Len())}
	}
	s, ok := datum.TextOf(args[0])
	if !ok {
		return datum.Value{}
	}
	return datum.Value{Kind: datum.Number, Number: float64(utf8.RuneCountInString(s))}
}

// daysBetween counts the days from the first date to the second: negative when
// the second is earlier.
func daysBetween(m *machine, args []*datum.Value) datum.Value {
	from, ok := m.day(args[0])
	to, ok2 := m.day(args[1])
	if !ok || !ok2 {
		return datum.Value{}
	}
	return datum.Value{Kind: datum.Number, Number: float64(to - from)}
}

func coalesce(_ *machine, args []*datum.Value) datum.Value {
	for _, a := range args {
		if a.Kind != datum.Null {
			return *a
		}
	}
	return datum.Value{}
}

func coalesceShape(args []shape) shape {
	out := shape{kind: datum.Null}
	for _, a := range args {
		switch {
		case a.kind == datum.Null:
		case out.kind == datum.Null:
			out = shape{kind: a.kind, elem: a.elem, options: a.options}
		case out.kind != a.kind || out.elem != a.elem:
			return shape{kind: datum.Any}
		}
	}
	if out.kind == datum.Null {
		return shape{kind: datum.Any}
	}
	out.options = nil
	return out
}

// checkCompare says what is odd about a comparison, by what is declared.
func (c *compiler) checkCompare(op syntax.CompareOp, left syntax.Operand, ls shape, right syntax.Operand, rs shape) {
	if op.Ordering() {
		for _, side := range []struct {
			x  syntax.Operand
			sh shape
		}{{left, ls}, {right, rs}} {
			switch side.sh.kind {
			case datum.Ref:
				c.found.Fail(side.x.Source(), "a reference has no order",
					"compare a field of what it refers to, as in p.team.name")
				return
			case datum.List:
				c.found.Fail(side.x.Source(), "a list has no order", "use CONTAINS, IN or length()")
				return
			}
		}
	}
	if op >= syntax.OpContains {
		return
	}
	c.checkLiteral(ls, rs)
	c.checkLiteral(rs, ls)
}

// checkLiteral warns of a literal that can never equal a field of the shape:
// the comparison is NULL for every row.
func (c *compiler) checkLiteral(sh, other shape) {
	lit := other.literal
	if lit == nil {
		return
	}
	kind := sh.base()
	isText := lit.Kind == syntax.LitText
	switch {
	case kind == datum.Number && !fits(isText, lit, datum.Number):
		c.found.Warn(lit.Span, "the field is a number, this is not", "numbers stand without quotes, as in 42")
	case kind == datum.BoolKind && !fits(isText, lit, datum.BoolKind):
		c.found.Warn(lit.Span, "the field is true or false, this is neither", "write true or false")
	case (kind == datum.Date || kind == datum.InstantKind) && !fits(isText, lit, datum.Date):
		c.found.Warn(lit.Span, "the field is a date, this is not", "write dates as date('2026-01-31')")
	case kind == datum.Ref && !isText:
		c.found.Warn(lit.Span, "the field is a reference, this is not",
			"compare with {this}, an id, or a field of what it refers to")
	case kind == datum.Ref && c.misnamed != nil && c.misnamed(lit.Text):
		c.found.Warn(lit.Span, "references compare by id, and "+syntax.QuoteText(syntax.Clip(lit.Text))+" is a name",
			"compare the name of what it refers to, as in p.team.name = 'Engineering'")
	case kind == datum.Choice && isText && len(sh.options) > 0 && !hasOption(sh.options, lit.Text):
		c.found.Warn(lit.Span, "the field has no option "+syntax.QuoteText(syntax.Clip(lit.Text)),
			syntax.DidYouMean(lit.Text, sh.options, ""))
	}
}

func fits(isText bool, lit *syntax.Literal, k datum.Kind) bool {
	switch {
	case isText && k == datum.Number:
		_, ok := datum.ParseNumber(lit.Text)
		return ok
	case isText && k == datum.BoolKind:
		_, ok := datum.ParseBool(lit.Text)
		return ok
	case isText:
		_, ok := datum.ParseTime(lit.Text, utc)
		return ok
	}
	return lit.Kind == syntax.LitNumber && k == datum.Number || lit.Kind == syntax.LitBool && k == datum.BoolKind
}

func hasOption(options []string, text string) bool {
	key := entities.Fold(text)
	return slices.ContainsFunc(options, func(o string) bool { return entities.Fold(o) == key })
}
