package wql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// slotOp says how a slot gets its value.
type slotOp uint8

const (
	slotLiteral  slotOp = iota
	slotPath            // a path of the row
	slotThis            // the id of the entity whose field is computed
	slotThisPath        // a path of it
	slotCall
	slotShift
)

// slot is an operand of a program: a place whose value is made at most once a
// row, or once a run when it is constant.
type slot struct {
	op       slotOp
	constant bool // does not depend on the row
	text     string
	value    datum // slotLiteral
	path     *path
	fn       *function
	args     []int
	amount   int // slotShift
	unit     byte
}

// add returns the slot of that text, which is made if it is not there: equal
// operands share one.
func (c *compiler) add(s slot) int {
	key := strconv.Itoa(int(s.op)) + s.text
	if i, ok := c.index[key]; ok {
		return i
	}
	c.out.slots = append(c.out.slots, s)
	c.index[key] = len(c.out.slots) - 1
	return len(c.out.slots) - 1
}

// operand compiles an operand. On the right of an operator a bare name that no
// type declares is a text.
func (c *compiler) operand(x syntax.Operand, right bool) (int, shape) {
	switch x := x.(type) {
	case *syntax.Literal:
		return c.literal(x)
	case *syntax.Path:
		return c.path(x, right)
	case *syntax.This:
		return c.thisOperand(x)
	case *syntax.Call:
		return c.call(x)
	case *syntax.Shift:
		arg, sh := c.operand(x.X, right)
		if k := sh.kind; k == kindNumber || k == kindBool || k == kindRef || k == kindList ||
			k == kindChoice {
			c.found.Fail(x.Span, "a duration can't be added to "+kindNames[k],
				"durations move dates, as in today() - 7d")
		}
		if lit := sh.literal; lit != nil && lit.Kind == syntax.LitText {
			if _, ok := parseTime(lit.Text, utc); !ok {
				c.found.Fail(lit.Span, "the text is not a date", "dates are written date('2026-01-31')")
			}
		}
		text := fmt.Sprintf("%s %+d%c", c.out.slots[arg].text, x.Amount, x.Unit)
		i := c.add(slot{
			op: slotShift, text: text, args: []int{arg}, amount: x.Amount, unit: x.Unit,
			constant: c.out.slots[arg].constant,
		})
		kind := sh.kind
		if kind == kindText || x.Unit == 'h' {
			kind = kindAny
		}
		return i, shape{kind: kind}
	}
	return c.add(slot{op: slotLiteral, constant: true, text: "null"}), shape{kind: kindNull}
}

func (c *compiler) literal(x *syntax.Literal) (int, shape) {
	s := slot{op: slotLiteral, constant: true}
	switch x.Kind {
	case syntax.LitText:
		s.value = textValue(x.Text)
		s.text = syntax.QuoteText(x.Text)
	case syntax.LitNumber:
		s.value = datum{Kind: kindNumber, Number: x.Number}
		s.text = strconv.FormatFloat(x.Number, 'g', -1, 64)
	case syntax.LitBool:
		s.value = boolValue(x.Bool)
		s.text = strconv.FormatBool(x.Bool)
	default:
		s.text = "null"
	}
	return c.add(s), shape{kind: s.value.Kind, literal: x}
}

func (c *compiler) path(x *syntax.Path, right bool) (int, shape) {
	segments := x.Segments
	first := segments[0].Text
	isAlias := c.alias != "" && entities.Fold(first) == c.alias
	switch {
	case isAlias && len(segments) > 1:
		segments, c.qualified = segments[1:], true
	case isAlias && !c.declares(first):
		segments = []syntax.Name{{Span: x.Span, Text: "id"}} // the row itself: p != {this}
	case right && len(segments) == 1 && !c.declares(first) && isList(first):
		c.found.Fail(x.Span, "a list in brackets is no value: brackets are for names", syntax.HintForLists)
		return c.unknown()
	case right && len(segments) == 1 && !c.declares(first):
		c.found.Warn(x.Span, syntax.Clip(first)+" is taken as the text "+syntax.QuoteText(syntax.Clip(first)),
			"write texts in quotes")
		return c.literal(&syntax.Literal{Span: x.Span, Kind: syntax.LitText, Text: first})
	case len(segments) > 1 && !c.declares(first) && !c.rows.open:
		hint := "declare it, as in FROM " + c.rows.firstName() + " " + syntax.Clip(first)
		if c.alias != "" {
			hint = "the alias is " + c.aliasText()
		}
		if close := syntax.Nearest(first, fieldNames(c.rows.types)); len(close) > 0 && !c.declares(segments[1].Text) {
			hint = "did you mean " + strings.Join(close, ", ") + "?"
		}
		c.found.Fail(segments[0].Span, syntax.Clip(first)+" is neither the alias nor a field", hint)
		return c.unknown()
	}
	p, sh := c.resolve(segments, c.rows)
	if p == nil {
		return c.unknown()
	}
	return c.add(slot{op: slotPath, path: p, text: foldPath(p.text)}), sh
}

// unknown stands for an operand that was reported.
func (c *compiler) unknown() (int, shape) {
	return c.add(slot{op: slotLiteral, constant: true, text: "null"}), shape{kind: kindAny}
}

func (p place) firstName() string {
	if len(p.types) > 0 {
		return p.types[0].Name
	}
	return "Person"
}

func (c *compiler) aliasText() string {
	if c.query.Alias != nil {
		return syntax.Clip(c.query.Alias.Text)
	}
	if c.query.What.Alias != nil {
		return syntax.Clip(c.query.What.Alias.Text)
	}
	return syntax.Clip(c.query.What.Path.Segments[0].Text)
}

