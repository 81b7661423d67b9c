package vectors

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Late interaction: a text is as near to a question as, for each word of the question, its nearest word is, added up
// (MaxSim; Khattab, Zaharia, "ColBERT", 2020). What the model says of a word is kept in 2 bits a dimension, see
// embed.Tokens.

// tokenGroup is how many tokens the scan takes at a time.
const tokenGroup = 8

// tokenBytes is what the codes of a token take.
func tokenBytes(dims int) int { return dims / 4 }

// TokenQuestion is a question as its words.
type TokenQuestion struct {
	dims    int
	codes   []int8    // of each word
	scales  []float32 // what one is worth
	offsets []int32   // -3 times the sum of the codes
}

// NewTokenQuestion makes a question of the coordinates of its words, of length 1 each.
func NewTokenQuestion(words [][]float32) *TokenQuestion {
	if len(words) == 0 {
		return &TokenQuestion{}
	}
	q := &TokenQuestion{
		dims: len(words[0]), codes: make([]int8, len(words)*len(words[0])),
		scales: make([]float32, len(words)), offsets: make([]int32, len(words)),
	}
	for i, w := range words {
		codes := q.codes[i*q.dims:][:q.dims]
		q.scales[i] = quantise(codes, w)
		for _, c := range codes {
			q.offsets[i] -= 3 * int32(c)
		}
	}
	return q
}

// Words is how many words the question has.
func (q *TokenQuestion) Words() int { return len(q.scales) }

// tokenScan is the space that comparing texts takes.
type tokenScan struct {
	best    [][tokenGroup]float32
	inverse []float32
	tail    []byte
}

// score adds up how near the nearest token of a text is to each word of the question, as cosines; near, if not nil, is told
// each of them.
func (s *tokenScan) score(q *TokenQuestion, tokens []byte, near []float32) float32 {
	size := tokenBytes(q.dims)
	n := len(tokens) / max(1, size)
	if n == 0 || q.Words() == 0 {
		clear(near)
		return 0
	}
	s.best = s.best[:0]
	lowest := float32(math.Inf(-1))
	for range q.Words() {
		s.best = append(s.best, [tokenGroup]float32{lowest, lowest, lowest, lowest, lowest, lowest, lowest, lowest})
	}
	s.inverse = s.inverse[:0]
	for i := range n {
		s.inverse = append(s.inverse, inverseLength(tokens[i*size:][:size]))
	}
	whole := n / tokenGroup * tokenGroup
	if whole > 0 {
		bestTokens(s.best, tokens[:whole*size], s.inverse[:whole], q)
	}
	if whole < n { // the last token fills the group up
		s.tail = append(s.tail[:0], tokens[whole*size:n*size]...)
		for len(s.tail) < tokenGroup*size {
			s.tail = append(s.tail, tokens[(n-1)*size:n*size]...)
			s.inverse = append(s.inverse, s.inverse[n-1])
		}
		bestTokens(s.best, s.tail, s.inverse[whole:], q)
	}
	var sum float32
	for i, eight := range s.best {
		most := eight[0]
		for _, x := range eight[1:] {
			most = max(most, x)
		}
		most *= q.scales[i]
		if near != nil {
			near[i] = most
		}
		sum += most
	}
	return sum
}

// inverseLength is 1 over the length of a token: a code is worth -3, -1, 1 or 3, and the two bits of the inner ones differ.
func inverseLength(token []byte) float32 {
	dims, inner := 4*len(token), 0
	for ; len(token) >= 8; token = token[8:] {
		w := binary.LittleEndian.Uint64(token)
		inner += bits.OnesCount64((w ^ w>>1) & 0x5555555555555555)
	}
	for _, b := range token {
		inner += bits.OnesCount8((b ^ b>>1) & 0x55)
	}
	return float32(1 / math.Sqrt(float64(9*dims-8*inner)))
}

// bestPlain raises the eight numbers of each word to the nearness of the tokens: number i stands for tokens i, i+8 and so
// on. There are as many tokens as lengths, and a multiple of eight.
func bestPlain(best [][tokenGroup]float32, codes []byte, inverse []float32, q *TokenQuestion) {
	size := tokenBytes(q.dims)
	for t, by := range inverse {
		token := codes[t*size:][:size]
		for w := range best {
			word := q.codes[w*q.dims:][:q.dims]
			var sum int32
			for i, c := range token {
				sum += int32(c&3)*int32(word[i]) + int32(c>>2&3)*int32(word[size+i]) +
					int32(c>>4&3)*int32(word[2*size+i]) + int32(c>>6)*int32(word[3*size+i])
			}
			b := &best[w][t%tokenGroup]
			*b = max(*b, float32(2*sum+q.offsets[w])*by)
		}
	}
}

// Interact returns the part of each item whose words are nearest to those of a question, in the order of the ids: its score
// is the sum of the cosines, over the words of the question, of the nearest word of the part. An item without words has the
// score 0 and the part -1. What is damaged in the file counts as nothing; see Broken. O(words of the question · words of the
// items · dims).
func (x *FlatIndex) Interact(q *TokenQuestion, ids []string) []FlatHit {
	hits := make([]FlatHit, len(ids))
	var s tokenScan
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, id := range ids {
		hits[i] = FlatHit{ID: id, Part: -1}
		it := x.items[id]
		if it == nil || q.dims != x.dims {
			continue
		}
		for part, row := range it.rows {
			if row == noRow {
				continue
			}
			x.withTokens(int(row), func(tokens []byte) {
				if len(tokens) == 0 {
					return
				}
				if score := s.score(q, tokens, nil); hits[i].Part < 0 || score > hits[i].Score {
					hits[i].Score, hits[i].Part = score, part
				}
			})
		}
	}
	return hits
}

// Matched returns, for each word of a question, the cosine of the nearest word of a part of an item; nil where the part has none.
func (x *FlatIndex) Matched(q *TokenQuestion, id string, part int) (near []float32) {
	var s tokenScan
	x.mu.RLock()
	defer x.mu.RUnlock()
	it := x.items[id]
	if it == nil || q.dims != x.dims || part < 0 || part >= len(it.rows) || it.rows[part] == noRow {
		return nil
	}
	x.withTokens(int(it.rows[part]), func(tokens []byte) {
		if len(tokens) > 0 {
			near = make([]float32, q.Words())
			s.score(q, tokens, near)
		}
	})
	return near
}

// withTokens has a function read the tokens of a row. Hold x.mu.
func (x *FlatIndex) withTokens(row int, read func(tokens []byte)) {
	b, i := x.at(row)
	switch {
	case b.tokens != nil:
		read(b.tokens[i])
	case x.file != nil:
		if !x.file.row(b.at[i], x.dims, func(held []byte) { read(held[rowBytes(x.dims):]) }) {
			x.file.broken.Store(true)
		}
	}
}
