package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes that a query may have.
const (
	MaxSource = 4 << 10 // bytes of a text
	MaxDepth  = 64      // nested parentheses, NOTs and calls
	MaxNodes  = 256     // nodes of the syntax tree

	// MaxOrderKeys bounds what is held of each row while rows are ordered.
	MaxOrderKeys = 8
)

// Parse parses a query. It reports every error it finds, not the first; the
// tree is what could be made out, and complete when no diagnostic is an error.
// It is nil for a text over MaxSource. O(len(src)).
func Parse(src string) (*Query, []Diagnostic) {
	var found Findings
	q := ParseInto(src, &found)
	return q, found.Diagnostics(src)
}

// ParseInto is Parse for who has more to find: its findings are added to those
// that are there.
func ParseInto(src string, found *Findings) *Query {
	if len(src) > MaxSource {
		found.Fail(Span{}, fmt.Sprintf("the query has %d bytes, at most %d are allowed", len(src), MaxSource),
			"shorten the query")
		return nil
	}
	p := &parser{src: src, found: found, tokens: lex(src, found)}
	q := p.query()
	q.Strays = p.strays
	return q
}

type parser struct {
	src    string
	tokens []token
	pos    int
	depth  int
	nodes  int
	found  *Findings
	strays []Operand
}

// stray keeps operands of a condition that could not be made out, so that what
// is wrong with them is found as well.
func (p *parser) stray(list ...Operand) {
	for _, x := range list {
		if x != nil {
			p.strays = append(p.strays, x)
		}
	}
}

func (p *parser) peek() token { return p.tokens[p.pos] }

// second is the token behind the next one.
func (p *parser) second() token { return p.tokens[min(p.pos+1, len(p.tokens)-1)] }

func (p *parser) advance() token {
	t := p.tokens[p.pos]
	if p.pos < len(p.tokens)-1 {
		p.pos++
	}
	return t
}

func (p *parser) accept(keyword string) bool {
	if t := p.peek(); t.is(keyword) || t.kind == tokBad && t.text == keyword {
		p.advance()
		return true
	}
	return false
}

func (p *parser) acceptSymbol(s string) bool {
	if p.peek().symbol(s) {
		p.advance()
		return true
	}
	return false
}

// expected reports that something else stands where want should. A bad token
// was reported by the lexer.
func (p *parser) expected(want, hint string) {
	if t := p.peek(); t.kind != tokBad {
		p.found.Fail(t.Span, "expected "+want+", found "+t.describe(p.src), hint)
	}
}

// to returns the span from a start to the end of the last token read.
func (p *parser) to(start int) Span {
	return Span{start, max(start, p.tokens[max(p.pos-1, 0)].End)}
}

// giveUp skips the rest of the text, and leaves unsaid what seems wrong because
// of that.
func (p *parser) giveUp() {
	p.pos = len(p.tokens) - 1
	p.found = &Findings{}
}

// node counts a node of the tree.
func (p *parser) node(at Span) {
	p.nodes++
	if p.nodes == MaxNodes+1 {
		p.found.Fail(at, fmt.Sprintf("the query has more than %d parts", MaxNodes),
			"split the query, or use IN for a list of values")
		p.giveUp()
	}
}

