package background

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// searched is how much of a note is searched for a paragraph, in bytes.
const searched = 256 << 10

// paragraph returns the first paragraph of a note that says something, as one line. Where there is none, it is the first
// item of a list; "" for a note of headings, code, tables and images alone.
func paragraph(body string) string {
	if len(body) > searched {
		body = strings.ToValidUTF8(body[:searched], "")
	}
	first := ""
	for text, item := range markdown.Paragraphs(body) {
		if item && first != "" {
			continue
		}
		line := prose(text, item)
		switch {
		case line == "":
		case !item:
			return line
		default:
			first = line
		}
	}
	return first
}

// prose returns what a paragraph, or an item of a list, says in words, as one line; "" for nothing.
func prose(s string, item bool) string {
	line := text.OneLine(markdown.PlainText(withoutImages(s)))
	if item && line != "" {
		line = strings.TrimSpace(line[markdown.ListMark(line):])
		for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
			line = strings.TrimPrefix(line, box)
		}
	}
	switch {
	case !text.HasContent(line), strings.HasPrefix(line, "%%"), strings.HasPrefix(line, "$$"), isDefinition(line),
		!slices.ContainsFunc(strings.Fields(line), func(word string) bool { return !isTag(word) }):
		return ""
	}
	return line
}

func isTag(word string) bool { return len(word) > 1 && word[0] == '#' }

// isDefinition reports whether a line says where a link leads, or is a footnote.
func isDefinition(line string) bool {
	rest, ok := strings.CutPrefix(line, "[")
	at := strings.Index(rest, "]: ")
	return ok && at > 0 && !strings.ContainsAny(rest[:at], "[]")
}

// withoutImages takes images and embedded notes out of a text: what they show is not said by it.
func withoutImages(text string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, "![")
		if at < 0 {
			break
		}
		b.WriteString(text[:at])
		size := imageSize(text[at:])
		if size == 0 {
			b.WriteString("![")
			size = 2
		} else {
			b.WriteByte(' ')
		}
		text = text[at+size:]
	}
	b.WriteString(text)
	return b.String()
}

// maxImage is how long an image is at most, as it is written, in bytes.
const maxImage = 4 << 10

// imageSize returns the length of the image that a text begins with, 0 for none.
func imageSize(text string) int {
	text = text[:min(len(text), maxImage)]
	if strings.HasPrefix(text, "![[") {
		end := strings.Index(text, "]]")
		if end < 0 {
			return 0
		}
		return end + len("]]")
	}
	label := strings.IndexByte(text, ']')
	if label < 0 {
		return 0
	}
	rest := text[label+1:]
	switch {
	case strings.HasPrefix(rest, "("):
		depth := 0
		for i := range len(rest) {
			switch rest[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				return label + 1 + i + 1
			}
		}
		return 0
	case strings.HasPrefix(rest, "["):
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return 0
		}
		return label + 1 + end + 1
	}
	return label + 1
}

// lookahead is how much more than the limit is read of a line for its first sentence, in code points.
const lookahead = 200

// sentence returns the first sentence of a line, of at most limit code points: a longer one is cut after a word where
// there are words, and ends with "…".
func sentence(line string, limit int) string {
	head := text.Prefix(line, limit+lookahead)
	end := 0
	for s := sentences.FromString(head); s.Next(); {
		end = s.End()
		if !abbreviated(strings.TrimRight(head[:end], " ")) {
			break
		}
	}
	first := strings.TrimRight(head[:end], " ")
	if text.CountChars(first) <= limit {
		return first
	}
	return cut(first, limit)
}

// cut shortens a line to limit code points, with "…" at its end.
func cut(line string, limit int) string {
	end := text.BoundaryBefore(line, text.CharOffset(line, limit-1))
	head, rest := line[:end], line[end:]
	if space := strings.LastIndexByte(head, ' '); !strings.HasPrefix(rest, " ") && space > len(head)/2 {
		head = head[:space]
	}
	head = strings.TrimRight(head, " ,;:–—-(")
	return head + text.Ellipsis
}

// abbreviations end with a full stop that ends no sentence, in lower case without it.
var abbreviations = []string{
	"dr", "mr", "mrs", "ms", "prof", "st", "vs", "e.g", "i.e", "cf", "approx", "fig", "nr", "bzw", "ca", "z.b", "z. b",
	"d.h", "u.a", "inkl", "vgl", "hr", "fr", "evtl", "ggf", "incl", "m", "mme",
}

// abbreviated reports whether the full stop at the end of a text is that of an abbreviation, an initial or a short number.
func abbreviated(text string) bool {
	text, stop := strings.CutSuffix(text, ".")
	if !stop {
		return false
	}
	word := text[strings.LastIndexAny(text, " (")+1:]
	if slices.Contains(abbreviations, strings.ToLower(word)) {
		return true
	}
	r, size := utf8.DecodeRuneInString(word)
	if size == len(word) && unicode.IsUpper(r) {
		return true // an initial
	}
	return len(word) > 0 && len(word) <= 2 && strings.Trim(word, "0123456789") == "" // an ordinal
}
