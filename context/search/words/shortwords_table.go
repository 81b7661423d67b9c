package words

// A shortWordTable gives numbers to words of up to 16 bytes, which most are.
//
// It is asked for every word of every text: it is a hash table of its own, since a word then
// takes one look at memory, where a map of strings takes three. A shortWordTable and a
// shortWordBatch belong to one goroutine at a time.

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// maxShortWord is up to how many bytes a word is short.
const maxShortWord = 16

// shortWordKey is a short word itself, filled up with zeros, which no word holds: to
// compare it takes no look at another piece of memory.
type shortWordKey struct{ low, high uint64 }

// keyMasks are the bits of a key that a word of a length fills.
var keyMasks = func() (m [maxShortWord + 1]shortWordKey) {
	for n := range m {
		m[n] = shortWordKey{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return m
}()

// newShortWordKey returns the key of a word of at most Max bytes.
func newShortWordKey(text []byte) shortWordKey {
	n := len(text)
	if cap(text) < maxShortWord {
		var room [maxShortWord]byte
		copy(room[:], text)
		text = room[:]
	}
	text = text[:maxShortWord] // what is behind the word is masked: no decision by its length
	m := &keyMasks[n]
	return shortWordKey{binary.LittleEndian.Uint64(text) & m.low, binary.LittleEndian.Uint64(text[8:]) & m.high}
}

// shortWordTable are the numbers of short words: a table with open addressing, whose
// entries hold the words. The zero value is empty.
type shortWordTable struct {
	slots []shortWordSlot // the length is a power of two
	n     int
}

// shortWordSlot is what a Table knows of a word.
type shortWordSlot struct {
	shortWordKey
	id   uint32 // plus one
	Seen uint32 // for who asks: each look at another piece of memory counts
}

// Number returns the number of the word.
func (s *shortWordSlot) Number() uint32 { return s.id - 1 }

// The words of a text are its author's: nobody shall be able to choose such as meet in
// one place.
var (
	shortWordSeed = maphash.MakeSeed()
	seedLow       = maphash.Bytes(shortWordSeed, []byte{0})
	seedHigh      = maphash.Bytes(shortWordSeed, []byte{1})
)

func (k shortWordKey) hash() uint64 {
	high, low := bits.Mul64(k.low^seedLow, k.high^seedHigh)
	return high ^ low
}

// Bytes returns the word.
func (k shortWordKey) Bytes() []byte {
	var room [maxShortWord]byte
	binary.LittleEndian.PutUint64(room[:], k.low)
	binary.LittleEndian.PutUint64(room[8:], k.high)
	size := (bits.Len64(k.low) + 7) / 8
	if k.high != 0 {
		size = 8 + (bits.Len64(k.high)+7)/8
	}
	return room[:size]
}

// Enter returns the slot of a word, until the next is entered. A word that has no number
// gets next.
func (t *shortWordTable) Enter(k shortWordKey, next uint32) (s *shortWordSlot, added bool) {
	t.reserve(1)
	return t.enterAt(k.hash()&t.mask(), k, next)
}

// shortWordBatch are words that are entered together, so that the processor waits for the memory of
// all of them at once. The zero value is empty.
type shortWordBatch struct {
	n    int
	keys [32]shortWordKey
	at   [32]uint64 // where their slots are looked for
	used uint32     // what was read of the slots in advance, so that it is read
}

// Add adds a word, and reports whether the batch is full.
func (b *shortWordBatch) Add(k shortWordKey) (full bool) {
	b.keys[b.n] = k
	b.n++
	return b.n == len(b.keys)
}

// Take has a Table look for the words, and returns how many there are. The batch is empty
// then, and they are entered one after the other.
func (b *shortWordBatch) Take(t *shortWordTable) (n int) {
	n, b.n = b.n, 0
	t.reserve(n)
	mask := t.mask()
	for i, k := range b.keys[:n] {
		b.at[i] = k.hash() & mask
		b.used += t.slots[b.at[i]].id
	}
	return n
}

// Enter enters a word that was taken; see Table.Enter.
func (b *shortWordBatch) Enter(t *shortWordTable, i int, next uint32) (s *shortWordSlot, added bool) {
	return t.enterAt(b.at[i], b.keys[i], next)
}

// mask is what of a hash says where a slot is looked for.
func (t *shortWordTable) mask() uint64 { return uint64(len(t.slots) - 1) }

// reserve makes room for n words more.
func (t *shortWordTable) reserve(n int) {
	for 4*(t.n+n-1) >= 3*len(t.slots) {
		t.grow()
	}
}

// enterAt is enter for a word that is looked for from a slot on. There is room for it.
func (t *shortWordTable) enterAt(at uint64, k shortWordKey, next uint32) (s *shortWordSlot, added bool) {
	for ; ; at = (at + 1) & t.mask() {
		s = &t.slots[at]
		if s.shortWordKey == k && s.id != 0 {
			return s, false
		}
		if s.id == 0 {
			s.shortWordKey, s.id = k, next+1
			t.n++
			return s, true
		}
	}
}

func (t *shortWordTable) grow() {
	old := t.slots
	t.slots = make([]shortWordSlot, max(1024, 2*len(old)))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		at := s.hash() & mask
		for t.slots[at].id != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}
