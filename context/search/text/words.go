package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// MaxWord is how many bytes of a word count. What is longer is no word of a
// language, and a text of one huge word must not become a term of its size.
const MaxWord = 64

// Token is one word of a text.
type Token struct {
	Text []byte // folded; valid until the next token
	// Start and End enclose the word in the text as it was given, in bytes.
	Start, End int
	// Last says that it is the last character of several that are written
	// without blanks between words: all of them are found in pairs as well.
	Last bool
	// Symbol says that it is no word, but €, → or an emoji.
	Symbol bool
}

// kinds of ASCII bytes.
const (
	blank  = iota
	letter // or digit
	symbol
	foreign
)

var kinds = func() (k [256]uint8) {
	for c := range k {
		switch {
		case c >= utf8.RuneSelf:
			k[c] = foreign
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			k[c] = letter
		case isSymbol(rune(c)):
			k[c] = symbol
		}
	}
	return k
}()

// folds are the ASCII letters in lower case and the digits, by what they are the fold
// of; 0 for what is neither.
var folds = func() (f [256]byte) {
	for c, kind := range kinds {
		if kind == letter {
			f[c] = byte(c)
			if 'A' <= c && c <= 'Z' {
				f[c] += 'a' - 'A'
			}
		}
	}
	return f
}()

// Splitter splits texts into words. It may be used again, by one at a time.
type Splitter struct {
	Word [MaxWord]byte // that Plain has found, folded
	buf  []byte
	run  pairs // of characters that are not emitted as a whole
}

// Split calls emit for every word of a text, in order: the segments of UAX 29
// that hold a letter or a digit, cut at what joins several words (example.com,
// foo_bar, l'eau), and folded. Scripts without blanks between words come in
// pairs of characters that overlap, and the last character alone. Symbols are words of
// their own. O(text).
func (s *Splitter) Split(text string, emit func(Token)) {
	for i := 0; i < len(text); {
		if kinds[text[i]] == blank {
			i++
		} else if end := s.Plain(text, i); end > i {
			emit(Token{Text: s.Word[:end-i], Start: i, End: end})
			i = end
		} else {
			i = s.Next(text, i, emit)
		}
	}
}

// Next emits the word that begins at i, or those up to a blank, and returns where it
// ends.
func (s *Splitter) Next(text string, i int, emit func(Token)) int {
	switch {
	case kinds[text[i]] == letter:
		end := s.ascii(text, i, emit)
		if end > i {
			return end
		}
	case kinds[text[i]] == symbol && (i+1 == len(text) || kinds[text[i+1]] != foreign):
		return s.symbol(text, i, i+1, emit)
	}
	return s.segments(text, i, emit)
}

// Plain puts the word that begins at i into s.Word when it is one of ASCII letters
// and digits alone, as most are, and returns where it ends. It returns i when it takes
// a closer look to tell where the word ends.
func (s *Splitter) Plain(text string, i int) (end int) {
	rest := text[i:]
	rest = rest[:min(len(rest), MaxWord)]
	for n := range len(rest) {
		c := rest[n]
		if fold := folds[c]; fold != 0 {
			s.Word[n] = fold
			continue
		}
		if n == 0 || c == '\'' || c >= utf8.RuneSelf || (c == '.' || c == ',') && IsDigit(rest[n-1]) {
			return i
		}
		return i + n
	}
	if len(rest) == MaxWord {
		return i
	}
	return len(text)
}

// ascii emits the word that begins at i and returns where it ends. It returns i for a
// word that goes on in another script, which is left to segments.
func (s *Splitter) ascii(text string, i int, emit func(Token)) int {
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
				return start
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
	s.emit(Token{Text: b, Start: start, End: i}, emit)
	if i < len(text) && text[i] == '\'' {
		if n := clitic(text[i+1:]); n > 0 { // Anna's and we're are Anna and we
			i += 1 + n
		}
	}
	return i
}

