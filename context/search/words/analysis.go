package words

import (
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
)

// reading tokenises documents, one after the other, into words of one glossary. The zero
// value works, for one goroutine at a time.
type reading struct {
	text.Splitter
	glossary
}

// glossary are the words of several documents with numbers of their own, so that a
// word is looked up in the index once for all of them, and for those of later
// commits.
type glossary struct {
	dictionary // without stems; in its table are the words that short has not
	short      shortWordTable
	found      []occurrence   // of one document after the other
	seen       []uint32       // by wordID: where a long word stands last; see sighting
	passed     uint32         // how many there were in found that are forgotten
	batch      shortWordBatch // words that are still to be counted
	ids        []wordID       // by wordID: the number in the index, noWord when it is not known
	of         *dictionary    // of the index that ids are of
	looked     int            // words below it were looked up in the index
	entered    int            // words below it are in the index

	stems  []wordID // by wordID of those that are in the index: the stem there
	stemAs []string // of those from entered on: the stem of one that was not found in the index
}

// occurrence is a word of a document.
type occurrence struct {
	word   wordID // of the glossary
	weight uint32 // of all its occurrences
}

// analysis are the words of a document, each once.
type analysis struct {
	words    *glossary
	from, to int    // in its found
	length   uint32 // words of the fields that count
}

func (a *analysis) found() []occurrence { return a.words.found[a.from:a.to] }

// analyse tokenises a document. It needs no lock.
func analyse(r *reading, fields []text.Field, d text.Doc) *analysis {
	a := &analysis{words: &r.glossary, from: len(r.found)}
	d.Fields(func(f int, s string) bool {
		words := r.countAll(s, uint32(fields[f].Weight), a.from)
		if fields[f].Counted {
			a.length += words
		}
		return true
	})
	a.to = len(r.found)
	return a
}

// countAll counts the words of a text, and returns how many there are, symbols aside: these
// make no text longer. It is Split, without a call by a pointer for each plain word (BenchmarkTake).
func (r *reading) countAll(s string, weight uint32, from int) (words uint32) {
	count := func(t text.Token) {
		r.countSoon(t.Text, weight, from)
		if !t.Symbol {
			words++
		}
	}
	for i := 0; i < len(s); {
		if text.IsBlank(s[i]) {
			i++
			continue
		}
		end := r.Plain(s, i)
		if end == i {
			i = r.Next(s, i, count)
			r.countBatch(weight, from)
			continue
		}
		r.count(r.Word[:end-i], weight, from)
		words++
		i = end
	}
	return words
}

// forget forgets the documents, and the words too when there are more of them than
// that.
func (v *glossary) forget(words int) {
	v.passed += uint32(len(v.found))
	v.found = v.found[:0]
	if len(v.words) > words || v.passed > 1<<31 {
		*v = glossary{}
	}
}

// count counts a word of the document whose words begin at from in found.
func (v *glossary) count(text []byte, weight uint32, from int) {
	id, seen := v.sighting(text)
	v.countAt(id, seen, weight, from)
}

// countAt is count for a word that was seen there last.
func (v *glossary) countAt(id wordID, seen *uint32, weight uint32, from int) {
	if *seen > v.passed+uint32(from) {
		v.found[*seen-v.passed-1].weight += weight
		return
	}
	v.found = append(v.found, occurrence{id, weight})
	*seen = v.passed + uint32(len(v.found))
}

// countSoon is count for words of a text that has many different ones, as pairs of
// characters are: countBatch counts what is left. Short words are looked up several at once
// (BenchmarkTokenise).
func (v *glossary) countSoon(text []byte, weight uint32, from int) {
	if len(text) > maxShortWord {
		v.countBatch(weight, from)
		v.count(text, weight, from)
	} else if v.batch.Add(newShortWordKey(text)) {
		v.countBatch(weight, from)
	}
}

// countBatch counts the words that wait to be counted.
func (v *glossary) countBatch(weight uint32, from int) {
	for i := range v.batch.Take(&v.short) {
		s, added := v.batch.Enter(&v.short, i, uint32(len(v.words)))
		if added {
			v.append(s.Bytes())
			v.more()
		}
		v.countAt(wordID(s.Number()), &s.Seen, weight, from)
	}
}

// sighting returns the number of a word, which gets one when it has none, and where it was
// seen last: behind how many words that found has had in all. What short words are looked up
// in holds that as well, since each look at another piece of memory counts in a text of many
// words (BenchmarkTokenise).
func (v *glossary) sighting(text []byte) (wordID, *uint32) {
	if len(text) <= maxShortWord {
		s, added := v.short.Enter(newShortWordKey(text), uint32(len(v.words)))
		if added {
			v.append(text)
			v.more()
		}
		return wordID(s.Number()), &s.Seen
	}
	if v.slots == nil {
		v.slots = make([]uint32, 64)
	}
	id, ok := v.find(text)
	if !ok {
		id = v.add(text)
		v.more()
	}
	return id, &v.seen[id]
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
	if v.entered >= v.looked {
		return
	}
	from := v.words[v.entered].at
	text := string(v.text[from:]) // of all of them at once
	for w := v.entered; w < v.looked; w++ {
		as := ""
		if v.ids[w] == noWord {
			at := v.words[w].at - from
			as = stem(text[at : at+uint32(v.words[w].size)])
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
