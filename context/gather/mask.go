package gather

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// withheld stands where a text names a private record.
const withheld = "(private)"

// masked returns a note as a remote audience may read it: a link to a private
// note shows neither where it leads nor what it is called here.
func (g *Gatherer) masked(n *notes.Note, found marks) *notes.Note {
	spans := g.privateLinks(n, found)
	if len(spans) == 0 {
		return n
	}
	out := *n
	out.Body = markdown.Without(n.Body, spans, withheld)
	return &out
}

// privateLinks returns the places of a note's text that lead to private notes.
func (g *Gatherer) privateLinks(n *notes.Note, found marks) []markdown.Span {
	var spans []markdown.Span
	links := found.wikilinks
	if n.Places != "" && links > 0 {
		targets := g.notes.Targets(n.ID)
		for at := range n.Places.All() {
			if len(targets) == 0 || at.End > len(n.Body) {
				break // the note has another text by now, or only its beginning is read
			}
			if to := g.notes.Get(targets[0]); to != nil && to.Private {
				spans = append(spans, markdown.Span{Start: at.Start, End: at.End})
			}
			targets, links = targets[1:], links-1
		}
	}
	look := linkLook{g: g, from: n.ID}
	if links > 0 { // in code or comments, or to several notes
		spans = markdown.HiddenWikilinks(spans, n.Body, look.private)
	}
	return look.others(spans, n.Body, found)
}

// marks say which marks of links a text has, whatever they lead to.
type marks struct {
	wikilinks     int
	links, people bool // other links, and mentions of entities
}

func marksOf(text string) marks {
	return marks{strings.Count(text, "[["), markdown.MayHideLinks(text), strings.IndexByte(text, '@') >= 0}
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

// others finds what is no wikilink.
func (l *linkLook) others(spans []markdown.Span, text string, found marks) []markdown.Span {
	if found.links {
		spans = markdown.HiddenLinks(spans, text, l.private)
	}
	if found.people {
		spans = l.mentions(spans, text)
	}
	return spans
}

// mentions finds @Name, @[Full Name] and @handle of private entities.
func (l *linkLook) mentions(spans []markdown.Span, text string) []markdown.Span {
	for at, looked := 0, 0; ; looked++ {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			return spans
		}
		if looked == maxTargets {
			return append(spans, markdown.Span{Start: at + next, End: len(text)})
		}
		at += next + 1
		if before, _ := utf8.DecodeLastRuneInString(text[:at-1]); unicode.IsLetter(before) || unicode.IsDigit(before) {
			continue
		}
		l.asked = true
		found, size := l.g.mentionAt(text[at:])
		if allPrivate(found) {
			spans = append(spans, markdown.Span{Start: at - 1, End: at + size})
		}
		at += size
	}
}

// maskedText returns a text of one line as a remote audience may read it. from is
// the note that it stands in. looked is set when what it shows depends on notes.
func (g *Gatherer) maskedText(from, text string) (shown string, looked bool) {
	if !strings.ContainsAny(text, "[<@.") {
		return text, false
	}
	look := linkLook{g: g, from: from}
	spans := look.others(markdown.HiddenWikilinks(nil, text, look.private), text, marksOf(text))
	if looked = look.known != nil || look.asked; len(spans) == 0 {
		return text, looked
	}
	return markdown.Without(text, spans, withheld), looked
}

// maskedValue returns a text of a field as the audience may read it.
func (c *call) maskedValue(b *block, from, text string) string {
	if !c.remote {
		return text
	}
	shown, looked := c.g.maskedText(from, text)
	b.looked(looked)
	return shown
}

// maskedTitle returns the title of a note as a remote audience may read it. One
// that was taken from a heading has lost the marks of the links in it: they are
// looked for in the heading.
func (g *Gatherer) maskedTitle(n *notes.Note) (shown string, looked bool) {
	heading := titleHeading(n)
	if heading == "" {
		return g.maskedText(n.ID, n.Title)
	}
	masked, looked := g.maskedText(n.ID, heading)
	if masked == heading {
		return n.Title, looked
	}
	return markdown.Parse(masked).Title, looked
}

// maskedName is maskedTitle for the name of an entity, which may be the title of
// its note.
func (g *Gatherer) maskedName(e *entities.Entity) (shown string, looked bool) {
	if e.NoteID != "" {
		if n := g.notes.Get(e.NoteID); n != nil && n.Title == e.Name {
			return g.maskedTitle(n)
		}
	}
	return g.maskedText(e.NoteID, e.Name)
}

// Mask takes out of a result of Public what names and texts in it say of private
// records. The result must be the caller's own.
func (g *Gatherer) Mask(res *wql.Result) {
	for i := range res.Rows {
		if e := g.entities.Get(res.Rows[i].ID); e != nil {
			res.Rows[i].Name, _ = g.maskedName(e)
		}
	}
	if text, ok := res.Value.(string); ok {
		res.Value, _ = g.maskedText("", text)
	}
}

// title returns the title of a note as the audience may read it. b is the block
// that shows it, nil for none.
func (c *call) title(b *block, n *notes.Note) string {
	if !c.remote {
		return n.Title
	}
	shown, looked := c.g.maskedTitle(n)
	b.looked(looked)
	return shown
}

// name is title for an entity.
func (c *call) name(b *block, e *entities.Entity) string {
	if !c.remote {
		return e.Name
	}
	shown, looked := c.g.maskedName(e)
	b.looked(looked)
	return shown
}

// looked notes that what a block shows may depend on notes. b may be nil.
func (b *block) looked(yes bool) {
	if b != nil && yes {
		b.links = true
	}
}

// headingBytes is how far into a text the heading is looked for that it is named
// after.
const headingBytes = 64 << 10

// titleHeading returns the heading that a note has its title from, if that may hold
// links, else "". Titles are asked for more often than texts: it looks at little but
// the lines that begin with #. A note in which one begins with = is parsed.
func titleHeading(n *notes.Note) string {
	text := n.Body[:min(len(n.Body), headingBytes)]
	for from, to := lineWith(text, 0, '#'); from >= 0; from, to = lineWith(text, to, '#') {
		if line := text[from:to]; strings.ContainsAny(line, "[<@") && markdown.Parse(line).Title == n.Title {
			return line
		}
	}
	if from, _ := lineWith(text, 0, '='); from >= 0 { // it may underline a heading
		for _, h := range markdown.Parse(text).Headings {
			if heading := text[h.Start:h.End]; h.Level == 1 && h.Text == n.Title && strings.ContainsAny(heading, "[<@") {
				return heading
			}
		}
	}
	return ""
}

// lineWith returns where the next line at or behind a place is that begins with a
// character, but for blanks; from is -1 for none.
func lineWith(text string, at int, begin byte) (from, to int) {
	for {
		next := strings.IndexByte(text[at:], begin)
		if next < 0 {
			return -1, -1
		}
		at += next
		from = len(strings.TrimRight(text[:at], " \t"))
		if from == 0 || text[from-1] == '\n' {
			line, _, _ := strings.Cut(text[from:], "\n")
			return from, from + len(line)
		}
		at++
	}
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
