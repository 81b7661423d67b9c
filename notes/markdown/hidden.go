package markdown

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Span is a part of a text: byte offsets, half open.
type Span struct{ Start, End int }

// The places of a text that may name a note, besides inline links: wikilinks, in
// code and comments too and over a line end; names of Markdown files wherever
// they stand; definitions of reference links, the labels that may use one; and
// links of HTML.
var (
	anyWikilinks   = regexp.MustCompile(`!?\[\[[^\[\]]{1,600}\]\]`)
	markdownFiles  = regexp.MustCompile(`(?i)[^\s()<>"'\x60\[\]|]+\.(?:md|markdown)\b`)
	anyDefinitions = regexp.MustCompile(`(?m)^[ \t>*+0-9.)-]*\[([^\[\]]{1,999})\]:[ \t]*(?:\n[ \t>]*)?(?:<([^<>\n]+)>|(\S+))[^\n]*(?:\n[ \t>]*["'(][^\n]*)?$`)
	anyLabels      = regexp.MustCompile(`\[([^\[\]]{1,999})\](?:\[\])?`)
	anyAnchors     = regexp.MustCompile(`(?is)<a\s[^<>]{0,500}?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))[^<>]{0,500}>.{0,1000}?</a\s*>`)
)

// HiddenWikilinks appends the places of wikilinks whose target hidden tells to
// hide. Unlike Parse it finds them in code and comments too, over a line end, and
// escaped: in a text that is to be withheld, too much is found rather than too
// little. Linear time, and a call of hidden for each link.
func HiddenWikilinks(spans []Span, text string, hidden func(target string) bool) []Span {
	for _, at := range anyWikilinks.FindAllStringIndex(text, -1) {
		inner := strings.Trim(text[at[0]:at[1]], "![]")
		if hide(hidden, ParseTarget(strings.Join(strings.Fields(inner), " ")).Target) {
			spans = append(spans, Span{at[0], at[1]})
		}
	}
	return spans
}

// HiddenLinks appends the places of all other links whose target hidden tells to
// hide, also too many rather than too few: inline links and images, definitions of
// references with the links that use them, links of HTML, and names of Markdown
// files, wherever they stand. The targets are those that Parse would give, without
// escapes and fragments; of an address by which a note app is opened, the file.
// hidden may be asked about parts of a name several times.
func HiddenLinks(spans []Span, text string, hidden func(target string) bool) []Span {
	if strings.Contains(text, "](") {
		spans = hiddenInline(spans, text, hidden)
	}
	if strings.Contains(text, "]:") {
		spans = hiddenReferences(spans, text, hidden)
	}
	if strings.Contains(text, "</") {
		for _, at := range anyAnchors.FindAllStringSubmatchIndex(text, -1) {
			if hide(hidden, foundDestination(text, at[2:])) {
				spans = append(spans, Span{at[0], at[1]})
			}
		}
	}
	return hiddenFiles(spans, text, hidden)
}

// MayHideLinks reports whether a text has anything that HiddenLinks looks at. It
// may have it and no link.
func MayHideLinks(text string) bool {
	return strings.Contains(text, "](") || strings.Contains(text, "]:") || strings.Contains(text, "</") ||
		strings.Contains(text, ".m") || strings.Contains(text, ".M")
}

// Without returns a text with something else instead of the spans, which may
// overlap; they are sorted in place.
func Without(text string, spans []Span, instead string) string {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.Start < at {
			at = max(at, s.End)
			continue
		}
		b.WriteString(text[at:s.Start])
		b.WriteString(instead)
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}

func hide(hidden func(string) bool, target string) bool { return target != "" && hidden(target) }

// maxLink is how long the text of a link may be, and what stands behind it.
const maxLink = 1000

// hiddenInline finds [text](destination "title") and ![text](destination).
func hiddenInline(spans []Span, text string, hidden func(string) bool) []Span {
	for at := 0; ; {
		next := strings.Index(text[at:], "](")
		if next < 0 {
			return spans
		}
		at += next
		start, end := linkStart(text, at), linkEnd(text, at+len("]("))
		if start >= 0 && end >= 0 && hide(hidden, destinationOf(text[at+len("]("):end-1])) {
			spans = append(spans, Span{start, end})
		}
		at += len("](")
	}
}

