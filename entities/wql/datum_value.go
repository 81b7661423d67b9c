package wql

// datum_*.go are the values that WQL computes with: their kinds, how they compare, what they
// contain, dates, LIKE, and exact sums. The machine calls them for each row, and an index for
// each stored value; they know nothing of queries, programs or indexes.
//
// # Meaning
//
// Logic is three-valued, as in SQL: what is compared with NULL, or with a value of
// another kind, is truthUnknown. Texts compare after NFC and by code points, a kindChoice (the
// option of a select, the name of a type) without case, numbers, dates and points in
// time as such; a text that is compared with one of these is read as one. A list
// equals whatever shares an item with it.
//
// Dates are counted in days from 1970-01-01 and points in time in microseconds; years
// run from 1 to 9999, and what arithmetic brings outside is NULL.
//
// # Cost and concurrency
//
// A datum is passed by pointer and used again for the next row, so that evaluating a
// row does not allocate. Comparing is O(n) in the lengths of texts and in the items of
// a list; two lists of more than 1,024 pairs are compared over a set. Long work is
// counted by evalScope.Tick, which ends it. Both are for one goroutine.

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// valueKind is the kind of a value.
type valueKind uint8

// Kinds of values.
const (
	kindNull valueKind = iota
	kindText
	kindChoice // of a select, and type names: compared without case
	kindNumber
	kindBool
	kindDate
	kindInstant
	kindRef  // an id, or a link without a target
	kindList // of texts, references, or of whatever a path over many entities gave
	kindAny  // in shapes only: not known before the row is seen
)

// kindNames are the kinds in words, for messages.
var kindNames = [...]string{
	kindNull: "NULL", kindText: "a text", kindChoice: "a select", kindNumber: "a number", kindBool: "a boolean",
	kindDate: "a date", kindInstant: "a point in time", kindRef: "a reference", kindList: "a list", kindAny: "a value",
}

// datum is what an operand is for one row. Values are passed by pointer and
// reused, so that evaluating a row does not allocate.
type datum struct {
	Kind   valueKind
	Elem   valueKind // of strs
	Number float64   // kindNumber
	Int    int64     // kindDate: the day; kindInstant: microseconds; kindBool: 0 or 1
	Day    int64     // kindInstant: the calendar day in the engine's zone
	Text   string    // texts in NFC, references; of a kindNumber that is written otherwise than numbers are, as it is

	Texts []string // kindList: a declared list, shared with the entity
	Items []datum  // kindList: of a path over many entities; used when strs is nil
}

// textValue makes the value of a text, in NFC.
func textValue(s string) datum { return datum{Kind: kindText, Text: toNFC(s)} }

// boolValue makes the value of a truth.
func boolValue(b bool) datum {
	if b {
		return datum{Kind: kindBool, Int: 1}
	}
	return datum{Kind: kindBool}
}

// toNFC is norm.NFC.String with a short way for ASCII.
func toNFC(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(s)
		}
	}
	return s
}

// Len is the number of items of a list.
func (v *datum) Len() int {
	if v.Texts != nil {
		return len(v.Texts)
	}
	return len(v.Items)
}

// Item returns an item of a list.
func (v *datum) Item(i int) datum {
	if v.Texts != nil {
		return datum{Kind: v.Elem, Text: toNFC(v.Texts[i])}
	}
	return v.Items[i]
}

// evalScope is what comparing needs of the run that it is part of.
type evalScope struct {
	Zone *time.Location
	Tick func(steps int) error // counts work; an error ends it
}

// truthValue is a truth value of three-valued logic.
type truthValue int8

// Truth values. They are in order: AND is the least, OR the greatest.
const (
	truthFalse   truthValue = -1
	truthUnknown truthValue = 0
	truthTrue    truthValue = 1
)

func truthOf(b bool) truthValue {
	if b {
		return truthTrue
	}
	return truthFalse
}

// equalValues says whether two values are equal. A list is equal to what shares an
// item with it: membership.
func equalValues(a, b *datum, in *evalScope) truthValue {
	if a.Kind == kindNull || b.Kind == kindNull {
		return truthUnknown
	}
	if t, ok := sharedTexts(a, b, false); ok {
		return t
	}
	if a.Kind == kindList {
		return anyItem(a, in, func(x *datum) truthValue { return equalValues(x, b, in) })
	}
	if b.Kind == kindList {
		return anyItem(b, in, func(x *datum) truthValue { return equalValues(a, x, in) })
	}
	c, ok := compareValues(a, b, in.Zone)
	if !ok {
		return truthUnknown
	}
	return truthOf(c == 0)
}

// containsValue says whether a list has an item, or all items of another list, and
// whether a text has a part.
func containsValue(a, b *datum, in *evalScope) truthValue {
	if a.Kind == kindNull || b.Kind == kindNull {
		return truthUnknown
	}
	if t, ok := sharedTexts(a, b, true); ok {
		return t
	}
	if b.Kind == kindList {
		result := truthTrue
		for i := range b.Len() {
			x := b.Item(i)
			result = min(result, containsValue(a, &x, in))
			if result == truthFalse || in.Tick(1) != nil {
				break
			}
		}
		return result
	}
	if a.Kind == kindList || a.Kind == kindRef {
		return equalValues(a, b, in)
	}
	return inText(a, b, strings.Contains)
}

// startsWith is the prefix of a text and, as CONTAINS is, membership of a list.
func startsWith(a, b *datum, in *evalScope) truthValue {
	if a.Kind == kindList || a.Kind == kindRef || b.Kind == kindList {
		return containsValue(a, b, in)
	}
	if a.Kind == kindNull || b.Kind == kindNull {
		return truthUnknown
	}
	return inText(a, b, strings.HasPrefix)
}