// enter counts a level of nesting and reports whether it is allowed.
func (p *parser) enter(at Span) bool {
	p.depth++
	if p.depth > MaxDepth {
		p.found.Fail(at, fmt.Sprintf("the query is nested more than %d deep", MaxDepth), "take out parentheses")
		p.giveUp()
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// skipTo leaves out what can't be understood, up to a place where parsing can
// go on: a word of stop, a clause, or the closing of the current parenthesis.
func (p *parser) skipTo(stop ...string) {
	for open := 0; ; p.advance() {
		t := p.peek()
		if t.kind == tokEOF {
			return
		}
		if t.symbol("(") {
			open++
		}
		if t.symbol(")") {
			open--
			if open < 0 {
				return
			}
		}
		if open > 0 {
			continue
		}
		if p.atClause() {
			return
		}
		for _, s := range stop {
			if t.is(s) || t.symbol(s) || t.kind == tokBad && t.text == s {
				return
			}
		}
	}
}

// atClause reports whether a clause behind FROM begins here.
func (p *parser) atClause() bool {
	t := p.peek()
	return t.is("WHERE") || t.is("LIMIT") || t.is("OFFSET") || t.is("ORDER") && p.second().is("BY")
}

func (p *parser) query() *Query {
	q := &Query{Source: p.src}
	if !p.accept("SELECT") {
		p.expected("SELECT", "a query begins with SELECT, as in SELECT p FROM Person")
		if t := p.peek(); t.kind == tokWord && !t.is("FROM") && len(Nearest(t.text, []string{"SELECT"})) > 0 {
			p.advance()
		}
	}
	q.Distinct = p.accept("DISTINCT")
	q.What = p.what()
	if p.accept("FROM") {
		p.from(q)
	} else {
		p.expected("FROM", "say which types to read, as in FROM Person")
		p.skipTo("FROM")
		if p.accept("FROM") {
			p.from(q)
		}
	}
	if p.accept("WHERE") {
		q.Where = p.expr()
		p.trailing("AND", "OR", "NOT", "ORDER", "LIMIT")
	}
	if p.peek().is("ORDER") {
		p.order(q)
		p.trailing("ASC", "DESC", "NULLS", "LIMIT")
	}
	p.limits(q)
	p.acceptSymbol(";")
	p.trailing()
	return q
}

// hintsForWords explain words that people bring from other languages.
var hintsForWords = map[string]string{
	"GROUP":  "WQL has no GROUP BY: ask for each value, as in SELECT COUNT(*) FROM Task t WHERE t.status = 'open'",
	"HAVING": "WQL has no HAVING: put the condition into WHERE",
	"JOIN":   "WQL has no JOIN: follow the reference, as in p.team.name",
	"UNION":  "WQL has no UNION: name several types, as in FROM Person, Team",
	"ILIKE":  "LIKE already ignores case",
	"WHERE":  "a query has one WHERE, before ORDER BY and LIMIT; join conditions with AND",
	"ORDER":  "ORDER BY comes once, behind WHERE and before LIMIT",
	"LIMIT":  "LIMIT comes once, at the end",
	"OFFSET": "OFFSET follows LIMIT, as in LIMIT 10 OFFSET 20",
	"AS":     "the alias follows the type at once, as in FROM Person p",
}

// trailing reports what stands where the next clause or the end should, and
// skips to the next clause. keywords are what could have been meant.
func (p *parser) trailing(keywords ...string) {
	for {
		t := p.peek()
		if t.kind == tokEOF || t.symbol(";") && p.second().kind == tokEOF || len(keywords) > 0 && p.atClause() {
			return
		}
		hint := hintsForWords[strings.ToUpper(t.text)]
		if hint == "" && t.symbol(")") {
			hint = "remove the parenthesis, or open it before"
		}
		if hint == "" && t.kind == tokWord {
			if close := Nearest(t.text, keywords); len(close) > 0 {
				hint = "did you mean " + close[0] + "?"
			}
		}
		if hint == "" {
			hint = "conditions are joined with AND and OR; then come ORDER BY, LIMIT and OFFSET"
		}
		if t.kind != tokBad {
			p.found.Fail(t.Span, "unexpected "+t.describe(p.src), hint)
		}
		p.advance()
		p.skipTo()
		if p.peek().symbol(")") {
			p.advance()
			for p.peek().symbol(")") {
				p.advance()
			}
		}
		if len(keywords) == 0 {
			// Clauses out of their order were named once: that is enough.
			p.pos = len(p.tokens) - 1
		}
	}
}

var aggregates = map[string]WhatKind{
	"COUNT": SelectCount, "SUM": SelectSum, "AVG": SelectAvg, "MIN": SelectMin,
	"MAX": SelectMax,
}

const whatHint = "a query selects whole entities or one aggregate: SELECT p, SELECT *, SELECT COUNT(*), SELECT SUM(p.field)"

func (p *parser) what() What {
	t, first := p.peek(), p.pos
	w := What{Span: t.Span}
	p.node(t.Span)
	switch {
	case p.acceptSymbol("*"):
	case t.kind == tokWord && p.second().symbol("("):
		p.aggregate(&w)
	case t.isName() && !t.is("FROM"):
		p.advance()
		w.Alias = &Name{t.Span, t.text}
	default:
		p.expected("what to select", whatHint)
		p.skipTo("FROM")
		return w
	}
	if t := p.peek(); !t.is("FROM") && t.kind != tokEOF && !p.atClause() {
		if t.symbol(".") || t.symbol(",") {
			p.several(first)
			return w
		} else if t.kind != tokBad {
			p.found.Fail(t.Span, "expected FROM, found "+t.describe(p.src), whatHint)
		}
		p.skipTo("FROM")
	}
	return w
}

func (p *parser) aggregate(w *What) {
	name := p.advance()
	open := p.advance()
	kind, ok := aggregates[strings.ToUpper(name.text)]
	if !ok {
		p.found.Fail(name.Span, "there is no aggregate "+Clip(name.text),
			DidYouMean(name.text, []string{"COUNT", "SUM", "AVG", "MIN", "MAX"}, ""))
		p.skipTo("FROM")
		p.acceptSymbol(")")
		return
	}
	w.Kind = kind
	switch t := p.peek(); {
	case t.symbol("*"):
		p.advance()
		if kind != SelectCount {
			p.found.Fail(t.Span, "only COUNT takes *", "name a field, as in "+WhatNames[kind]+"(p.field)")
		}
	case t.is("DISTINCT") && !p.second().symbol(")"):
		p.found.Fail(t.Span, "an aggregate can't be over DISTINCT values",
			"take DISTINCT out: every entity is looked at once")
		p.advance()
		w.Path = p.path()
	case t.isName():
		w.Path = p.path()
	default:
		p.expected("a field", "an aggregate is over one field, as in SUM(p.budget), or COUNT(*)")
	}
	if !p.acceptSymbol(")") {
		if p.peek().kind != tokBad {
			p.found.Fail(open.Span, "the parenthesis is not closed", "end it with )")
		}
		p.skipTo("FROM")
		p.acceptSymbol(")")
	}
	w.Span = p.to(name.Start)
}

// builtInTypes stands with a point before the name of a type that is no type of the store: vault.Task.
const builtInTypes = "vault"

func (p *parser) from(q *Query) {
	for {
		t := p.peek()
		if !t.isName() || p.atClause() {
			p.expected("a type", "name one type or several, as in FROM Person, Team")
			p.skipTo()
			return
		}
		p.advance()
		p.node(t.Span)
		if strings.EqualFold(t.text, builtInTypes) && p.peek().symbol(".") && p.second().isName() {
			p.advance()
			name := p.advance()
			t.Span, t.text = p.to(t.Start), t.text+"."+name.text
		}
		q.From = append(q.From, Name{t.Span, t.text})
		if alias := p.peek(); alias.isName() && p.second().symbol(",") && q.Alias == nil {
			p.found.Fail(alias.Span, "unexpected "+alias.describe(p.src),
				"one alias stands behind all types, as in FROM Person, Team p")
			p.advance()
			q.Alias = &Name{alias.Span, alias.text}
		}
		if !p.acceptSymbol(",") {
			break
		}
	}
	t := p.peek()
	if t.is("AS") && p.second().isName() {
		p.advance()
		t = p.peek()
	}
	if t.isName() && !p.atClause() {
		next := p.second()
		alone := next.kind == tokEOF || next.symbol(";") || next.is("WHERE") || next.is("ORDER") || next.is("LIMIT")
		if alone {
			p.advance()
			q.Alias = &Name{t.Span, t.text}
			return
		}
	}
	p.clauseExpected(q)
}

// clauseExpected looks at what follows FROM. A word that is nearly WHERE is
// taken for it, so that the rest is checked as well.
func (p *parser) clauseExpected(q *Query) {
	t := p.peek()
	if t.kind == tokEOF || t.symbol(";") || p.atClause() {
		return
	}
	if t.is("ORDER") {
		p.found.Fail(t.Span, "ORDER without BY", "write ORDER BY and a field")
		p.skipTo()
		return
	}
	if t.isName() && !p.second().symbol(",") {
		if close := Nearest(t.text, []string{"WHERE", "ORDER", "LIMIT"}); len(close) > 0 {
			p.found.Fail(t.Span, "unexpected "+t.describe(p.src), "did you mean "+close[0]+"?")
			p.advance()
			if close[0] == "WHERE" {
				q.Where = p.expr()
			}
			p.skipTo()
			return
		}
		if next := p.second(); next.isName() && hintsForWords[strings.ToUpper(t.text)] == "" {
			// FROM Person p whre …: the alias is fine, the word behind it is not.
			q.Alias = &Name{t.Span, t.text}
			p.advance()
			p.clauseExpected(q)
			return
		}
	}
	hint := hintsForWords[strings.ToUpper(t.text)]
	if hint == "" {
		hint = "behind the types come an alias, WHERE, ORDER BY and LIMIT; several types are separated by commas"
	}
	if t.kind != tokBad {
		p.found.Fail(t.Span, "unexpected "+t.describe(p.src), hint)
	}
	p.skipTo()
}

func (p *parser) order(q *Query) {
	p.advance()
	if !p.accept("BY") {
		p.expected("BY", "write ORDER BY and a field")
	}
	for {
		key := p.operand()
		if key == nil {
			p.skipTo(",")
		} else if lit, ok := key.(*Literal); ok {
			p.found.Fail(lit.Span, "ORDER BY needs a field", "name a field, as in ORDER BY p.name")
		}
		k := OrderKey{Key: key}
		if p.accept("DESC") {
			k.Desc = true
		} else {
			p.accept("ASC")
		}
		if p.accept("NULLS") {
			switch {
			case p.accept("FIRST"):
				k.NullsFirst = true
			case p.accept("LAST"):
			default:
				p.expected("FIRST or LAST", "write NULLS FIRST or NULLS LAST")
				if p.peek().isName() && !p.atClause() {
					p.advance() // a misspelling of one of them
				}
			}
		}
		if key != nil {
			q.Order = append(q.Order, k)
		}
		if !p.acceptSymbol(",") {
			return
		}
	}
}

func (p *parser) limits(q *Query) {
	if p.accept("LIMIT") {
		q.Limit = p.count("LIMIT")
		if p.peek().symbol(",") {
			p.found.Fail(p.peek().Span, "unexpected ','", hintsForWords["OFFSET"])
			p.skipTo("OFFSET")
		}
		if p.accept("OFFSET") {
			q.Offset = p.count("OFFSET")
		}
	}
}

// count parses a number of rows. What is beyond any store is as good as the
// largest number.
func (p *parser) count(clause string) *Count {
	t := p.peek()
	n, err := strconv.ParseFloat(t.text, 64)
	if t.kind != tokNumber || err != nil && !math.IsInf(n, 0) || n != math.Trunc(n) {
		p.expected("a whole number", "write how many rows, as in "+clause+" 10")
		p.skipTo("OFFSET")
		return nil
	}
	p.advance()
	return &Count{t.Span, int(min(n, math.MaxInt32))}
}
