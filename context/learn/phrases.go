package learn

// Phrases are what a text speaks of: names, and groups of one to three words that stand where nouns do. Finding them
// needs no grammar. A word counts when something introduces it that nouns stand behind ("the", "my", "of", a verb), or
// when it is written as a name is; of German, where all nouns have a capital letter, that alone decides. Words of the
// language that introduce, that end a group, or that say nothing are declared in a table for each language, and the
// language of a text is the one whose table has the most of its words.
//
// What nothing introduces, such as the first word of a sentence, is given as weak: who counts phrases takes it for the
// same when the phrase is introduced elsewhere. Texts of languages without blanks between words give nothing. Keys are
// made of stems, so that singular and plural are one; they are no text to be shown.
//
// All functions are pure, may be called concurrently, never fail, and take O(text).

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
)

const (
	maxWords = 3  // of a phrase
	maxChars = 40 // bytes of a word; a longer one is no word of a language
	fewest   = 3  // bytes of a word that is not written in capital letters alone
)

// Phrase is one that a text has.
type Phrase struct {
	Key   string // the same for all forms of it: stems, with a blank between them
	Shown string // as it is written there
	Weak  bool   // nothing says that it is one, but for what other texts say
}

// PhraseKey returns the key of a phrase that is given by itself, such as the name of an entity or what a person types: "" where
// it has no word.
func PhraseKey(s string) string {
	var stems []string
	var split text.Splitter
	split.Split(s, func(t text.Token) {
		if !t.Last && !t.Symbol {
			stems = append(stems, text.StemEnglish(string(t.Text)))
		}
	})
	return strings.Join(stems, " ")
}

// word is a word of a text.
type word struct {
	fold, stem string
	start, end int
	first      bool // of its sentence, of a line or of a heading
	capital    bool
	name       bool   // several capitals, as NHS
	known      *entry // nil: no language declares it
	class      class
}

// EachPhrase gives the phrases of a text in order, one as often as it has it, until visit returns false.
func EachPhrase(s string, visit func(Phrase) bool) { new(PhraseReader).In(s, visit) }

// mostStems is how many stems a Reader keeps.
const mostStems = 1 << 15

// PhraseReader reads many texts, and keeps the stems of their words: a stem takes longer than all else of a word. It belongs to
// one goroutine at a time. The zero value works.
type PhraseReader struct {
	stems map[string]string
	words []word
}

// stem is text.StemEnglish. Words of all languages are taken for English ones, as in the indexes.
func (k *PhraseReader) stem(fold string) string {
	stem, known := k.stems[fold]
	if known {
		return stem
	}
	if len(k.stems) >= mostStems || k.stems == nil {
		k.stems = make(map[string]string)
	}
	stem = text.StemEnglish(fold)
	k.stems[fold] = stem
	return stem
}

// In is the function In.
func (k *PhraseReader) In(s string, visit func(Phrase) bool) {
	r := reader{text: s, visit: visit}
	words := r.split(k.words[:0])
	k.words = words
	lang := languageOf(words)
	for i := range words {
		words[i].class = lang.classOf(k, &words[i])
		if i > 0 && words[i].class == content && !words[i].capital && text.IsDigit(s[words[i-1].start]) {
			words[i].class = ends // a unit of what was counted
		}
	}
	r.read(lang, words)
}

type reader struct {
	text  string
	visit func(Phrase) bool
	ended bool
}

// split returns the words of the text.
func (r *reader) split(words []word) []word {
	var split text.Splitter
	last := 0
	split.Split(r.text, func(t text.Token) {
		if t.Start < last || t.Symbol || t.Last {
			return
		}
		w := word{start: t.Start, end: t.End, known: declared()[string(t.Text)]}
		if w.known == nil || w.known.hasContent() {
			w.fold = string(t.Text)
		}
		gap := r.text[last:t.Start]
		w.first = last == 0 || strings.ContainsAny(gap, ".!?:;|\n…")
		source := r.text[t.Start:t.End]
		c, size := utf8.DecodeRuneInString(source)
		w.capital = unicode.IsUpper(c)
		w.name = w.capital && strings.ContainsFunc(source[size:], unicode.IsUpper)
		last = t.End
		words = append(words, w)
	})
	return words
}

// joined reports whether a word follows another with nothing but a blank or a hyphen between them.
func (r *reader) joined(a, b *word) bool {
	gap := r.text[a.end:b.start]
	return gap == " " || gap == "-"
}

// opens reports whether what stands between two words may stand between what introduces a phrase and the phrase.
func (r *reader) opens(a, b *word) bool {
	return strings.Trim(r.text[a.end:b.start], " *_@#\"'“„«‘([") == ""
}

// read gives the phrases of words.
func (r *reader) read(lang *language, words []word) {
	introduced := false
	for i := 0; i < len(words) && !r.ended; {
		w := &words[i]
		if i > 0 && (w.first || !r.opens(&words[i-1], w)) {
			introduced = false
		}
		switch w.class {
		case introduces:
			introduced = true
			i++
			continue
		case skipped:
			i++
			continue
		case ends:
			introduced = false
			i++
			continue
		}
		n := 1
		for i+n < len(words) && words[i+n].class == content && !words[i+n].first && r.joined(&words[i+n-1], &words[i+n]) {
			n++
		}
		r.group(lang, words[i:i+n], introduced)
		introduced = false
		i += n
	}
}

// group gives the phrases of words that stand together.
func (r *reader) group(lang *language, words []word, introduced bool) {
	named := 0 // words at the end that are written as names are
	for named < len(words) && words[len(words)-1-named].capital {
		named++
	}
	whole := named == len(words)
	sure := introduced
	if whole && (!words[0].first || len(words) > 1 && lang.names || words[0].name) {
		sure = true
	}
	if lang.nouns {
		sure = sure || !words[0].first
	}
	if len(words) > maxWords {
		if !whole || len(words) > maxWords+1 { // a clause, or a heading
			words = words[len(words)-2:]
			sure = false
		}
	}
	r.give(lang, words, sure)
	if len(words) == 1 || whole && lang.names {
		return
	}
	head := len(words) - 1
	if lang.headFirst {
		head = 0
	}
	for i := range words { // the others may stand there for a verb that is not declared
		r.give(lang, words[i:i+1], sure && i == head)
	}
}

// give gives words as one phrase.
func (r *reader) give(lang *language, words []word, sure bool) {
	if r.ended {
		return
	}
	head := &words[len(words)-1]
	if lang.headFirst {
		head = &words[0]
	}
	if lang.empty[head.fold] || lang.empty[head.stem] {
		return
	}
	var key strings.Builder
	for i := range words {
		if i > 0 {
			key.WriteByte(' ')
		}
		key.WriteString(words[i].stem)
	}
	r.ended = !r.visit(Phrase{Key: key.String(), Shown: r.text[words[0].start:words[len(words)-1].end], Weak: !sure})
}

// leastSure is the share of the texts with a phrase, one of so many, that have to say that it is one.
const leastSure = 8

// CountsAsPhrase reports whether a phrase is one, by how many texts say so and how many have it.
func CountsAsPhrase(sure, all int) bool { return sure > 0 && sure*leastSure >= all }
