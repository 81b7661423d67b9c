package embed

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is how long a word may be, in characters after decomposition; a
// longer one is [UNK], as BERT has it.
const maxWord = 100

// unknown is the index of [UNK].
const unknown = 0

// appendTokens appends the tokens of a text to w.ids, [UNK] for each word or sign
// that the vocabulary does not have.
func (v *vocabulary) appendTokens(w *workspace, text string) {
	dst, buf := w.ids, w.word[:0]
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			switch kind := asciiKind[c]; kind {
			case wordChar:
				buf = append(buf, c|asciiLower[c])
			case dropped:
			default:
				dst, buf = v.endWord(dst, buf)
				if kind == sign {
					dst = append(dst, v.sign(rune(c)))
				}
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		dst, buf = v.appendRune(dst, buf, r)
	}
	w.ids, w.word = v.endWord(dst, buf)
}

// inPieces reports whether every word of a text is split into tokens of one or two letters.
// Then no word of it is known, and the mean of such tokens is near to any text.
func (v *vocabulary) inPieces(w *workspace, text string) bool {
	v.appendTokens(w, text)
	cut := false
	for i, id := range w.ids {
		token := v.token(id)
		letters := bytes.TrimPrefix(token, []byte("##"))
		isWord := !isTail(token) && (i+1 == len(w.ids) || !isTail(v.token(w.ids[i+1])))
		switch {
		case id == unknown || !bytes.ContainsFunc(letters, isLetter):
			continue // a sign
		case isWord || len(letters) > 2:
			return false
		}
		cut = true
	}
	return cut
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// appendRune takes one character beyond ASCII: it may be dropped, end the word,
// stand alone, or go into the word without its accents and in lower case.
func (v *vocabulary) appendRune(dst []int32, buf []byte, r rune) ([]int32, []byte) {
	switch {
	case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		return dst, buf
	case unicode.IsSpace(r):
		return v.endWord(dst, buf)
	case isHan(r):
		dst, buf = v.endWord(dst, buf)
		return append(dst, v.sign(r)), buf
	}
	var whole [utf8.UTFMax]byte
	parts := whole[:utf8.EncodeRune(whole[:], r)]
	if p := norm.NFD.Properties(parts).Decomposition(); p != nil {
		parts = p
	} else if unicode.Is(unicode.Hangul, r) { // is decomposed by rule, not by a table
		parts = norm.NFD.Append(nil, parts...)
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		switch {
		case unicode.Is(unicode.Mn, part):
		case part < utf8.RuneSelf && asciiKind[part] == sign, unicode.IsPunct(part):
			dst, buf = v.endWord(dst, buf)
			dst = append(dst, v.sign(unicode.ToLower(part)))
		case part < utf8.RuneSelf && asciiKind[part] == space:
			dst, buf = v.endWord(dst, buf)
		default:
			buf = utf8.AppendRune(buf, unicode.ToLower(part))
		}
	}
	return dst, buf
}

// endWord cuts the word in buf into the longest tokens from its left, and
// empties buf. If any part has no token, the word as a whole is [UNK].
func (v *vocabulary) endWord(dst []int32, buf []byte) ([]int32, []byte) {
	if len(buf) == 0 {
		return dst, buf
	}
	if len(buf) > maxWord && utf8.RuneCount(buf) > maxWord {
		return append(dst, unknown), buf[:0]
	}
	mark, kind := len(dst), wordStart
	for start := 0; start < len(buf); {
		id, length := v.longestPiece(kind, buf[start:])
		if length == 0 {
			return append(dst[:mark], unknown), buf[:0]
		}
		dst = append(dst, id)
		start += length
		kind = wordRest
	}
	return dst, buf[:0]
}

// isHan says what BERT takes for a Chinese character: the CJK ideographs.
func isHan(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

// Kinds of ASCII characters.
const (
	wordChar = iota
	space
	sign
	dropped
)

var asciiKind, asciiLower = func() (kind, lower [utf8.RuneSelf]byte) {
	for c := range kind {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			kind[c] = space
		case c < ' ' || c == 0x7F:
			kind[c] = dropped
		case c >= 'A' && c <= 'Z':
			lower[c] = 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		default:
			kind[c] = sign
		}
	}
	return kind, lower
}()
