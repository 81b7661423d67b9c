package embed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// charsmap is SentencePiece's table of what characters become: NFKC, control
// characters dropped, every kind of white space a space. It travels with the
// table of vectors, so that a text means the same in every version of ctxd,
// whatever version of Unicode that knows.
//
// Its form is SentencePiece's "precompiled charsmap": the length of a double
// array in bytes, uint32; the array, a trie of byte strings, in units of uint32;
// then what the strings become, each ended by a zero byte. A unit holds the byte
// that leads to it in bits 0 to 7, whether a value follows in bit 8, and from bit
// 10 the distance to its children, times 256 where bit 9 is set. A unit that
// holds a value has bit 31 set; the value is where the text begins.
type charsmap struct {
	units []uint32
	texts []byte
	// alone[c] says that the ASCII character c begins nothing longer that is
	// mapped and becomes itself, which is nearly always so.
	alone [utf8.RuneSelf]bool
}

const (
	unitLabel = 1<<31 | 0xFF // of a unit with a value it is never a byte
	unitHas   = 1 << 8
)

func parseCharsmap(data []byte) (*charsmap, error) {
	bad := errors.New("the normalisation of the table is damaged")
	if len(data) < 8 {
		return nil, bad
	}
	size := binary.LittleEndian.Uint32(data)
	data = data[4:]
	if size%4 != 0 || size == 0 || uint64(size) > uint64(len(data)) {
		return nil, bad
	}
	m := &charsmap{units: make([]uint32, size/4), texts: data[size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	if len(m.texts) > 0 && m.texts[len(m.texts)-1] != 0 {
		return nil, bad
	}
	root := m.units[0]
	for c := range m.alone {
		at := offset(root) ^ uint32(c)
		m.alone[c] = uint64(at) >= uint64(len(m.units)) || m.units[at]&unitLabel != uint32(c)
	}
	m.alone[' '], m.alone[0] = false, false
	return m, nil
}

func offset(unit uint32) uint32 { return (unit >> 10) << ((unit & (1 << 9)) >> 6) }

// appendNext appends what the beginning of a text becomes to dst, and says how
// much of the text that was. The longest string that is mapped counts; a character
// that is not mapped stays, a byte that is no UTF-8 becomes U+FFFD.
func (m *charsmap) appendNext(dst []byte, text string) ([]byte, int) {
	value, size := m.longest(text)
	if size > 0 {
		becomes := m.texts[value:]
		return append(dst, becomes[:bytes.IndexByte(becomes, 0)]...), size
	}
	r, size := utf8.DecodeRuneInString(text)
	return utf8.AppendRune(dst, r), size
}

// longest finds the longest string at the beginning of a text that is mapped: where
// its text is, and its length, 0 for none.
func (m *charsmap) longest(text string) (value uint32, size int) {
	at := offset(m.units[0])
	for i := range len(text) {
		c := uint32(text[i])
		at ^= c
		if uint64(at) >= uint64(len(m.units)) || m.units[at]&unitLabel != c || c == 0 {
			break
		}
		unit := m.units[at]
		at ^= offset(unit)
		if uint64(at) >= uint64(len(m.units)) {
			break
		}
		if unit&unitHas == 0 {
			continue
		}
		if v := m.units[at] &^ (1 << 31); uint64(v) < uint64(len(m.texts)) {
			value, size = v, i+1
		}
	}
	return value, size
}
