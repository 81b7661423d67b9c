package notedoc

import (
	"strings"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// chunksVersion says how notes are split. Another one has every note split, and
// what changed thereby embedded, anew: raise it with any change of Chunks.
const chunksVersion = "2"

// prefixTokens is how many tokens the title and the headings before a chunk have at most,
// as text.CountTokens estimates them.
const prefixTokens = 40

// Chunks splits a note at its headings, and long sections after a paragraph or
// a sentence into parts of about 200 tokens; a part begins with the last
// sentence of the one before. A section without text has no chunk, a note
// without any text one of its title. The same note gives the same chunks, and
// time is linear in its length.
func Chunks(title, body string) []text.Chunk {
	var chunks []text.Chunk
	var path []markdown.Heading
	section := func(body string) {
		if plain := markdown.PlainText(body); plain != "" {
			for _, part := range text.Parts(plain) {
				chunks = append(chunks, text.Chunk{Prefix: prefix(title, path), Text: part})
			}
		}
	}
	_, at := markdown.SplitFrontmatter(body)
	markdown.Headings(body, func(h markdown.Heading) {
		section(body[at:h.Start])
		at = h.End
		for len(path) > 0 && path[len(path)-1].Level >= h.Level {
			path = path[:len(path)-1]
		}
		path = append(path, h)
	})
	section(body[at:])
	if len(chunks) == 0 {
		chunks = append(chunks, text.Chunk{Prefix: prefix(title, nil)})
	}
	return chunks
}

// prefix joins the title and the headings, without one that repeats the title.
// Of a very long one the end stays: it is nearest to the text.
func prefix(title string, path []markdown.Heading) string {
	parts := []string{text.CutTokens(title, prefixTokens)}
	for i, h := range path {
		if i > 0 || !strings.EqualFold(h.Text, title) {
			parts = append(parts, text.CutTokens(h.Text, prefixTokens))
		}
	}
	for len(parts) > 2 && text.CountTokens(strings.Join(parts, " ")) > prefixTokens {
		parts = append(parts[:1], parts[2:]...)
	}
	return strings.Join(parts, " > ")
}
