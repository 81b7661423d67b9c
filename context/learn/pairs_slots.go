package learn

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
)

// A newer statement supersedes an older one by rule alone in two cases, and a word of change is needed for both:
//
//   - each of them, whole, is a form of pairs_forms.go: it gives a slot of which a person has one at a time (home,
//     employer, job, name, age, partner) a value, for the same holder;
//   - they are the same word for word, but for one number or date and the words of change: the amount or the date of
//     one thing.
//
// A word that no form accounts for ("at weekends", "as a child") ends both, since it may be what makes both hold.

// slot is a thing of which a person has one at a time, with how its values look.
type slot struct {
	name  string
	value func(value []token) bool
}

// slotValue is what a statement says of a slot.
type slotValue struct {
	*slot
	holder string // "" for the person who speaks
	value  string
	left   string // the value that it says holds no more, "" where it says none
	denied bool   // it says that the value holds no more
}

// token is a word as it was written, and folded.
type token struct{ text, fold string }

// maxFormTokens is how many words a statement that is read for its slot has at most.
const maxFormTokens = 24

func tokensOf(statement string) (list []token) {
	for _, w := range strings.FieldsFunc(statement, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".,:/%€$£", r)
	}) {
		if w = strings.Trim(w, ".,:/"); w == "" {
			continue
		}
		if list = append(list, token{w, entities.Fold(w)}); len(list) > maxFormTokens {
			return nil
		}
	}
	return list
}

// slotOf reads what a statement says of a slot; nil where it says nothing of one, or more than that.
func slotOf(statement string) *slotValue {
	if japanese(statement) {
		return japaneseSlot(statement)
	}
	tokens, denied := endings(tokensOf(statement))
	tokens = withoutRows(tokens, lightWords())
	for _, f := range forms() {
		v := slotValue{slot: f.slot, denied: denied}
		if v.match(f.words, tokens) && v.value != "" {
			return &v
		}
	}
	return nil
}

// endings reports whether a statement says that something is no longer so, and returns it without the words for that.
func endings(tokens []token) ([]token, bool) {
	for _, e := range endingWords() {
		rest, at := make([]token, 0, len(tokens)), 0
		for _, t := range tokens {
			if at < len(e) && slices.Contains(e[at], t.fold) {
				at++
				continue
			}
			rest = append(rest, t)
		}
		if at == len(e) {
			return rest, true
		}
	}
	return tokens, false
}

// withoutRows returns tokens without the rows of words that stand among them.
func withoutRows(tokens []token, of map[string][][]string) []token {
	folds := make([]string, len(tokens))
	for i, t := range tokens {
		folds[i] = t.fold
	}
	var rest []token
	for i := 0; i < len(tokens); {
		if n := rowAt(folds[i:], of); n > 0 {
			i += n
			continue
		}
		rest = append(rest, tokens[i])
		i++
	}
	return rest
}

// The places of a form that stand for words.
const (
	placeHolder = "<who>"
	placeValue  = "<v>"
	placeLeft   = "<old>"
)

// mostHeld is how many words stand in a place of a form.
const mostHeld = 4

// match reports whether tokens are a form, and takes what stands in its places.
func (v *slotValue) match(form [][]string, tokens []token) bool {
	if len(form) == 0 {
		return len(tokens) == 0 || isRecently(tokens)
	}
	if len(tokens) == 0 {
		return false
	}
	if place := form[0][0]; place[0] == '<' {
		for n := min(mostHeld, len(tokens)); n > 0; n-- {
			if v.hold(place, tokens[:n]) && v.match(form[1:], tokens[n:]) {
				return true
			}
		}
		return false
	}
	return slices.Contains(form[0], tokens[0].fold) && v.match(form[1:], tokens[1:])
}

func (v *slotValue) hold(place string, tokens []token) bool {
	if place == placeHolder {
		v.holder = joinTokens(dropFirst(tokens, ownWords()))
		return v.holder != "" && !slices.ContainsFunc(tokens, func(t token) bool { return notHolders()[t.fold] })
	}
	tokens = dropFirst(tokens, articles())
	if len(tokens) == 0 || !v.slot.value(tokens) {
		return false
	}
	if place == placeLeft {
		v.left = joinTokens(tokens)
	} else {
		v.value = digitsFor(joinTokens(tokens))
		if state := states()[v.value]; state != "" {
			v.value = state
		}
	}
	return true
}

func dropFirst(tokens []token, words map[string]bool) []token {
	if len(tokens) > 0 && words[tokens[0].fold] {
		return tokens[1:]
	}
	return tokens
}

func joinTokens(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.fold)
	}
	return b.String()
}

// isRecently reports whether tokens, at the end of a statement, say that it is of these days: last week, in May.
func isRecently(tokens []token) bool {
	if rowAt(foldsOf(tokens), recentWords()) == len(tokens) {
		return true
	}
	month, _ := memory.ParseMonth(tokens[len(tokens)-1].fold)
	return len(tokens) == 2 && month > 0 && inWords()[tokens[0].fold]
}

func foldsOf(tokens []token) []string {
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = t.fold
	}
	return list
}

