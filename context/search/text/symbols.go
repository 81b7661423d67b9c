package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// asciiSymbols are the signs of ASCII that stand for something and can be looked for. The
// others divide texts (. , ; : ! ?), enclose words (quotes and brackets), or are the marks of
// Markdown, tags and paths (# - _ ` | / \), which nearly every note has.
const asciiSymbols = "$%&*+<=>@^~"

// isSymbol reports whether a character that is of no word stands for something, as
// currencies, arrows and emoji do, and is a word of its own. Blanks, quotes, brackets, dashes
// and what ends sentences are not; nor are bullets and dots that stand for what is left out.
func isSymbol(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune(asciiSymbols, r)
	}
	switch r {
	case utf8.RuneError, '·', '…', '‥', '•', '‣', '⁃', '‧', '・', '･', '¡', '¿', '״', '׳':
		return false
	}
	return !isWord(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z,
		unicode.Pc, unicode.Pd, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Terminal_Punctuation,
		unicode.Quotation_Mark)
}

// IsSymbol reports whether a word is a symbol: it says less than others of what a text is
// about.
func IsSymbol(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return isSymbol(r)
}

// IsPlainSymbol reports whether a word is a symbol of ASCII.
func IsPlainSymbol(w string) bool { return len(w) == 1 && strings.Contains(asciiSymbols, w) }

// symbolEnd returns where the symbol ends that begins at i: with its marks, with the letters
// of a flag, and with the others of a sequence of emoji.
func symbolEnd(text string, i, end int) int {
	first, size := utf8.DecodeRuneInString(text[i:end])
	at := i + size
	for before := first; at < end; {
		r, size := utf8.DecodeRuneInString(text[at:end])
		switch {
		case classOf(r).is&(isMark|isUnseen) != 0, isTone(r):
		case before == zeroWidthJoiner && isSymbol(r):
		case isRegional(first) && at == i+utf8.RuneLen(first) && isRegional(r):
		default:
			return at
		}
		before = r
		at += size
	}
	return at
}

const (
	zeroWidthJoiner = '\u200D'
	keycap          = '\u20E3' // around the digit before it
)

// isKeycap reports whether a character is a key with what stands behind it: 1️⃣ is no 1.
func isKeycap(r rune, behind string) bool {
	return '0' <= r && r <= '9' && strings.HasPrefix(strings.TrimPrefix(behind, "\uFE0F"), "\u20E3")
}

// isTone reports the tones of the skin of emoji.
func isTone(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

// isRegional reports the letters that flags are made of.
func isRegional(r rune) bool { return 0x1F1E6 <= r && r <= 0x1F1FF }

// appendSymbol appends the form of a symbol under which it is found: without tones, and
// without what says whether it is shown in colours; what stands for letters, as ㎏ does, as
// these.
func appendSymbol(b []byte, symbol string) []byte {
	if !isNormalString(symbol) {
		return appendFolded(b, symbol)
	}
	from := len(b)
	for _, r := range symbol {
		if !isTone(r) && r != '\uFE0E' && r != '\uFE0F' {
			b = utf8.AppendRune(b, r)
		}
	}
	if len(b) == from {
		return append(b, symbol...)
	}
	return b
}

// isNormalString is norm.NFKC.IsNormalString, which allocates memory.
func isNormalString(text string) bool {
	for _, r := range text {
		if classOf(r).is&isNormal == 0 {
			return norm.NFKC.IsNormalString(text)
		}
	}
	return true
}

// symbol emits the symbol that begins at i, and returns where it ends.
func (s *Splitter) symbol(text string, i, end int, emit func(Token)) int {
	to := symbolEnd(text, i, end)
	s.buf = appendSymbol(s.buf[:0], text[i:to])
	s.emit(Token{Text: s.buf, Start: i, End: to, Symbol: true}, emit)
	return to
}
