package refs

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Find returns the references of a text in their order, with byte offsets. They do not
// overlap: of two the earlier one counts, and nothing inside of it. O(length of the text).
func Find(text string) []Ref {
	if !strings.ContainsAny(text, "@#[") {
		return nil
	}
	m := messages.Get().(*markdown.Message)
	m.Read(text)
	found := FindIn(m)
	m.Forget()
	messages.Put(m)
	return found
}

// FindIn is Find for a text that was read.
func FindIn(m *markdown.Message) []Ref {
	list := lists.Get().(*[]Ref)
	f := finder{text: m.Text, links: m.Links, found: (*list)[:0]}
	for _, span := range m.Prose {
		f.prose(span[0], span[1])
	}
	var found []Ref
	if len(f.found) > 0 {
		found = append(make([]Ref, 0, len(f.found)), f.found...) // without room for more
	}
	*list = emptied(f.found)
	lists.Put(list)
	return found
}

// finder is one pass over a text.
type finder struct {
	text      string
	links     []markdown.Link // those that begin behind the last look
	found     []Ref
	at        int // what stands before has been looked at
	lineStart int
}

// special marks the bytes at which prose has something to decide.
var special = [256]bool{'@': true, '#': true, '[': true, '!': true, ']': true, ':': true, '\n': true}

// prose reads a part of the text that is neither code nor a comment.
func (f *finder) prose(start, end int) {
	f.at = max(f.at, start)
	f.lineStart = start
	for f.at < end {
		at := f.at
		for at < end && !special[f.text[at]] {
			at++
		}
		f.at = at
		if at == end {
			return
		}
		switch f.text[f.at] {
		case '@':
			f.mention()
		case '#':
			f.number()
		case '[', '!':
			f.note()
		case ']':
			f.target()
		case ':':
			f.url()
		case '\n':
			f.at++
			f.lineStart = f.at
		}
	}
}

// add takes a reference from f.at to an end in, and goes on there.
func (f *finder) add(kind Kind, end int, id string) {
	f.found = append(f.found, Ref{Kind: kind, Raw: f.text[f.at:end], ID: id, Start: f.at, End: end})
	f.at = end
}

func (f *finder) note() {
	for len(f.links) > 0 && f.links[0].Start < f.at {
		f.links = f.links[1:]
	}
	if len(f.links) == 0 || f.links[0].Start != f.at {
		f.at++
		return
	}
	link := f.links[0]
	if link.Target == "" { // into the message itself
		f.at = link.End
		return
	}
	f.add(Note, link.End, link.Target)
}

func (f *finder) mention() {
	rest := f.text[f.at+1:]
	kind, size, id := mentionAt(rest)
	if size == 0 || !f.counts(rest[size:]) {
		f.at++
		return
	}
	f.add(kind, f.at+1+size, id)
}

// At returns what a text behind an @ begins with: a reference that is no name, its length, and what Ref.ID of it
// is; size is 0 for none. What stands before the @ is not looked at. O(length of the reference).
func At(text string) (kind Kind, size int, id string) { return mentionAt(text) }

// mentionAt reads what a text behind an @ refers to; size is 0 for nothing.
func mentionAt(text string) (kind Kind, size int, id string) {
	if first, _ := utf8.DecodeRuneInString(text); !unicode.IsLetter(first) {
		return "", 0, ""
	}
	size = names.HandleLen(text)
	word := text[:size]
	if strings.EqualFold(word, "memory") || strings.EqualFold(word, "mem") {
		if n := legacyIDLen(text[size:]); n > 0 {
			return MemoryID, size + n, text[size+1 : size+n]
		}
		return "", 0, ""
	}
	lower := word
	if size < minHandle {
		return "", 0, ""
	}
	if !isPlain(word) {
		if utf8.RuneCountInString(norm.NFC.String(word)) < minHandle {
			return "", 0, ""
		}
		lower = LowerHandle(word)
	}
	if _, ok := ParseMemoryNumber(lower); ok {
		return Number, size, lower
	}
	if lower[0] == 'c' || lower[0] >= utf8.RuneSelf {
		if _, _, ok := SplitMessageRef(lower); ok {
			return Conversation, size, lower
		}
	}
	return Handle, size, lower
}

// legacyIDLen returns the length of the colon and the id behind it that a text begins with.
func legacyIDLen(text string) int {
	if text == "" || text[0] != ':' {
		return 0
	}
	n := 1
	for n < len(text) && (isWord(text[n]) || text[n] == '-') {
		n++
	}
	if behind, _ := utf8.DecodeRuneInString(text[n:]); unicode.IsMark(behind) {
		n-- // the mark belongs to it: together they are no letter of ASCII
	}
	if n <= 1 {
		return 0
	}
	return n
}

// isPlain reports whether a handle is what it is stored as, as nearly all are: ASCII in
// lower case.
func isPlain(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf || 'A' <= word[i] && word[i] <= 'Z' {
			return false
		}
	}
	return true
}

// isWord reports whether a byte is a letter or digit of ASCII.
func isWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func (f *finder) number() {
	digits := f.text[f.at+1:]
	n := 0
	for n < len(digits) && '0' <= digits[n] && digits[n] <= '9' {
		n++
	}
	if _, ok := ParseMemoryNumber(digits[:n]); !ok || inWord(digits[n:]) || !f.counts(digits[n:]) {
		f.at++
		return
	}
	f.add(Number, f.at+1+n, "claim_"+digits[:n])
}

// inWord reports whether a text behind digits goes on with more of a word or a number.
func inWord(text string) bool {
	if len(text) > 1 && text[0] == '.' && '0' <= text[1] && text[1] <= '9' {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && (r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// counts reports whether the mark at f.at begins a reference, of which rest is what
// follows. Within a text without blanks, name.org behind it makes an address of it.
func (f *finder) counts(rest string) bool {
	switch text.ContextOfMark(f.text[:f.at]) {
	case text.AfterBlank:
		return true
	case text.AfterOpening, text.AfterUnspaced:
		after, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, "."))
		return rest == "" || rest[0] != '.' || !unicode.IsLetter(after)
	}
	return false
}
