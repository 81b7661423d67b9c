package wql

import (
	"fmt"
	"strings"
	"sync"

	"github.com/expr-lang/expr/vm"

	"github.com/ctxd/ctxd/entities"
)

// maxComputedDepth is how deep computed fields may use computed fields.
const maxComputedDepth = 5

// prepared is a query made ready to run against one state of the schema. It is
// shared by all who run the query and does not change.
type prepared struct {
	text     string
	query    *Query
	types    []*entities.Type // of FROM
	slots    []slot
	sets     [][]int  // of IN: slots
	matches  []string // words of MATCHES
	program  *vm.Program
	source   string // of the program
	order    []orderKey
	agg      int // slot of an aggregate's path, -1 for COUNT(*) and rows
	probes   []probe
	warnings []Diagnostic

	volatile bool  // the value depends on the clock or on the search index
	depth    int   // computed fields below it
	shape    shape // of its value, when it is a computed field
	machines sync.Pool
}

type orderKey struct {
	slot             int
	desc, nullsFirst bool
}

// probe is a condition that every wanted row meets and that an index answers:
// the field, a reference or the id, has one of the values.
type probe struct {
	field  string // as written
	isID   bool
	values []int // slots that do not depend on the row
}

// compiler types one query and makes slots and program of it.
type compiler struct {
	*session
	found *findings
	query *Query
	alias string // folded; empty when there is none
	this  *entities.Type
	rows  place

	out   *prepared
	index map[string]int // slots by their text
}

// session is what the compilation of a query and of the computed fields it
// needs have in common.
type session struct {
	schema *schema
	memo   map[string]*prepared // by TYPE.field; nil while it is compiled
	failed map[string]string
	stack  []string // the computed fields being compiled, outermost first
	// Checking: what can't run now, and may later, is a warning.
	lax      bool // a query without a this
	laxTypes bool // types that are not declared yet
	// misnamed reports whether a text that is compared with a reference is the
	// name of an entity and no id; nil: it is not looked at.
	misnamed func(text string) bool
}

func newSession(sc *schema) *session {
	return &session{schema: sc, memo: make(map[string]*prepared), failed: make(map[string]string)}
}

// compile checks q and, when nothing is wrong, makes it ready. thisType is the
// type of the entity whose field is computed, nil for none.
func (s *session) compile(q *Query, thisType *entities.Type, hasThis bool, found *findings) *prepared {
	c := &compiler{
		session: s, found: found, query: q, this: thisType,
		out: &prepared{text: q.Source, query: q, agg: -1}, index: make(map[string]int),
	}
	if !hasThis {
		c.this = nil
	} else if thisType == nil {
		c.this = &entities.Type{} // of a type that was deleted: no field is known
	}
	c.from()
	c.setAlias()
	if q.Where != nil {
		c.out.source = c.cond(q.Where, false, true)
	}
	c.what()
	c.orderBy()
	if found.failed() {
		return nil
	}
	if q.Where != nil {
		program, err := buildProgram(c.out.source)
		if err != nil {
			found.fail(q.Where.Source(), "the condition can't be run", "simplify it")
			return nil
		}
		c.out.program = program
	}
	c.out.machines.New = func() any { return newMachine(c.out) }
	c.out.warnings = found.diagnostics(q.Source)
	return c.out
}

// from looks up the types.
func (c *compiler) from() {
	c.rows.lacks = "no type in FROM has a field "
	for _, name := range c.query.From {
		t := c.schema.byName[entities.Fold(name.Text)]
		if t == nil {
			c.rows.open = true
			hint := didYouMean(name.Text, c.schema.typeNames(), "no type is declared yet: types.put declares one")
			if c.laxTypes {
				c.found.warn(name.Span, "type "+clip(name.Text)+" is not declared yet", hint)
			} else {
				c.found.fail(name.Span, "there is no type "+clip(name.Text), hint)
			}
			continue
		}
		twice := false
		for _, have := range c.out.types {
			twice = twice || have == t
		}
		if !twice {
			c.out.types = append(c.out.types, t)
		}
	}
	c.rows.types = c.out.types
	if len(c.query.From) == 0 {
		c.rows.open = true
	}
	if len(c.out.types) == 1 && !c.rows.open {
		c.rows.lacks = lacks(c.out.types[0])
	}
}

