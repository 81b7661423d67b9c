package gather

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// withheld stands where a text names a private record.
const withheld = "(private)"

// The places of a text that may name a note, besides links of Markdown and
// mentions: wikilinks, in code and comments too and over a line end; names of
// Markdown files wherever they stand; definitions of reference links, the labels
// that may use one; and links of HTML. Too much is found rather than too little.
var (
	wikilinks     = regexp.MustCompile(`!?\[\[[^\[\]]{1,600}\]\]`)
	markdownFiles = regexp.MustCompile(`(?i)[^\s()<>"'\x60\[\]|]+\.(?:md|markdown)\b`)
	definitions   = regexp.MustCompile(`(?m)^[ \t>*+0-9.)-]*\[([^\[\]]{1,999})\]:[ \t]*(?:\n[ \t>]*)?(?:<([^<>\n]+)>|(\S+))[^\n]*(?:\n[ \t>]*["'(][^\n]*)?$`)
	labels        = regexp.MustCompile(`\[([^\[\]]{1,999})\](?:\[\])?`)
	anchors       = regexp.MustCompile(`(?is)<a\s[^<>]{0,500}?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))[^<>]{0,500}>.{0,1000}?</a\s*>`)
)

// span is a part of a text: byte offsets, half open.
type span struct{ start, end int }

// masked returns a note as a remote audience may read it: a link to a private
// note shows neither where it leads nor what it is called here.
func (g *Gatherer) masked(n *notes.Note) *notes.Note {
	spans := g.privateLinks(n)
	if len(spans) == 0 {
		return n
	}
	out := *n
	out.Body = maskSpans(n.Body, spans)
	return &out
}

// privateLinks returns the places of a note's text that lead to private notes.
func (g *Gatherer) privateLinks(n *notes.Note) []span {
	var spans []span
	links := strings.Count(n.Body, "[[")
	if n.Places != "" && links > 0 {
		targets := g.notes.Targets(n.ID)
		for at := range n.Places.All() {
			if len(targets) == 0 || at.End > len(n.Body) {
				break // the note has another text by now, or only its beginning is read
			}
			if to := g.notes.Get(targets[0]); to != nil && to.Private {
				spans = append(spans, span{at.Start, at.End})
			}
			targets, links = targets[1:], links-1
		}
	}
	look := linkLook{g: g, from: n.ID}
	if links > 0 { // in code or comments, or to several notes
		spans = look.wikilinks(spans, n.Body)
	}
	return look.others(spans, n.Body)
}

// linkLook looks up what the links of one text mean.
type linkLook struct {
	g     *Gatherer
	from  string          // id of the note that they stand in
	known map[string]bool // private targets, and those that are not
	asked bool            // somebody was looked for by name
}

// maxTargets is how many different links of one text are looked up, and how many
// of its mentions: commits wait for it. Of a text with more the others are taken
// out.
const maxTargets = 2000

// private reports whether a link leads to a private note, or to one of several
// that are all private.
func (l *linkLook) private(target string) bool {
	if target == "" {
		return false
	}
	private, known := l.known[target]
	if known {
		return private
	}
	if len(l.known) >= maxTargets {
		return true
	}
	res := l.g.notes.Resolve(target, l.from)
	ids := res.Candidates
	if res.ID != "" {
		ids = []string{res.ID}
	}
	private = len(ids) > 0
	for _, id := range ids {
		if n := l.g.notes.Get(id); n != nil && !n.Private {
			private = false
		}
	}
	if l.known == nil {
		l.known = make(map[string]bool)
	}
	l.known[target] = private
	return private
}

func (l *linkLook) wikilinks(spans []span, text string) []span {
	for _, at := range wikilinks.FindAllStringIndex(text, -1) {
		inner := strings.Trim(text[at[0]:at[1]], "![]")
		if l.private(markdown.ParseTarget(strings.Join(strings.Fields(inner), " ")).Target) {
			spans = append(spans, span{at[0], at[1]})
		}
	}
	return spans
}

// others finds what is no wikilink.
func (l *linkLook) others(spans []span, text string) []span {
	if strings.Contains(text, "](") {
		spans = l.inline(spans, text)
	}
	if strings.Contains(text, "]:") {
		spans = l.definitions(spans, text)
	}
	if strings.Contains(text, "</") {
		for _, at := range anchors.FindAllStringSubmatchIndex(text, -1) {
			if l.private(l.destination(text, at[2:])) {
				spans = append(spans, span{at[0], at[1]})
			}
		}
	}
	if strings.IndexByte(text, '@') >= 0 {
		spans = l.mentions(spans, text)
	}
	return l.files(spans, text)
}

// maxLink is how long the text of a link may be, and what stands behind it.
const maxLink = 1000

