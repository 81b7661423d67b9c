package wql

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
)

// kind is the kind of a value.
type kind uint8

const (
	kindNull kind = iota
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

var kindNames = [...]string{
	kindNull: "NULL", kindText: "a text", kindChoice: "a select", kindNumber: "a number", kindBool: "a boolean",
	kindDate: "a date", kindInstant: "a point in time", kindRef: "a reference", kindList: "a list", kindAny: "a value",
}

// value is what an operand is for one row. Values are passed by pointer and
// reused, so that evaluating a row does not allocate.
type value struct {
	kind kind
	elem kind    // of strs
	n    float64 // kindNumber
	i    int64   // kindDate: the day; kindInstant: microseconds; kindBool: 0 or 1
	day  int64   // kindInstant: the calendar day in the engine's zone
	s    string  // texts in NFC, references

	strs  []string // kindList: a declared list, shared with the entity
	items []value  // kindList: of a path over many entities; used when strs is nil
}

func textValue(s string) value { return value{kind: kindText, s: nfc(s)} }

func boolValue(b bool) value {
	if b {
		return value{kind: kindBool, i: 1}
	}
	return value{kind: kindBool}
}

// nfc is norm.NFC.String with a short way for ASCII.
func nfc(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(s)
		}
	}
	return s
}

// length is the number of items of a list.
func (v *value) length() int {
	if v.strs != nil {
		return len(v.strs)
	}
	return len(v.items)
}

// item returns an item of a list.
func (v *value) item(i int) value {
	if v.strs != nil {
		return value{kind: v.elem, s: nfc(v.strs[i])}
	}
	return v.items[i]
}

// tri is a truth value of three-valued logic.
type tri int8

const (
	isFalse   tri = -1
	isUnknown tri = 0
	isTrue    tri = 1
)

func truth(b bool) tri {
	if b {
		return isTrue
	}
	return isFalse
}

// equal says whether two values are equal. A list is equal to what shares an
// item with it: membership.
func equal(a, b *value, m *machine) tri {
	if a.kind == kindNull || b.kind == kindNull {
		return isUnknown
	}
	if t, ok := sharedTexts(a, b, false); ok {
		return t
	}
	if a.kind == kindList {
		return anyItem(a, m, func(x *value) tri { return equal(x, b, m) })
	}
	if b.kind == kindList {
		return anyItem(b, m, func(x *value) tri { return equal(a, x, m) })
	}
	c, ok := compare(a, b, m.loc)
	if !ok {
		return isUnknown
	}
	return truth(c == 0)
}

// contains says whether a list has an item, or all items of another list, and
// whether a text has a part.
func contains(a, b *value, m *machine) tri {
	if a.kind == kindNull || b.kind == kindNull {
		return isUnknown
	}
	if t, ok := sharedTexts(a, b, true); ok {
		return t
	}
	if b.kind == kindList {
		result := isTrue
		for i := range b.length() {
			x := b.item(i)
			if result = min(result, contains(a, &x, m)); result == isFalse || m.tick(1) != nil {
				break
			}
		}
		return result
	}
	if a.kind == kindList || a.kind == kindRef {
		return equal(a, b, m)
	}
	return inText(a, b, strings.Contains)
}

// startsWith is the prefix of a text and, as CONTAINS is, membership of a list.
func startsWith(a, b *value, m *machine) tri {
	if a.kind == kindList || a.kind == kindRef || b.kind == kindList {
		return contains(a, b, m)
	}
	if a.kind == kindNull || b.kind == kindNull {
		return isUnknown
	}
	return inText(a, b, strings.HasPrefix)
}

func inText(a, b *value, test func(s, part string) bool) tri {
	s, ok := textOf(a)
	part, ok2 := textOf(b)
	if !ok || !ok2 {
		return isUnknown
	}
	if a.kind == kindChoice {
		s, part = entities.Fold(s), entities.Fold(part)
	}
	return truth(test(s, part))
}

// manyPairs is the number of pairs of two lists from which they are not compared
// pair by pair when both hold texts and references.
const manyPairs = 1024

