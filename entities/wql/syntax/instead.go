package syntax

import "strings"

// several reports that a query selects single fields, or several things, which begin with
// the token at first, and says what to write instead. It goes on at FROM.
func (p *parser) several(first int) {
	at := p.peek().Span
	p.skipTo("FROM")
	parts := listed(p.tokens[first:p.pos])
	rest := ""
	if from := p.peek(); from.is("FROM") {
		rest = " " + p.restOf(p.pos)
	}
	var values []string // the aggregates, each as a query
	for _, part := range parts {
		if len(part) > 1 && part[1].symbol("(") && isAggregate(part[0]) {
			values = append(values, "SELECT "+p.src[part[0].Start:part[len(part)-1].End]+rest)
		}
	}
	instead := strings.Join(values, "; ")
	switch {
	case len(values) == 0:
		p.found.Fail(at, "a query cannot select single fields",
			"write SELECT "+p.wholeOf(parts)+rest+" for whole entities, and read their fields with entities.get")
	case len(values) == len(parts):
		p.found.Fail(at, "a query gives one aggregate, not several", "write a query for each: "+instead)
	default:
		p.found.Fail(at, "a query gives entities or one aggregate, not both",
			"write "+instead+" with a condition for each value that is to be counted apart")
	}
}

// listed cuts tokens at the commas that are in no parentheses.
func listed(tokens []token) (parts [][]token) {
	open, start := 0, 0
	for i, t := range tokens {
		switch {
		case t.symbol("("):
			open++
		case t.symbol(")"):
			open--
		case t.symbol(",") && open == 0:
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
	}
	return append(parts, tokens[start:])
}

// wholeOf returns what selects the entities of which parts are fields: their alias, or *.
func (p *parser) wholeOf(parts [][]token) string {
	first := parts[0][0]
	if len(parts[0]) > 1 {
		return QuoteName(first.text)
	}
	for i := p.pos; i < len(p.tokens)-1; i++ {
		if strings.EqualFold(p.tokens[i].text, first.text) && p.tokens[i+1].symbol(".") {
			return QuoteName(first.text)
		}
	}
	return "*"
}

// maxRest is how many bytes of the rest of a query a hint repeats.
const maxRest = 160

// restOf is the text from a token on, in one line and without what WQL has not.
func (p *parser) restOf(pos int) string {
	start, end := p.tokens[pos].Start, len(p.src)
	for _, t := range p.tokens[pos:] {
		if t.is("GROUP") || t.is("HAVING") || t.symbol(";") || t.kind == tokEOF {
			end = t.Start
			break
		}
	}
	rest := strings.TrimSpace(p.src[start:end])
	rest = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ").Replace(rest)
	if len(rest) > maxRest {
		rest = strings.ToValidUTF8(rest[:maxRest], "") + "…"
	}
	return rest
}

func isAggregate(t token) bool {
	_, ok := aggregates[strings.ToUpper(t.text)]
	return ok
}
