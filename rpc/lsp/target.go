package lsp

// This file and target_resolve.go find what stands at a place of a document and where it leads: a wikilink or a link
// to a file, a mention behind @, the number of a memory behind #, a tag, a query.
//
// [targetAt] looks at the document alone, as it is open; [resolveTarget] asks the daemon, which decides as it does for
// files: nearer notes win, several that remain are candidates. Offsets are bytes of the document, half-open. A target
// that leads nowhere gives a zero [resolvedTarget]; errors are those of the daemon. Any goroutine may call.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes/markdown"
)

// targetKind says what stands at a place.
type targetKind uint8

// What may stand at a place.
const (
	targetLink    targetKind = iota + 1 // [[Note]], ![[Note#Heading]], [text](file.md)
	targetMention                       // @Alice, @[Full Name], @handle
	targetNumber                        // #42
	targetTag                           // #planning
	targetQuery                         // WQL
	targetValue                         // of a field of the frontmatter
)

// textTarget is what stands at a place. Name is what a mention, number or tag says, without
// its mark; of a mention without brackets it is the words that it may be, the first alone
// being certain.
type textTarget struct {
	Kind       targetKind
	Start, End int
	Link       markdown.Link
	Name       string
	Open       bool   // a mention whose name may go on
	Key        string // of a value
	Query      WQLQuery
}

// targetAt returns what stands at an offset, its ends included.
func targetAt(d *Document, at int) (textTarget, bool) {
	if q, ok := d.QueryAt(at); ok {
		return textTarget{Kind: targetQuery, Start: q.Start, End: q.Start + len(strings.TrimRight(q.Text, " \t\r\n")), Query: q}, true
	}
	if !d.IsNote() {
		return textTarget{}, false
	}
	if l, ok := d.LinkAt(at); ok {
		return textTarget{Kind: targetLink, Start: l.Start, End: l.End, Link: l}, true
	}
	if _, code := d.FenceAt(at); code {
		return textTarget{}, false
	}
	if at <= d.FrontEnd() {
		return valueAt(d, at)
	}
	start, end := d.LineSpan(d.LineAt(at))
	for _, t := range lineMarks(d.Text[start:end], start) {
		if t.Start <= at && at <= t.End {
			return t, true
		}
	}
	return textTarget{}, false
}

// valueAt returns the value of the frontmatter that an offset is in: of a list the item.
func valueAt(d *Document, at int) (textTarget, bool) {
	line := d.LineAt(at)
	_, end := d.LineSpan(line)
	first, ok := d.FrontLineAt(at)
	if !ok || !first.Value {
		return textTarget{}, false
	}
	if i := strings.IndexAny(d.Text[at:end], ",]"); first.List && i >= 0 {
		end = at + i
	}
	t := textTarget{Kind: targetValue, Start: first.Start, End: first.Start + len(strings.TrimRight(d.Text[first.Start:end], " \t")), Key: first.Key}
	t.Name = unquoteScalar(d.Text[t.Start:t.End])
	return t, t.Name != ""
}

// marksIn returns the mentions, numbers and tags of a document outside code, in their order.
func marksIn(d *Document) (list []textTarget) {
	if !d.IsNote() {
		return nil
	}
	first := 0
	if front := d.Frontmatter(); front.Found {
		first = d.LineAt(d.Note().BodyStart)
	}
	fences := d.Fences()
	for line := first; line < d.Lines(); line++ {
		if len(fences) > 0 && line > fences[0].CloseLine {
			fences = fences[1:]
		}
		start, end := d.LineSpan(line)
		if len(fences) > 0 && line >= fences[0].OpenLine || !strings.ContainsAny(d.Text[start:end], "@#") {
			continue
		}
		list = append(list, lineMarks(d.Text[start:end], start)...)
	}
	return list
}

// lineMarks finds the mentions, numbers and tags of a line that begins at an offset.
func lineMarks(line string, base int) (list []textTarget) {
	for r, rest := range markdown.Mentions(line) {
		if r.Kind != markdown.MentionRef {
			continue
		}
		t := textTarget{Kind: targetMention, Start: base + r.Start, End: base + r.End, Name: r.Target}
		if r.Open() {
			t.Open, t.Name = true, rest
			t.End = base + r.Start + 1 + wordLen(rest)
		}
		list = append(list, t)
	}
	for i := 0; ; {
		next := strings.IndexByte(line[i:], '#')
		if next < 0 {
			return list
		}
		i += next
		word := line[i+1 : i+1+wordLen(line[i+1:])]
		word = strings.TrimRight(word, "'’.")
		if word != "" && mayPrecedeMark(line[:i]) {
			t := textTarget{Kind: targetTag, Start: base + i, End: base + i + 1 + len(word), Name: word}
			if strings.Trim(word, "0123456789") == "" {
				t.Kind = targetNumber
			}
			list = append(list, t)
		}
		i += 1 + len(word)
	}
}

// mayPrecedeMark reports whether a mark may stand behind a text.
func mayPrecedeMark(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/#&\\", r)
}

// wordLen is the length of the word that a text begins with.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-/", r)
	})
	if n < 0 {
		return len(s)
	}
	return n
}

// maxNameWords is how many words the name of a mention without brackets may have.
const maxNameWords = 4

// Names returns what a mention may name, the longest first.
func (t textTarget) Names() (names []string) {
	if !t.Open {
		return []string{t.Name}
	}
	end := 0
	for range maxNameWords {
		word := strings.TrimLeft(t.Name[end:], " ")
		n := wordLen(word)
		if n == 0 {
			break
		}
		end = len(t.Name) - len(word) + n
		names = append([]string{t.Name[:end]}, names...)
	}
	return names
}