func (s *Splitter) emit(t Token, emit func(Token)) {
	if len(t.Text) > MaxWord {
		n := MaxWord
		for n > 0 && !utf8.RuneStart(t.Text[n]) {
			n--
		}
		t.Text = t.Text[:n]
	}
	if len(t.Text) > 0 {
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
		return IsDigit(text[i-1]) && IsDigit(text[i+1]), true
	case ',':
		rest := text[i+1:]
		return IsDigit(text[i-1]) && len(rest) >= 3 && IsDigit(rest[0]) && IsDigit(rest[1]) && IsDigit(rest[2]) &&
			(len(rest) == 3 || !IsDigit(rest[3])), false
	case '\'':
		return clitic(text[i+1:]) == 1 && text[i+1]|0x20 == 't', true
	}
	return false, false
}

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

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

// IsBlank reports whether a byte is ASCII, and nothing that is found: Split passes over it
// between words.
func IsBlank(c byte) bool { return kinds[c] == blank }

// isWord reports whether a character can be of a word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// segments emits the words from i to the next blank of ASCII, by the rules of
// UAX 29, and returns where that is.
func (s *Splitter) segments(text string, from int, emit func(Token)) int {
	end := -1 // where the next blank is; most words do not need it
	at := from
	for at < len(text) && !isSpace(text[at]) {
		at = s.paired(text, at, emit)
		to := s.letters(text, at, emit)
		if to > at {
			at = to
			continue
		}
		if end < 0 {
			end = stretchOf(text, at)
		}
		seg := words.FromString(text[at:end])
		if !seg.Next() {
			break
		}
		to = at + seg.End()
		s.segment(text, at, to, emit)
		at = to
	}
	s.endRun(text, emit)
	return at
}

