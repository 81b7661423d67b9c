package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// readInput are the arguments of read_note.
type readInput struct {
	Note string `json:"note" jsonschema:"the note: its title, path or id"`
	paging
}

func readSchema() *jsonschema.Schema { return pagesOf[readInput](nil) }

func (c *call) readNote(in readInput) (string, error) {
	n, err := c.findNote(in.Note)
	if err != nil {
		return "", err
	}
	showText(n)
	from, err := placeIn(n, in.Cursor)
	if err != nil {
		return "", err
	}
	return noteText(n, from, in.MaxChars), nil
}

// readManyInput are the arguments of read_notes.
type readManyInput struct {
	Notes    []string `json:"notes" jsonschema:"the notes: titles, paths or ids"`
	MaxChars int      `json:"maxChars,omitempty" jsonschema:"length of the answer at most, in characters; the notes share it"`
}

// maxRead is how many notes read_notes shows at once.
const maxRead = 20

func readManySchema() *jsonschema.Schema {
	return pagesOf[readManyInput](func(p map[string]*jsonschema.Schema) {
		least, most := 1, maxRead
		p["notes"].MinItems, p["notes"].MaxItems = &least, &most
	})
}

// readNotes shows the beginnings of several notes. What a short one leaves of its share
// goes to those behind it.
func (c *call) readNotes(in readManyInput) (string, error) {
	notes, errs := make([]*protocol.NoteFull, len(in.Notes)), make([]error, len(in.Notes))
	for i, name := range in.Notes {
		notes[i], errs[i] = c.findNote(name)
		if err := errs[i]; err != nil {
			switch fault.KindOf(err) {
			case fault.NotFound, fault.Invalid, fault.Conflict:
			default:
				return "", err
			}
		}
		c.progress(i+1, len(in.Notes))
	}
	for _, n := range notes {
		if n != nil {
			showText(n)
			n.Body = barBars(n.Body)
		}
	}
	// The short ones first: what they leave is known then.
	texts := make([]string, len(notes))
	room, left := in.MaxChars, len(notes)
	fill := func(i, share int) {
		bar := fmt.Sprintf("%s %d of %d: ", noteBar, i+1, len(notes))
		share -= utf8.RuneCountInString(bar) + 2
		if errs[i] != nil {
			texts[i], _ = prompt.Cut("\""+inline(in.Notes[i])+"\": "+c.explain(errs[i]).Error(), share)
		} else {
			texts[i] = noteText(notes[i], 0, share)
		}
		texts[i] = bar + texts[i] + "\n\n"
		room -= utf8.RuneCountInString(texts[i])
		left--
	}
	for i, n := range notes {
		if errs[i] != nil || utf8.RuneCountInString(n.Body) < in.MaxChars/(2*len(notes)) {
			fill(i, room/left)
		}
	}
	for i := range notes {
		if texts[i] == "" {
			fill(i, room/left)
		}
	}
	return strings.Join(texts, ""), nil
}

// noteBar begins the line above each note of read_notes.
const noteBar = "=== note"

