package main

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// completer finds what may follow in a query or a command. It reads the text
// before the cursor as far as it can be understood, and the types behind FROM
// also where they come later.
type completer struct {
	types map[string]*entities.Type
	this  string // type of {this}; "" for none
	names func(prefix string, types []string) []string

	from  []string // types of the query
	alias string
}

// completeTimeout bounds what a press of Tab may wait for the daemon.
const completeTimeout = 5 * time.Second

// complete completes a text at the prompt. Without a daemon there is nothing to
// offer but words.
func (s *wqlSession) complete(text string, at int) completion {
	ctx, cancel := context.WithTimeout(s.ctx, completeTimeout)
	defer cancel()
	var list protocol.TypeList
	_ = s.call(ctx, "types.list", protocol.Empty{}, &list) // an empty list without it
	c := &completer{types: typesByName(list.Types), this: s.this.typ}
	c.names = func(prefix string, types []string) []string {
		var found protocol.EntityItems
		if s.call(ctx, "entities.complete", protocol.EntityComplete{Prefix: prefix, Types: types, Limit: 50}, &found) != nil {
			return nil
		}
		names := make([]string, len(found.Items))
		for i, it := range found.Items {
			names[i] = it.Name
		}
		return names
	}
	return c.at(text, at)
}

// at returns what may stand in the place of the word before the cursor.
func (c *completer) at(text string, at int) completion {
	if strings.HasPrefix(text, `\`) {
		return c.command(text[:at])
	}
	start := 0
	for {
		end, _ := statementEnd(text, start)
		if end >= at || end == len(text) {
			c.scope(scan(text[start:end] + "\n").tokens) // its last word, too
			break
		}
		start = end + 1
	}
	sc := scan(text[start:at])
	from := start + sc.wordAt
	out := completion{from: from}
	word := text[from:at]
	switch {
	case sc.comment:
	case sc.openText:
		out.choices = c.texts(sc.tokens, word)
	case sc.openName:
		out.choices = c.words(sc.tokens, word[1:])
		for i := range out.choices {
			out.choices[i].text = "`" + strings.Trim(out.choices[i].text, "` ") + "`"
		}
	default:
		out.choices = c.words(sc.tokens, word)
	}
	return out
}

// wqlToken is a piece of a query.
type wqlToken struct {
	text string
	kind wqlTokenKind
}

type wqlTokenKind byte

const (
	tokenWord wqlTokenKind = iota
	tokenName              // in backticks or brackets
	tokenText              // in quotes
	tokenSymbol
)

func (t wqlToken) is(words ...string) bool {
	return t.kind != tokenName && t.kind != tokenText && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t.text) })
}

func (t wqlToken) isName() bool { return t.kind == tokenWord || t.kind == tokenName }

// scanned are the tokens of the text before the cursor, without the word that
// it stands in or behind.
type scanned struct {
	tokens             []wqlToken
	wordAt             int // where that word begins
	openText, openName bool
	comment            bool // the cursor is in one
}

func scan(src string) scanned {
	sc := scanned{wordAt: len(src)}
	for i := 0; i < len(src); {
		next, closed := skipToken(src, i)
		r, size := utf8.DecodeRuneInString(src[i:])
		piece := src[i:next]
		switch {
		case !closed:
			sc.wordAt, sc.openText = i, true
			return sc
		case r == '\'' || r == '"':
			sc.tokens = append(sc.tokens, wqlToken{piece, tokenText})
		case r == '`' || r == '[':
			if next == len(src) && (len(piece) == 1 || !strings.HasSuffix(piece, map[rune]string{'`': "`", '[': "]"}[r])) {
				sc.wordAt, sc.openName = i, true
				return sc
			}
			sc.tokens = append(sc.tokens, wqlToken{strings.Trim(piece, "`[]"), tokenName})
		case isWordRune(r):
			next = i + len(src[i:]) - len(strings.TrimLeftFunc(src[i:], isWordRune))
			if next == len(src) {
				sc.wordAt = i
				return sc
			}
			sc.tokens = append(sc.tokens, wqlToken{src[i:next], tokenWord})
		case strings.HasPrefix(piece, "--"):
			sc.comment = next == len(src)
		case unicode.IsSpace(r):
			next = i + size
		default:
			next = i + size
			if two := src[i:min(len(src), i+2)]; slices.Contains([]string{"==", "!=", "<>", "<=", ">="}, two) {
				next = i + 2
			}
			sc.tokens = append(sc.tokens, wqlToken{src[i:next], tokenSymbol})
		}
		i = next
	}
	return sc
}

