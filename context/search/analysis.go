package search

import (
	"strings"

	"github.com/kljensen/snowball/english"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// field is a part of a note that words are looked for in.
type field uint8

const (
	title field = iota
	headings
	tags
	path
	body
	fields
)

var fieldNames = [fields]string{"title", "headings", "tags", "path", "body"}

// fieldWeights are how many occurrences in the body one elsewhere is worth. A
// heading stands in the body as well. Chosen on Cranfield and the sample vault:
// see quality.golden.
var fieldWeights = [fields]uint8{title: 8, headings: 2, tags: 4, path: 1, body: 1}

// analysis are the words of a note.
type analysis struct {
	text    []byte
	ends    []uint32 // of the words in text
	weights []uint8
	length  uint32 // words of the body and the title
}

// analyse takes a note apart. It needs no lock.
func analyse(s *splitter, n *notes.Note) *analysis {
	a := &analysis{
		text: make([]byte, 0, len(n.Body)), ends: make([]uint32, 0, len(n.Body)/5), weights: make([]uint8, 0, len(n.Body)/5),
	}
	eachField(n, func(f field, text string) bool {
		s.split(text, func(t token) {
			a.text = append(a.text, t.text...)
			a.ends = append(a.ends, uint32(len(a.text)))
			a.weights = append(a.weights, fieldWeights[f])
			if f == title || f == body {
				a.length++
			}
		})
		return true
	})
	return a
}

// eachField gives the texts of a note, each with the field that it is of, until
// visit returns false. What stands in the frontmatter, and what
// links name behind other words, is of the body.
func eachField(n *notes.Note, visit func(field, string) bool) {
	if !visit(title, n.Title) {
		return
	}
	for _, text := range n.Aliases {
		if !visit(title, text) {
			return
		}
	}
	for _, text := range n.Tags {
		if !visit(tags, text) {
			return
		}
	}
	if !visit(path, placeOf(n)) {
		return
	}
	heads, front, plain, targets := markdown.Outline(n.Body)
	for _, text := range heads {
		if !visit(headings, text) {
			return
		}
	}
	for _, text := range [...]string{front, plain, targets} {
		if text != "" && !visit(body, text) {
			return
		}
	}
}

// placeOf returns the path of a note without the ending of Markdown files, which
// says nothing, or its folder when it has no path.
func placeOf(n *notes.Note) string {
	if n.Path == "" {
		return n.Folder
	}
	return strings.TrimSuffix(strings.TrimSuffix(n.Path, ".md"), ".markdown")
}

// stemEnglish returns the stem of an English word (Porter2). A word in another
// script, or with a digit in it, is its own stem.
func stemEnglish(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && c != '\'' {
			return word
		}
	}
	return english.Stem(word, false)
}

// keepWord is the stem of a word when there is no stemming.
func keepWord(word string) string { return word }
