package embed

import (
	"bytes"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// vocabulary finds the tokens of WordPiece by their text. It is a hash table of indexes into the text of all tokens, which
// takes an eighth of what a map of strings takes, and is read-only once built. BenchmarkPERF14_Builtin60Tokens measures it.
type vocabulary struct {
	text    []byte   // the tokens, each but the last one with a line feed
	starts  []uint32 // where each begins, and where one more would
	slots   []int32  // index of a token, plus 1; 0 is free. At most half of them are taken; their number is a power of two.
	longest [2]int   // piece of each kind in bytes: no longer one need be looked for
}

// kind says where in a word a token stands.
type kind int

const (
	wordStart kind = iota // it begins the word
	wordRest              // it goes on in the word, and is written with "##" before it
)

// isTail reports whether a token continues a word.
func isTail(token []byte) bool { return len(token) > 2 && token[0] == '#' && token[1] == '#' }

// newVocabulary reads n tokens. Of two that are equal the last one counts.
func newVocabulary(text []byte, n int) (*vocabulary, error) {
	v := &vocabulary{text: text, starts: make([]uint32, 1, n+1), slots: make([]int32, 2<<bits.Len(uint(n)))}
	for i, c := range text {
		if c == '\n' {
			v.starts = append(v.starts, uint32(i+1))
		}
	}
	v.starts = append(v.starts, uint32(len(text)+1))
	if found := len(v.starts) - 1; found != n {
		return nil, fmt.Errorf("table of %d tokens names %d", n, found)
	}
	for id := range int32(n) {
		kind, piece := v.piece(id)
		v.longest[kind] = max(v.longest[kind], len(piece))
		v.slots[v.slot(kind, hash(kind, piece), piece)] = id + 1
	}
	return v, nil
}

// token returns the text of a token as the file has it.
func (v *vocabulary) token(id int32) []byte { return v.text[v.starts[id] : v.starts[id+1]-1] }

// piece returns what a token stands for.
func (v *vocabulary) piece(id int32) (kind, []byte) {
	t := v.token(id)
	if isTail(t) {
		return wordRest, t[2:]
	}
	return wordStart, t
}

// slot returns the slot that holds a piece, or the free one where it would be.
func (v *vocabulary) slot(k kind, hash uint32, piece []byte) uint32 {
	last := uint32(len(v.slots) - 1)
	for at := (hash ^ hash>>16) & last; ; at = (at + 1) & last {
		id := v.slots[at] - 1
		if id < 0 {
			return at
		}
		if have, text := v.piece(id); have == k && bytes.Equal(text, piece) {
			return at
		}
	}
}

// longestPiece returns the token of the longest beginning of a word, or of what is left of one, and its length in bytes: 0
// where no beginning has a token.
func (v *vocabulary) longestPiece(k kind, word []byte) (id int32, length int) {
	word = word[:min(len(word), v.longest[k])]
	sum := hash(k, word)
	for end := len(word); end > 0; end-- {
		if id := v.slots[v.slot(k, sum, word[:end])]; id > 0 {
			return id - 1, end
		}
		sum = unhash(sum, word[end-1])
	}
	return 0, 0
}

// sign returns the token of a character that stands alone: unknown if it has none.
func (v *vocabulary) sign(r rune) int32 {
	var b [utf8.UTFMax]byte
	piece := b[:utf8.EncodeRune(b[:], r)]
	return max(v.slots[v.slot(wordStart, hash(wordStart, piece), piece)]-1, unknown)
}

// The hash is FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv. Its factor is odd, so it has an inverse modulo 2^32, and
// the last byte can be taken out of a hash again.
const (
	fnvPrime   uint32 = 16777619
	fnvInverse uint32 = 899433627
)

var fnvOffset = [2]uint32{wordStart: 2166136261, wordRest: 84696351}

func hash(k kind, text []byte) uint32 {
	h := fnvOffset[k]
	for _, c := range text {
		h = (h ^ uint32(c)) * fnvPrime
	}
	return h
}

// unhash returns the hash of a text without its last byte.
func unhash(h uint32, last byte) uint32 { return h*fnvInverse ^ uint32(last) }