// clauseWords begin a part of a query.
var clauseWords = []string{"SELECT", "FROM", "WHERE", "ORDER", "LIMIT"}

// scope finds the types and the alias of a query.
func (c *completer) scope(tokens []wqlToken) {
	i := slices.IndexFunc(tokens, func(t wqlToken) bool { return t.is("FROM") })
	if i < 0 {
		return
	}
	for i++; i < len(tokens) && tokens[i].isName() && !tokens[i].is(clauseWords...); i += 2 {
		c.from = append(c.from, tokens[i].text)
		if i+1 >= len(tokens) || tokens[i+1].text != "," {
			i++
			break
		}
	}
	if i < len(tokens) && tokens[i].isName() && !tokens[i].is(clauseWords...) {
		c.alias = tokens[i].text
	}
	if c.alias == "" && len(tokens) > 1 && tokens[0].is("SELECT") && tokens[1].isName() {
		c.alias = tokens[1].text // SELECT p FROM Person
	}
}

// words returns the words that may stand where one begins with a prefix.
func (c *completer) words(tokens []wqlToken, prefix string) []suggestion {
	last, clause := wqlToken{}, ""
	if n := len(tokens); n > 0 {
		last = tokens[n-1]
	}
	for _, t := range tokens {
		if t.is(clauseWords...) {
			clause = strings.ToUpper(t.text)
		}
	}
	var all []string
	switch {
	case last.text == ".":
		return c.fields(tokens, prefix)
	case last.text == "{":
		all = []string{"this}", "this."}
	case clause == "":
		all = []string{"SELECT "}
	case clause == "SELECT":
		all = c.selectWords(last)
	case last.is("FROM"), clause == "FROM" && last.text == ",":
		return suggest(c.typeNames(), prefix, quotedName)
	case clause == "FROM":
		all = []string{"WHERE ", "ORDER BY ", "LIMIT "}
	case clause == "WHERE":
		return c.conditionWords(tokens, prefix)
	case last.is("ORDER"):
		all = []string{"BY "}
	case last.is("BY"), clause == "ORDER" && last.text == ",":
		return c.operands(prefix, false)
	case clause == "ORDER" && last.is("NULLS"):
		all = []string{"FIRST", "LAST"}
	case clause == "ORDER":
		all = []string{"ASC", "DESC", "NULLS ", "LIMIT "}
	case clause == "LIMIT" && !last.is("LIMIT"):
		all = []string{"OFFSET "}
	}
	return suggest(all, prefix, nil)
}

func (c *completer) selectWords(last wqlToken) []string {
	switch {
	case last.text == "(":
		return c.fieldNames(c.from)
	case !last.is("SELECT", "DISTINCT"):
		return []string{"FROM "}
	}
	out := []string{"COUNT(*) FROM ", "SUM(", "AVG(", "MIN(", "MAX("}
	if last.is("SELECT") {
		out = append(out, "DISTINCT ")
	}
	if c.alias != "" {
		out = append(out, c.alias+" ")
	}
	return out
}

var (
	operators    = []string{"=", "==", "!=", "<>", "<", "<=", ">", ">=", "CONTAINS", "LIKE", "WITH", "BETWEEN", "IN"}
	operandStart = append([]string{"WHERE", "AND", "OR", "NOT", "(", ",", "+", "-"}, operators...)
	functions    = []string{"lower(", "upper(", "trim(", "length(", "year(", "month(", "day(", "days_between(", "coalesce("}
)

