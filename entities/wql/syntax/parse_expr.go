package syntax

import (
	"math"
	"strconv"
	"strings"
)

// expr parses a chain of OR. It returns nil when no condition could be made
// out; the reason is reported then.
func (p *parser) expr() Expr {
	return p.chain("OR", func() Expr { return p.chain("AND", p.not) })
}

func (p *parser) chain(word string, next func() Expr) Expr {
	start := p.peek().Start
	var args []Expr
	for {
		if x := next(); x != nil {
			args = append(args, x)
		} else {
			p.skipTo("AND", "OR")
		}
		if !p.accept(word) {
			break
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	at := p.to(start)
	p.node(at)
	return &Logic{Span: at, Or: word == "OR", Args: args}
}

func (p *parser) not() Expr {
	t := p.peek()
	switch {
	case t.is("NOT"):
		p.advance()
		if !p.enter(t.Span) {
			return nil
		}
		defer p.leave()
		x := p.not()
		if x == nil {
			return nil
		}
		at := p.to(t.Start)
		p.node(at)
		return &Not{Span: at, X: x}
	case t.symbol("("):
		return p.group()
	case t.is("MATCHES") && p.second().kind == tokString:
		p.advance()
		words := p.advance()
		at := p.to(t.Start)
		p.node(at)
		if strings.TrimSpace(words.text) == "" {
			p.found.Fail(words.Span, "MATCHES needs words", `write what to search for, as in MATCHES "road map"`)
		}
		return &Matches{Span: at, Words: words.text}
	}
	return p.comparison()
}

func (p *parser) group() Expr {
	open := p.advance()
	if !p.enter(open.Span) {
		return nil
	}
	defer p.leave()
	x := p.expr()
	if p.acceptSymbol(")") {
		return x
	}
	if t := p.peek(); t.kind == tokEOF || p.atClause() {
		p.found.Fail(open.Span, "the parenthesis is not closed", "end it with )")
		return x
	}
	p.expected("AND, OR or )", "conditions are joined with AND and OR")
	p.skipTo("AND", "OR")
	p.acceptSymbol(")")
	return x
}

var compareSymbols = map[string]CompareOp{
	"=": OpEq, "==": OpEq, "!=": OpNe, "<>": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe,
}

const operatorHint = "compare with = != < <= > >=, IN, CONTAINS, STARTS WITH, LIKE, BETWEEN or IS NULL"

// HintForLists is for those who write a list of values where there is one.
const HintForLists = "write p.tags IN ('a', 'b') for any of them, or p.tags CONTAINS 'a' AND p.tags CONTAINS 'b' for all"

func (p *parser) comparison() Expr {
	start := p.peek().Start
	left := p.operand()
	if left == nil {
		if _, ok := compareSymbols[p.peek().text]; ok && p.peek().kind == tokSymbol && p.second().startsOperand() {
			p.advance()
			p.stray(p.operand())
		}
		return nil
	}
	t := p.peek()
	if op, ok := compareSymbols[t.text]; ok && t.kind == tokSymbol {
		p.advance()
		return p.compare(start, left, op, false)
	}
	if p.accept("IS") {
		not := p.accept("NOT")
		if !p.accept("NULL") {
			p.expected("NULL", "write IS NULL or IS NOT NULL")
			p.stray(left)
			return nil
		}
		at := p.to(start)
		p.node(at)
		return &IsNull{Span: at, Not: not, X: left}
	}
	not := p.accept("NOT")
	switch {
	case p.accept("IN"):
		return p.in(start, left, not)
	case p.accept("CONTAINS"):
		if p.peek().symbol("(") {
			p.expected("one value", HintForLists)
			p.stray(left)
			return nil
		}
		return p.compare(start, left, OpContains, not)
	case p.accept("LIKE"):
		return p.compare(start, left, OpLike, not)
	case p.accept("BETWEEN"):
		return p.between(start, left, not)
	case p.peek().is("STARTS"):
		p.advance()
		if !p.accept("WITH") {
			p.expected("WITH", "write STARTS WITH")
			p.stray(left)
			return nil
		}
		return p.compare(start, left, OpStartsWith, not)
	}
	p.expectedOperator(left)
	if path, ok := left.(*Path); !ok || len(path.Segments) > 1 { // a word alone may be anything
		p.stray(left)
	}
	return nil
}

// startsOperand reports whether an operand may begin with the token.
func (t token) startsOperand() bool {
	return t.isName() || t.kind == tokString || t.kind == tokNumber || t.symbol("{")
}

func (p *parser) expectedOperator(left Operand) {
	t := p.peek()
	hint := hintsForWords[strings.ToUpper(t.text)]
	if _, ok := left.(*Path); ok && (t.kind == tokEOF || t.is("AND") || t.is("OR") || t.symbol(")")) {
		hint = "a field alone is not a condition; write p.active = true, or p.field IS NOT NULL"
	}
	if hint == "" && t.kind == tokWord && len(t.text) > 2 {
		words := []string{"IN", "CONTAINS", "LIKE", "BETWEEN", "IS", "STARTS", "NOT"}
		if close := Nearest(t.text, words); len(close) > 0 {
			hint = "did you mean " + close[0] + "?"
		}
	}
	if hint == "" {
		hint = operatorHint
	}
	p.expected("a comparison", hint)
}

func (p *parser) compare(start int, left Operand, op CompareOp, not bool) Expr {
	right := p.operand()
	if right == nil {
		p.stray(left)
		return nil
	}
	at := p.to(start)
	p.node(at)
	return &Compare{Span: at, Op: op, Not: not, Left: left, Right: right}
}

func (p *parser) in(start int, x Operand, not bool) Expr {
	if !p.acceptSymbol("(") {
		p.expected("(", "write the values in parentheses, as in IN ('a', 'b')")
		p.stray(x)
		return nil
	}
	in := &In{Not: not, X: x}
	for {
		if item := p.operand(); item != nil {
			in.Items = append(in.Items, item)
		} else {
			p.skipTo(",", "AND", "OR")
		}
		if p.acceptSymbol(",") {
			continue
		}
		if p.acceptSymbol(")") {
			break
		}
		p.expected("',' or )", "the values are separated by commas")
		p.skipTo("AND", "OR")
		p.acceptSymbol(")")
		p.stray(append(in.Items, x)...)
		return nil
	}
	in.Span = p.to(start)
	p.node(in.Span)
	if len(in.Items) == 0 {
		return nil
	}
	return in
}

func (p *parser) between(start int, x Operand, not bool) Expr {
	low := p.operand()
	if low == nil {
		p.stray(x)
		return nil
	}
	if !p.accept("AND") {
		p.expected("AND", "write BETWEEN low AND high")
		p.stray(x, low)
		if t := p.peek(); (t.is("OR") || t.is("TO") || t.symbol(",")) && p.second().startsOperand() {
			p.advance() // instead of AND
			p.stray(p.operand())
		}
		return nil
	}
	high := p.operand()
	if high == nil {
		p.stray(x, low)
		return nil
	}
	at := p.to(start)
	p.node(at)
	return &Between{Span: at, Not: not, X: x, Low: low, High: high}
}

// operand parses a term and the durations added to it.
func (p *parser) operand() Operand {
	start := p.peek().Start
	x := p.term()
	for x != nil && (p.peek().symbol("+") || p.peek().symbol("-")) {
		if p.second().kind != tokDuration {
			hint := "only durations can be added or subtracted, as in today() - 7d"
			if lit, ok := x.(*Literal); ok && lit.Kind == LitNumber {
				hint = "write dates as date('2026-01-31'); numbers are not calculated with"
			}
			p.advance()
			p.expected("a duration", hint)
			return nil
		}
		sign := 1
		if p.advance().text == "-" {
			sign = -1
		}
		d := p.advance()
		amount, err := strconv.Atoi(d.text[:len(d.text)-1])
		if err != nil || amount > maxAmount {
			p.found.Fail(d.Span, "the duration is too long", "no date is that far away")
			amount = 0
		}
		at := p.to(start)
		p.node(at)
		x = &Shift{Span: at, X: x, Amount: sign * amount, Unit: d.text[len(d.text)-1]}
	}
	return x
}

// maxAmount is the largest number of a duration: about 10,000 years in hours.
const maxAmount = 100_000_000

func (p *parser) term() Operand {
	t := p.peek()
	switch t.kind {
	case tokString:
		p.advance()
		p.node(t.Span)
		return &Literal{Span: t.Span, Kind: LitText, Text: t.text}
	case tokNumber:
		return p.number(t.Start, "")
	case tokDuration:
		p.found.Fail(t.Span, "a duration stands alone", "add it to a date or subtract it, as in today() - "+t.text)
		return nil
	case tokQuoted:
		return p.path()
	case tokWord:
		return p.word()
	}
	switch {
	case t.symbol("-") && p.second().kind == tokNumber:
		p.advance()
		return p.number(t.Start, "-")
	case t.symbol("{"):
		return p.this()
	case t.symbol("("):
		p.expected("a field or a value", "parentheses group conditions, not values")
		return nil
	}
	p.expected("a field or a value", "write a field, 'text', a number, true, false, null, date('2026-01-31') or {this}")
	return nil
}

// maxDigits is how many digits of a whole number a float64 has for sure.
const maxDigits = 15

func (p *parser) number(start int, sign string) Operand {
	t := p.advance()
	at := p.to(start)
	p.node(at)
	n, err := strconv.ParseFloat(sign+t.text, 64)
	if err != nil || math.IsInf(n, 0) {
		p.found.Fail(at, "the number is too large", "use a number that fits 64-bit floating point")
		return nil
	}
	if digits := strings.TrimLeft(t.text, "0"); len(digits) > maxDigits && strings.Trim(digits, "0123456789") == "" {
		return &Literal{Span: at, Kind: LitText, Text: sign + t.text} // a number has not all of them; what is compared with it may
	}
	return &Literal{Span: at, Kind: LitNumber, Number: n}
}

// reserved are the words that no bare field can be called where an operand is
// expected; a quoted name, or one behind a dot, may be any of them.
var reserved = map[string]bool{
	"SELECT": true, "FROM": true, "WHERE": true, "AND": true, "OR": true, "NOT": true, "IN": true, "IS": true,
	"BETWEEN": true, "LIKE": true, "CONTAINS": true, "LIMIT": true, "OFFSET": true,
}

func (p *parser) word() Operand {
	t := p.peek()
	next := p.second()
	if next.symbol("(") && !reserved[strings.ToUpper(t.text)] {
		return p.call()
	}
	if !next.symbol(".") {
		lit := &Literal{Span: t.Span}
		switch {
		case t.is("NULL"):
			lit.Kind = LitNull
		case t.is("TRUE"), t.is("FALSE"):
			lit.Kind, lit.Bool = LitBool, t.is("TRUE")
		default:
			lit = nil
		}
		if lit != nil {
			p.advance()
			p.node(t.Span)
			return lit
		}
	}
	if reserved[strings.ToUpper(t.text)] && !next.symbol(".") || p.atClause() {
		hint := "a field of that name is written in `backticks`"
		if t.is("AND") || t.is("OR") {
			hint = "something is missing in front of " + strings.ToUpper(t.text)
		}
		p.expected("a field or a value", hint)
		return nil
	}
	return p.path()
}

// path parses a name and what follows by dots.
func (p *parser) path() *Path {
	t := p.advance()
	path := &Path{Segments: []Name{{t.Span, t.text}}}
	p.segments(&path.Segments)
	path.Span = p.to(t.Start)
	p.node(path.Span)
	return path
}

// segments parses { "." field }. Behind a dot a word is never a keyword.
func (p *parser) segments(list *[]Name) {
	for p.peek().symbol(".") {
		p.advance()
		t := p.peek()
		if !t.isName() {
			p.expected("a field", "a field follows the dot")
			return
		}
		p.advance()
		*list = append(*list, Name{t.Span, t.text})
	}
}

func (p *parser) this() Operand {
	open := p.advance()
	t := p.peek()
	if !t.is("THIS") {
		p.expected("this", "write {this} or {this.field}")
		for p.peek().kind != tokEOF && !p.peek().symbol("}") && !p.atClause() {
			p.advance()
		}
		p.acceptSymbol("}")
		return nil
	}
	p.advance()
	x := &This{}
	p.segments(&x.Segments)
	if !p.acceptSymbol("}") {
		p.expected("}", "write {this} or {this.field}")
		return nil
	}
	if dot := p.peek(); dot.symbol(".") && len(x.Segments) == 0 {
		p.segments(&x.Segments)
		inside := Name{Text: "field"}
		if len(x.Segments) > 0 {
			inside = x.Segments[0]
		}
		p.found.Fail(dot.Span, "unexpected '.'",
			"a field of this stands inside the braces: {this."+QuoteName(inside.Text)+"}")
	}
	x.Span = p.to(open.Start)
	p.node(x.Span)
	return x
}

func (p *parser) call() Operand {
	name := p.advance()
	open := p.advance()
	if !p.enter(open.Span) {
		return nil
	}
	defer p.leave()
	call := &Call{Name: Name{name.Span, strings.ToLower(name.text)}}
	for !p.acceptSymbol(")") {
		if len(call.Args) > 0 && !p.acceptSymbol(",") {
			if p.peek().kind == tokEOF || p.atClause() {
				p.found.Fail(open.Span, "the parenthesis is not closed", "end it with )")
			} else {
				p.expected("',' or )", "arguments are separated by commas")
			}
			p.skipTo("AND", "OR")
			p.acceptSymbol(")")
			return nil
		}
		arg := p.operand()
		if arg == nil {
			p.skipTo("AND", "OR")
			p.acceptSymbol(")")
			return nil
		}
		call.Args = append(call.Args, arg)
	}
	call.Span = p.to(name.Start)
	p.node(call.Span)
	return call
}