// barBars marks the lines of a text that could pass for the line above a note.
func barBars(text string) string {
	if !strings.Contains(text, "=") {
		return text
	}
	return lineOfText.ReplaceAllStringFunc(text, func(line string) string {
		if strings.HasPrefix(visible(line), visible(noteBar)) {
			return `\` + line
		}
		return line
	})
}

// lineOfText matches a line, whatever a reader takes for its end.
var lineOfText = regexp.MustCompile("[^\n\r\v\f\u0085\u2028\u2029]+")

// visible is what is seen of a text, without blanks and in lower case.
func visible(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text))
}

// maxNoteHead is how much of a page the lines above the text of a note take at most: a
// fraction of it.
const maxNoteHead = 4

// noteText shows a note from a place of its text on, in at most limit characters.
func noteText(n *protocol.NoteFull, from, limit int) string {
	head := noteHead(n, limit/maxNoteHead)
	head, _ = prompt.Cut(strings.TrimSuffix(head, "\n"), limit/maxNoteHead)
	total := utf8.RuneCountInString(n.Body)
	const longest = 120 // characters of the line that says how the text goes on
	room := max(limit-utf8.RuneCountInString(head)-longest, 1)
	text, next := part(n.Body, from, room)
	if next > 0 {
		rest := total - utf8.RuneCountInString(units(n.Body, next))
		head += fmt.Sprintf("\ngoes on: %d of %d characters follow, cursor v%d.%d", rest, total, n.Version, next)
	}
	return head + "\n\n" + text // last, so that nothing in it can pass for the lines above
}

// noteHead is what stands above the text of a note, a fact a line. room is how much
// of it can be shown.
func noteHead(n *protocol.NoteFull, room int) string {
	var b strings.Builder
	// The id stands on the first line, however long the title is.
	title, _ := prompt.Cut(n.Title, max((room-utf8.RuneCountInString(idMark(n.ID)))/2, 1))
	b.WriteString(noteLabel(title) + idMark(n.ID) + "\n")
	line := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	line("vault", inline(n.Vault))
	line("path", inline(n.Path))
	line("changed", moment(n.UpdatedAt))
	if n.ArchivedAt != nil {
		line("archived", "yes")
	}
	if n.EntityID != "" {
		line("entity", strings.TrimSpace(idMark(n.EntityID)))
	}
	line("tags", some(n.Tags, maxListed))
	line("aliases", some(n.Aliases, maxListed))
	var links, back []string
	linked := make(map[string]bool)
	for _, l := range n.Links {
		if l.ID != "" && !linked[l.ID] {
			linked[l.ID] = true
			links = append(links, noteLabel(l.Title)+idMark(l.ID))
		}
	}
	for _, l := range n.Backlinks {
		back = append(back, noteLabel(l.Title)+idMark(l.ID))
	}
	line("links", someLinks(links))
	line("linked from", someLinks(back))
	return b.String()
}

// someLinks is a list of labels, of which related_notes has the rest.
func someLinks(labels []string) string {
	text := strings.Join(labels[:min(maxListed, len(labels))], ", ")
	if more := len(labels) - maxListed; more > 0 {
		text += fmt.Sprintf(" (+%d more: related_notes)", more)
	}
	return text
}

var noteCursor = regexp.MustCompile(`^v(\d{1,18})\.(\d{1,9})$`)

// placeIn reads a cursor of noteText. It is good for the version that it was given for.
func placeIn(n *protocol.NoteFull, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	m := noteCursor.FindStringSubmatch(cursor)
	if m == nil {
		return 0, badCursor()
	}
	if m[1] != strconv.Itoa(n.Version) {
		return 0, fault.New(fault.Conflict, "the note has changed since its first part was read").
			WithHint("read it again without a cursor")
	}
	return strconv.Atoi(m[2])
}

// units returns the first UTF-16 code units of a text.
func units(text string, n int) string {
	at := 0
	for i, r := range text {
		if at >= n {
			return text[:i]
		}
		at += utf16.RuneLen(r)
	}
	return text
}

// part returns at most limit code points of a text from a UTF-16 offset on, cut
// between graphemes, and the offset of the rest, 0 when there is none.
func part(text string, offset, limit int) (string, int) {
	begin := units(text, offset)
	at := 0
	for _, r := range begin {
		at += utf16.RuneLen(r)
	}
	rest := text[len(begin):]
	shown, cut := prompt.Cut(rest, limit)
	if !cut {
		return rest, 0
	}
	shown = strings.TrimSuffix(shown, prompt.Ellipsis)
	if shown == "" { // one grapheme that is longer than the limit
		shown = rest
		for i := range rest {
			if limit == 0 {
				shown = rest[:i]
				break
			}
			limit--
		}
	}
	for _, r := range shown {
		at += utf16.RuneLen(r)
	}
	return shown, at
}

// severalNotes is the error for a title or path that more than one note has, instead
// of the daemon's.
func severalNotes(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return err
	}
	return fault.New(fault.Conflict, "several notes have that title or path").
		WithHint("give the id of one of these").WithCandidates(f.Candidates)
}

func noNote() error {
	return fault.New(fault.NotFound, "no such note").WithHint("search_notes finds notes")
}

// orNoNote is the error of a method that reads a note, in the words of this package
// where there is none.
func orNoNote(err error) error {
	if isMissing(err) {
		return noNote()
	}
	return err
}
