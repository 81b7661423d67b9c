package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsExcerpt reports whether a text is another one with words left out, and denies as often as that does. All that it
// shows stands in the other, in that order: words whole, apart from case, and every mark, but for a full stop or an
// ellipsis at its end. So it is of the same language and says nothing that the other does not say. Scripts that set no
// blanks have no words here but what stands between two marks. O(text).
func IsExcerpt(text, of string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool { return r == '.' || r == '…' || unicode.IsSpace(r) })
	for text != "" {
		var p piece
		p, text = firstPiece(text)
		for {
			if of == "" {
				return false
			}
			var q piece
			q, of = firstPiece(of)
			if q == p {
				break
			}
			if q.denies {
				return false
			}
		}
	}
	for of != "" {
		var q piece
		q, of = firstPiece(of)
		if q.denies {
			return false
		}
	}
	return true
}

// piece is a word, or one character that is none.
type piece struct {
	fold   string
	denies bool
}

// firstPiece returns the first piece of a text, and what is behind it.
func firstPiece(text string) (p piece, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if text == "" {
		return piece{}, ""
	}
	r, size := utf8.DecodeRuneInString(text)
	if sign := strings.ContainsRune("-−+", r); sign && isFigure(text[size:]) { // it is a part of the number
		p, rest = firstPiece(text[size:])
		p.fold = text[:size] + p.fold
		return p, rest
	}
	if !isWord(r) {
		return piece{fold: text[:size]}, text[size:]
	}
	w, _ := next(text, 0)
	return piece{w.fold, denial(w)}, text[w.end:]
}

// denial reports whether a word denies what its statement says.
func denial(w word) bool { return negations[w.fold] || strings.HasSuffix(w.fold, "n't") }
