package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ctxd/ctxd/notes/markdown"
)

// chunksVersion says how notes are split. Another one has every note split, and
// what changed thereby embedded, anew: raise it with any change of Chunks.
const chunksVersion = "1"

// Sizes of chunks, in tokens as countTokens estimates them.
const (
	chunkTokens   = 200
	overlapTokens = 60 // a longer sentence is not said again in the next chunk
	prefixTokens  = 40 // of title and headings before each chunk
)

// Chunk is a part of a note that has its own vector.
type Chunk struct {
	// Prefix says where the part stands: the title and the headings above it,
	// joined by " > ".
	Prefix string
	// Text is the plain text of the part: what a hit shows.
	Text string
}

// Embedded is what the vector of the chunk is made of.
func (c Chunk) Embedded() string {
	if c.Text == "" {
		return c.Prefix
	}
	return c.Prefix + "\n" + c.Text
}

// Chunks splits a note at its headings, and long sections after a paragraph or
// a sentence into parts of about 200 tokens; a part begins with the last
// sentence of the one before. A section without text has no chunk, a note
// without any text one of its title. The same note gives the same chunks, and
// time is linear in its length.
func Chunks(title, body string) []Chunk {
	var chunks []Chunk
	doc := markdown.Parse(body)
	var path []markdown.Heading
	section := func(text string) {
		if text = markdown.PlainText(text); text != "" {
			chunks = appendChunks(chunks, prefix(title, path), text)
		}
	}
	at := doc.BodyStart
	for _, h := range doc.Headings {
		section(body[at:h.Start])
		at = h.End
		for len(path) > 0 && path[len(path)-1].Level >= h.Level {
			path = path[:len(path)-1]
		}
		path = append(path, h)
	}
	section(body[at:])
	if len(chunks) == 0 {
		chunks = append(chunks, Chunk{Prefix: prefix(title, nil)})
	}
	return chunks
}

// prefix joins the title and the headings, without one that repeats the title.
// Of a very long one the end stays: it is nearest to the text.
func prefix(title string, path []markdown.Heading) string {
	parts := []string{cutTokens(title, prefixTokens)}
	for i, h := range path {
		if i > 0 || !strings.EqualFold(h.Text, title) {
			parts = append(parts, cutTokens(h.Text, prefixTokens))
		}
	}
	for len(parts) > 2 && countTokens(strings.Join(parts, " ")) > prefixTokens {
		parts = append(parts[:1], parts[2:]...)
	}
	return strings.Join(parts, " > ")
}

// appendChunks cuts the plain text of one section.
func appendChunks(chunks []Chunk, prefix, text string) []Chunk {
	start, end, size := 0, 0, 0 // the chunk so far and its tokens
	last, lastSize := 0, 0      // where its last sentence begins
	flush := func() {
		if t := strings.TrimSpace(text[start:end]); t != "" {
			chunks = append(chunks, Chunk{Prefix: prefix, Text: t})
		}
	}
	for _, s := range splitSentences(text) {
		n := countTokens(text[end : end+s])
		if full := size+n > chunkTokens || size > chunkTokens*3/4 && endsParagraph(text[:end]); full && size > 0 {
			flush()
			start, size = end, 0
			if lastSize <= overlapTokens && lastSize+n <= chunkTokens {
				start, size = last, lastSize
			}
		}
		last, lastSize = end, n
		end += s
		size += n
	}
	flush()
	return chunks
}

func endsParagraph(text string) bool { return strings.HasSuffix(text, "\n\n") }

// splitSentences gives the lengths of the sentences of a text, which add up to
// its own. One of more than a chunk, as a table or code may look like, is cut
// after a word.
func splitSentences(text string) (lengths []int) {
	for s := sentences.FromString(text); s.Next(); {
		for rest := s.Value(); rest != ""; {
			head := cutTokens(rest, chunkTokens)
			lengths = append(lengths, len(head))
			rest = rest[len(head):]
		}
	}
	return lengths
}

// countTokens estimates how many tokens a model makes of a text: one for each
// word, one more for every further six bytes of it, one for each sign and each
// ideograph or other letter without case.
func countTokens(text string) int {
	var c tokenCounter
	for _, r := range text {
		c.add(r)
	}
	return c.tokens
}

// cutTokens gives the longest head of a text that has at most so many tokens,
// ending before a word if there is one in its last part. It is never empty for
// a text that is not.
func cutTokens(text string, most int) string {
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