// inline finds [text](destination "title") and ![text](destination).
func (l *linkLook) inline(spans []span, text string) []span {
	for at := 0; ; {
		next := strings.Index(text[at:], "](")
		if next < 0 {
			return spans
		}
		at += next
		start, end := opening(text, at), closing(text, at+len("]("))
		if start >= 0 && end >= 0 && l.private(destinationOf(text[at+len("]("):end-1])) {
			spans = append(spans, span{start, end})
		}
		at += len("](")
	}
}

// opening returns where the text of a link begins that ends with the bracket at
// a byte offset, a mark of an image included, or -1.
func opening(text string, end int) int {
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

// closing returns the end of the parentheses that a text is in, or -1.
func closing(text string, at int) int {
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

// destination returns where a link leads to that was found by an expression with
// several places for it.
func (l *linkLook) destination(text string, at []int) string {
	for ; len(at) >= 2; at = at[2:] {
		if at[0] >= 0 {
			return plainDestination(text[at[0]:at[1]])
		}
	}
	return ""
}

// mentions finds @Name, @[Full Name] and @handle of private entities.
func (l *linkLook) mentions(spans []span, text string) []span {
	for at, looked := 0, 0; ; looked++ {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			return spans
		}
		if looked == maxTargets {
			return append(spans, span{at + next, len(text)})
		}
		at += next + 1
		if before, _ := utf8.DecodeLastRuneInString(text[:at-1]); unicode.IsLetter(before) || unicode.IsDigit(before) {
			continue
		}
		l.asked = true
		found, size := l.g.mentionAt(text[at:])
		if allPrivate(found) {
			spans = append(spans, span{at - 1, at + size})
		}
		at += size
	}
}

// maxFileWords is how many words a name of a file may have that stands bare.
const maxFileWords = 12

// files finds bare names of files. Such a name may begin some words before the
// one that ends it.
func (l *linkLook) files(spans []span, text string) []span {
	if !strings.Contains(text, ".m") && !strings.Contains(text, ".M") {
		return spans
	}
	for _, at := range markdownFiles.FindAllStringIndex(text, -1) {
		for start, words := at[0], 0; words < maxFileWords; words++ {
			if l.private(unescaped(text[start:at[1]])) {
				spans = append(spans, span{start, at[1]})
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

// definitions finds the definitions of reference links, and their uses.
func (l *linkLook) definitions(spans []span, text string) []span {
	private := make(map[string]bool)
	for _, at := range definitions.FindAllStringSubmatchIndex(text, -1) {
		if l.private(l.destination(text, at[4:])) {
			spans = append(spans, span{at[0], at[1]})
			private[foldLabel(text[at[2]:at[3]])] = true
		}
	}
	if len(private) == 0 {
		return spans
	}
	for _, at := range labels.FindAllStringSubmatchIndex(text, -1) {
		if !private[foldLabel(text[at[2]:at[3]])] {
			continue
		}
		start := at[0]
		if start > 0 && text[start-1] == ']' { // [text][label]
			if open := opening(text, start-1); open >= 0 {
				start = open
			}
		} else if start > 0 && text[start-1] == '!' {
			start--
		}
		spans = append(spans, span{start, at[1]})
	}
	return spans
}

func foldLabel(s string) string { return entities.Fold(strings.Join(strings.Fields(s), " ")) }

// unescaped returns a link destination without the escapes of URLs.
func unescaped(dest string) string {
	if plain, err := url.PathUnescape(dest); err == nil {
		return plain
	}
	return dest
}

// maskSpans returns a text without the spans, which may overlap.
func maskSpans(text string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.start < at {
			at = max(at, s.end)
			continue
		}
		b.WriteString(text[at:s.start])
		b.WriteString(withheld)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// maskedValue returns a text of a field as the audience may read it.
func (c *call) maskedValue(b *block, from, text string) string {
	if !c.remote || !strings.ContainsAny(text, "[<@.") {
		return text
	}
	look := linkLook{g: c.g, from: from}
	spans := look.others(look.wikilinks(nil, text), text)
	if b.links = b.links || look.known != nil || look.asked; len(spans) == 0 {
		return text
	}
	return maskSpans(text, spans)
}

func (c *call) maskedItems(b *block, from string, items []string) []string {
	if !c.remote {
		return items
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = c.maskedValue(b, from, item)
	}
	return out
}

// unnamed reports a link that leads nowhere for the audience: what it could mean
// is private.
func (c *call) unnamed(link string) bool {
	if !c.remote {
		return false
	}
	target, ok := entities.LinkTarget(link)
	if !ok {
		return false
	}
	look := linkLook{g: c.g}
	return look.private(target) || allPrivate(c.g.entities.Named(target))
}

// allPrivate reports whether there are entities, of which none is public.
func allPrivate(list []*entities.Entity) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(e *entities.Entity) bool { return !e.Private })
}