func (c *compiler) setAlias() {
	q := c.query
	switch {
	case q.Alias != nil:
		c.alias = entities.Fold(q.Alias.Text)
		if a := q.What.Alias; a != nil && entities.Fold(a.Text) != c.alias {
			c.found.fail(a.Span, clip(a.Text)+" is not the alias", "the alias is "+clip(q.Alias.Text)+": SELECT "+clip(q.Alias.Text))
		}
	case q.What.Alias != nil:
		c.alias = entities.Fold(q.What.Alias.Text)
	case q.What.Path != nil:
		// SELECT COUNT(p) and SUM(p.budget) declare p as SELECT p does.
		if first := q.What.Path.Segments[0]; !c.declares(first.Text) {
			c.alias = entities.Fold(first.Text)
		}
	}
}

// declares reports whether a row may have a field of that name.
func (c *compiler) declares(name string) bool {
	for _, t := range c.rows.types {
		if ref, _ := refTo(t, name); ref != nil {
			return true
		}
	}
	return builtinFields[entities.Fold(name)].name != ""
}

// what compiles the aggregate.
func (c *compiler) what() {
	w := c.query.What
	c.out.shape = shape{kind: kindList, elem: kindRef}
	if w.Kind == SelectRows {
		return
	}
	c.out.shape = shape{kind: kindNumber}
	if len(c.query.Order) > 0 {
		c.found.warn(c.query.Order[0].Key.Source(), "ORDER BY means nothing for an aggregate", "take it out")
	}
	if c.query.Limit != nil {
		c.found.warn(c.query.Limit.Span, "LIMIT means nothing for an aggregate", "take it out")
	}
	if w.Path == nil {
		return
	}
	var sh shape
	c.out.agg, sh = c.operand(w.Path, false)
	kind := sh.base()
	switch {
	case w.Kind == SelectCount || kind == kindAny:
	case w.Kind == SelectMin || w.Kind == SelectMax:
		c.out.shape = shape{kind: kind, options: sh.options}
		if !kind.orderable() {
			c.found.fail(w.Path.Span, whatNames[w.Kind]+" needs values with an order, not "+kindNames[kind], "name a number, a date or a text")
		}
	case kind != kindNumber:
		c.found.fail(w.Path.Span, whatNames[w.Kind]+" needs numbers, not "+kindNames[kind], "COUNT counts values of any kind")
	}
	if kind == kindAny && (w.Kind == SelectMin || w.Kind == SelectMax) {
		c.out.shape = shape{kind: kindAny}
	}
}

func (c *compiler) orderBy() {
	for i, k := range c.query.Order {
		if i == MaxOrderKeys {
			c.found.fail(k.Key.Source(), fmt.Sprintf("ORDER BY has more than %d keys", MaxOrderKeys), "leave out the last ones")
			return
		}
		if _, ok := k.Key.(*Literal); ok {
			continue // reported by the parser
		}
		slot, _ := c.operand(k.Key, false)
		c.out.order = append(c.out.order, orderKey{slot: slot, desc: k.Desc, nullsFirst: k.NullsFirst})
	}
}

