package refs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes/markdown"
)

// Treatment is what becomes of a reference in a clean text.
type Treatment uint8

// The treatments.
const (
	Removed Treatment = iota // with a blank beside it, and with brackets that hold nothing else
	Kept                     // as it is written: what leads to no record is a word of the question
	Named                    // without its mark: the name of an entity, the alias or title of a note
)

// Clean returns a text without its references, which Find has found: what a question is
// searched for by. treat says what becomes of a reference; when it is nil, notes are named
// and all others removed. Line breaks, and all else, stay. O(length of the text).
func Clean(text string, refs []Ref, treat func(Ref) Treatment) string {
	if len(refs) == 0 {
		return text
	}
	if treat == nil {
		treat = byDefault
	}
	kept := texts.Get().(*[]byte)
	out := slices.Grow((*kept)[:0], len(text))
	at := 0
	for _, r := range refs {
		out = append(out, text[at:r.Start]...)
		at = r.End
		switch treat(r) {
		case Kept:
			out = append(out, r.Raw...)
		case Named:
			out = append(out, nameOf(r)...)
		case Removed:
			out, at = remove(out, text, at)
		}
	}
	out = append(out, text[at:]...)
	clean := string(out)
	if cap(out) <= maxKeptText {
		*kept = out[:0]
	}
	texts.Put(kept)
	return clean
}

func byDefault(r Ref) Treatment {
	if r.Kind == Note {
		return Named
	}
	return Removed
}

// nameOf returns what a reader sees of a reference without its mark.
func nameOf(r Ref) string {
	if r.Kind == Note {
		return markdown.ReadLink(r.Raw).Text()
	}
	return strings.TrimPrefix(r.Raw, "@")
}

// brackets are those that go with what they hold.
var brackets = map[rune]rune{'(': ')', '[': ']', '{': '}', '（': '）', '「': '」'}

// remove takes what is around a removed reference out: brackets that are empty now, then
// one blank. The text behind it begins at a byte offset, and so it does in the end.
func remove(out []byte, text string, at int) (kept []byte, next int) {
	for len(out) > 0 && at < len(text) {
		open, size := utf8.DecodeLastRune(out)
		closing, width := utf8.DecodeRuneInString(text[at:])
		if want, ok := brackets[open]; !ok || want != closing {
			break
		}
		out, at = out[:len(out)-size], at+width
	}
	switch {
	case len(out) > 0 && isBlank(out[len(out)-1]):
		out = out[:len(out)-1]
	case at < len(text) && isBlank(text[at]):
		at++
	}
	return out, at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