func inText(a, b *datum, test func(s, part string) bool) truthValue {
	s, ok := valueText(a)
	part, ok2 := valueText(b)
	if !ok || !ok2 {
		return truthUnknown
	}
	if a.Kind == kindChoice {
		s, part = entities.Fold(s), entities.Fold(part)
	}
	return truthOf(test(s, part))
}

// manyPairs is the number of pairs of two lists from which they are not compared
// pair by pair when both hold texts and references.
const manyPairs = 1024

// sharedTexts says of two long lists whether they share an item or, when all is
// set, whether the first has every item of the second. ok is false for what is
// no such list.
func sharedTexts(a, b *datum, all bool) (t truthValue, ok bool) {
	if a.Kind != kindList || b.Kind != kindList || a.Len()*b.Len() < manyPairs {
		return 0, false
	}
	set := make(map[string]struct{}, a.Len())
	for i := range a.Len() {
		x := a.Item(i)
		if x.Kind != kindText && x.Kind != kindRef {
			return 0, false
		}
		set[x.Text] = struct{}{}
	}
	t = truthOf(all)
	for i := range b.Len() {
		x := b.Item(i)
		if x.Kind != kindText && x.Kind != kindRef {
			return 0, false
		}
		if _, has := set[x.Text]; has != all {
			t = truthOf(!all)
		}
	}
	return t, true
}

// anyItem looks at the context as it goes: a list of a list may be long.
func anyItem(list *datum, in *evalScope, test func(x *datum) truthValue) truthValue {
	result := truthFalse
	var x datum
	for i := range list.Len() {
		x = list.Item(i)
		result = max(result, test(&x))
		if result == truthTrue || in.Tick(1) != nil {
			break
		}
	}
	return result
}

// compareValues orders two values that are neither NULL nor lists. ok is false when
// they have no common kind, which makes a comparison UNKNOWN. References have
// an order here only to be told apart; the operators < <= > >= refuse them.
func compareValues(a, b *datum, loc *time.Location) (c int, ok bool) {
	if a.Kind > b.Kind {
		c, ok = compareValues(b, a, loc)
		return -c, ok
	}
	switch a.Kind {
	case kindText, kindChoice:
		return compareText(a, b, loc)
	case kindNumber:
		return cmp.Compare(a.Number, b.Number), b.Kind == kindNumber
	case kindBool:
		return cmp.Compare(a.Int, b.Int), b.Kind == kindBool
	case kindDate:
		if b.Kind == kindInstant {
			return cmp.Compare(a.Int, b.Day), true
		}
		return cmp.Compare(a.Int, b.Int), b.Kind == kindDate
	case kindInstant:
		return cmp.Compare(a.Int, b.Int), b.Kind == kindInstant
	case kindRef:
		return strings.Compare(a.Text, b.Text), b.Kind == kindRef
	}
	return 0, false
}

// compareText compares a text with a value of the same or a later kind: the
// text is read as what the other one is.
func compareText(a, b *datum, loc *time.Location) (int, bool) {
	switch b.Kind {
	case kindText, kindRef:
		return strings.Compare(a.Text, b.Text), true
	case kindChoice:
		return compareChoice(a.Text, b.Text), true
	case kindNumber:
		n, ok := parseNumber(a.Text)
		return cmp.Compare(n, b.Number), ok
	case kindBool:
		n, ok := parseBool(a.Text)
		return cmp.Compare(n, b.Int), ok
	case kindDate, kindInstant:
		t, ok := parseTime(a.Text, loc)
		if !ok {
			return 0, false
		}
		return compareValues(&t, b, loc)
	}
	return 0, false
}

// compareChoice orders two texts by their folds, those of ASCII without making
// them.
func compareChoice(a, b string) int {
	if a == b {
		return 0
	}
	if !isASCII(a) || !isASCII(b) {
		return strings.Compare(entities.Fold(a), entities.Fold(b))
	}
	for i := range min(len(a), len(b)) {
		if x, y := lowerASCII(a[i]), lowerASCII(b[i]); x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// isASCII reports whether a text has no character beyond ASCII.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// parseNumber reads a text as a finite number.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '-' && s[0] != '+' && s[0] != '.' && !syntax.IsDigit(s[0]) {
		return 0, false // no Inf, no NaN
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// parseBool reads true and false, in any case, as 1 and 0.
func parseBool(s string) (int64, bool) {
	switch entities.Fold(strings.TrimSpace(s)) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// valueText returns the text of a value that has one: not of NULL and lists.
func valueText(v *datum) (string, bool) {
	switch v.Kind {
	case kindText, kindChoice, kindRef:
		return v.Text, true
	case kindNumber:
		if v.Text != "" {
			return v.Text, true
		}
		return record.FormatNumber(v.Number), true
	case kindBool:
		return strconv.FormatBool(v.Int == 1), true
	case kindDate:
		return formatDay(v.Int), true
	case kindInstant:
		return time.UnixMicro(v.Int).UTC().Format(time.RFC3339Nano), true
	}
	return "", false
}

// Wire returns a value as it is handed out: float64, bool, string or nil.
func (v *datum) Wire() any {
	switch v.Kind {
	case kindNumber:
		if v.Text != "" { // written otherwise
			return v.Text
		}
		return v.Number
	case kindBool:
		return v.Int == 1
	}
	if s, ok := valueText(v); ok {
		return s
	}
	return nil
}

// Orderable reports whether < and > have a meaning for values of the kind.
func (k valueKind) Orderable() bool {
	return k == kindText || k == kindChoice || k == kindNumber || k == kindBool || k == kindDate || k == kindInstant
}
