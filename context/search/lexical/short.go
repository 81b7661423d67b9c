package lexical

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// maxShort is up to how many bytes a word is short.
const maxShort = 16

// shortKey is a short word itself, filled up with zeros, which no word holds: to
// compare it takes no look at another piece of memory.
type shortKey struct{ low, high uint64 }

// keyMasks are the bits of a key that a word of a length fills.
var keyMasks = func() (m [maxShort + 1]shortKey) {
	for n := range m {
		m[n] = shortKey{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return m
}()

// shortKeyOf returns the key of a word of at most maxShort bytes.
func shortKeyOf(text []byte) shortKey {
	n := len(text)
	if cap(text) < maxShort {
		var room [maxShort]byte
		copy(room[:], text)
		text = room[:]
	}
	text = text[:maxShort] // what is behind the word is masked: no decision by its length
	m := &keyMasks[n]
	return shortKey{binary.LittleEndian.Uint64(text) & m.low, binary.LittleEndian.Uint64(text[8:]) & m.high}
}

// shortWords are the numbers of short words: a table with open addressing, whose
// entries hold the words.
type shortWords struct {
	slots []shortSlot // the length is a power of two
	n     int
}

type shortSlot struct {
	shortKey
	id   wordID // plus one
	seen uint32 // see glossary.sighting
}

// The words of a text are its author's: nobody shall be able to choose such as meet in
// one place.
var seedLow, seedHigh = maphash.Bytes(seed, []byte{0}), maphash.Bytes(seed, []byte{1})

func (k shortKey) hash() uint64 {
	high, low := bits.Mul64(k.low^seedLow, k.high^seedHigh)
	return high ^ low
}

// bytes returns the word.
func (k shortKey) bytes() []byte {
	var room [maxShort]byte
	binary.LittleEndian.PutUint64(room[:], k.low)
	binary.LittleEndian.PutUint64(room[8:], k.high)
	size := (bits.Len64(k.low) + 7) / 8
	if k.high != 0 {
		size = 8 + (bits.Len64(k.high)+7)/8
	}
	return room[:size]
}

// enter returns the slot of a word, until the next is entered. A word that has no number
// gets next.
func (t *shortWords) enter(k shortKey, next wordID) (s *shortSlot, added bool) {
	t.reserve(1)
	return t.enterAt(k.hash()&t.mask(), k, next)
}

// mask is what of a hash says where a slot is looked for.
func (t *shortWords) mask() uint64 { return uint64(len(t.slots) - 1) }

// reserve makes room for n words more.
func (t *shortWords) reserve(n int) {
	for 4*(t.n+n-1) >= 3*len(t.slots) {
		t.grow()
	}
}

// enterAt is enter for a word that is looked for from a slot on. There is room for it.
func (t *shortWords) enterAt(at uint64, k shortKey, next wordID) (s *shortSlot, added bool) {
	for ; ; at = (at + 1) & t.mask() {
		s = &t.slots[at]
		if s.shortKey == k && s.id != 0 {
			return s, false
		}
		if s.id == 0 {
			s.shortKey, s.id = k, next+1
			t.n++
			return s, true
		}
	}
}

func (t *shortWords) grow() {
	old := t.slots
	t.slots = make([]shortSlot, max(1024, 2*len(old)))
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
