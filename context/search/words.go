package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// maxWord is how many bytes of a word count. What is longer is no word of a
// language, and a text of one huge word must not become a term of its size.
const maxWord = 64

// token is one word of a text.
type token struct {
	text []byte // folded; valid until the next token
	// start and end enclose the word in the text as it was given, in bytes.
	start, end int
	// last says that it is the last character of several that are written
	// without blanks between words: all of them are found in pairs as well.
	last bool
}

// kinds of ASCII bytes.
const (
	blank  = iota
	letter // or digit
	foreign
)

var kinds = func() (k [256]uint8) {
	for c := range k {
		switch {
		case c >= utf8.RuneSelf:
			k[c] = foreign
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			k[c] = letter
		}
	}
	return k
}()

// folds are the ASCII letters in lower case and the digits, by what they are the fold
// of; 0 for what is neither.
var folds = func() (f [256]byte) {
	for c, kind := range kinds {
		if kind == letter {
			if f[c] = byte(c); 'A' <= c && c <= 'Z' {
				f[c] += 'a' - 'A'
			}
		}
	}
	return f
}()

// splitter takes texts apart. It may be used again, by one at a time.
type splitter struct {
	word [maxWord]byte // a plain one
	buf  []byte
	run  []character // of a script in pairs
	ends []int       // of the characters in the folded run
}

// split calls emit for every word of a text, in order: the segments of UAX 29
// that hold a letter or a digit, cut at what joins several words (example.com,
// foo_bar, l'eau), and folded. Scripts without blanks between words come in
// pairs of characters that overlap, and the last character alone. O(text).
func (s *splitter) split(text string, emit func(token)) {
	for i := 0; i < len(text); {
		if kinds[text[i]] == blank {
			i++
		} else if end := s.plain(text, i); end > i {
			emit(token{text: s.word[:end-i], start: i, end: end})
			i = end
		} else {
			i = s.next(text, i, emit)
		}
	}
}

// next emits the word that begins at i, or those up to a blank, and returns where it
// ends.
func (s *splitter) next(text string, i int, emit func(token)) int {
	if kinds[text[i]] == letter {
		return s.ascii(text, i, emit)
	}
	return s.segments(text, i, emit)
}

// plain puts the word that begins at i into s.word when it is one of ASCII letters
// and digits alone, as most are, and returns where it ends. It returns i when it takes
// a closer look to tell where the word ends.
func (s *splitter) plain(text string, i int) (end int) {
	rest := text[i:]
	rest = rest[:min(len(rest), maxWord)]
	for n := range len(rest) {
		c := rest[n]
		if fold := folds[c]; fold != 0 {
			s.word[n] = fold
			continue
		}
		if n == 0 || c == '\'' || c >= utf8.RuneSelf || (c == '.' || c == ',') && isDigit(rest[n-1]) {
			return i
		}
		return i + n
	}
	if len(rest) == maxWord {
		return i
	}
	return len(text)
}

// ascii emits the word that begins at i and returns where it ends. A word that
// goes on in another script is left to segments.
func (s *splitter) ascii(text string, i int, emit func(token)) int {
	start := i
	b := s.buf[:0]
	for ; i < len(text); i++ {
		c := text[i]
		switch kinds[c] {
		case letter:
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			continue
		case foreign:
			if r, _ := utf8.DecodeRuneInString(text[i:]); isWord(r) || r == '’' || unicode.Is(unicode.Cf, r) {
				return s.segments(text, start, emit)
			}
		}
		joined, keep := joins(text, start, i)
		if !joined {
			break
		}
		if keep {
			b = append(b, c)
		}
	}
	s.buf = b
	s.emit(token{text: b, start: start, end: i}, emit)
	if i < len(text) && text[i] == '\'' {
		if n := clitic(text[i+1:]); n > 0 { // Anna's and we're are Anna and we
			i += 1 + n
		}
	}
	return i
}

func (s *splitter) emit(t token, emit func(token)) {
	if len(t.text) > maxWord {
		n := maxWord
		for n > 0 && !utf8.RuneStart(t.text[n]) {
			n--
		}
		t.text = t.text[:n]
	}
	if len(t.text) > 0 {
		emit(t)
	}
}

