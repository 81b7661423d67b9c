package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	entitiestext "github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/entities/yield"
)

const (
	// maxProblems is how many problems of a query are told.
	maxProblems = 10
	// maxProperties is how many filters of a query may be by properties: each document is
	// read for them.
	maxProperties = 8
	// maxKey is how many bytes the name of an operator or property has in a query.
	maxKey = 64
)

// Problem is a part of a query that may have been meant in another way than it was read.
type Problem struct {
	Text    string // as it was written
	Message string
	Nearest string // what to write instead; "" when nothing is near
}

func (q *query) problem(text, message, nearest string) {
	p := Problem{text, message, nearest}
	if len(q.problems) < maxProblems && !slices.Contains(q.problems, p) {
		q.problems = append(q.problems, p)
	}
}

// Moment reads a date as queries do, by the clock of the index; see the function.
func (x *Index) Moment(text string) (time.Time, bool) { return Moment(text, x.now()) }

func (x *Index) now() time.Time {
	if x.opts.Now == nil {
		return time.Now()
	}
	return x.opts.Now()
}

// reading is a query that was read, and its text: one search needs it several times.
type reading struct {
	text  string
	plain bool
	query *query
}

// parse reads the query of a request. A query with names that are no operators reads the
// properties of all documents. O(query), and then O(documents).
func (x *Index) parse(ctx context.Context, req *Request) (*query, error) {
	if r := req.reading; r != nil && r.text == req.Query && r.plain == req.Plain {
		return r.query, nil
	}
	p := parser{ops: x.src, now: x.now(), kind: x.src.Kind().One}
	q := p.parse(req.Query, req.Plain)
	docs := documents{of: x, public: req.Public}
	if len(p.asked) > 0 {
		var err error
		p = parser{ops: x.src, now: p.now, kind: p.kind}
		p.properties, err = docs.properties(ctx)
		if err != nil {
			return nil, err
		}
		q = p.parse(req.Query, req.Plain)
	}
	err := docs.findReasons(ctx, q)
	if err == nil {
		err = docs.matchProperties(ctx, q)
	}
	if err == nil {
		err = docs.checkValues(ctx, q, req.Values)
	}
	req.reading = &reading{req.Query, req.Plain, q}
	return q, err
}

// keyOf returns the name before the colon of a piece of a query, folded: of an operator, or
// of a property that a document has. A name that is neither is a problem if it looks as if
// it were meant so.
func (r *parser) keyOf(s string) string {
	at := strings.IndexByte(s, ':')
	if at < 1 || at > maxKey {
		return ""
	}
	name, value := s[:at], s[at+1:]
	key := strings.ToLower(name)
	if first, _ := utf8.DecodeRuneInString(value); value == "" || unicode.IsSpace(first) {
		if r.isReasoned(key) && len(r.words) == 0 { // behind words it is one: "what to do in a conflict: merge"
			return key
		}
		return ""
	}
	if r.isOperator(key) {
		return key
	}
	if !isKey(name) || strings.ContainsAny(value[:1], `/\:`) { // 12:30, http://x, C:\x, std::x
		return ""
	}
	key = entities.Fold(name)
	if r.properties == nil {
		r.asked = append(r.asked, key)
		return ""
	}
	if r.properties[key] != "" {
		return key
	}
	r.suspect(name, s[:at+1+endOfValue(value)])
	return ""
}

// refuse reports an operator with a value that it can't have.
func (r *parser) refuse(p piece) {
	text := p.text()
	if !isDate(p.key) {
		if !r.isOperator(p.key) {
			r.problem(text, "a query has filters by at most 8 properties", "")
		}
		return
	}
	near := ""
	if list := syntax.Nearest(p.value, []string{"today", "yesterday"}); len(list) > 0 {
		p.value = list[0]
		near = p.text()
	}
	r.problem(text, p.key+": takes a date such as "+Dates, near)
}

// suspect reports a name that is neither an operator nor a property. What people write with
// a colon beside that is left alone: addresses, numbers, labels in capitals.
func (r *parser) suspect(name, text string) {
	if slices.Contains(schemes, strings.ToLower(name)) {
		return
	}
	value := text[len(name)+1:]
	names := append([]string{"before", "after"}, r.ops.Filters()...)
	for _, property := range r.properties {
		names = append(names, property)
	}
	near := ""
	if list := syntax.Nearest(name, names); len(list) > 0 {
		near = list[0] + ":" + value
	}
	first, _ := utf8.DecodeRuneInString(value)
	label := name == strings.ToUpper(name) || strings.ContainsFunc(name, isNotASCII)
	address := strings.ContainsAny(value, ":@/")
	word := unicode.IsLetter(first) || isQuote(first) || first == '#' || first == '['
	if (label || address || !word) && (near == "" || len(name) < 4) { // short names are like many
		return
	}
	r.problem(text, "there is no filter "+name+":, and no "+r.kind+" has a property of that name", near)
}

// schemes are what people write before a colon with a word behind it.
var schemes = []string{
	"aw", "arxiv", "data", "doi", "fw", "fwd", "geo", "isbn", "javascript", "magnet", "mailto", "re", "sms", "tel", "urn",
	"wg",
}

func isNotASCII(r rune) bool { return r >= utf8.RuneSelf }

// isKey reports whether a text can be the name of a property in a query.
func isKey(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-' && r != '_') {
			return false
		}
	}
	return utf8.RuneCountInString(s) > 1
}

