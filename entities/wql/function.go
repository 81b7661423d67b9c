package wql

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
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
	call func(m *machine, args []*datum) datum
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

func gives(k valueKind) func([]shape) shape { return func([]shape) shape { return shape{kind: k} } }

func isScalar(s shape) bool { return s.kind != kindList }

func isDateLike(s shape) bool {
	switch s.kind {
	case kindDate, kindInstant, kindText, kindAny, kindNull:
		return true
	}
	return false
}

func ofText(change func(string) string) func(*machine, []*datum) datum {
	return func(_ *machine, args []*datum) datum {
		s, ok := valueText(args[0])
		if !ok {
			return datum{}
		}
		return textValue(change(s))
	}
}

func ofDay(part func(y, m, d int) int) func(*machine, []*datum) datum {
	return func(m *machine, args []*datum) datum {
		day, ok := m.day(args[0])
		if !ok {
			return datum{}
		}
		return datum{Kind: kindNumber, Number: float64(part(civilDate(day)))}
	}
}

var functions = map[string]*function{}

var functionNames []string

// init fills functions. The functions reach it through the compiler,
// so that a literal would be an initialisation cycle.
func init() { //nolint:gochecknoinits // see above
	for _, f := range []*function{
		{name: "lower", min: 1, max: 1, accepts: isScalar, result: gives(kindText), call: ofText(strings.ToLower)},
		{name: "upper", min: 1, max: 1, accepts: isScalar, result: gives(kindText), call: ofText(strings.ToUpper)},
		{name: "trim", min: 1, max: 1, accepts: isScalar, result: gives(kindText), call: ofText(strings.TrimSpace)},
		{name: "length", min: 1, max: 1, result: gives(kindNumber), call: length},
		{
			name: "year", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(kindNumber),
			call: ofDay(func(y, _, _ int) int { return y }),
		},
		{
			name: "month", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(kindNumber),
			call: ofDay(func(_, m, _ int) int { return m }),
		},
		{
			name: "day", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(kindNumber),
			call: ofDay(func(_, _, d int) int { return d }),
		},
		{
			name: "days_between", min: 2, max: 2, dates: true, accepts: isDateLike,
			result: gives(kindNumber), call: daysBetween,
		},
		{name: "coalesce", min: 1, max: math.MaxInt32, result: coalesceShape, call: coalesce},
		{
			name: "date", min: 1, max: 1, dates: true, accepts: isDateLike, result: gives(kindDate),
			call: func(m *machine, args []*datum) datum {
				if day, ok := m.day(args[0]); ok {
					return datum{Kind: kindDate, Int: day}
				}
				return datum{}
			},
		},
		{
			name: "today", daily: true, result: gives(kindDate),
			call: func(m *machine, _ []*datum) datum {
				return datum{Kind: kindDate, Int: dayNumber(m.now)}
			},
		},
		{
			name: "now", volatile: true, result: gives(kindInstant),
			call: func(m *machine, _ []*datum) datum { return instantValue(m.now, m.scope.Zone) },
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
func length(_ *machine, args []*datum) datum {
	if args[0].Kind == kindList {
		return datum{Kind: kindNumber, Number: float64(args[0].Len())}
	}
	s, ok := valueText(args[0])
	if !ok {
		return datum{}
	}
	return datum{Kind: kindNumber, Number: float64(utf8.RuneCountInString(s))}
}

// daysBetween counts the days from the first date to the second: negative when
// the second is earlier.
func daysBetween(m *machine, args []*datum) datum {
	from, ok := m.day(args[0])
	to, ok2 := m.day(args[1])
	if !ok || !ok2 {
		return datum{}
	}
	return datum{Kind: kindNumber, Number: float64(to - from)}
}

func coalesce(_ *machine, args []*datum) datum {
	for _, a := range args {
		if a.Kind != kindNull {
			return *a
		}
	}
	return datum{}
}

func coalesceShape(args []shape) shape {
	out := shape{kind: kindNull}
	for _, a := range args {
		switch {
		case a.kind == kindNull:
		case out.kind == kindNull:
			out = shape{kind: a.kind, elem: a.elem, options: a.options}
		case out.kind != a.kind || out.elem != a.elem:
			return shape{kind: kindAny}
		}
	}
	if out.kind == kindNull {
		return shape{kind: kindAny}
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
			case kindRef:
				c.found.Fail(side.x.Source(), "a reference has no order",
					"compare a field of what it refers to, as in p.team.name")
				return
			case kindList:
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
	case kind == kindNumber && !fits(isText, lit, kindNumber):
		c.found.Warn(lit.Span, "the field is a number, this is not", "numbers stand without quotes, as in 42")
	case kind == kindBool && !fits(isText, lit, kindBool):
		c.found.Warn(lit.Span, "the field is true or false, this is neither", "write true or false")
	case (kind == kindDate || kind == kindInstant) && !fits(isText, lit, kindDate):
		c.found.Warn(lit.Span, "the field is a date, this is not", "write dates as date('2026-01-31')")
	case kind == kindRef && !isText:
		c.found.Warn(lit.Span, "the field is a reference, this is not",
			"compare with {this}, an id, or a field of what it refers to")
	case kind == kindRef && c.misnamed != nil && c.misnamed(lit.Text):
		c.found.Warn(lit.Span, "references compare by id, and "+syntax.QuoteText(syntax.Clip(lit.Text))+" is a name",
			"compare the name of what it refers to, as in p.team.name = 'Engineering'")
	case kind == kindChoice && isText && len(sh.options) > 0 && !hasOption(sh.options, lit.Text):
		c.found.Warn(lit.Span, "the field has no option "+syntax.QuoteText(syntax.Clip(lit.Text)),
			syntax.DidYouMean(lit.Text, sh.options, ""))
	}
}

func fits(isText bool, lit *syntax.Literal, k valueKind) bool {
	switch {
	case isText && k == kindNumber:
		_, ok := parseNumber(lit.Text)
		return ok
	case isText && k == kindBool:
		_, ok := parseBool(lit.Text)
		return ok
	case isText:
		_, ok := parseTime(lit.Text, utc)
		return ok
	}
	return lit.Kind == syntax.LitNumber && k == kindNumber || lit.Kind == syntax.LitBool && k == kindBool
}

func hasOption(options []string, text string) bool {
	key := entities.Fold(text)
	return slices.ContainsFunc(options, func(o string) bool { return entities.Fold(o) == key })
}