// conditionWords are the words of WHERE: an operand, then an operator, then a
// value, then what joins conditions.
func (c *completer) conditionWords(tokens []wqlToken, prefix string) []suggestion {
	last := tokens[len(tokens)-1]
	switch {
	case last.is("IS"):
		return suggest([]string{"NULL", "NOT NULL"}, prefix, nil)
	case last.is("STARTS"):
		return suggest([]string{"WITH "}, prefix, nil)
	case last.is(operators...), last.text == "(" && len(tokens) > 1 && tokens[len(tokens)-2].is("IN"):
		return c.values(tokens, prefix)
	case last.is(operandStart...):
		return c.operands(prefix, true)
	case c.isLeft(tokens):
		return suggest([]string{
			"CONTAINS ", "STARTS WITH ", "LIKE ", "IN (", "BETWEEN ", "IS NULL", "IS NOT NULL", "NOT IN (", "NOT CONTAINS ", "NOT LIKE ",
			"AND ", "OR ", "ORDER BY ", "LIMIT ",
		}, prefix, nil)
	}
	return suggest([]string{"AND ", "OR ", "ORDER BY ", "LIMIT "}, prefix, nil)
}

// isLeft reports whether the tokens end with a field on the left of an operator
// that is still to come.
func (c *completer) isLeft(tokens []wqlToken) bool {
	i := len(tokens)
	for i > 0 && (tokens[i-1].isName() || tokens[i-1].text == ".") && !tokens[i-1].is("WHERE", "AND", "OR", "NOT") {
		i--
	}
	return i > 0 && i < len(tokens) && tokens[i-1].is("WHERE", "AND", "OR", "NOT", "(")
}

// operands are the fields of the query, its alias, and functions.
func (c *completer) operands(prefix string, condition bool) []suggestion {
	out := suggest(c.fieldNames(c.from), prefix, quotedName)
	var more []string
	if c.alias != "" {
		more = append(more, c.alias+".")
	}
	if condition {
		more = append(append(more, "NOT ", "MATCHES "), functions...)
	}
	if prefix == "" { // a menu of fields, not of everything
		more = more[:min(len(more), 1)]
	}
	return append(out, suggest(more, prefix, nil)...)
}

// values are what the field before the operator may be compared with.
func (c *completer) values(tokens []wqlToken, prefix string) []suggestion {
	f, _ := c.fieldBefore(tokens)
	all := []string{"null", "{this}"}
	switch f.Type {
	case entities.Select:
		for _, o := range f.Options {
			all = append(all, quotedText(o, '\''))
		}
	case entities.Boolean:
		all = append(all, "true", "false")
	case entities.Date:
		all = append(all, "today()", "date('")
	case "":
		all = append(all, "today()", "now()", "date('", "true", "false")
	}
	return suggest(all, prefix, nil)
}

// texts are what may stand in quotes: the options of a select, else names of
// entities. begun is what was typed, with the quote.
func (c *completer) texts(tokens []wqlToken, begun string) []suggestion {
	quote, prefix := begun[0], strings.ReplaceAll(begun[1:], begun[:1]+begun[:1], begun[:1])
	f, owners := c.fieldBefore(tokens)
	var names []string
	switch {
	case f.Type == entities.Select:
		for _, o := range f.Options {
			if hasFold(o, prefix) {
				names = append(names, o)
			}
		}
	case f.Type == entities.EntityRef || f.Type == entities.EntityRefList:
		names = c.names(prefix, declared(f.TargetType))
	case f.Type == "":
		names = c.names(prefix, owners)
	}
	slices.Sort(names)
	out := make([]suggestion, 0, len(names))
	for _, n := range slices.Compact(names) {
		// A search finds more than what goes on as it was begun.
		if hasFold(n, prefix) {
			out = append(out, suggestion{text: quotedText(n, quote), shown: n})
		}
	}
	return out
}

