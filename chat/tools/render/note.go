package render

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// NoteBody leaves of the body of a note what a prompt shows of it: its properties, and its
// Markdown without comments. Its tags stand above it.
func NoteBody(note string) string {
	list, text := prompt.SplitProperties(note)
	list = slices.DeleteFunc(list, func(p prompt.Property) bool { return p.Key == "tags" })
	return prompt.WithProperties(list, prompt.RenderNote(text))
}

// NoteText is a note with its text, as the reader may see it.
type NoteText struct {
	ID, Title, Vault, Path string
	Part                   string // of which the Body is the text, as a link names it; "" for the whole
	UpdatedAt              time.Time
	Archived               bool
	EntityID               string // of the entity that the note describes
	Tags, Aliases          []string
	Links, Backlinks       []string // as Note and ID write them
	Others                 []string // those that the link by which it was asked for could mean as well
	Version                int
	Body                   string // as Text makes it
}

// maxNoteHead is how much of a page the lines above the text of a note take at most: a
// fraction of it.
const maxNoteHead = 4

// Page shows a note from a place of its text on, in at most limit characters.
func (n *NoteText) Page(from, limit int) string {
	head := n.head(limit / maxNoteHead)
	head, _ = prompt.Cut(strings.TrimSuffix(head, "\n"), limit/maxNoteHead)
	total := utf8.RuneCountInString(n.Body)
	const longest = 120 // characters of the line that says how the text goes on
	room := max(limit-utf8.RuneCountInString(head)-longest, 1)
	text, next := Part(n.Body, from, room)
	if next > 0 {
		rest := total - utf8.RuneCountInString(Units(n.Body, next))
		head += fmt.Sprintf("\ngoes on: %d of %d characters follow, cursor v%d.%d", rest, total, n.Version, next)
	}
	return head + "\n\n" + text // last, so that nothing in it can pass for the lines above
}

// head is what stands above the text of a note, a fact a line. room is how much
// of it can be shown.
func (n *NoteText) head(room int) string {
	var b strings.Builder
	// The id stands on the first line, however long the title is.
	title, _ := prompt.Cut(n.Title, max((room-utf8.RuneCountInString(ID(n.ID)))/2, 1))
	b.WriteString(Note(title) + ID(n.ID) + "\n")
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	line("part", Inline(n.Part))
	line("vault", Inline(n.Vault))
	line("path", Inline(n.Path))
	line("a link to it could also mean", strings.Join(n.Others, ", "))
	line("changed", Timestamp(n.UpdatedAt))
	if n.Archived {
		line("archived", "yes")
	}
	if n.EntityID != "" {
		line("entity", strings.TrimSpace(ID(n.EntityID)))
	}
	line("tags", ListUpTo(n.Tags, MaxListed))
	line("aliases", ListUpTo(n.Aliases, MaxListed))
	line("links", someLinks(n.Links))
	line("linked from", someLinks(n.Backlinks))
	return b.String()
}

// Others writes the notes that a link could mean as well.
func Others(list []fault.Candidate) (labels []string) {
	for _, c := range list {
		labels = append(labels, Note(cmp.Or(strings.TrimSuffix(c.Path, ".md"), c.Title))+ID(c.ID))
	}
	return labels
}

// someLinks is a list of labels, of which explore_graph has the rest.
func someLinks(labels []string) string {
	text := strings.Join(labels[:min(MaxListed, len(labels))], ", ")
	if more := len(labels) - MaxListed; more > 0 {
		text += fmt.Sprintf(" (+%d more: explore_graph)", more)
	}
	return text
}

var noteCursor = regexp.MustCompile(`^v(\d{1,18})\.(\d{1,9})$`)

// Place reads a cursor of Page. It is good for the version that it was given for.
func (n *NoteText) Place(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	m := noteCursor.FindStringSubmatch(cursor)
	if m == nil {
		return 0, BadCursor()
	}
	if m[1] != strconv.Itoa(n.Version) {
		return 0, fault.Clash(fault.Changed, "the note has changed since its first part was read").
			WithHint("read it again without a cursor")
	}
	return strconv.Atoi(m[2])
}
