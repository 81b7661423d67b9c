package datum

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

// Kind is the kind of a value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	TextKind
	Choice // of a select, and type names: compared without case
	Number
	BoolKind
	Date
	InstantKind
	Ref  // an id, or a link without a target
	List // of texts, references, or of whatever a path over many entities gave
	Any  // in shapes only: not known before the row is seen
)

// KindNames are the kinds in words, for messages.
var KindNames = [...]string{
	Null: "NULL", TextKind: "a text", Choice: "a select", Number: "a number", BoolKind: "a boolean",
	Date: "a date", InstantKind: "a point in time", Ref: "a reference", List: "a list", Any: "a value",
}

// Value is what an operand is for one row. Values are passed by pointer and
// reused, so that evaluating a row does not allocate.
type Value struct {
	Kind   Kind
	Elem   Kind    // of strs
	Number float64 // kindNumber
	Int    int64   // kindDate: the day; kindInstant: microseconds; kindBool: 0 or 1
	Day    int64   // kindInstant: the calendar day in the engine's zone
	Text   string  // texts in NFC, references

	Texts []string // kindList: a declared list, shared with the entity
	Items []Value  // kindList: of a path over many entities; used when strs is nil
}

// Text makes the value of a text, in NFC.
func Text(s string) Value { return Value{Kind: TextKind, Text: NFC(s)} }

// Bool makes the value of a truth.
func Bool(b bool) Value {
	if b {
		return Value{Kind: BoolKind, Int: 1}
	}
	return Value{Kind: BoolKind}
}

// NFC is norm.NFC.String with a short way for ASCII.
func NFC(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(s)
		}
	}
	return s
}

// Len is the number of items of a list.
func (v *Value) Len() int {
	if v.Texts != nil {
		return len(v.Texts)
	}
	return len(v.Items)
}

// Item returns an item of a list.
func (v *Value) Item(i int) Value {
	if v.Texts != nil {
		return Value{Kind: v.Elem, Text: NFC(v.Texts[i])}
	}
	return v.Items[i]
}

// Scope is what comparing needs of the run that it is part of.
type Scope struct {
	Zone *time.Location
	Tick func(steps int) error // counts work; an error ends it
}

// Truth is a truth value of three-valued logic.
type Truth int8

// Truth values. They are in order: AND is the least, OR the greatest.
const (
	False   Truth = -1
	Unknown Truth = 0
	True    Truth = 1
)

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Equal says whether two values are equal. A list is equal to what shares an
// item with it: membership.
func Equal(a, b *Value, in *Scope) Truth {
	if a.Kind == Null || b.Kind == Null {
		return Unknown
	}
	if t, ok := sharedTexts(a, b, false); ok {
		return t
	}
	if a.Kind == List {
		return AnyItem(a, in, func(x *Value) Truth { return Equal(x, b, in) })
	}
	if b.Kind == List {
		return AnyItem(b, in, func(x *Value) Truth { return Equal(a, x, in) })
	}
	c, ok := Compare(a, b, in.Zone)
	if !ok {
		return Unknown
	}
	return truthOf(c == 0)
}

// Contains says whether a list has an item, or all items of another list, and
// whether a text has a part.
func Contains(a, b *Value, in *Scope) Truth {
	if a.Kind == Null || b.Kind == Null {
		return Unknown
	}
	if t, ok := sharedTexts(a, b, true); ok {
		return t
	}
	if b.Kind == List {
		result := True
		for i := range b.Len() {
			x := b.Item(i)
			result = min(result, Contains(a, &x, in))
			if result == False || in.Tick(1) != nil {
				break
			}
		}
		return result
	}
	if a.Kind == List || a.Kind == Ref {
		return Equal(a, b, in)
	}
	return inText(a, b, strings.Contains)
}

// StartsWith is the prefix of a text and, as CONTAINS is, membership of a list.
func StartsWith(a, b *Value, in *Scope) Truth {
	if a.Kind == List || a.Kind == Ref || b.Kind == List {
		return Contains(a, b, in)
	}
	if a.Kind == Null || b.Kind == Null {
		return Unknown
	}
	return inText(a, b, strings.HasPrefix)
}

