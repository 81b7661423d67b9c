package text

import (
	"unicode"
	"unicode/utf8"
)

// letters emits the word of letters, digits and their marks that begins at a place, and
// returns where the text goes on. It does what segments does for the words that most texts
// have, in one pass (BenchmarkSplit). It returns the place when it takes the rules of UAX 29
// to tell where the word ends, or when no word begins there.
func (s *Splitter) letters(text string, at int, emit func(Token)) (end int) {
	i := at
	buf, whole := s.buf[:0], false
	var fold folding
	var c *class
	var last, r rune // the last letter or digit, and what ends the word
	size := 0
	for ; i < len(text); i += size {
		r, size = rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = decode(text[i:])
		}
		c = classOf(r)
		if c.is&isInner == 0 {
			break
		}
		if c.is&(isMark|isUnseen) == 0 {
			last = r
		} else if i == at {
			return at
		}
		if !whole {
			folded, ok := fold.add(buf, c)
			buf, whole = folded, !ok
		}
	}
	end = i
	if i == at {
		return at
	}
	if i < len(text) {
		switch {
		case isSpace(text[i]), c.is&isOuter != 0:
		case kinds[text[i]] == blank && (i+1 == len(text) || isSpace(text[i+1])):
			end++
		case isApostrophe(r):
			n := clitic(text[i+size:])
			end += size + n
			if n == 1 && text[end-1]|0x20 == 't' || n > 0 && !unicode.IsLetter(last) || !beginsAnew(text, end) {
				return at
			}
		default:
			return at
		}
	}
	s.endRun(text, emit)
	if whole {
		buf = appendWhole(buf[:0], text[at:i])
	}
	s.buf = buf
	s.emit(Token{Text: buf, Start: at, End: i}, emit)
	return end
}

// beginsAnew reports whether what stands at a place has nothing to do with what is before it:
// a mark or an unseen sign would belong to it.
func beginsAnew(text string, at int) bool {
	if at == len(text) || isSpace(text[at]) {
		return true
	}
	r, _ := decode(text[at:])
	is := classOf(r).is
	return is&isInner != 0 && is&(isMark|isUnseen) == 0
}
