package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// readInput are the arguments of read_note.
type readInput struct {
	Note    string `json:"note" jsonschema:"the note: its title, path or id"`
	Heading string `json:"heading,omitempty" jsonschema:"only what stands under this heading"`
	paging
}

func readSchema() *jsonschema.Schema { return pagesOf[readInput](nil) }

func (c *call) readNote(in readInput) (string, error) {
	if strings.TrimSpace(in.Note) == "" {
		return "", fault.Field("note", "note is needed: a title, path or id")
	}
	return c.tool("read_note", in.paging, map[string]any{"id": in.Note, "heading": in.Heading})
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
			n.Body = barBars(render.NoteBody(n.Body))
		}
	}
	// The short ones first: what they leave is known then.
	texts := make([]string, len(notes))
	room, left := in.MaxChars, len(notes)
	fill := func(i, share int) {
		bar := fmt.Sprintf("%s %d of %d: ", noteBar, i+1, len(notes))
		share -= utf8.RuneCountInString(bar) + 2
		if errs[i] != nil {
			texts[i], _ = prompt.Cut("\""+render.Inline(in.Notes[i])+"\": "+c.explain(errs[i]).Error(), share)
		} else {
			texts[i] = noteText(notes[i], share)
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
	return render.MapLines(text, func(line string) string {
		if strings.HasPrefix(visible(line), visible(noteBar)) {
			return `\` + line
		}
		return line
	})
}

// visible is what is seen of a text, without blanks and in lower case.
func visible(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text))
}

// noteText shows the beginning of a note whose text is one for models, in at most limit characters.
func noteText(n *protocol.NoteFull, limit int) string {
	out := render.NoteText{
		ID: n.ID, Title: cmp.Or(n.Link, n.Title), Vault: n.Vault, Path: n.Path, UpdatedAt: n.UpdatedAt, Archived: n.ArchivedAt != nil,
		EntityID: n.EntityID, Tags: n.Tags, Aliases: n.Aliases, Version: n.Version, Body: n.Body,
	}
	out.Others = render.Others(n.Others)
	linked := make(map[string]bool)
	for _, l := range n.Links {
		if l.ID != "" && !linked[l.ID] {
			linked[l.ID] = true
			out.Links = append(out.Links, render.Note(cmp.Or(l.Link, l.Title))+render.ID(l.ID))
		}
	}
	for _, l := range n.Backlinks {
		out.Backlinks = append(out.Backlinks, render.Note(cmp.Or(l.Link, l.Title))+render.ID(l.ID))
	}
	return out.Page(0, limit)
}

// severalNotes is the error for a title or path that more than one note has, instead
// of the daemon's.
func severalNotes(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return err
	}
	return fault.Clash(fault.Ambiguous, "several notes have that title or path").
		WithHint("give the id of one of these").WithCandidates(f.Candidates)
}

func noNote() error {
	return fault.New(fault.NotFound, "no such note").WithHint("search_notes finds notes")
}

// orNoNote is the error of a method that reads a note, in the words of this package
// where there is none.
func orNoNote(err error) error {
	if fault.IsMissing(err) {
		return noNote()
	}
	return severalNotes(err)
}
