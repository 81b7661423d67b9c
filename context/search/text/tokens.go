package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Sizes of parts, in tokens as CountTokens estimates them.
const (
	partTokens    = 200
	overlapTokens = 60 // a longer sentence is not said again in the next part
)

// Parts cuts a plain text after a paragraph or a sentence into parts of about 200
// tokens; a part begins with the last sentence of the one before. The same text gives
// the same parts. O(text).
func Parts(text string) (parts []string) {
	start, end, size := 0, 0, 0 // the part so far and its tokens
	last, lastSize := 0, 0      // where its last sentence begins
	flush := func() {
		if t := strings.TrimSpace(text[start:end]); t != "" {
			parts = append(parts, t)
		}
	}
	for _, s := range Sentences(text) {
		n := CountTokens(text[end : end+s])
		full := size+n > partTokens || size > partTokens*3/4 && endsParagraph(text[:end])
		if full && size > 0 {
			flush()
			start, size = end, 0
			if lastSize <= overlapTokens && lastSize+n <= partTokens {
				start, size = last, lastSize
			}
		}
		last, lastSize = end, n
		end += s
		size += n
	}
	flush()
	return parts
}

func endsParagraph(text string) bool { return strings.HasSuffix(text, "\n\n") }

// Sentences gives the lengths of the sentences of a text, which add up to
// its own. One of more than a part, as a table or code may look like, is cut
// after a word. O(text).
func Sentences(text string) (lengths []int) {
	for text != "" {
		stretch := text[:stretchEnd(text)]
		text = text[len(stretch):]
		if strings.TrimLeftFunc(stretch, lookedOver) == "" { // part of a long run, from each of which the search would look back
			lengths = append(lengths, len(stretch))
			continue
		}
		for s := sentences.FromString(stretch); s.Next(); {
			for rest := s.Value(); rest != ""; {
				head := CutTokens(rest, partTokens)
				lengths = append(lengths, len(head))
				rest = rest[len(head):]
			}
		}
	}
	return lengths
}

// longestRun is how many blanks, brackets, quotes and marks may follow each other in what
// is searched for sentences. From each of them the search looks back over those before,
// so that a long run would take the square of its length.
const longestRun = 64

// stretchEnd returns where a text has the first run of them that is too long: it is cut
// there.
func stretchEnd(text string) int {
	run := 0
	for i, r := range text {
		if !lookedOver(r) {
			run = 0
			continue
		}
		run++
		if run > longestRun {
			return i
		}
	}
	return len(text)
}

// lookedOver reports whether a search for the end of a sentence may look back over r: those
// characters are of these categories.
func lookedOver(r rune) bool {
	if r < utf8.RuneSelf {
		return strings.ContainsRune(" \t\r\n\v\f\"'()[]{}", r)
	}
	return unicode.In(r, unicode.Z, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.M, unicode.Cf, unicode.Cc, unicode.So,
		unicode.Other_Grapheme_Extend)
}

// CountTokens estimates how many tokens a model makes of a text: one for each
// word, one more for every further six bytes of it, one for each sign and each
// ideograph or other letter without case.
func CountTokens(text string) int {
	var c tokenCounter
	for _, r := range text {
		c.add(r)
	}
	return c.tokens
}

// CutTokens gives the longest head of a text that has at most so many tokens,
// ending before a word if there is one in its last part. It is never empty for
// a text that is not.
func CutTokens(text string, most int) string {
	var c tokenCounter
	word := 0 // where the last word began
	for i, r := range text {
		before := c.inWord
		c.add(r)
		if c.inWord > 0 && before == 0 {
			word = i
		}
		if c.tokens > most && i > 0 {
			if c.inWord > 0 && word > i/2 {
				return text[:word]
			}
			return text[:i]
		}
	}
	return text
}

type tokenCounter struct {
	tokens int
	inWord int // bytes of the word so far
}

func (c *tokenCounter) add(r rune) {
	switch {
	case unicode.IsSpace(r):
		c.inWord = 0
	case unicode.IsMark(r):
	case unicode.Is(unicode.Lo, r) || !unicode.IsLetter(r) && !unicode.IsDigit(r):
		c.inWord = 0
		c.tokens++
	default:
		if c.inWord%6 == 0 || c.inWord/6 != (c.inWord+utf8.RuneLen(r)-1)/6 {
			c.tokens++
		}
		c.inWord += utf8.RuneLen(r)
	}
}
