package learn

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
)

// class is what a word does in a text.
type class uint8

const (
	content    class = iota
	introduces       // a noun stands behind it, maybe with others between
	skipped          // it stands between what introduces a noun and the noun
	ends             // it is in no phrase, and introduces none
)

// language is what is declared of one.
type language struct {
	index                     int             // in languages
	introduces, ends, skipped map[string]bool // folded words
	verbs                     map[string]bool // stems; they introduce
	empty                     map[string]bool // nouns that say nothing by themselves, folded or stems
	common                    map[string]bool // of introduces and ends, by which the language is known
	nouns                     bool            // nouns have a capital letter, and nothing else has one
	names                     bool            // names have a capital letter, and nothing else has one
	headFirst                 bool            // the noun stands before what says more of it
	endings                   []string        // of words that are skipped
	kept                      map[string]bool // words with such an ending that are not
}

// classOf says what a word does, and finds its stem.
func (l *language) classOf(k *PhraseReader, w *word) class {
	if w.known != nil && w.known.class[l.index] != content {
		return w.known.class[l.index]
	}
	c, _ := utf8.DecodeRuneInString(w.fold)
	if !unicode.IsLetter(c) || len(w.fold) > maxChars || len(w.fold) < fewest && !w.name || unicode.In(c, unblanked...) {
		return ends
	}
	w.stem = k.stem(w.fold)
	if l.verbs[w.stem] && (!w.capital || w.first) {
		return introduces
	}
	if l.nouns {
		if !w.capital {
			return skipped
		}
		return content
	}
	if w.capital && !w.first || l.kept[w.fold] {
		return content
	}
	for _, ending := range l.endings {
		if len(w.fold) > len(ending)+2 && strings.HasSuffix(w.fold, ending) {
			return skipped
		}
	}
	return content
}

// unblanked are the scripts whose words come in pairs of characters (package text), of which none is a word.
var unblanked = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// entry is what all languages declare of a word.
type entry struct {
	class  [maxLanguages]class // content where a language declares nothing
	common [maxLanguages]bool
}

const maxLanguages = 4

// declared are the words of all languages: a word of a text is looked up once.
var declared = sync.OnceValue(func() map[string]*entry {
	all := make(map[string]*entry)
	of := func(word string) *entry {
		if all[word] == nil {
			all[word] = new(entry)
		}
		return all[word]
	}
	for i, l := range languages() {
		for class, words := range map[class]map[string]bool{introduces: l.introduces, ends: l.ends, skipped: l.skipped} {
			for w := range words {
				if e := of(w); e.class[i] == content || class < e.class[i] {
					e.class[i] = class
				}
			}
		}
		for w := range l.common {
			of(w).common[i] = true
		}
	}
	return all
})

// languageOf returns the language that has the most of the words, the first one where none has.
func languageOf(words []word) *language {
	var n [maxLanguages]int
	for i := range words {
		if words[i].known == nil {
			continue
		}
		for l, is := range words[i].known.common {
			if is {
				n[l]++
			}
		}
	}
	best := languages()[0]
	for _, l := range languages() {
		if n[l.index] > n[best.index] {
			best = l
		}
	}
	return best
}

func setOf(lists ...string) map[string]bool {
	set := make(map[string]bool)
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			set[w] = true
		}
	}
	return set
}

func stemsOf(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[text.StemEnglish(w)] = true
	}
	return set
}

// languages are all that are declared. To add one: a function in a file of its own, and its place here.
var languages = sync.OnceValue(func() []*language {
	list := []*language{english(), german(), french()}
	for i, l := range list {
		l.index = i
	}
	return list
})

// hasContent reports whether a language that knows the word takes it for a part of phrases.
func (e *entry) hasContent() bool {
	for i := range languages() {
		if e.class[i] == content {
			return true
		}
	}
	return false
}