// endOfValue is the length of the value that a text begins with, quotation marks included.
func endOfValue(s string) int {
	if r, size := utf8.DecodeRuneInString(s); isQuote(r) {
		if end := strings.IndexFunc(s[size:], isQuote); end >= 0 {
			_, last := utf8.DecodeRuneInString(s[size+end:])
			return size + end + last
		}
	}
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return end
	}
	return len(s)
}

// propertyFilter is a filter by a property, which all documents are read for at once.
type propertyFilter struct {
	key, value string // folded
}

// meets reports whether a document has the property with the value.
func (f propertyFilter) meets(of text.PropertySource, d text.Doc) (found bool) {
	of.Properties(d, func(name string, values []string) bool {
		found = entities.Fold(name) == f.key &&
			slices.ContainsFunc(values, func(v string) bool { return entities.Fold(v) == f.value })
		return !found
	})
	return found
}

// documents are those that a reader sees.
type documents struct {
	of     *Index
	public bool
	list   []text.Doc
}

// all returns the documents as the reader sees them.
func (d *documents) all() []text.Doc {
	if d.list == nil {
		d.list = d.of.words.Docs(d.public)
	}
	return d.list
}

// properties returns the names of the properties of all documents, by their folds.
func (d *documents) properties(ctx context.Context) (map[string]string, error) {
	names := make(map[string]string)
	of, ok := d.of.src.(text.PropertySource)
	if !ok {
		return names, nil
	}
	written := make(map[string]bool) // so that each is folded once
	for _, doc := range d.all() {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		of.Properties(doc, func(name string, _ []string) bool {
			if !written[name] {
				written[name] = true
				key, name := entities.Fold(name), strings.ToLower(name)
				if names[key] == "" || name < names[key] {
					names[key] = name
				}
			}
			return true
		})
	}
	return names, nil
}

// matchProperties finds out which documents meet the filters by properties, so that the
// search need not read them with its lock.
func (d *documents) matchProperties(ctx context.Context, q *query) error {
	if len(q.properties) == 0 {
		return nil
	}
	of := d.of.src.(text.PropertySource)
	for _, doc := range d.all() {
		if err := yield.Point(ctx); err != nil {
			return err
		}
		met := uint8(0)
		for i, f := range q.properties {
			if f.meets(of, doc) {
				met |= 1 << i
			}
		}
		q.meetsProperties[doc] = met
	}
	return nil
}

// findReasons makes the tests of filters whose operators have reasons.
func (d *documents) findReasons(ctx context.Context, q *query) error {
	of, ok := d.of.src.(text.ReasonSource)
	for i := range q.filters {
		f := &q.filters[i]
		if !ok || !slices.Contains(of.Reasoned(), f.key) {
			continue
		}
		reason, err := of.Reasons(ctx, f.key, f.value, d.public)
		if err != nil {
			return err
		}
		f.reason, f.test = reason, func(doc text.Doc) bool { return reason(doc) != "" }
	}
	return nil
}

// showReason has a hit show why the first filter that has reasons let it through; false: there is none.
func (q *query) showReason(h *Hit) bool {
	for _, f := range q.filters {
		if f.reason != nil && !f.not {
			h.Snippet, h.Ranges = entitiestext.OneLine(f.reason(h.Doc)), [][2]int{}
			return true
		}
	}
	return false
}

// propertyTest returns the test of a filter by a property. Documents that were changed
// meanwhile are read.
func (r *parser) propertyTest(key, value string) func(text.Doc) bool {
	of, ok := r.ops.(text.PropertySource)
	f := propertyFilter{key, entities.Fold(value)}
	i := slices.Index(r.query.properties, f)
	if !ok || i < 0 && len(r.query.properties) == maxProperties {
		return nil
	}
	if i < 0 {
		i = len(r.query.properties)
		r.query.properties = append(r.query.properties, f)
	}
	met := r.meetsProperties
	return func(d text.Doc) bool {
		if m, known := met[d]; known {
			return m>>i&1 == 1
		}
		return f.meets(of, d)
	}
}

// checkValues reports filters such as type: with a value that no document has, of the query
// and of the request.
func (d *documents) checkValues(ctx context.Context, q *query, wanted map[string][]string) error {
	of, ok := d.of.src.(text.ValueSource)
	if !ok {
		return nil
	}
	filters := q.filters
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		for _, value := range wanted[key] {
			p := piece{key: key, value: value}
			filters = append(slices.Clip(filters), filter{text: p.text(), test: d.of.src.Filter(key, value), key: key, value: value})
		}
	}
	for _, f := range filters[:min(len(filters), maxProblems)] {
		if !slices.Contains(of.Valued(), f.key) {
			continue
		}
		values, found, err := d.values(ctx, of, &f)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		near := ""
		if list := syntax.Nearest(f.value, values); len(list) > 0 {
			p := piece{not: f.not, key: f.key, value: list[0]}
			near = p.text()
		}
		q.problem(f.text, "there is no "+d.of.src.Kind().One+" of "+f.key+" "+f.value, near)
	}
	return nil
}

// values returns the values that documents have of an operator, or that one meets a filter.
func (d *documents) values(ctx context.Context, of text.ValueSource, f *filter) (list []string, found bool, err error) {
	seen := make(map[string]bool)
	for i, doc := range d.all() {
		if err := yield.Every(ctx, 64, i); err != nil {
			return nil, false, err
		}
		if f.test(doc) {
			return nil, true, nil
		}
		if v := of.Value(f.key, doc); v != "" && !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return list, false, nil
}
