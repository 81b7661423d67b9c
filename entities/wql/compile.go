package wql

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/vm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// maxComputedDepth is how deep computed fields may use computed fields.
const maxComputedDepth = 5

// prepared is a query made ready to run against one state of the schema. It is
// shared by all who run the query and does not change.
type prepared struct {
	text     string
	query    *syntax.Query
	types    []*entities.Type // of FROM, of each name the first
	slots    []slot
	sets     [][]int  // of IN: slots
	matches  []string // words of MATCHES
	program  *vm.Program
	source   string // of the program
	order    []orderKey
	agg      int     // slot of an aggregate's path, -1 for COUNT(*) and rows
	access   *access // what indexes may answer; nil: nothing
	leaves   []*leaf // of it
	whole    bool    // access is all that the condition asks
	warnings []syntax.Diagnostic

	volatile bool  // the value depends on the moment or on the search index
	daily    bool  // it depends on the calendar day
	depth    int   // computed fields below it
	shape    shape // of its value, when it is a computed field

	// What a result depends on (see dependencies).
	folds     []string  // of types
	reads     *fields   // of the rows
	beyond    []reading // of what is behind references, in this and in computed fields
	existence *fields   // nothing but that an entity is there
	machines  sync.Pool
}

// declared returns the name of a type of FROM as it is declared.
func (p *prepared) declared(name string) string {
	for _, t := range p.types {
		if t.Name == name {
			return t.Name
		}
	}
	return strings.Clone(name)
}

type orderKey struct {
	slot             int
	desc, nullsFirst bool
	mayRef           bool // the key may be a reference
}

// compiler types one query and makes slots and program of it.
type compiler struct {
	*session
	found *syntax.Findings
	query *syntax.Query
	alias string // folded; empty when there is none
	this  *entities.Type
	rows  place

	out   *prepared
	index map[string]int // slots by their text

	qualified bool // the alias stands before a field
}

// session is what the compilation of a query and of the computed fields it
// needs have in common.
type session struct {
	schema *typeSchema
	memo   map[string]*prepared // by TYPE.field; nil while it is compiled
	failed map[string]string
	stack  []string // the computed fields being compiled, outermost first
	// Checking: what can't run now, and may later, is a warning.
	lax      bool // a query without a this
	laxTypes bool // types that are not declared yet
	tasks    bool // the tasks of notes may be read: the query is not that of a computed field
	// misnamed reports whether a text that is compared with a reference is the
	// name of an entity and no id; nil: it is not looked at.
	misnamed func(text string) bool
}

func newSession(sc *typeSchema) *session {
	return &session{schema: sc, memo: make(map[string]*prepared), failed: make(map[string]string)}
}

// compile checks q and, when nothing is wrong, makes it ready. thisType is the
// type of the entity whose field is computed, nil for none.
func (s *session) compile(q *syntax.Query, thisType *entities.Type, hasThis bool, found *syntax.Findings) *prepared {
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
		where := c.cond(q.Where, false)
		c.out.source, c.out.access, c.out.whole = where.source, where.access, where.whole
	}
	for _, x := range q.Strays {
		_, _ = c.operand(x, false)
	}
	c.what()
	c.orderBy()
	c.selected()
	if found.Failed() {
		return nil
	}
	if q.Where != nil {
		program, err := buildProgram(c.out.source)
		if err != nil {
			found.Fail(q.Where.Source(), "the condition can't be run", "simplify it")
			return nil
		}
		c.out.program = program
	}
	c.dependencies()
	c.out.machines.New = func() any { return newMachine(c.out) }
	c.out.warnings = found.Diagnostics(q.Source)
	return c.out
}

// from looks up the types.
func (c *compiler) from() {
	c.rows.lacks = "no type in FROM has a field "
	for _, name := range c.query.From {
		types := c.typesOf(name.Text)
		if types == nil {
			c.rows.open = true
			hint := syntax.DidYouMean(name.Text, c.typeNames(name.Text),
				"no type is declared yet: types.put declares one, and so does a note whose frontmatter has a type")
			if c.laxTypes {
				c.found.Warn(name.Span, "type "+syntax.Clip(name.Text)+" is not declared yet", hint)
			} else {
				c.found.Fail(name.Span, "there is no type "+syntax.Clip(name.Text), hint)
			}
			continue
		}
		if !slices.Contains(c.out.types, types[0]) {
			c.out.types, c.rows.types = append(c.out.types, types[0]), append(c.rows.types, types...)
		}
	}
	if len(c.query.From) == 0 {
		c.rows.open = true
	}
	c.out.volatile = c.out.volatile || c.readsTasks()
	if len(c.out.types) == 1 && !c.rows.open {
		c.rows.lacks = lacks(c.out.types[0])
	}
}