// cond returns the source of the expr program for a condition: what is true
// exactly when the condition is TRUE or, when negated, FALSE. must says that
// every wanted row meets it, so that an index may answer it.
func (c *compiler) cond(x Expr, negated, must bool) string {
	switch x := x.(type) {
	case *Logic:
		and := x.Or == negated
		parts := make([]string, len(x.Args))
		for i, arg := range x.Args {
			parts[i] = c.cond(arg, negated, must && and)
			if _, nested := arg.(*Logic); nested {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		if and {
			return strings.Join(parts, " && ")
		}
		return strings.Join(parts, " || ")
	case *Not:
		source := c.cond(x.X, !negated, must)
		if _, nested := x.X.(*Logic); nested {
			source = "(" + source + ")"
		}
		return source
	case *Compare:
		return c.compare(x, negated, must)
	case *In:
		return c.in(x, negated, must)
	case *Between:
		return c.between(x, negated)
	case *IsNull:
		slot, _ := c.operand(x.X, false)
		return call(pick(negated == x.Not, "missing", "present"), slot)
	case *Matches:
		c.out.volatile = true
		c.out.matches = append(c.out.matches, x.Words)
		return call(pick(!negated, "found", "notFound"), len(c.out.matches)-1)
	}
	return "false"
}

// Names of the comparisons in a program: to be TRUE and to be FALSE.
var programNames = [...][2]string{
	OpEq: {"eq", "differs"}, OpNe: {"ne", "eq"}, OpLt: {"lt", "ge"}, OpLe: {"le", "gt"}, OpGt: {"gt", "le"}, OpGe: {"ge", "lt"},
	OpContains: {"has", "lacks"}, OpStartsWith: {"begins", "beginsNot"}, OpLike: {"like", "unlike"},
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func call(name string, args ...int) string {
	if len(args) == 1 {
		return fmt.Sprintf("%s(%d)", name, args[0])
	}
	return fmt.Sprintf("%s(%d, %d)", name, args[0], args[1])
}

func (c *compiler) compare(x *Compare, negated, must bool) string {
	left, ls := c.operand(x.Left, false)
	right, rs := c.operand(x.Right, true)
	negated = negated != x.Not
	if isNull(x.Left) || isNull(x.Right) {
		c.found.warn(x.Span, "a comparison with null is never true", "write IS NULL or IS NOT NULL")
		return "false"
	}
	c.checkCompare(x.Op, x.Left, ls, x.Right, rs)
	if must && !negated && (x.Op == OpEq || x.Op == OpContains) {
		c.probe(ls, right)
		if x.Op == OpEq {
			c.probe(rs, left)
		}
	}
	name := programNames[x.Op][0]
	if negated {
		name = programNames[x.Op][1]
	}
	return call(name, left, right)
}

func (c *compiler) in(x *In, negated, must bool) string {
	slot, sh := c.operand(x.X, false)
	set := make([]int, 0, len(x.Items))
	for _, item := range x.Items {
		i, is := c.operand(item, true)
		if isNull(item) {
			c.found.warn(item.Source(), "null in a list is never equal to anything", "write IS NULL or IS NOT NULL")
		} else {
			c.checkCompare(OpEq, x.X, sh, item, is)
		}
		set = append(set, i)
	}
	c.out.sets = append(c.out.sets, set)
	negated = negated != x.Not
	if must && !negated {
		c.probe(sh, set...)
	}
	return call(pick(!negated, "oneOf", "noneOf"), slot, len(c.out.sets)-1)
}

// between is low <= x AND x <= high; its negation x < low OR x > high, of which
// one may be TRUE when the other is UNKNOWN.
func (c *compiler) between(x *Between, negated bool) string {
	slot, sh := c.operand(x.X, false)
	low, ls := c.operand(x.Low, true)
	high, hs := c.operand(x.High, true)
	if isNull(x.X) || isNull(x.Low) || isNull(x.High) {
		c.found.warn(x.Span, "a comparison with null is never true", "write IS NULL or IS NOT NULL")
	} else {
		c.checkCompare(OpGe, x.X, sh, x.Low, ls)
		c.checkCompare(OpLe, x.X, sh, x.High, hs)
	}
	if negated != x.Not {
		return "(" + call("lt", slot, low) + " || " + call("gt", slot, high) + ")"
	}
	return "(" + call("ge", slot, low) + " && " + call("le", slot, high) + ")"
}

func isNull(x Operand) bool {
	lit, ok := x.(*Literal)
	return ok && lit.Kind == LitNull
}

// probe notes that the rows wanted have one of the values in a field, if an
// index knows the field.
func (c *compiler) probe(sh shape, values ...int) {
	if !sh.scalar || sh.base() != kindRef || c.rows.open {
		return
	}
	for _, v := range values {
		if !c.out.slots[v].constant {
			return
		}
	}
	id := builtinFields[entities.Fold(sh.field)].builtin
	if id != notBuiltin && id != fieldID {
		return
	}
	for _, t := range c.out.types { // computed references are in no index
		if ref, _ := refTo(t, sh.field); ref != nil && ref.builtin == notBuiltin && ref.kind == kindNull {
			return
		}
	}
	c.out.probes = append(c.out.probes, probe{field: sh.field, isID: id == fieldID, values: values})
}