// linkStart returns where the text of a link begins that ends with the bracket at
// a byte offset, a mark of an image included, or -1.
func linkStart(text string, end int) int {
	depth := 0
	for i := end; i >= max(0, end-maxLink); i-- {
		if i > 0 && text[i-1] == '\\' {
			continue
		}
		switch text[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				if i > 0 && text[i-1] == '!' {
					i--
				}
				return i
			}
		}
	}
	return -1
}

// linkEnd returns the end of the parentheses that a text is in, or -1.
func linkEnd(text string, at int) int {
	depth, angle := 1, false
	for i := at; i < min(len(text), at+maxLink); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '<':
			angle = true
		case c == '>', c == '\n':
			angle = false
		case c == '(' && !angle:
			depth++
		case c == ')' && !angle:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// destinationOf returns where a link leads to, of what stands in its parentheses.
func destinationOf(inner string) string {
	inner = strings.TrimSpace(inner)
	if rest, ok := strings.CutPrefix(inner, "<"); ok {
		inner, _, _ = strings.Cut(rest, ">")
	} else if end := strings.IndexAny(inner, " \t\r\n"); end >= 0 {
		inner = inner[:end]
	}
	return plainDestination(inner)
}

// plainDestination returns what a link names: without the escapes of URLs and
// HTML, without a fragment. Of the addresses by which note apps are opened, the
// file is what they name.
func plainDestination(dest string) string {
	dest, _, _ = strings.Cut(html.UnescapeString(dest), "#")
	if u, err := url.Parse(dest); err == nil && u.Scheme != "" {
		switch {
		case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
			return ""
		case u.Query().Get("file") != "":
			return u.Query().Get("file")
		case u.Query().Get("path") != "":
			return path.Base(u.Query().Get("path"))
		}
		return path.Base(u.Path)
	}
	return unescaped(dest)
}

// foundDestination returns where a link leads to that was found by an expression with
// several places for it.
func foundDestination(text string, at []int) string {
	for ; len(at) >= 2; at = at[2:] {
		if at[0] >= 0 {
			return plainDestination(text[at[0]:at[1]])
		}
	}
	return ""
}

// maxFileWords is how many words a name of a file may have that stands bare.
const maxFileWords = 12

// hiddenFiles finds bare names of files. Such a name may begin some words before the
// one that ends it.
func hiddenFiles(spans []Span, text string, hidden func(string) bool) []Span {
	if !strings.Contains(text, ".m") && !strings.Contains(text, ".M") {
		return spans
	}
	for _, at := range markdownFiles.FindAllStringIndex(text, -1) {
		for start, words := at[0], 0; words < maxFileWords; words++ {
			if hide(hidden, unescaped(text[start:at[1]])) {
				spans = append(spans, Span{start, at[1]})
				break
			}
			if start == 0 || text[start-1] != ' ' {
				break
			}
			before := strings.TrimRight(text[:start], " ")
			start = 1 + strings.LastIndexAny(before, " \t\r\n()<>\"'`[]|")
			if start >= len(before) {
				break
			}
		}
	}
	return spans
}

// hiddenReferences finds the definitions of reference links, and their uses.
func hiddenReferences(spans []Span, text string, hidden func(string) bool) []Span {
	private := make(map[string]bool)
	for _, at := range anyDefinitions.FindAllStringSubmatchIndex(text, -1) {
		if hide(hidden, foundDestination(text, at[4:])) {
			spans = append(spans, Span{at[0], at[1]})
			private[foldLabel(text[at[2]:at[3]])] = true
		}
	}
	if len(private) == 0 {
		return spans
	}
	for _, at := range anyLabels.FindAllStringSubmatchIndex(text, -1) {
		if !private[foldLabel(text[at[2]:at[3]])] {
			continue
		}
		start := at[0]
		if start > 0 && text[start-1] == ']' { // [text][label]
			if open := linkStart(text, start-1); open >= 0 {
				start = open
			}
		} else if start > 0 && text[start-1] == '!' {
			start--
		}
		spans = append(spans, Span{start, at[1]})
	}
	return spans
}

// unescaped returns a link destination without the escapes of URLs.
func unescaped(dest string) string {
	if plain, err := url.PathUnescape(dest); err == nil {
		return plain
	}
	return dest
}