func (c *compiler) setAlias() {
	q := c.query
	switch {
	case q.Alias != nil:
		c.alias = entities.Fold(q.Alias.Text)
		if a := q.What.Alias; a != nil && entities.Fold(a.Text) != c.alias && !c.declares(a.Text) {
			c.found.Fail(a.Span, syntax.Clip(a.Text)+" is not the alias",
				"the alias is "+syntax.Clip(q.Alias.Text)+": SELECT "+syntax.Clip(q.Alias.Text))
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

// selected looks at a name behind SELECT that is the name of a field: it stands for the whole
// entity, which is not what was meant unless it is the alias elsewhere too.
func (c *compiler) selected() {
	a, q := c.query.What.Alias, *c.query
	if a == nil || !c.declares(a.Text) {
		return
	}
	isAlias := entities.Fold(a.Text) == c.alias
	if isAlias && (c.qualified || q.Alias != nil) {
		return
	}
	whole := "*"
	distinct := q.Distinct
	q.What, q.Distinct = syntax.What{Alias: q.Alias}, false
	if q.Alias != nil {
		whole = syntax.QuoteName(q.Alias.Text)
	}
	hint := "write SELECT " + whole + " for whole entities, and read their fields with entities.get"
	if text := q.String(); len(text) <= maxHint {
		hint = "write " + text + " for whole entities, and read their fields with entities.get"
	}
	if distinct || !isAlias {
		c.found.Fail(a.Span, syntax.Clip(a.Text)+" is a field: a query cannot select single fields", hint)
	} else if !c.found.Failed() {
		c.found.Warn(a.Span, syntax.Clip(a.Text)+" is a field, and stands for the whole entity here", hint)
	}
}

// maxHint is how many bytes a query may have to be repeated in a hint.
const maxHint = 200

// declares reports whether a row may have a field of that name.
func (c *compiler) declares(name string) bool {
	for _, t := range c.rows.types {
		if ref, _ := refTo(t, name); ref != nil {
			return true
		}
	}
	return builtinFields[entities.Fold(name)].Name != ""
}

// what compiles the aggregate.
func (c *compiler) what() {
	w := c.query.What
	c.out.shape = shape{kind: kindList, elem: kindRef}
	if w.Kind == syntax.SelectRows {
		return
	}
	c.out.shape = shape{kind: kindNumber}
	if len(c.query.Order) > 0 {
		c.found.Warn(c.query.Order[0].Key.Source(), "ORDER BY means nothing for an aggregate", "take it out")
	}
	if c.query.Limit != nil {
		c.found.Warn(c.query.Limit.Span, "LIMIT means nothing for an aggregate", "take it out")
	}
	if w.Path == nil {
		return
	}
	var sh shape
	c.out.agg, sh = c.operand(w.Path, false)
	kind := sh.base()
	switch {
	case w.Kind == syntax.SelectCount || kind == kindAny:
	case w.Kind == syntax.SelectMin || w.Kind == syntax.SelectMax:
		c.out.shape = shape{kind: kind, options: sh.options}
		if !kind.Orderable() {
			c.found.Fail(w.Path.Span,
				syntax.WhatNames[w.Kind]+" needs values with an order, not "+kindNames[kind],
				"name a number, a date or a text")
		}
	case kind != kindNumber:
		c.found.Fail(w.Path.Span, syntax.WhatNames[w.Kind]+" needs numbers, not "+kindNames[kind],
			"COUNT counts values of any kind")
	}
	if kind == kindAny && (w.Kind == syntax.SelectMin || w.Kind == syntax.SelectMax) {
		c.out.shape = shape{kind: kindAny}
	}
}

func (c *compiler) orderBy() {
	for i, k := range c.query.Order {
		if i == syntax.MaxOrderKeys {
			c.found.Fail(k.Key.Source(), fmt.Sprintf("ORDER BY has more than %d keys", syntax.MaxOrderKeys),
				"leave out the last ones")
			return
		}
		if _, ok := k.Key.(*syntax.Literal); ok {
			continue // reported by the parser
		}
		slot, sh := c.operand(k.Key, false)
		mayRef := sh.base() == kindRef || sh.base() == kindAny
		c.out.order = append(c.out.order, orderKey{slot: slot, desc: k.Desc, nullsFirst: k.NullsFirst, mayRef: mayRef})
	}
}

// condition is a compiled condition: the source of the expr program, true
// exactly when the condition is TRUE, and what an index knows of the rows for
// which it is, nil for nothing.
type condition struct {
	source string
	access *access
	whole  bool // there is no more to the condition than the leaves of access, all of which are to hold
}

// cond compiles a condition or, when negated, what is TRUE where it is FALSE.
func (c *compiler) cond(x syntax.Expr, negated bool) condition {
	switch x := x.(type) {
	case *syntax.Logic:
		and := x.Or == negated
		parts := make([]string, len(x.Args))
		by := make([]*access, len(x.Args))
		whole := and
		for i, arg := range x.Args {
			part := c.cond(arg, negated)
			parts[i], by[i] = part.source, part.access
			whole = whole && part.whole
			if _, nested := arg.(*syntax.Logic); nested {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		if and {
			return condition{strings.Join(parts, " && "), allOf(by), whole}
		}
		return condition{source: strings.Join(parts, " || "), access: anyOf(by)}
	case *syntax.Not:
		inner := c.cond(x.X, !negated)
		if _, nested := x.X.(*syntax.Logic); nested {
			inner.source = "(" + inner.source + ")"
		}
		return inner
	case *syntax.Compare:
		return c.compare(x, negated)
	case *syntax.In:
		return c.in(x, negated)
	case *syntax.Between:
		return c.between(x, negated)
	case *syntax.IsNull:
		slot, _ := c.operand(x.X, false)
		return condition{source: call(pick(negated == x.Not, "missing", "present"), slot)}
	case *syntax.Matches:
		if c.readsTasks() {
			c.found.Fail(x.Span, "MATCHES does not find tasks", "use CONTAINS or LIKE on name, note or heading")
		}
		c.out.volatile = true
		c.out.matches = append(c.out.matches, x.Words)
		return condition{source: call(pick(!negated, "found", "notFound"), len(c.out.matches)-1)}
	}
	return condition{source: "false"}
}

// Names of the comparisons in a program: to be TRUE and to be FALSE.
var programNames = [...][2]string{
	syntax.OpEq: {"eq", "differs"}, syntax.OpNe: {"ne", "eq"}, syntax.OpLt: {"lt", "ge"}, syntax.OpLe: {"le", "gt"},
	syntax.OpGt: {"gt", "le"}, syntax.OpGe: {"ge", "lt"},
	syntax.OpContains: {"has", "lacks"}, syntax.OpStartsWith: {"begins", "beginsNot"},
	syntax.OpLike: {"like", "unlike"},
}

func call(name string, args ...int) string {
	if len(args) == 1 {
		return fmt.Sprintf("%s(%d)", name, args[0])
	}
	return fmt.Sprintf("%s(%d, %d)", name, args[0], args[1])
}

func (c *compiler) compare(x *syntax.Compare, negated bool) condition {
	left, ls := c.operand(x.Left, false)
	right, rs := c.operand(x.Right, true)
	negated = negated != x.Not
	if isNull(x.Left) || isNull(x.Right) {
		c.found.Warn(x.Span, "a comparison with null is never true", "write IS NULL or IS NOT NULL")
		return condition{source: "false", access: anyOf(nil)}
	}
	c.checkCompare(x.Op, x.Left, ls, x.Right, rs)
	name := programNames[x.Op][0]
	if negated {
		name = programNames[x.Op][1]
	}
	by := c.leaf(name, left, right)
	return condition{call(name, left, right), by, by != nil && by.leaf != nil}
}

func (c *compiler) in(x *syntax.In, negated bool) condition {
	slot, sh := c.operand(x.X, false)
	set := make([]int, 0, len(x.Items))
	for _, item := range x.Items {
		i, is := c.operand(item, true)
		if isNull(item) {
			c.found.Warn(item.Source(), "null in a list is never equal to anything", "write IS NULL or IS NOT NULL")
		} else {
			c.checkCompare(syntax.OpEq, x.X, sh, item, is)
		}
		set = append(set, i)
	}
	c.out.sets = append(c.out.sets, set)
	if negated != x.Not {
		return condition{source: call("noneOf", slot, len(c.out.sets)-1)}
	}
	return condition{source: call("oneOf", slot, len(c.out.sets)-1), access: c.leaf("oneOf", slot, set...)}
}

// between is low <= x AND x <= high; its negation x < low OR x > high, of which
// one may be TRUE when the other is UNKNOWN.
func (c *compiler) between(x *syntax.Between, negated bool) condition {
	slot, sh := c.operand(x.X, false)
	low, ls := c.operand(x.Low, true)
	high, hs := c.operand(x.High, true)
	if isNull(x.X) || isNull(x.Low) || isNull(x.High) {
		c.found.Warn(x.Span, "a comparison with null is never true", "write IS NULL or IS NOT NULL")
	} else {
		c.checkCompare(syntax.OpGe, x.X, sh, x.Low, ls)
		c.checkCompare(syntax.OpLe, x.X, sh, x.High, hs)
	}
	if negated != x.Not {
		return condition{
			source: "(" + call("lt", slot, low) + " || " + call("gt", slot, high) + ")",
			access: anyOf([]*access{c.leaf("lt", slot, low), c.leaf("gt", slot, high)}),
		}
	}
	from, to := c.leaf("ge", slot, low), c.leaf("le", slot, high)
	return condition{
		"(" + call("ge", slot, low) + " && " + call("le", slot, high) + ")",
		allOf([]*access{from, to}), from != nil && to != nil,
	}
}

func isNull(x syntax.Operand) bool {
	lit, ok := x.(*syntax.Literal)
	return ok && lit.Kind == syntax.LitNull
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
