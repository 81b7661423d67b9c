package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// String writes the query in one canonical form. Parsing it gives the same
// tree again, places aside.
func (q *Query) String() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	if q.Distinct {
		b.WriteString("DISTINCT ")
	}
	switch w := q.What; {
	case w.Kind == SelectRows && w.Alias != nil:
		b.WriteString(QuoteName(w.Alias.Text))
	case w.Kind == SelectRows:
		b.WriteString("*")
	case w.Path == nil:
		b.WriteString(WhatNames[w.Kind] + "(*)")
	default:
		b.WriteString(WhatNames[w.Kind] + "(" + formatOperand(w.Path) + ")")
	}
	b.WriteString(" FROM ")
	for i, t := range q.From {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(QuoteName(t.Text))
	}
	if q.Alias != nil {
		b.WriteString(" " + QuoteName(q.Alias.Text))
	}
	if q.Where != nil {
		b.WriteString(" WHERE " + formatExpr(q.Where))
	}
	for i, k := range q.Order {
		b.WriteString(choose(i == 0, " ORDER BY ", ", ") + formatOperand(k.Key))
		if k.Desc {
			b.WriteString(" DESC")
		}
		if k.NullsFirst {
			b.WriteString(" NULLS FIRST")
		}
	}
	if q.Limit != nil {
		fmt.Fprintf(&b, " LIMIT %d", q.Limit.N)
		if q.Offset != nil {
			fmt.Fprintf(&b, " OFFSET %d", q.Offset.N)
		}
	}
	return b.String()
}

func formatExpr(x Expr) string {
	not := func(n bool) string { return choose(n, "NOT ", "") }
	switch x := x.(type) {
	case *Logic:
		parts := make([]string, len(x.Args))
		for i, arg := range x.Args {
			parts[i] = formatExpr(arg)
			if inner, ok := arg.(*Logic); ok && (inner.Or || inner.Or == x.Or) {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return strings.Join(parts, choose(x.Or, " OR ", " AND "))
	case *Not:
		if _, ok := x.X.(*Logic); ok {
			return "NOT (" + formatExpr(x.X) + ")"
		}
		return "NOT " + formatExpr(x.X)
	case *Compare:
		return formatOperand(x.Left) + " " + not(x.Not) + x.Op.String() + " " + formatOperand(x.Right)
	case *In:
		items := make([]string, len(x.Items))
		for i, item := range x.Items {
			items[i] = formatOperand(item)
		}
		return formatOperand(x.X) + " " + not(x.Not) + "IN (" + strings.Join(items, ", ") + ")"
	case *Between:
		return formatOperand(x.X) + " " + not(x.Not) + "BETWEEN " + formatOperand(x.Low) + " AND " +
			formatOperand(x.High)
	case *IsNull:
		return formatOperand(x.X) + " IS " + not(x.Not) + "NULL"
	case *Matches:
		return "MATCHES " + QuoteText(x.Words)
	}
	return ""
}

func formatOperand(x Operand) string {
	switch x := x.(type) {
	case *Path:
		return formatNames(x.Segments)
	case *Literal:
		switch x.Kind {
		case LitText:
			return QuoteText(x.Text)
		case LitNumber:
			return strconv.FormatFloat(x.Number, 'g', -1, 64)
		case LitBool:
			return strconv.FormatBool(x.Bool)
		}
		return "null"
	case *This:
		if len(x.Segments) == 0 {
			return "{this}"
		}
		return "{this." + formatNames(x.Segments) + "}"
	case *Call:
		args := make([]string, len(x.Args))
		for i, arg := range x.Args {
			args[i] = formatOperand(arg)
		}
		return x.Name.Text + "(" + strings.Join(args, ", ") + ")"
	case *Shift:
		sign, amount := "+", x.Amount
		if amount < 0 {
			sign, amount = "-", -amount
		}
		return fmt.Sprintf("%s %s %d%c", formatOperand(x.X), sign, amount, x.Unit)
	}
	return ""
}

func formatNames(names []Name) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = QuoteName(n.Text)
	}
	return strings.Join(parts, ".")
}

// keywords are written in backticks when they are names.
var keywords = map[string]bool{
	"DISTINCT": true, "ORDER": true, "BY": true, "ASC": true, "DESC": true, "NULLS": true, "FIRST": true, "LAST": true,
	"TRUE": true, "FALSE": true, "NULL": true, "STARTS": true, "WITH": true, "MATCHES": true, "AS": true,
	"GROUP": true, "HAVING": true, "JOIN": true, "UNION": true,
}

// QuoteName writes a name so that it is read as one.
func QuoteName(name string) string {
	upper := strings.ToUpper(name)
	plain := !reserved[upper] && !keywords[upper]
	for i, r := range name {
		if i == 0 && !isNameStart(r) || !isNamePart(r) {
			plain = false
		}
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// QuoteText writes a text as a literal.
func QuoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// choose returns one of two texts.
func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