// sharedTexts says of two long lists whether they share an item or, when all is
// set, whether the first has every item of the second. ok is false for what is
// no such list.
func sharedTexts(a, b *value, all bool) (t tri, ok bool) {
	if a.kind != kindList || b.kind != kindList || a.length()*b.length() < manyPairs {
		return 0, false
	}
	set := make(map[string]struct{}, a.length())
	for i := range a.length() {
		x := a.item(i)
		if x.kind != kindText && x.kind != kindRef {
			return 0, false
		}
		set[x.s] = struct{}{}
	}
	t = truth(all)
	for i := range b.length() {
		x := b.item(i)
		if x.kind != kindText && x.kind != kindRef {
			return 0, false
		}
		if _, has := set[x.s]; has != all {
			t = truth(!all)
		}
	}
	return t, true
}

// anyItem looks at the context as it goes: a list of a list may be long.
func anyItem(list *value, m *machine, test func(x *value) tri) tri {
	result := isFalse
	var x value
	for i := range list.length() {
		x = list.item(i)
		if result = max(result, test(&x)); result == isTrue || m.tick(1) != nil {
			break
		}
	}
	return result
}

// compare orders two values that are neither NULL nor lists. ok is false when
// they have no common kind, which makes a comparison UNKNOWN. References have
// an order here only to be told apart; the operators < <= > >= refuse them.
func compare(a, b *value, loc *time.Location) (c int, ok bool) {
	if a.kind > b.kind {
		c, ok = compare(b, a, loc)
		return -c, ok
	}
	switch a.kind {
	case kindText, kindChoice:
		return compareText(a, b, loc)
	case kindNumber:
		return cmp.Compare(a.n, b.n), b.kind == kindNumber
	case kindBool:
		return cmp.Compare(a.i, b.i), b.kind == kindBool
	case kindDate:
		if b.kind == kindInstant {
			return cmp.Compare(a.i, b.day), true
		}
		return cmp.Compare(a.i, b.i), b.kind == kindDate
	case kindInstant:
		return cmp.Compare(a.i, b.i), b.kind == kindInstant
	case kindRef:
		return strings.Compare(a.s, b.s), b.kind == kindRef
	}
	return 0, false
}

// compareText compares a text with a value of the same or a later kind: the
// text is read as what the other one is.
func compareText(a, b *value, loc *time.Location) (int, bool) {
	switch b.kind {
	case kindText, kindRef:
		return strings.Compare(a.s, b.s), true
	case kindChoice:
		return compareChoice(a.s, b.s), true
	case kindNumber:
		n, ok := parseNumber(a.s)
		return cmp.Compare(n, b.n), ok
	case kindBool:
		n, ok := parseBool(a.s)
		return cmp.Compare(n, b.i), ok
	case kindDate, kindInstant:
		t, ok := parseTime(a.s, loc)
		if !ok {
			return 0, false
		}
		return compare(&t, b, loc)
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

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '-' && s[0] != '+' && s[0] != '.' && !isDigit(s[0]) {
		return 0, false // no Inf, no NaN
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

func parseBool(s string) (int64, bool) {
	switch entities.Fold(strings.TrimSpace(s)) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// textOf returns the text of a value that has one: not of NULL and lists.
func textOf(v *value) (string, bool) {
	switch v.kind {
	case kindText, kindChoice, kindRef:
		return v.s, true
	case kindNumber:
		return entities.FormatNumber(v.n), true
	case kindBool:
		return strconv.FormatBool(v.i == 1), true
	case kindDate:
		return formatDay(v.i), true
	case kindInstant:
		return time.UnixMicro(v.i).UTC().Format(time.RFC3339Nano), true
	}
	return "", false
}

// wire returns a value as it is handed out: float64, bool, string or nil.
func (v *value) wire() any {
	switch v.kind {
	case kindNumber:
		return v.n
	case kindBool:
		return v.i == 1
	}
	if s, ok := textOf(v); ok {
		return s
	}
	return nil
}

// orderable reports whether < and > have a meaning for values of the kind.
func (k kind) orderable() bool {
	return k == kindText || k == kindChoice || k == kindNumber || k == kindBool || k == kindDate || k == kindInstant
}
