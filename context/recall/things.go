package recall

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
)

// mostOther is how many words of a statement may be others than those of one of the same form about another thing.
const mostOther = 2

// tells is what a statement is compared by.
type tells struct {
	statement memory.Statement
	changed   bool            // it says that something is not as it was
	things    map[string]bool // see thingsOf
}

func readTells(statement string) *tells {
	return &tells{memory.ReadStatement(statement), saysChanged(statement), thingsOf(statement)}
}

// otherThings reports whether two statements say in nearly the same words something of two things, such as the sizes of
// the tyres of two cars: they differ in a number or a date, which alone would be news of one thing, and one or two other
// words stand in the place of one or two. When the newer one says that something changed, it is about the same.
func otherThings(older, newer *tells, differs []string) bool {
	if !slices.Contains(differs, memory.DifferenceNumber) && !slices.Contains(differs, memory.DifferenceDate) ||
		slices.Contains(differs, memory.DifferenceNegation) || newer.changed {
		return false
	}
	a, b := older.things, newer.things
	shared := 0
	for word := range a {
		if b[word] {
			shared++
		}
	}
	instead := func(only int) bool { return only > 0 && only <= mostOther }
	return instead(len(a)-shared) && instead(len(b)-shared) && shared > 0 && 2*shared >= min(len(a), len(b))
}

// thingsOf returns the stems of the words of a statement that tell something and are part of no number or date.
func thingsOf(statement string) map[string]bool {
	stems := make(map[string]bool)
	var split text.Splitter
	split.Split(statement, func(t text.Token) {
		word := string(t.Text)
		month, _ := memory.ParseMonth(word)
		if t.Symbol || month > 0 || memory.ParseWeekday(word) > 0 || !search.IsInformative(word) || strings.ContainsFunc(word, unicode.IsDigit) {
			return
		}
		stems[text.StemEnglish(word)] = true
	})
	return stems
}
