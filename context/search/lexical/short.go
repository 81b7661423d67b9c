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
	id wordID // plus one
}

// The words of a text are its author's: nobody shall be able to choose such as meet in
// one place.
var seedLow, seedHigh = maphash.Bytes(seed, []byte{0}), maphash.Bytes(seed, []byte{1})

func (k shortKey) hash() uint64 {
	high, low := bits.Mul64(k.low^seedLow, k.high^seedHigh)
	return high ^ low
}

// enter returns the number of a word. If it has none it gets next.
func (t *shortWords) enter(k shortKey, next wordID) (id wordID, added bool) {
	if 4*t.n >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for at := k.hash() & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.shortKey == k && s.id != 0 {
			return s.id - 1, false
		}
		if s.id == 0 {
			*s = shortSlot{k, next + 1}
			t.n++
			return next, true
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
