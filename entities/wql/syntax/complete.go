package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Completion is what can stand in the place of a part of a text.
type Completion struct {
	From    int // offset of the part, which ends at the cursor
	Choices []Suggestion
}

// Suggestion is one of several texts.
type Suggestion struct {
	Text  string // that is inserted
	Shown string // in the list; "": the text
}

// Completer finds what may follow in a query. It is made for one text and used by
// one goroutine. It reads the text
// before the cursor as far as it can be understood, and the types behind FROM
// also where they come later.
type Completer struct {
	Types map[string]*record.Type // by folded name
	This  string                  // type of {this}; "" for none
	// Names returns names of entities of the types, of all when there are none.
	Names func(prefix string, types []string) []string

	from  []string // types of the query
	alias string
}

// At returns what may stand in the place of the word before the cursor.
func (c *Completer) At(text string, at int) Completion {
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
	out := Completion{From: from}
	word := text[from:at]
	switch {
	case sc.comment:
	case sc.openText:
		out.Choices = c.texts(sc.tokens, word)
	case sc.openName:
		out.Choices = c.words(sc.tokens, word[1:])
		for i := range out.Choices {
			out.Choices[i].Text = "`" + strings.Trim(out.Choices[i].Text, "` ") + "`"
		}
	default:
		out.Choices = c.words(sc.tokens, word)
	}
	return out
}

// is reports whether the token is one of the words or symbols.
func (t readToken) is(words ...string) bool {
	plain := t.kind != tokQuoted && t.kind != tokString
	return plain && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t.text) })
}

// scanned are the tokens of the text before the cursor, without the word that
// it stands in or behind.
type scanned struct {
	tokens             []readToken
	wordAt             int // where that word begins
	openText, openName bool
	comment            bool // the cursor is in one
}

// scan reads the tokens of a text whose end is the cursor.
func scan(src string) scanned {
	sc := scanned{wordAt: len(src)}
	last := 0
	for t := range tokensOf(src, 0) {
		first, _ := utf8.DecodeRuneInString(src[t.Start:])
		switch {
		case t.openText:
			sc.wordAt, sc.openText = t.Start, true
			return sc
		case t.openName && t.End == len(src):
			sc.wordAt, sc.openName = t.Start, true
			return sc
		case t.openName: // it ends with its line
			t.kind, t.text = tokQuoted, src[t.Start+1:t.End]
		case t.End == len(src) && t.kind != tokQuoted && isNamePart(first):
			sc.wordAt = t.Start
			return sc
		case t.kind == tokString: // with its quotes, so that it is no symbol
			t.text = src[t.Start:t.End]
		}
		sc.tokens = append(sc.tokens, t)
		last = t.End
	}
	blank := src[last:]
	sc.comment = strings.Contains(blank[strings.LastIndexByte(blank, '\n')+1:], "--")
	return sc
}

// clauseWords begin a part of a query.
var clauseWords = []string{"SELECT", "FROM", "WHERE", "ORDER", "LIMIT"}

