package search

import (
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// field is a part of a note that words are looked for in.
type field uint8

const (
	title field = iota
	headings
	tags
	path
	body
	fields
)

var fieldNames = [fields]string{"title", "headings", "tags", "path", "body"}

// fieldWeights are how many occurrences in the body one elsewhere is worth. A
// heading stands in the body as well. Chosen on Cranfield and the sample vault:
// see quality.golden.
var fieldWeights = [fields]uint8{title: 8, headings: 2, tags: 4, path: 1, body: 1}

// reading takes notes apart, one after the other, into words of one glossary.
// The zero value works, for one goroutine at a time.
type reading struct {
	splitter
	glossary
}

// glossary are the words of several notes with numbers of their own, so that a
// word is looked up in the index once for all of them, and for those of later
// commits.
type glossary struct {
	dictionary              // without stems; in its table are the words that short has not
	short      shortWords   // numbers of short words
	found      []occurrence // of one note after the other
	seen       []uint32     // by wordID: where in found the word stands last, plus one
	ids        []wordID     // by wordID: the number in the index, noWord when it is not known
	of         *dictionary  // of the index that ids are of
	looked     int          // words below it were looked up in the index
	entered    int          // words below it are in the index

	stems  []wordID // by wordID of those that are in the index: the stem there
	stemAs []string // of those from entered on: the stem of one that was not found in the index
}

// occurrence is a word of a note.
type occurrence struct {
	word   wordID // of the glossary
	weight uint32 // of all its occurrences
}

// analysis are the words of a note, each once.
type analysis struct {
	words    *glossary
	from, to int    // in its found
	length   uint32 // words of the body and the title
}

func (a *analysis) found() []occurrence { return a.words.found[a.from:a.to] }

// analyse takes a note apart. It needs no lock.
func analyse(r *reading, n *notes.Note) *analysis {
	a := &analysis{words: &r.glossary, from: len(r.found)}
	eachField(n, func(f field, text string) bool {
		if words := r.countAll(text, uint32(fieldWeights[f]), a.from); f == title || f == body {
			a.length += words
		}
		return true
	})
	a.to = len(r.found)
	return a
}

// countAll counts the words of a text, and returns how many there are. It is split,
// without a call by a pointer for each plain word.
func (r *reading) countAll(text string, weight uint32, from int) (words uint32) {
	count := func(t token) {
		r.count(t.text, weight, from)
		words++
	}
	for i := 0; i < len(text); {
		if kinds[text[i]] == blank {
			i++
		} else if end := r.plain(text, i); end > i {
			r.count(r.word[:end-i], weight, from)
			words++
			i = end
		} else {
			i = r.next(text, i, count)
		}
	}
	return words
}

// forget forgets the notes, and the words too when there are more of them than
// that.
func (v *glossary) forget(words int) {
	v.found = v.found[:0]
	if len(v.words) > words {
		*v = glossary{}
		return
	}
	clear(v.seen)
}

// count counts a word of the note whose words begin at from in found.
func (v *glossary) count(text []byte, weight uint32, from int) {
	id := v.numberOf(text)
	if at := int(v.seen[id]); at > from {
		v.found[at-1].weight += weight
		return
	}
	v.found = append(v.found, occurrence{id, weight})
	v.seen[id] = uint32(len(v.found))
}

// numberOf returns the number of a word, which gets one when it has none.
func (v *glossary) numberOf(text []byte) wordID {
	if len(text) <= maxShort {
		id, added := v.short.enter(shortKeyOf(text), wordID(len(v.words)))
		if added {
			v.append(text)
			v.more()
		}
		return id
	}
	if v.slots == nil {
		v.slots = make([]uint32, 64)
	}
	id, ok := v.find(text)
	if !ok {
		id = v.add(text)
		v.more()
	}
	return id
}

// more makes room for what is known of one more word, or of twice as many.
func (v *glossary) more() {
	if n := len(v.ids); n == cap(v.ids) {
		v.ids, v.seen = slices.Grow(v.ids, n+512), slices.Grow(v.seen, n+512)
		v.words, v.text = slices.Grow(v.words, n+512), slices.Grow(v.text, 8*(n+512))
	}
	v.seen, v.ids = append(v.seen, 0), append(v.ids, noWord)
}

// lookUp finds the words that the index has. It only reads the dictionary.
func (v *glossary) lookUp(d *dictionary) {
	v.belongTo(d)
	for ; v.looked < len(v.ids); v.looked++ {
		if id, ok := d.find(v.bytes(wordID(v.looked))); ok && d.words[id].stem != noWord {
			v.ids[v.looked] = id
		}
	}
}

// stemRest finds the stems of the words that the index had not when they were looked
// up. It needs no lock. What is left of a commit that entered none of its words is
// found again.
func (v *glossary) stemRest(stem func(string) string) {
	v.stemAs = v.stemAs[:0]
	for w := v.entered; w < v.looked; w++ {
		as := ""
		if v.ids[w] == noWord {
			as = stem(string(v.bytes(wordID(w))))
		}
		v.stemAs = append(v.stemAs, as)
	}
}

// enterInto gives every word its number in the index, and its stem there.
func (v *glossary) enterInto(d *dictionary) {
	v.belongTo(d)
	for i := 0; v.entered < len(v.ids); i, v.entered = i+1, v.entered+1 {
		id := v.ids[v.entered]
		if id == noWord {
			text := v.bytes(wordID(v.entered))
			if i < len(v.stemAs) {
				id = d.enter(text, v.stemAs[i])
			} else {
				id = d.enter(text, d.stem(string(text)))
			}
			v.ids[v.entered] = id
		}
		v.stems = append(v.stems, d.words[id].stem)
	}
	clear(v.stemAs)
	v.stemAs = v.stemAs[:0]
}

// belongTo forgets the numbers of another index.
func (v *glossary) belongTo(d *dictionary) {
	if v.of == d {
		return
	}
	v.of, v.looked, v.entered = d, 0, 0
	v.stems, v.stemAs = v.stems[:0], v.stemAs[:0]
	for w := range v.ids {
		v.ids[w] = noWord
	}
}

// eachField gives the texts of a note, each with the field that it is of, until
// visit returns false. What stands in the frontmatter, and what
// links name behind other words, is of the body.
func eachField(n *notes.Note, visit func(field, string) bool) {
	if !visit(title, n.Title) {
		return
	}
	for _, text := range n.Aliases {
		if !visit(title, text) {
			return
		}
	}
	for _, text := range n.Tags {
		if !visit(tags, text) {
			return
		}
	}
	if !visit(path, placeOf(n)) {
		return
	}
	heads, front, plain, targets := markdown.Outline(n.Body)
	for _, text := range heads {
		if !visit(headings, text) {
			return
		}
	}
	for _, text := range [...]string{front, plain, targets} {
		if text != "" && !visit(body, text) {
			return
		}
	}
}

// placeOf returns the path of a note without the ending of Markdown files, which
// says nothing, or its folder when it has no path.
func placeOf(n *notes.Note) string {
	if n.Path == "" {
		return n.Folder
	}
	return strings.TrimSuffix(strings.TrimSuffix(n.Path, ".md"), ".markdown")
}

// stemEnglish returns the stem of an English word (Porter2). A word in another
// script, or with a digit in it, is its own stem.
func stemEnglish(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && c != '\'' {
			return word
		}
	}
	if !mayHaveEnding(word) {
		return word
	}
	return english.Stem(word, false)
}

// mayHaveEnding reports whether Porter2 might take an ending off a word of three or
// more letters. The endings that it knows end in few ways.
func mayHaveEnding(word string) bool {
	if word[0] == '\'' {
		return true
	}
	before := word[len(word)-2]
	switch word[len(word)-1] {
	case '\'', 's', 'e', 'y':
		return true
	case 'd', 'r': // ed, er, or
		return before == 'e' || before == 'o'
	case 'g', 't': // ing, ant, ent
		return before == 'n'
	case 'l': // al, ful, ll
		return before == 'a' || before == 'u' || before == 'l'
	case 'i': // enci, ogi, bli, iti
		return before == 'c' || before == 'g' || before == 'l' || before == 't'
	case 'n': // ion
		return before == 'o'
	case 'm': // ism
		return before == 's'
	case 'c': // ic
		return before == 'i'
	}
	return false
}

// keepWord is the stem of a word when there is no stemming.
func keepWord(word string) string { return word }