// isNamed reports whether words are a name: each has a capital letter, or is a particle between two that have one.
func isNamed(value []token) bool {
	for i, t := range value {
		if notNames()[t.fold] || memory.ParseWeekday(t.fold) > 0 || articles()[t.fold] && i == 0 {
			return false
		}
		if month, certain := memory.ParseMonth(t.fold); month > 0 && certain {
			return false
		}
		inside := i > 0 && i < len(value)-1
		if !isCapital(t.text) && !(inside && particles()[t.fold]) {
			return false
		}
	}
	return true
}

// isPlace reports whether words are the name of what may be a place.
func isPlace(value []token) bool {
	return isNamed(value) && !slices.ContainsFunc(value, func(t token) bool { return notPlaces()[t.fold] })
}

// isWork reports whether words are what somebody works as, all of the time as far as they tell.
func isWork(value []token) bool {
	return len(value) <= 3 && !slices.ContainsFunc(value, func(t token) bool {
		r, _ := utf8.DecodeRuneInString(t.fold)
		return notWork()[t.fold] || !unicode.IsLetter(r)
	})
}

func isNumber(value []token) bool {
	r, _ := utf8.DecodeRuneInString(value[0].fold)
	return len(value) == 1 && (unicode.IsDigit(r) || memory.ParseNumberWord(value[0].fold) > 0)
}

// digitsFor is a word, in digits where it is a number.
func digitsFor(fold string) string {
	if n := memory.ParseNumberWord(fold); n > 0 {
		return strconv.Itoa(n)
	}
	return fold
}

func isState(value []token) bool { return states()[joinTokens(value)] != "" }

// Results of comparing the slots of two statements.
type slotResult int

const (
	slotUnknown slotResult = iota
	slotSame               // the newer one says the same
	slotOther              // it gives another value, or says that the value of the older one holds no more
)

// slots compares what two statements say of a slot.
func (c *comparison) slots() slotResult {
	a, b := c.older.slot, c.newer.slot
	if a == nil || b == nil || a.slot != b.slot || a.holder != b.holder || a.denied || a.left != "" {
		return slotUnknown
	}
	switch {
	case b.denied && a.value == b.value && b.left == "":
		return slotOther
	case b.denied:
		return slotUnknown
	case a.value == b.value:
		return slotSame
	case b.left != "" && b.left != a.value:
		return slotUnknown // it tells of another move
	case within(a.value, b.value) || within(b.value, a.value) || regions()[a.value] != regions()[b.value]:
		return slotUnknown // one may be a part of the other
	case !c.newer.changed || c.newer.adds || c.newer.limited || c.newer.supposed || c.older.limited || c.older.supposed:
		return slotUnknown
	}
	return slotOther
}

func within(part, whole string) bool {
	return strings.Contains(" "+whole+" ", " "+part+" ") || japanese(whole) && strings.Contains(whole, part)
}

// amount is a statement with its numbers and dates apart.
type amount struct {
	frame   string   // its other words, in their order, without those of change
	values  []string // the numbers and dates
	several bool     // it tells of one of several things, or of what happens again and again
}

// amountOf reads the frame of a statement.
func amountOf(statement string) *amount {
	if japanese(statement) {
		return japaneseAmount(statement)
	}
	tokens := withoutRows(tokensOf(statement), strongChanges())
	if len(tokens) == 0 {
		return nil
	}
	a := &amount{}
	var words []string
	one := false // of several: a guitar with 12 strings
	for i, t := range tokens {
		one = one || articles()[t.fold] && !definite()[t.fold]
		switch {
		case isAmount(tokens, i):
			if last := len(a.values) - 1; i > 0 && isAmount(tokens, i-1) { // 3 May
				a.values[last] += " " + digitsFor(t.fold)
			} else {
				a.values = append(a.values, digitsFor(t.fold))
			}
			for len(words) > 0 && beforeAmounts()[words[len(words)-1]] { // is 950, has risen to 950
				words = words[:len(words)-1]
			}
			a.several = a.several || one
		case copulas()[t.fold] || beforeAmounts()[t.fold] && i+1 < len(tokens) && isAmount(tokens, i+1):
		default:
			words = append(words, t.fold)
			a.several = a.several || severalWords()[t.fold]
		}
	}
	slices.Sort(words)
	a.frame = strings.Join(words, " ")
	return a
}

func isAmount(tokens []token, i int) bool {
	t := tokens[i]
	if strings.ContainsFunc(t.fold, unicode.IsDigit) || memory.ParseNumberWord(t.fold) > 0 || memory.ParseWeekday(t.fold) > 0 {
		return true
	}
	month, certain := memory.ParseMonth(t.fold)
	beside := func(j int) bool {
		return j >= 0 && j < len(tokens) && strings.ContainsFunc(tokens[j].fold, unicode.IsDigit)
	}
	return month > 0 && (certain || beside(i-1) || beside(i+1) || isCapital(t.text) && i > 0)
}

// sameThing reports whether two statements give the date or the amount of one thing.
func (c *comparison) sameThing() bool {
	a, b := c.older.amount, c.newer.amount
	if a == nil || b == nil || a.frame == "" || a.frame != b.frame || a.several || b.several || c.crossed() ||
		len(a.values) != len(b.values) || c.newer.limited || c.older.limited || c.newer.supposed || c.older.supposed {
		return false
	}
	differ := 0
	for i := range a.values {
		if a.values[i] != b.values[i] {
			differ++
		}
	}
	return differ == 1
}