// scope finds the types and the alias of a query.
func (c *Completer) scope(tokens []readToken) {
	i := slices.IndexFunc(tokens, func(t readToken) bool { return t.is("FROM") })
	if i < 0 {
		return
	}
	for i++; i < len(tokens) && tokens[i].isName() && !tokens[i].is(clauseWords...); i += 2 {
		name := tokens[i].text
		if strings.EqualFold(name, builtInTypes) && i+2 < len(tokens) && tokens[i+1].text == "." && tokens[i+2].isName() {
			i += 2
			name += "." + tokens[i].text
		}
		c.from = append(c.from, name)
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
func (c *Completer) words(tokens []readToken, prefix string) []Suggestion {
	last, clause := readToken{}, ""
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
		return Suggest(c.TypeNames(), prefix, QuoteName)
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
	return Suggest(all, prefix, nil)
}

func (c *Completer) selectWords(last readToken) []string {
	switch {
	case last.text == "(":
		return c.FieldNames(c.from)
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
)

// conditionWords are the words of WHERE: an operand, then an operator, then a
// value, then what joins conditions.
func (c *Completer) conditionWords(tokens []readToken, prefix string) []Suggestion {
	last := tokens[len(tokens)-1]
	switch {
	case last.is("IS"):
		return Suggest([]string{"NULL", "NOT NULL"}, prefix, nil)
	case last.is("STARTS"):
		return Suggest([]string{"WITH "}, prefix, nil)
	case last.is(operators...), last.text == "(" && len(tokens) > 1 && tokens[len(tokens)-2].is("IN"):
		return c.values(tokens, prefix)
	case last.is(operandStart...):
		return c.operands(prefix, true)
	case c.isLeft(tokens):
		return Suggest([]string{
			"CONTAINS ", "STARTS WITH ", "LIKE ", "IN (", "BETWEEN ", "IS NULL", "IS NOT NULL", "NOT IN (",
			"NOT CONTAINS ", "NOT LIKE ",
			"AND ", "OR ", "ORDER BY ", "LIMIT ",
		}, prefix, nil)
	}
	return Suggest([]string{"AND ", "OR ", "ORDER BY ", "LIMIT "}, prefix, nil)
}

// isLeft reports whether the tokens end with a field on the left of an operator
// that is still to come.
func (c *Completer) isLeft(tokens []readToken) bool {
	i := len(tokens)
	for i > 0 && (tokens[i-1].isName() || tokens[i-1].text == ".") && !tokens[i-1].is("WHERE", "AND", "OR", "NOT") {
		i--
	}
	return i > 0 && i < len(tokens) && tokens[i-1].is("WHERE", "AND", "OR", "NOT", "(")
}

// operands are the fields of the query, its alias, and functions.
func (c *Completer) operands(prefix string, condition bool) []Suggestion {
	out := Suggest(c.FieldNames(c.from), prefix, QuoteName)
	var more []string
	if c.alias != "" {
		more = append(more, c.alias+".")
	}
	if condition {
		more = append(append(more, "NOT ", "MATCHES "), functionCalls()...)
	}
	if prefix == "" { // a menu of fields, not of everything
		more = more[:min(len(more), 1)]
	}
	return append(out, Suggest(more, prefix, nil)...)
}

// values are what the field before the operator may be compared with.
func (c *Completer) values(tokens []readToken, prefix string) []Suggestion {
	f, _ := c.fieldBefore(tokens)
	all := []string{"null", "{this}"}
	for _, o := range f.Options {
		all = append(all, quotedText(o, '\''))
	}
	all = append(all, f.Type.Info().Suggest...)
	if f.Type == "" {
		all = append(all, "today()", "now()", "date('", "true", "false")
	}
	return Suggest(all, prefix, nil)
}

// texts are what may stand in quotes: the options of a select, else names of
// entities. begun is what was typed, with the quote.
func (c *Completer) texts(tokens []readToken, begun string) []Suggestion {
	quote, prefix := begun[0], strings.ReplaceAll(begun[1:], begun[:1]+begun[:1], begun[:1])
	f, owners := c.fieldBefore(tokens)
	var names []string
	switch {
	case len(f.Options) > 0:
		for _, o := range f.Options {
			if hasFold(o, prefix) {
				names = append(names, o)
			}
		}
	case f.Type.Info().To == record.ToEntity:
		names = c.Names(prefix, listOf(f.TargetType))
	case f.Type == "":
		names = c.Names(prefix, owners)
	}
	slices.Sort(names)
	out := make([]Suggestion, 0, len(names))
	for _, n := range slices.Compact(names) {
		// A search finds more than what goes on as it was begun.
		if hasFold(n, prefix) {
			out = append(out, Suggestion{Text: quotedText(n, quote), Shown: n})
		}
	}
	return out
}

// listOf returns the list of one type, an empty one for none.
func listOf(target string) []string {
	if target == "" {
		return nil
	}
	return []string{target}
}

// fieldBefore returns the field on the left of the operator that the tokens end
// with, and the types that it is of. The zero field is one of every entity.
func (c *Completer) fieldBefore(tokens []readToken) (f record.Field, owners []string) {
	i := len(tokens)
	for i > 0 && !tokens[i-1].isName() ||
		i > 0 && tokens[i-1].is("NOT", "IN", "STARTS", "WITH", "CONTAINS", "LIKE", "BETWEEN", "AND", "IS") {
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
func (c *Completer) fields(tokens []readToken, prefix string) []Suggestion {
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
		owners = listOf(c.This)
		if len(path) > 1 {
			f, _ := (&Completer{Types: c.Types, from: owners}).lookUp(path[2:])
			owners = listOf(f.TargetType)
		}
	case len(path) > 1 || !strings.EqualFold(path[0].text, c.alias):
		f, _ := c.lookUp(path)
		owners = listOf(f.TargetType)
	}
	if len(owners) == 0 {
		return nil
	}
	return Suggest(c.FieldNames(owners), prefix, QuoteName)
}

// lookUp returns the field that a path leads to, and the types that it is of.
func (c *Completer) lookUp(path []readToken) (f record.Field, owners []string) {
	owners = c.from
	if len(path) > 2 && strings.EqualFold(path[0].text, c.alias) {
		path = path[2:]
	}
	for i := 0; i < len(path); i += 2 {
		if i > 0 {
			owners = listOf(f.TargetType)
		}
		f = record.Field{}
		for _, owner := range owners {
			if t := c.typeOf(owner); t != nil && f.Name == "" {
				f, _ = t.Field(path[i].text)
			}
		}
	}
	return f, owners
}

// typeOf returns the type of a name behind FROM, nil for none: one of the store, else that of the tasks of notes.
func (c *Completer) typeOf(name string) *record.Type {
	if t := c.Types[text.Fold(name)]; t != nil {
		return t
	}
	return record.TypeOfTasks(name)
}

// FieldNames are the fields of types, then those of every entity.
func (c *Completer) FieldNames(types []string) (names []string) {
	for _, name := range types {
		t := c.typeOf(name)
		if t == nil {
			continue
		}
		for _, f := range t.Fields {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return append(names, BuiltIn...)
}

// TypeNames are the names of the types, in order.
func (c *Completer) TypeNames() (names []string) {
	for _, t := range c.Types {
		names = append(names, t.Name)
	}
	if c.Types[text.Fold(record.TaskType.Name)] == nil {
		names = append(names, record.TaskType.Name)
	}
	slices.Sort(names)
	return names
}

// Suggest returns the words that begin with a prefix, written by write.
func Suggest(words []string, prefix string, write func(string) string) (out []Suggestion) {
	for _, w := range words {
		if !hasFold(w, prefix) {
			continue
		}
		s := Suggestion{Text: w}
		if write != nil {
			s = Suggestion{Text: write(w), Shown: w}
		}
		out = append(out, s)
	}
	return out
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) ||
		strings.HasPrefix(text.Fold(s), text.Fold(prefix))
}

// quotedText writes a text as it stands in a query.
func quotedText(s string, quote byte) string {
	q := string(quote)
	return q + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), q, q+q) + q
}