// foldPath makes paths that differ in case one slot.
func foldPath(text string) string { return entities.Fold(text) }

func (c *compiler) thisOperand(x *syntax.This) (int, shape) {
	if c.this == nil {
		message, hint := "{this} has no meaning here", "give the entity as this, or use the query in a computed field"
		if c.lax {
			c.found.Warn(x.Span, "the query can only run with a this", "give the type of this to check its fields")
		} else {
			c.found.Fail(x.Span, message, hint)
		}
	}
	if len(x.Segments) == 0 {
		return c.add(slot{op: slotThis, constant: true, text: "{this}"}), shape{kind: kindRef}
	}
	at := place{any: true, open: true}
	if c.this != nil && c.this.Name != "" {
		at = place{types: []*entities.Type{c.this}, lacks: lacks(c.this)}
	}
	p, sh := c.resolve(x.Segments, at)
	if p == nil {
		return c.unknown()
	}
	sh.scalar = false
	return c.add(slot{op: slotThisPath, constant: true, path: p, text: "{this." + foldPath(p.text) + "}"}), sh
}

func (c *compiler) call(x *syntax.Call) (int, shape) {
	args := make([]int, len(x.Args))
	shapes := make([]shape, len(x.Args))
	texts := make([]string, len(x.Args))
	constant := true
	for i, arg := range x.Args {
		args[i], shapes[i] = c.operand(arg, false)
		texts[i] = c.out.slots[args[i]].text
		constant = constant && c.out.slots[args[i]].constant
	}
	fn := functions[x.Name.Text]
	if fn == nil {
		c.found.Fail(x.Name.Span, "there is no function "+syntax.Clip(x.Name.Text),
			syntax.DidYouMean(x.Name.Text, functionNames, ""))
		return c.unknown()
	}
	if len(x.Args) < fn.min || len(x.Args) > fn.max {
		c.found.Fail(x.Span, fmt.Sprintf("%s takes %s, not %d", fn.name, fn.arity(), len(x.Args)),
			"write it as "+fn.usage)
		return c.unknown()
	}
	for i, arg := range x.Args {
		if fn.accepts != nil && !fn.accepts(shapes[i]) {
			c.found.Fail(arg.Source(), fn.name+" does not take "+kindNames[shapes[i].kind],
				"write it as "+fn.usage)
		}
		if lit := shapes[i].literal; fn.dates && lit != nil && lit.Kind == syntax.LitText {
			if _, ok := parseTime(lit.Text, utc); !ok {
				c.found.Fail(lit.Span, "'"+syntax.Clip(lit.Text)+"' is not a date", "write dates as YYYY-MM-DD")
			}
		}
	}
	c.out.volatile = c.out.volatile || fn.volatile
	c.out.daily = c.out.daily || fn.daily
	return c.add(slot{
		op: slotCall, fn: fn, args: args, constant: constant, text: fn.name + "(" + strings.Join(texts, ", ") + ")",
	}), fn.result(shapes)
}

// computed completes the reference to a computed field with its program.
func (c *compiler) computed(ref *fieldRef, t *entities.Type, f entities.Field, seg syntax.Name, anyType bool) {
	key, name := fieldKey(t, f.Name), t.Name+"."+f.Name
	if at := slices.Index(c.stack, key); at >= 0 {
		ref.cyclic = formatCycle(append(slices.Clone(c.stack[at:]), key))
		ref.Kind = kindAny
		if !anyType { // on any type it may be another type's field that is meant
			c.found.Fail(seg.Span, "computed fields need each other: "+ref.cyclic, "remove one of them from the cycle")
		}
		return
	}
	sub, why := c.subquery(key, t, f)
	switch {
	case why != "":
		c.found.Fail(seg.Span, "computed field "+name+" can't run: "+why, "correct the query of the field")
	case sub.depth+1 > maxComputedDepth:
		c.found.Fail(seg.Span, fmt.Sprintf("computed fields use each other more than %d deep", maxComputedDepth),
			"shorten the chain below "+name)
	}
	ref.Kind = kindAny
	if sub == nil {
		return
	}
	ref.computed = sub
	ref.Kind, ref.Elem, ref.options = sub.shape.kind, sub.shape.elem, sub.shape.options
	ref.follow = sub.query.What.Kind == syntax.SelectRows
	c.out.depth = max(c.out.depth, sub.depth+1)
	c.out.volatile = c.out.volatile || sub.volatile
	c.out.daily = c.out.daily || sub.daily
}

// subquery compiles the query of a computed field, once a session.
func (s *session) subquery(key string, t *entities.Type, f entities.Field) (*prepared, string) {
	if sub := s.memo[key]; sub != nil {
		return sub, ""
	}
	if why, ok := s.failed[key]; ok {
		return nil, why
	}
	s.stack = append(s.stack, key)
	lax, laxTypes, tasks := s.lax, s.laxTypes, s.tasks
	s.lax, s.tasks = false, false
	var found syntax.Findings
	sub := check(s, f.Query, t, true, &found)
	s.stack, s.lax, s.laxTypes = s.stack[:len(s.stack)-1], lax, laxTypes
	s.tasks = tasks
	if sub == nil {
		for _, d := range found.Diagnostics(f.Query) {
			if d.Severity == record.SeverityError {
				s.failed[key] = d.Message
				return nil, d.Message
			}
		}
		return nil, "its query is not valid"
	}
	s.memo[key] = sub
	return sub, ""
}

// isList reports whether a name in brackets was meant as a list of values.
func isList(name string) bool {
	_, number := parseNumber(name)
	return number || strings.ContainsAny(name, `'",`)
}