func declared(target string) []string {
	if target == "" {
		return nil
	}
	return []string{target}
}

// fieldBefore returns the field on the left of the operator that the tokens end
// with, and the types that it is of. The zero field is one of every entity.
func (c *completer) fieldBefore(tokens []wqlToken) (f entities.Field, owners []string) {
	i := len(tokens)
	for i > 0 && !tokens[i-1].isName() || i > 0 && tokens[i-1].is("NOT", "IN", "STARTS", "WITH", "CONTAINS", "LIKE", "BETWEEN", "AND", "IS") {
		i--
	}
	end := i
	for i > 1 && tokens[i-2].text == "." {
		i -= 2
	}
	if i == 0 {
		return f, c.from
	}
	return c.lookUp(tokens[i-1 : end])
}

// fields are those behind a path that ends with a dot.
func (c *completer) fields(tokens []wqlToken, prefix string) []suggestion {
	end := len(tokens) - 1
	i := end
	for i > 0 && tokens[i-1].isName() {
		i--
		if i == 0 || tokens[i-1].text != "." {
			break
		}
		i--
	}
	owners := c.from
	switch path := tokens[i:end]; {
	case len(path) == 0:
		return nil
	case i > 0 && tokens[i-1].text == "{":
		owners = declared(c.this)
		if len(path) > 1 {
			f, _ := (&completer{types: c.types, from: owners}).lookUp(path[2:])
			owners = declared(f.TargetType)
		}
	case len(path) > 1 || !strings.EqualFold(path[0].text, c.alias):
		f, _ := c.lookUp(path)
		owners = declared(f.TargetType)
	}
	if len(owners) == 0 {
		return nil
	}
	return suggest(c.fieldNames(owners), prefix, quotedName)
}

// lookUp returns the field that a path leads to, and the types that it is of.
func (c *completer) lookUp(path []wqlToken) (f entities.Field, owners []string) {
	owners = c.from
	if len(path) > 2 && strings.EqualFold(path[0].text, c.alias) {
		path = path[2:]
	}
	for i := 0; i < len(path); i += 2 {
		if i > 0 {
			owners = declared(f.TargetType)
		}
		f = entities.Field{}
		for _, owner := range owners {
			if t := c.types[entities.Fold(owner)]; t != nil && f.Name == "" {
				f, _ = t.Field(path[i].text)
			}
		}
	}
	return f, owners
}

// fieldNames are the fields of types, then those of every entity.
func (c *completer) fieldNames(types []string) (names []string) {
	for _, name := range types {
		t := c.types[entities.Fold(name)]
		if t == nil {
			continue
		}
		for _, f := range t.Fields {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return append(names, builtIn...)
}

func (c *completer) typeNames() (names []string) {
	for _, t := range c.types {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// suggest returns the words that begin with a prefix, written by write.
func suggest(words []string, prefix string, write func(string) string) (out []suggestion) {
	for _, w := range words {
		if !hasFold(w, prefix) {
			continue
		}
		s := suggestion{text: w}
		if write != nil {
			s = suggestion{text: write(w), shown: w}
		}
		out = append(out, s)
	}
	return out
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) || strings.HasPrefix(entities.Fold(s), entities.Fold(prefix))
}

// quotedName writes the name of a type or field as it stands in a query.
func quotedName(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	plain := !strings.ContainsFunc(name, func(r rune) bool { return !isWordRune(r) }) && !('0' <= first && first <= '9')
	if plain && !slices.ContainsFunc(append([]string{"BY", "AND", "OR", "NOT", "IN", "IS", "NULL"}, clauseWords...), func(w string) bool { return strings.EqualFold(w, name) }) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// quotedText writes a text as it stands in a query.
func quotedText(s string, quote byte) string {
	q := string(quote)
	return q + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), q, q+q) + q
}