// stretchOf returns where the next blank of ASCII is.
func stretchOf(text string, at int) int {
	for at < len(text) && !isSpace(text[at]) {
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// segment emits the words of one segment, but for the end of a run of characters in
// pairs, which may go on in the next.
func (s *Splitter) segment(text string, at, end int, emit func(Token)) {
	start := -1 // of the word of letters
	flush := func(to int) {
		s.endRun(text, emit)
		if start >= 0 {
			s.buf = appendFolded(s.buf[:0], text[start:to])
			s.emit(Token{Text: s.buf, Start: start, End: to}, emit)
			start = -1
		}
	}
	for i := at; i < end; {
		r, size := decode(text[i:end])
		c := classOf(r)
		is := c.is
		switch {
		case isKeycap(r, text[i+size:end]):
			flush(i)
			i = s.symbol(text, i, end, emit)
			continue
		case s.goesOn(is):
			s.run.extend(c, i+size)
		case is&isPaired != 0:
			if start >= 0 {
				flush(i)
			}
			s.emitPair(text, emit)
			s.run.add(c, i, i+size)
		case is&inWord != 0:
			s.endRun(text, emit)
			if start < 0 {
				start = i
			}
		case is&isSymbolic != 0:
			flush(i)
			i = s.symbol(text, i, end, emit)
			continue
		case start < 0:
			s.endRun(text, emit)
		case isApostrophe(r):
			n := clitic(text[i+size:])
			if n == 1 && text[i+size]|0x20 == 't' {
				break
			}
			flush(i)
			i += n
		default:
			joined, keep := joins(text, start, i)
			if !(joined && keep) && is&isUnseen == 0 && !(r == '״' || r == '׳') {
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

// pairs are a run of characters of scripts without blanks, of which all pairs but the
// last are emitted: a whole text may be one run.
type pairs struct {
	count      int // of the characters
	start, end int // of the last one, with its marks
	before     int // where the one before it starts

	folded     []byte // the last one as far as it is folded, and those before it
	prev, last int    // where in folded the one before the last begins, and the last one
	folding           // of the last one
	whole      bool   // the last one is to be folded as a whole
}

// add adds a character. The pair of those before it is emitted.
func (p *pairs) add(c *class, start, end int) {
	if cap(p.folded)-len(p.folded) < 2*maxShortPair {
		p.compact()
	}
	p.before, p.start, p.prev, p.last = p.start, start, p.last, len(p.folded)
	p.folding, p.whole = folding{}, false
	p.count++
	if c.how == alone { // as most are: what extend does, without what there may be of marks
		p.end = end
		p.folding = folding{c.bare, c.takes, c.combining}
		p.folded = c.appendFold(p.folded)
		return
	}
	p.extend(c, end)
}

// maxShortPair is how many bytes a pair seldom has more of.
const maxShortPair = 32

// compact makes room behind the last character, and drops those before it.
func (p *pairs) compact() {
	if cap(p.folded) < 8*maxShortPair {
		p.folded = append(make([]byte, 0, 8*maxShortPair), p.folded...)
	}
	p.folded = p.folded[:copy(p.folded, p.folded[p.last:])]
	p.last = 0
}

// extend adds a part to the last character, which ends there.
func (p *pairs) extend(c *class, end int) {
	p.end = end
	if p.whole {
		return
	}
	b, ok := p.folding.add(p.folded, c)
	p.folded, p.whole = b, !ok
}

// goesOn reports whether a character is a part of the last one of the run.
func (s *Splitter) goesOn(is uint16) bool { return s.run.count > 0 && is&(isMark|isJoined) != 0 }

// paired takes in the characters of a run that a text has at a place, and returns where
// they end.
func (s *Splitter) paired(text string, at int, emit func(Token)) int {
	for at < len(text) {
		r, size := decode(text[at:])
		c := classOf(r)
		switch {
		case s.goesOn(c.is):
			s.run.extend(c, at+size)
		case c.is&isPaired != 0:
			s.emitPair(text, emit)
			s.run.add(c, at, at+size)
		default:
			return at
		}
		at += size
	}
	return at
}

// emitPair emits the last two characters of the run, if there are so many.
func (s *Splitter) emitPair(text string, emit func(Token)) {
	run := &s.run
	if run.count == 0 {
		return
	}
	if run.whole {
		run.folded = appendFolded(run.folded[:run.last], text[run.start:run.end])
		run.whole = false
	}
	if run.count > 1 {
		s.emit(Token{Text: run.folded[run.prev:], Start: run.before, End: run.end}, emit)
	}
}

// endRun ends the run, if there is one.
func (s *Splitter) endRun(text string, emit func(Token)) {
	run := &s.run
	if run.count == 0 {
		return
	}
	s.emitPair(text, emit)
	s.emit(Token{Text: run.folded[run.last:], Start: run.start, End: run.end, Last: run.count > 1}, emit)
	*run = pairs{folded: run.folded[:0]}
}

// IsCharacter reports whether a word is one character of a script without blanks
// between words: it may stand at the beginning of any pair.
func IsCharacter(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && inPairs(r)
}

// HasPhrase reports whether the words of a phrase stand in a text one behind the
// other. They are compared as they are written, folded; symbols that the phrase has not may
// stand between them. O(text).
func (s *Splitter) HasPhrase(text string, phrase []string) bool {
	var at []int // how many words of the phrase have been met, for each beginning
	found := false
	s.Split(text, func(t Token) {
		if found || t.Last && len(phrase) > 1 {
			return
		}
		next := at[:0]
		for _, n := range at {
			switch {
			case phrase[n] == string(t.Text):
				next = append(next, n+1)
			case t.Symbol:
				next = append(next, n)
			}
		}
		if phrase[0] == string(t.Text) ||
			len(phrase) == 1 && IsCharacter(phrase[0]) && strings.HasPrefix(string(t.Text), phrase[0]) {
			next = append(next, 1)
		}
		at = next
		found = len(at) > 0 && at[0] == len(phrase)
	})
	return found
}
