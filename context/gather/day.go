package gather

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/notes"
)

// A question about one day, such as "what happened on 8 July 2025?" or "was habe ich gestern gemacht?", is answered by the note
// of that day, where a vault has one by its own settings (notes/vault). It stands before what a search finds, whose measure is
// the words of the question: those of a diary are others. What says of days is read as questions to memories are (MEM-32).

// DayNotes returns the ids of the notes of a day, the best one first. sees tells which notes there are.
type DayNotes func(ctx context.Context, day time.Time, sees func(*notes.Note) bool) []string

// dayNote is the note of a day that a message asks about; the zero value is none.
type dayNote struct {
	id  string
	day time.Time
}

// noteOfDay returns the note of the day that a message asks about, "" for none. It reads the settings of vaults, so that it
// runs outside the view of the store.
func (g *Gatherer) noteOfDay(ctx context.Context, r *request) dayNote {
	if g.opts.DayNotes == nil || r.SearchNotes == 0 || search.AsksNothing(r.Text) || !isQuestion(r.Text) {
		return dayNote{}
	}
	now := g.opts.Now()
	span := memory.ReadTime(r.Text, now).Span
	if span == nil || !span.OneDay() {
		return dayNote{}
	}
	ids := g.opts.DayNotes(ctx, span.From, r.view.SeesNote)
	if len(ids) == 0 {
		return dayNote{}
	}
	return dayNote{ids[0], span.From}
}

// isQuestion reports whether a message asks: by its mark, or by one of its first words.
func isQuestion(message string) bool {
	const first = 2 // words: "and what …"
	if strings.ContainsAny(message, "?？") {
		return true
	}
	words := wordsOf(message, nil)
	return slices.ContainsFunc(words[:min(len(words), first)], func(w messageWord) bool {
		return slices.ContainsFunc(followLanguages, func(l *followLanguage) bool { return l.asking[w.fold] })
	})
}

// ofDay takes the note of the day that the message asks about, unless it is in the prompt already.
func (c *call) ofDay() {
	asked := c.mentions.day
	n := c.view.Note(asked.id)
	isIn := func(t candidateText) bool { return t.note.ID == asked.id }
	if asked.id == "" || !n.Live() || slices.ContainsFunc(c.texts, isIn) {
		return
	}
	reason := prompt.NoteOfDay + asked.day.Format("2 January 2006")
	c.in.Found = append(c.in.Found, prompt.Note{ID: n.ID, Title: c.title(nil, n), Reason: reason})
	c.texts = append(c.texts, candidateText{section: &c.in.Found, at: len(c.in.Found) - 1, note: n, found: true})
}
