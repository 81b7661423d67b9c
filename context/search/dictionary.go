package search

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// wordID is the number of a word in a dictionary. Numbers are given once and
// stay while the dictionary lives.
type wordID uint32

// word is what a dictionary knows of a word as it stands in texts. Postings are
// kept for stems only: the stem is a word of its own, which need not stand in
// any text.
type word struct {
	at   uint32 // in text
	size uint8
	stem wordID
	docs uint32 // in which the word stands as it is
	list uint32 // its postings, as a stem: an index of lists plus one; 0 for none
}

// dictionary holds all words. It is a table of its own, not a map of strings:
// it takes a third of the memory and holds no pointers.
type dictionary struct {
	text  []byte // all words, one after the other
	words []word
	slots []uint32 // open addressing: a wordID plus one; the length is a power of two
	// sorted are the words below len(sorted) in the order of their bytes.
	sorted []wordID
	stem   func(word string) string
}

var seed = maphash.MakeSeed()

func newDictionary(stem func(string) string) *dictionary {
	return &dictionary{slots: make([]uint32, 1024), stem: stem}
}

func (d *dictionary) bytes(id wordID) []byte {
	w := &d.words[id]
	return d.text[w.at : w.at+uint32(w.size)]
}

// find returns the number of a word.
func (d *dictionary) find(text []byte) (wordID, bool) {
	mask := uint64(len(d.slots) - 1)
	for at := maphash.Bytes(seed, text) & mask; ; at = (at + 1) & mask {
		s := d.slots[at]
		if s == 0 {
			return 0, false
		}
		if bytes.Equal(d.bytes(wordID(s-1)), text) {
			return wordID(s - 1), true
		}
	}
}

// enter returns the number of a word and gives it one if it has none.
func (d *dictionary) enter(text []byte) wordID {
	if id, ok := d.find(text); ok {
		return id
	}
	id := d.add(text)
	stem := d.stem(string(text))
	if stem == string(text) {
		d.words[id].stem = id
	} else if to, ok := d.find([]byte(stem)); ok {
		d.words[id].stem = to
	} else {
		to := d.add([]byte(stem))
		if again := d.stem(stem); again == stem {
			d.words[to].stem = to
		} else { // a stem need not be its own
			d.words[to].stem = noWord
		}
		d.words[id].stem = to
	}
	return id
}

// noWord is the stem of a word that has not been looked at as one of a text.
const noWord = ^wordID(0)

// stemOf returns the stem of a word.
func (d *dictionary) stemOf(id wordID) wordID {
	if s := d.words[id].stem; s != noWord {
		return s
	}
	stem := d.stem(string(d.bytes(id)))
	to, ok := d.find([]byte(stem))
	if !ok {
		to = d.add([]byte(stem))
		d.words[to].stem = noWord
		if d.stem(stem) == stem {
			d.words[to].stem = to
		}
	}
	d.words[id].stem = to
	return to
}

// add appends a word that is not there.
func (d *dictionary) add(text []byte) wordID {
	if 2*(len(d.words)+1) > len(d.slots) {
		d.rehash(2 * len(d.slots))
	}
	id := wordID(len(d.words))
	d.words = append(d.words, word{at: uint32(len(d.text)), size: uint8(len(text))})
	d.text = append(d.text, text...)
	d.place(id)
	return id
}

func (d *dictionary) place(id wordID) {
	mask := uint64(len(d.slots) - 1)
	at := maphash.Bytes(seed, d.bytes(id)) & mask
	for d.slots[at] != 0 {
		at = (at + 1) & mask
	}
	d.slots[at] = uint32(id) + 1
}

func (d *dictionary) rehash(size int) {
	d.slots = make([]uint32, size)
	for id := range d.words {
		d.place(wordID(id))
	}
}

// tidy brings the order of the words up to date when many are new.
func (d *dictionary) tidy() {
	fresh := len(d.words) - len(d.sorted)
	if fresh > 1024+len(d.sorted)/16 {
		d.sort()
	}
}

func (d *dictionary) sort() {
	from := len(d.sorted)
	fresh := make([]wordID, 0, len(d.words)-from)
	for id := from; id < len(d.words); id++ {
		fresh = append(fresh, wordID(id))
	}
	compare := func(a, b wordID) int { return bytes.Compare(d.bytes(a), d.bytes(b)) }
	slices.SortFunc(fresh, compare)
	merged := make([]wordID, 0, len(d.words))
	old := d.sorted
	for len(old) > 0 && len(fresh) > 0 {
		if compare(old[0], fresh[0]) < 0 {
			merged, old = append(merged, old[0]), old[1:]
		} else {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
	}
	d.sorted = append(append(merged, old...), fresh...)
}

// eachPrefixed calls visit for the words of texts that begin with a prefix, in
// no order. O(log(words) + words that do + words not sorted yet).
func (d *dictionary) eachPrefixed(prefix []byte, visit func(wordID)) {
	from, _ := slices.BinarySearchFunc(d.sorted, prefix, func(id wordID, p []byte) int { return bytes.Compare(d.bytes(id), p) })
	for _, id := range d.sorted[from:] {
		if !bytes.HasPrefix(d.bytes(id), prefix) {
			break
		}
		if d.words[id].docs > 0 {
			visit(id)
		}
	}
	for id := wordID(len(d.sorted)); int(id) < len(d.words); id++ {
		if d.words[id].docs > 0 && bytes.HasPrefix(d.bytes(id), prefix) {
			visit(id)
		}
	}
}

// eachNear calls visit for the words of texts that differ from a word in one
// letter: another one, one more, one less, or two that are exchanged. O(words).
func (d *dictionary) eachNear(text []byte, visit func(wordID)) {
	a := []rune(string(text))
	var b []rune
	for id := range d.words {
		w := &d.words[id]
		if w.docs == 0 || int(w.size) > len(text)+4 || int(w.size)+4 < len(text) {
			continue
		}
		b = b[:0]
		for _, r := range string(d.bytes(wordID(id))) {
			b = append(b, r)
		}
		if oneEdit(a, b) {
			visit(wordID(id))
		}
	}
}

// oneEdit reports whether two words differ by one edit.
func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	if i == len(a) {
		return false
	}
	return slices.Equal(a[i+1:], b[i+1:]) ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}
