package words

import (
	"bytes"
	"cmp"
	"encoding/binary"
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

// enter returns the number of a word of a text and gives it one if it has none. stem
// is its stem.
func (d *dictionary) enter(text []byte, stem string) wordID {
	id, ok := d.find(text)
	if ok && d.words[id].stem != noWord {
		return id
	}
	if !ok {
		id = d.add(text)
	}
	to := id
	if stem != string(text) {
		to, ok = d.find([]byte(stem))
		if !ok {
			to = d.add([]byte(stem))
			d.words[to].stem = noWord // it need not be its own
		}
	}
	d.words[id].stem = to
	return id
}

// noWord is the stem of a word that has not been looked at as one of a text.
const noWord = ^wordID(0)

// add appends a word that is not there.
func (d *dictionary) add(text []byte) wordID {
	// A glossary also has words that need no slot, so one doubling may not do.
	size := len(d.slots)
	for 2*(len(d.words)+1) > size {
		size *= 2
	}
	if size > len(d.slots) {
		d.rehash(size)
	}
	id := d.append(text)
	d.place(id)
	return id
}

// append gives a word a number and leaves it out of the table.
func (d *dictionary) append(text []byte) wordID {
	d.words = append(d.words, word{at: uint32(len(d.text)), size: uint8(len(text))})
	d.text = append(d.text, text...)
	return wordID(len(d.words) - 1)
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
	if fresh > 1024+len(d.sorted)/8 {
		d.sort()
	}
}

// sortKey is a word in the order of the words: by its first bytes, which mostly say
// enough.
type sortKey struct {
	first uint64
	id    wordID
}

func (d *dictionary) sortKey(id wordID) sortKey {
	var first [8]byte
	copy(first[:], d.bytes(id))
	return sortKey{binary.BigEndian.Uint64(first[:]), id}
}

func (d *dictionary) compare(a, b sortKey) int {
	if a.first != b.first {
		return cmp.Compare(a.first, b.first)
	}
	return bytes.Compare(d.bytes(a.id), d.bytes(b.id))
}

func (d *dictionary) sort() {
	fresh := make([]sortKey, 0, len(d.words)-len(d.sorted))
	for id := len(d.sorted); id < len(d.words); id++ {
		fresh = append(fresh, d.sortKey(wordID(id)))
	}
	slices.SortFunc(fresh, d.compare)
	merged := make([]wordID, 0, len(d.words))
	old := d.sorted
	for _, k := range fresh {
		at, _ := slices.BinarySearchFunc(old, k, func(id wordID, k sortKey) int { return d.compare(d.sortKey(id), k) })
		merged = append(append(merged, old[:at]...), k.id)
		old = old[at:]
	}
	merged = append(merged, old...)
	d.sorted = merged
}

// eachPrefixed calls visit for the words of texts that begin with a prefix, in
// no order. O(log(words) + words that do + words not sorted yet).
func (d *dictionary) eachPrefixed(prefix []byte, visit func(wordID)) {
	from, _ := slices.BinarySearchFunc(d.sorted, prefix,
		func(id wordID, p []byte) int { return bytes.Compare(d.bytes(id), p) })
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
// letter: another one, one more, one less, or two that are exchanged; from one of three
// letters in one more, since nearly all others are near. O(words).
func (d *dictionary) eachNear(text []byte, visit func(wordID)) {
	a := []rune(string(text))
	var b []rune
	for id := range d.words {
		w := &d.words[id]
		if w.docs == 0 || int(w.size) > len(text)+4 || int(w.size)+4 < len(text) || len(a) < 4 && int(w.size) <= len(text) {
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
