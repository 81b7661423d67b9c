package search

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
)

// maxTerms is how many words of a query count.
const maxTerms = 32

// maxParts is how many phrases, exclusions and filters of a query count, of each;
// every document that comes into question is held against them.
const maxParts = 256

// maxQuery is how many bytes of a query are read: nobody types more, and of a
// message that was pasted the first words count anyway. It takes a few
// milliseconds, in which nobody can withdraw it.
const maxQuery = 64 << 10

// maxAsked is how many bytes of a query its meaning is looked for in, at least.
const maxAsked = 16 << 10

// query is what a query text asks for.
type query struct {
	words   []string   // folded, each once: any of them
	prefix  string     // the one of words that may be the beginning of a word; "" for none
	phrases [][]string // folded: all of them, each word behind the other
	without [][]string // none of these words and phrases

	filters []filter
	// properties are the filters by properties, and meetsProperties are which of them
	// documents meet, as bits.
	properties      []propertyFilter
	meetsProperties map[text.Doc]uint8
	problems        []Problem
	ignored         []string // words that say nothing, where others do

	text  string // of the words outside phrases and those within, as they were written
	plain int    // parts of the query that are words, neither quoted nor names

	seen    map[string]bool // words
	parts   map[string]bool // phrases, exclusions and filters, as they were written
	telling int             // words that are not frequent
	symbols int             // of words
	last    string          // that was added
}

// filter is a filter of the query text.
type filter struct {
	text   string // as it was written
	not    bool
	test   func(text.Doc) bool
	reason func(text.Doc) string // why a document meets it; nil: it shows that itself

	key, value string
}

// frequent are words that say nothing about what is looked for; they count only when a
// query has no others, and so do the symbols of ASCII: they mostly are signs of a language.
var frequent = setOf(`a an and are as at be but by did do does for from had has have how if in into is it
		its no not of on or shall so that the their them then there these they this to was were what when where which
		who why will with`)

// saysNothing reports whether a word counts only when a query has no others.
func saysNothing(w string) bool { return frequent[w] || text.IsPlainSymbol(w) }

// IsInformative reports whether a folded word says something of what is looked for.
func IsInformative(w string) bool { return !saysNothing(w) && !slight[w] }

// Operators are what a query may filter by, beside before: and after:. A Source has them.
type Operators interface {
	// Filters are their names, such as tag for tag:work.
	Filters() []string
	// Filter is the test for one with a value; nil for a value that means nothing.
	Filter(operator, value string) func(text.Doc) bool
}

// parser reads one query.
type parser struct {
	*query
	ops   Operators
	now   time.Time // of which the calendar says what a date means
	kind  string    // what a document is called
	split text.Splitter

	// properties are the names of properties that documents have, by their folds; nil while
	// they are not known, and then asked are the names that might be some.
	properties map[string]string
	asked      []string
}

// parse reads a query without properties; see parser.parse.
func parse(ops Operators, text string, plain bool) *query {
	p := parser{ops: ops, now: time.Now()}
	return p.parse(text, plain)
}

// parse reads a query: words, "phrases", -without, operators such as tag:, before: and
// after:, and properties. Nothing is an error: what can't be read as more is words, and a
// problem if it looks like more. plain takes all of it for words that are complete, as in a
// message to a person.
func (r *parser) parse(s string, plain bool) *query {
	q := &query{
		seen: make(map[string]bool), parts: make(map[string]bool), meetsProperties: make(map[text.Doc]uint8),
	}
	r.query = q
	if len(s) > maxQuery {
		end := maxQuery
		for end > maxQuery-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	if plain {
		q.text = s
		if r.add(s) {
			q.plain = 1
		}
		q.choose(false)
		return q
	}
	typing := false // the last word
	for rest := s; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		var next piece
		next, rest = r.cutPiece(rest)
		typing = r.read(next) && rest == ""
	}
	q.choose(typing)
	return q
}

// piece is one part of a query between blanks.
type piece struct {
	not    bool
	key    string // before a colon
	value  string
	quoted bool
}

