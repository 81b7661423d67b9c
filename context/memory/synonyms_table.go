package memory

// A synonymView says which words mean the same to the person, and what that adds to the words of a question. The Store
// keeps the sets as records; a view finds them.
//
// A synonymView has no lock: its owner has one. The functions may be called concurrently.

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Bounds of synonyms.
const (
	MaxSynonyms     = 16   // words of a set
	maxSynonymSets  = 1000 // private ones and others, each
	MaxSynonymChars = 100  // code points of a word, which may be several: user experience
	maxParts        = 8
)

// weight is what a synonym counts beside the word itself. One of several words
// divides it among them.
const weight = 0.8

// synonymView finds sets by the stems of the words in them.
type synonymView struct {
	byID   map[string]*record.Synonyms
	byStem map[string]map[string]*record.Synonyms // by id
}

// newSynonymView returns one without sets.
func newSynonymView() *synonymView {
	return &synonymView{byID: make(map[string]*record.Synonyms), byStem: make(map[string]map[string]*record.Synonyms)}
}

// Put replaces a set in the view.
func (y *synonymView) Put(old, now *record.Synonyms) {
	if old != nil {
		delete(y.byID, old.ID)
		for _, stem := range stemsOf(old.Words) {
			delete(y.byStem[stem], old.ID)
			if len(y.byStem[stem]) == 0 {
				delete(y.byStem, stem)
			}
		}
	}
	if now == nil {
		return
	}
	y.byID[now.ID] = now
	for _, stem := range stemsOf(now.Words) {
		if y.byStem[stem] == nil {
			y.byStem[stem] = make(map[string]*record.Synonyms)
		}
		y.byStem[stem][now.ID] = now
	}
}

// All yields the sets, in no order.
func (y *synonymView) All() iter.Seq[*record.Synonyms] { return maps.Values(y.byID) }

// foldedWords are the words of a text as an index has them.
func foldedWords(s string) (list []string) {
	var split text.Splitter
	split.Split(s, func(t text.Token) {
		if !t.Last {
			list = append(list, string(t.Text))
		}
	})
	return list
}

// synonymKey is the same for all spellings of a synonym.
func synonymKey(s string) string { return strings.Join(foldedWords(s), " ") }

func stemsOf(words []string) (list []string) {
	for _, s := range words {
		for _, w := range foldedWords(s) {
			if stem := text.StemEnglish(w); !slices.Contains(list, stem) {
				list = append(list, stem)
			}
		}
	}
	return list
}

// checkSynonymWords refuses what are no synonyms, or fewer than least, and returns words without repetitions.
func checkSynonymWords(words []string, least int) ([]string, error) {
	if len(words) > MaxSynonyms {
		return nil, fault.TooLarge("words", len(words), MaxSynonyms, "items")
	}
	var out, keys []string
	for _, w := range words {
		w = strings.Join(strings.Fields(w), " ")
		if n := utf8.RuneCountInString(w); n > MaxSynonymChars {
			return nil, fault.TooLarge("words", n, MaxSynonymChars, "characters")
		}
		if !utf8.ValidString(w) || strings.ContainsFunc(w, isNoWord) {
			return nil, fault.Field("words", "a synonym consists of words").
				WithHint("write letters, digits, blanks and the signs . - ' & / + alone")
		}
		key := synonymKey(w)
		switch n := strings.Count(key, " ") + 1; {
		case key == "":
			return nil, fault.Field("words", "a synonym has no word in it").WithHint("give words such as %q", "ux")
		case n > maxParts:
			return nil, fault.TooLarge("words", n, maxParts, "words")
		}
		if !slices.Contains(keys, key) {
			out, keys = append(out, w), append(keys, key)
		}
	}
	if len(out) < least {
		return nil, fault.Field("words", "at least %d different words are needed", least).
			WithHint("give words that mean the same, such as %q and %q", "ux", "user experience")
	}
	return out, nil
}

// isNoWord is of what links and mentions are written with, and of what ends a line.
func isNoWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" .-'’&/+", r)
}

// shareSynonym reports whether two lists have a synonym in common, however it is spelt.
func shareSynonym(a, b []string) bool { return len(WithoutSynonyms(a, b)) < len(a) }

// WithoutSynonyms are those of a list that are not in another.
func WithoutSynonyms(list, gone []string) (left []string) {
	keys := make([]string, len(gone))
	for i, w := range gone {
		keys[i] = synonymKey(w)
	}
	for _, w := range list {
		if !slices.Contains(keys, synonymKey(w)) {
			left = append(left, w)
		}
	}
	return left
}

// Of returns what means the same as words of a question, by each of them; public: by
// the sets that are not private. Words are folded, as indexes have them. A synonym of several
// words is meant when the question has all of them.
func (y *synonymView) Of(words []string, public bool) map[string][]search.Synonym {
	if len(y.byID) == 0 {
		return nil
	}
	asked := make(map[string][]string) // by stem
	sets := make(map[string]*record.Synonyms)
	for _, w := range words {
		stem := text.StemEnglish(w)
		asked[stem] = append(asked[stem], w)
		for id, set := range y.byStem[stem] {
			if !set.Private || !public {
				sets[id] = set
			}
		}
	}
	found := make(map[string]map[string]float64)
	for _, set := range sets {
		widen(set, asked, found)
	}
	return synonymsInOrder(found)
}

// widen adds what the set says of the words that are asked for, by their stems.
func widen(set *record.Synonyms, asked map[string][]string, found map[string]map[string]float64) {
	for _, meant := range set.Words {
		stems := stemsOf([]string{meant})
		if slices.ContainsFunc(stems, func(stem string) bool { return asked[stem] == nil }) {
			continue
		}
		for _, other := range set.Words {
			if other == meant {
				continue
			}
			folded := foldedWords(other)
			for _, stem := range stems {
				for _, word := range asked[stem] {
					if found[word] == nil {
						found[word] = make(map[string]float64)
					}
					for _, w := range folded {
						found[word][w] = max(found[word][w], weight/float64(len(folded)))
					}
				}
			}
		}
	}
}

// synonymsInOrder has the same order in every run: what counts most first.
func synonymsInOrder(found map[string]map[string]float64) map[string][]search.Synonym {
	out := make(map[string][]search.Synonym, len(found))
	for word, others := range found {
		for w, weight := range others {
			if w != word {
				out[word] = append(out[word], search.Synonym{Word: w, Weight: weight})
			}
		}
		slices.SortFunc(out[word], func(a, b search.Synonym) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Word, b.Word))
		})
	}
	return out
}