func inText(a, b *Value, test func(s, part string) bool) Truth {
	s, ok := TextOf(a)
	part, ok2 := TextOf(b)
	if !ok || !ok2 {
		return Unknown
	}
	if a.Kind == Choice {
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
func sharedTexts(a, b *Value, all bool) (t Truth, ok bool) {
	if a.Kind != List || b.Kind != List || a.Len()*b.Len() < manyPairs {
		return 0, false
	}
	set := make(map[string]struct{}, a.Len())
	for i := range a.Len() {
		x := a.Item(i)
		if x.Kind != TextKind && x.Kind != Ref {
			return 0, false
		}
		set[x.Text] = struct{}{}
	}
	t = truthOf(all)
	for i := range b.Len() {
		x := b.Item(i)
		if x.Kind != TextKind && x.Kind != Ref {
			return 0, false
		}
		if _, has := set[x.Text]; has != all {
			t = truthOf(!all)
		}
	}
	return t, true
}

// AnyItem looks at the context as it goes: a list of a list may be long.
func AnyItem(list *Value, in *Scope, test func(x *Value) Truth) Truth {
	result := False
	var x Value
	for i := range list.Len() {
		x = list.Item(i)
		result = max(result, test(&x))
		if result == True || in.Tick(1) != nil {
			break
		}
	}
	return result
}

// Compare orders two values that are neither NULL nor lists. ok is false when
// they have no common kind, which makes a comparison UNKNOWN. References have
// an order here only to be told apart; the operators < <= > >= refuse them.
func Compare(a, b *Value, loc *time.Location) (c int, ok bool) {
	if a.Kind > b.Kind {
		c, ok = Compare(b, a, loc)
		return -c, ok
	}
	switch a.Kind {
	case TextKind, Choice:
		return compareText(a, b, loc)
	case Number:
		return cmp.Compare(a.Number, b.Number), b.Kind == Number
	case BoolKind:
		return cmp.Compare(a.Int, b.Int), b.Kind == BoolKind
	case Date:
		if b.Kind == InstantKind {
			return cmp.Compare(a.Int, b.Day), true
		}
		return cmp.Compare(a.Int, b.Int), b.Kind == Date
	case InstantKind:
		return cmp.Compare(a.Int, b.Int), b.Kind == InstantKind
	case Ref:
		return strings.Compare(a.Text, b.Text), b.Kind == Ref
	}
	return 0, false
}

// compareText compares a text with a value of the same or a later kind: the
// text is read as what the other one is.
func compareText(a, b *Value, loc *time.Location) (int, bool) {
	switch b.Kind {
	case TextKind, Ref:
		return strings.Compare(a.Text, b.Text), true
	case Choice:
		return compareChoice(a.Text, b.Text), true
	case Number:
		n, ok := ParseNumber(a.Text)
		return cmp.Compare(n, b.Number), ok
	case BoolKind:
		n, ok := ParseBool(a.Text)
		return cmp.Compare(n, b.Int), ok
	case Date, InstantKind:
		t, ok := ParseTime(a.Text, loc)
		if !ok {
			return 0, false
		}
		return Compare(&t, b, loc)
	}
	return 0, false
}

// compareChoice orders two texts by their folds, those of ASCII without making
// them.
func compareChoice(a, b string) int {
	if a == b {
		return 0
	}
	if !IsASCII(a) || !IsASCII(b) {
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

// IsASCII reports whether a text has no character beyond ASCII.
func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// ParseNumber reads a text as a finite number.
func ParseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '-' && s[0] != '+' && s[0] != '.' && !syntax.IsDigit(s[0]) {
		return 0, false // no Inf, no NaN
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// ParseBool reads true and false, in any case, as 1 and 0.
func ParseBool(s string) (int64, bool) {
	switch entities.Fold(strings.TrimSpace(s)) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// TextOf returns the text of a value that has one: not of NULL and lists.
func TextOf(v *Value) (string, bool) {
	switch v.Kind {
	case TextKind, Choice, Ref:
		return v.Text, true
	case Number:
		return record.FormatNumber(v.Number), true
	case BoolKind:
		return strconv.FormatBool(v.Int == 1), true
	case Date:
		return FormatDay(v.Int), true
	case InstantKind:
		return time.UnixMicro(v.Int).UTC().Format(time.RFC3339Nano), true
	}
	return "", false
}

// Wire returns a value as it is handed out: float64, bool, string or nil.
func (v *Value) Wire() any {
	switch v.Kind {
	case Number:
		return v.Number
	case BoolKind:
		return v.Int == 1
	}
	if s, ok := TextOf(v); ok {
		return s
	}
	return nil
}

// Orderable reports whether < and > have a meaning for values of the kind.
func (k Kind) Orderable() bool {
	return k == TextKind || k == Choice || k == Number || k == BoolKind || k == Date || k == InstantKind
}