// cutPiece cuts the first piece off a query that begins with no blank.
func (r *parser) cutPiece(s string) (p piece, rest string) {
	if s[0] == '-' && len(s) > 1 {
		if r, _ := utf8.DecodeRuneInString(s[1:]); !unicode.IsSpace(r) && r != '-' {
			p.not, s = true, s[1:]
		}
	}
	p.key = r.keyOf(s)
	if p.key != "" {
		s = s[strings.IndexByte(s, ':')+1:]
	}
	if first, size := utf8.DecodeRuneInString(s); isQuote(first) {
		p.quoted = true
		s = s[size:]
		end := strings.IndexFunc(s, isQuote)
		if end < 0 { // it is still being typed
			p.value = s
			r.problem(string(first)+s, "the quotation mark has no end", "")
			return p, ""
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		p.value = s[:end]
		return p, s[end+size:]
	}
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 {
		end = len(s)
	}
	p.value = s[:end]
	return p, s[end:]
}

// text writes a filter.
func (p *piece) text() string {
	text := p.key + ":" + p.value
	if strings.ContainsFunc(p.value, unicode.IsSpace) {
		text = p.key + `:"` + p.value + `"`
	}
	if p.not {
		text = "-" + text
	}
	return text
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

func (r *parser) isOperator(word string) bool {
	return isDate(word) || slices.Contains(r.ops.Filters(), word)
}

// isReasoned reports whether an operator has reasons, and so may stand without a value.
func (r *parser) isReasoned(operator string) bool {
	of, ok := r.ops.(text.ReasonSource)
	return ok && slices.Contains(of.Reasoned(), operator)
}

// isDate reports whether the value of an operator is a date.
func isDate(operator string) bool { return operator == "before" || operator == "after" }

// read takes a piece in and reports whether it has added words.
func (r *parser) read(p piece) (added bool) {
	if p.key != "" {
		if test := r.testFor(p.key, p.value); test != nil {
			if text := p.text(); len(r.filters) < maxParts && r.isNew("", text) {
				r.filters = append(r.filters, filter{text: text, not: p.not, test: test, key: p.key, value: p.value})
			}
			return false
		}
		r.refuse(p)
		p.value = p.key + " " + p.value // it is words
	}
	switch {
	case p.not:
		if list := phraseOf(&r.split, p.value); len(list) > 0 && len(r.without) < maxParts && r.isNew("-", list...) {
			r.without = append(r.without, list)
		}
		return false
	case p.quoted:
		r.write(p.value)
		if list := phraseOf(&r.split, p.value); len(list) > 0 {
			if len(r.phrases) < maxParts && r.isNew("+", list...) {
				r.phrases = append(r.phrases, list)
			}
			for _, w := range list {
				r.addWord(w)
			}
		}
		return false
	}
	r.write(p.value)
	added = r.add(p.value)
	if added && !isName(p.value) {
		r.plain++
	}
	return added
}

// isNew reports whether a part of a kind was not there before.
func (q *query) isNew(kind string, words ...string) bool {
	part := kind + strings.Join(words, "\x00")
	old := q.parts[part]
	q.parts[part] = true
	return !old
}

// write notes what was asked, for its meaning.
func (q *query) write(text string) {
	if len(q.text) >= maxAsked {
		return
	}
	if q.text != "" {
		q.text += " "
	}
	q.text += text
}

// add adds the words of a text.
func (r *parser) add(words string) (added bool) {
	r.split.Split(words, func(t text.Token) {
		if !t.Last { // it is in the pair before
			r.addWord(string(t.Text))
			added = true
		}
	})
	return added
}

// addWord adds a word, if it is new and one of the first.
func (q *query) addWord(w string) {
	q.last = w
	if q.seen[w] || q.telling == maxTerms || len(q.words) >= 4*maxTerms {
		return
	}
	q.seen[w] = true
	q.words = append(q.words, w)
	if !saysNothing(w) {
		q.telling++
	}
}

// phraseOf returns the words of a phrase in order.
func phraseOf(s *text.Splitter, phrase string) (list []string) {
	s.Split(phrase, func(t text.Token) {
		if !t.Last && len(list) < maxTerms {
			list = append(list, string(t.Text))
		}
	})
	return list
}

// choose drops the words that say nothing, if there are others. typing says
// that the last word may go on.
func (q *query) choose(typing bool) {
	if q.telling > 0 {
		q.words = slices.DeleteFunc(q.words, func(w string) bool {
			if frequent[w] {
				q.ignored = append(q.ignored, w)
			}
			return saysNothing(w)
		})
	}
	q.words = q.words[:min(len(q.words), maxTerms)]
	for _, w := range q.words {
		if text.IsSymbol(w) {
			q.symbols++
		}
	}
	if typing && !saysNothing(q.last) && slices.Contains(q.words, q.last) {
		q.prefix = q.last
	}
}

// testFor returns the test of an operator, nil when the value means nothing.
func (r *parser) testFor(operator, value string) func(text.Doc) bool {
	if !r.isOperator(operator) {
		return r.propertyTest(operator, value)
	}
	if r.isReasoned(operator) {
		return func(text.Doc) bool { return false } // until reasons are known
	}
	if !isDate(operator) {
		return r.ops.Filter(operator, value)
	}
	at, ok := Moment(value, r.now)
	if !ok {
		return nil
	}
	if operator == "before" {
		return func(d text.Doc) bool { return d.UpdatedAt().Before(at) }
	}
	return func(d text.Doc) bool { return !d.UpdatedAt().Before(at) }
}

// SnippetSize is the length of a snippet in code points.
const SnippetSize = text.SnippetSize

// Matcher finds the words of a query in a text.
type Matcher = text.Matcher

// NewMatcher returns the Matcher of a query. It knows no index: words with
// mistakes do not match.
func NewMatcher(ops Operators, query string) *Matcher {
	m := text.NewMatcher(text.StemEnglish)
	parse(ops, query, false).matchIn(m)
	return m
}

// matchIn has the words of the query match.
func (q *query) matchIn(m *Matcher) {
	for _, w := range q.words {
		m.AddWord(w)
		if q.prefix == w || text.IsCharacter(w) {
			m.AddPrefix(w)
		}
	}
}
