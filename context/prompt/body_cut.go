package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// Cut shortens a body to at most limit characters: at the end of a line or of a
// sentence if one is near, else between graphemes, with "…" and the end of the code
// that is open there. cost says how many characters one takes as it is written in the
// end; nil: one. A limit below 1 gives "".
func (b NoteBody) Cut(limit int, cost func(rune) int) (s string, cut bool) {
	if end := offset(b.text, limit, cost); end == len(b.text) {
		return b.text, false
	}
	ending := text.Ellipsis
	for limit >= text.CountChars(ending) {
		end, atEnd := place(b.text, offset(b.text, limit-size(ending, cost), cost))
		open, at, closes := openFence(b.text[:end])
		needed := text.Ellipsis
		switch {
		case open.char != 0 && open.size > limit/4: // no room for its end
			b.text = strings.TrimRight(b.text[:at], "\n")
			return b.text + strings.Repeat("\n", min(1, len(b.text))) + text.Ellipsis, true
		case open.char != 0:
			needed = "\n" + text.Ellipsis + "\n" + open.mark()
		case closes: // with anything behind it, it would be a line of the code
			needed = "\n" + text.Ellipsis
		case atEnd:
			needed = " " + text.Ellipsis
		}
		if size(needed, cost) <= size(ending, cost) {
			return b.text[:end] + needed, true
		}
		ending = needed
	}
	if limit < 1 {
		return "", true
	}
	return text.Ellipsis, true
}

// offset returns up to which byte a text takes at most limit characters.
func offset(s string, limit int, cost func(rune) int) int {
	if cost == nil {
		return text.CharOffset(s, max(0, limit))
	}
	for at, r := range s {
		limit -= cost(r)
		if limit < 0 {
			return at
		}
	}
	return len(s)
}

// size is how many characters a text takes.
func size(s string, cost func(rune) int) (n int) {
	if cost == nil {
		return text.CountChars(s)
	}
	for _, r := range s {
		n += cost(r)
	}
	return n
}

// place returns where to cut a text at or before a byte offset, and whether a line or a
// sentence ends there: one in the last quarter is near.
func place(s string, limit int) (at int, atEnd bool) {
	for at = limit; at > limit-limit/4; at-- {
		if at < len(s) && s[at] == '\n' || endsSentence(s, at) {
			return len(strings.TrimRight(s[:at], " \t\n")), true
		}
	}
	return text.BoundaryBefore(s, limit), false
}

// endsSentence reports whether a sentence ends before a byte offset.
func endsSentence(s string, at int) bool {
	if at == 0 || at < len(s) && !utf8.RuneStart(s[at]) {
		return false
	}
	switch s[at-1] {
	case '!', '?':
		return at < len(s) && isBlank(s[at])
	case '.':
		before := strings.TrimRight(strings.TrimRight(s[:at-1], "0123456789"), " \t>")
		numbered := before == "" || strings.HasSuffix(before, "\n") // it begins an item of a list
		return at < len(s) && isBlank(s[at]) && !numbered
	}
	switch r, _ := utf8.DecodeLastRuneInString(s[:at]); r {
	case '。', '！', '？', '؟', '۔', '।':
		return true
	}
	return false
}

// openFence returns the fence that is open at the end of a text, and where its line
// begins, or that the text ends with the mark that closes one.
func openFence(s string) (open fence, at int, closes bool) {
	var r lines
	for start := 0; start < len(s); {
		end, next := bodyLineEnd(s, start)
		v := visible(s[start:end])
		l := r.next(v.text)
		if l.kind == fenceMark {
			at = start
		}
		closes = l.kind == fenceMark && r.fence.char == 0 && end == len(s)
		start = next
	}
	return r.fence, at, closes
}