// joins reports whether the sign at i belongs to the word that began at start,
// and whether it is kept in it: the point of 3.14, the comma of 1,000 (which is
// dropped), the apostrophe of can't.
func joins(text string, start, i int) (joins, keep bool) {
	if i == start || i+1 >= len(text) {
		return false, false
	}
	switch text[i] {
	case '.':
		return isDigit(text[i-1]) && isDigit(text[i+1]), true
	case ',':
		rest := text[i+1:]
		return isDigit(text[i-1]) && len(rest) >= 3 && isDigit(rest[0]) && isDigit(rest[1]) && isDigit(rest[2]) &&
			(len(rest) == 3 || !isDigit(rest[3])), false
	case '\'':
		return clitic(text[i+1:]) == 1 && text[i+1]|0x20 == 't', true
	}
	return false, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// clitic returns the length of the short form of English that a text begins
// with, as in can't, we're and I'll; 0 for none. It ends there.
func clitic(text string) int {
	for _, short := range [...]string{"ll", "re", "ve", "t", "s", "m", "d"} {
		if len(text) >= len(short) && strings.EqualFold(text[:len(short)], short) && !wordAt(text, len(short)) {
			return len(short)
		}
	}
	return 0
}

// wordAt reports whether a word goes on at i.
func wordAt(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return i < len(text) && isWord(r)
}

// isWord reports whether a character can be of a word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// segments emits the words from i to the next blank of ASCII, by the rules of
// UAX 29, and returns where that is.
func (s *splitter) segments(text string, from int, emit func(token)) int {
	end := from
	for end < len(text) && !isBlank(text[end]) {
		end++
	}
	for seg := words.FromString(text[from:end]); seg.Next(); {
		s.segment(text, from+seg.Start(), from+seg.End(), emit)
	}
	s.pairs(text, emit)
	return end
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// segment emits the words of one segment, but for a run of characters in pairs
// at its end, which may go on in the next.
func (s *splitter) segment(text string, at, end int, emit func(token)) {
	start := -1 // of the word of letters
	flush := func(to int) {
		s.pairs(text, emit)
		if start >= 0 {
			s.buf = appendFolded(s.buf[:0], text[start:to])
			s.emit(token{text: s.buf, start: start, end: to}, emit)
			start = -1
		}
	}
	for i := at; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:end])
		switch {
		case inPairs(r) && !(len(s.run) > 0 && isJoining(r)):
			if start >= 0 {
				flush(i)
			}
			s.run = append(s.run, character{i, i + size})
		case len(s.run) > 0 && (unicode.IsMark(r) || isVoiced(r) || isJoining(r)):
			s.run[len(s.run)-1].end += size
		case isWord(r):
			s.pairs(text, emit)
			if start < 0 {
				start = i
			}
		case start < 0:
			s.pairs(text, emit)
		case isApostrophe(r):
			n := clitic(text[i+size:])
			if n == 1 && text[i+size]|0x20 == 't' {
				break
			}
			flush(i)
			i += n
		default:
			joined, keep := joins(text, start, i)
			if !(joined && keep) && !unicode.Is(unicode.Cf, r) && !(r == '״' || r == '׳') {
				flush(i)
			}
		}
		i += size
	}
	if start >= 0 {
		flush(end)
	}
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// character is one character of a run with its marks, and where it ends in the
// folded run.
type character struct{ start, end int }

// pairs emits the run of characters, if there is one.
func (s *splitter) pairs(text string, emit func(token)) {
	run := s.run
	if len(run) == 0 {
		return
	}
	s.run = run[:0]
	s.buf, s.ends = s.buf[:0], s.ends[:0]
	for _, c := range run {
		s.buf = appendFolded(s.buf, text[c.start:c.end])
		s.ends = append(s.ends, len(s.buf))
	}
	at := 0
	for i := 1; i < len(run); i++ {
		s.emit(token{text: s.buf[at:s.ends[i]], start: run[i-1].start, end: run[i].end}, emit)
		at = s.ends[i-1]
	}
	n := len(run) - 1
	s.emit(token{text: s.buf[at:], start: run[n].start, end: run[n].end, last: n > 0}, emit)
}
