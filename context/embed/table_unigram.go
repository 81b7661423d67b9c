package embed

import (
	"errors"
	"slices"
	"unicode/utf8"
)

const (
	// wordMark stands before every word in the pieces of SentencePiece.
	wordMark = "\u2581"
	// unknownPenalty is what a character without a piece costs beside the rarest
	// piece, as SentencePiece has it.
	unknownPenalty = 10
	// maxSpan is how many bytes without a space are cut as a whole; a longer
	// stretch is cut anew after each so many, so that space is bounded.
	maxSpan = 1 << 14
)

// unigram cuts texts as SentencePiece's Unigram model does: normalised, spaces
// marked, and then into the pieces whose scores have the greatest sum. It is
// read-only once built.
//
// No piece reaches from one word into the next, so each word is cut for itself:
// the same pieces as of the whole text, but for sums of float32 that differ in
// their last bits. Time is linear in the text and the longest piece.
type unigram struct {
	chars  *charsmap
	pieces trie
	scores []float32 // by token
	none   float32   // of a character without a piece
}

// path is the best way to cut a word up to some byte.
type path struct {
	score float32
	from  int32 // -1: nothing ends here
	token int32
}

// newUnigram takes the tokens in the order of their bytes, after token 0, which
// stands for what has no piece.
func newUnigram(tokens []string, scores []float32, chars *charsmap) (*unigram, error) {
	before := "" // no token is empty, and none is there twice
	for _, token := range tokens[1:] {
		if token <= before {
			return nil, errors.New("the tokens of the table are not in order")
		}
		before = token
	}
	u := &unigram{chars: chars, scores: scores, pieces: newTrie(tokens)}
	u.none = slices.Min(scores) - unknownPenalty
	return u, nil
}

// appendTokens appends the tokens of a text to w.ids, unknown for a character
// without a piece.
func (u *unigram) appendTokens(w *workspace, text string) {
	w.word = append(w.word[:0], wordMark...)
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf && u.chars.alone[c] {
			w.word = append(w.word, c)
			text = text[1:]
			continue
		}
		var size int
		w.becomes, size = u.chars.appendNext(w.becomes[:0], text)
		for _, c := range w.becomes {
			if c == ' ' {
				u.endWord(w)
			} else {
				w.word = append(w.word, c)
			}
		}
		text = text[size:]
		if len(w.word) >= maxSpan {
			u.cut(w)
			w.word = w.word[:0]
		}
	}
	u.endWord(w)
}

// endWord cuts the word in w.word, unless it is nothing but its mark, and begins
// the next one.
func (u *unigram) endWord(w *workspace) {
	if string(w.word) != wordMark {
		u.cut(w)
	}
	w.word = append(w.word[:0], wordMark...)
}

// cut appends the pieces of w.word to w.ids.
func (u *unigram) cut(w *workspace) {
	word := w.word
	if len(word) == 0 {
		return
	}
	w.paths = slices.Grow(w.paths[:0], len(word)+1)[:len(word)+1]
	for i := range w.paths {
		w.paths[i].from = -1
	}
	w.paths[0] = path{}
	for start := 0; start < len(word); {
		_, size := utf8.DecodeRune(word[start:])
		u.extend(w.paths, word, start, size)
		start += size
	}
	mark := len(w.ids)
	for end := len(word); end > 0; end = int(w.paths[end].from) {
		w.ids = append(w.ids, w.paths[end].token)
	}
	slices.Reverse(w.ids[mark:])
}

// extend lengthens the best way to start by each piece that begins there. size is
// that of the character there.
func (u *unigram) extend(paths []path, word []byte, start, size int) {
	base, single := paths[start].score, false
	node := int32(0)
	for end := start; end < len(word); {
		node = u.pieces.child(node, word[end])
		if node < 0 {
			break
		}
		end++
		if id := u.pieces.token[node]; id != unknown {
			paths[end].reach(base+u.scores[id], start, id)
			single = single || end-start == size
		}
	}
	if !single {
		paths[start+size].reach(base+u.none, start, unknown)
	}
}

// reach takes another way to where p ends, if it is better.
func (p *path) reach(score float32, from int, token int32) {
	if p.from < 0 || score > p.score {
		*p = path{score, int32(from), token}
	}
}
