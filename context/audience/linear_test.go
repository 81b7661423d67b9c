package audience_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes"
)

// shownText is a text in all places from which a reader may be shown it.
type shownText struct {
	ctx    context.Context
	text   string
	note   *notes.Note      // of which it is the body, stored where the store takes it
	entity *entities.Entity // of which it is the name and a value
}

// masks are all functions that read a text for a reader, by their names.
var masks = map[string]func(w *masking, s shownText){
	"MarksOf":          func(_ *masking, s shownText) { audience.MarksOf(s.text) },
	"Views.Public":     func(w *masking, s shownText) { w.rooms.Public(s.note) },
	"View.Body":        func(w *masking, s shownText) { _, _ = w.remote.Body(s.ctx, s.note, audience.MarksOf(s.text)) },
	"View.ShownNote":   func(w *masking, s shownText) { _, _ = w.remote.ShownNote(s.ctx, s.note) },
	"View.Title":       func(w *masking, s shownText) { w.remote.Title(titled(s)) },
	"View.TitleOf":     func(w *masking, s shownText) { w.remote.TitleOf(titled(s)) },
	"View.Text":        func(w *masking, s shownText) { w.remote.Text(s.note.ID, s.text) },
	"View.Masked":      func(w *masking, s shownText) { w.remote.Masked(s.text) },
	"View.TextOf":      func(w *masking, s shownText) { w.remote.TextOf(s.note.ID, s.text) },
	"Views.Gate":       func(w *masking, s shownText) { w.rooms.Gate(s.text) },
	"View.Name":        func(w *masking, s shownText) { w.remote.Name(s.entity) },
	"View.NameOf":      func(w *masking, s shownText) { w.remote.NameOf(s.entity) },
	"View.ShownEntity": func(w *masking, s shownText) { w.remote.ShownEntity(s.entity) },
	"View.Withheld":    func(w *masking, s shownText) { w.remote.Withheld("[[" + s.text + "]]") },
	"View.MentionAt":   func(w *masking, s shownText) { w.remote.MentionAt(s.text) },
	"View.Named":       func(w *masking, s shownText) { w.remote.Named(s.text) },
	"View.Handled":     func(w *masking, s shownText) { w.remote.Handled(s.text) },
	"LongestMatch": func(_ *masking, s shownText) {
		audience.LongestMatch(s.text, func(string) (whole, beginning bool) { return true, false })
	},
	"View.EntityByName": func(w *masking, s shownText) { _, _ = w.remote.EntityByName(s.text, "") },
	"View.FindNote":     func(w *masking, s shownText) { _, _ = w.remote.FindNote(s.text, "") },
	"View.Others":       func(w *masking, s shownText) { w.remote.Others(s.text, s.note) },
	"View.FindEntity":   func(w *masking, s shownText) { _, _ = w.remote.FindEntity(s.text, "") },
	"View.FindRecord":   func(w *masking, s shownText) { _, _ = w.remote.FindRecord(s.text) },
	"View.ResolveNote":  func(w *masking, s shownText) { w.remote.ResolveNote(s.text, s.note.ID) },
	"View.CitedAs":      func(w *masking, s shownText) { w.remote.CitedAs(titled(s)) },
	"Links.Cited":       func(w *masking, s shownText) { links := w.remote.LinksFrom(""); links.Cited(titled(s)) },
	"Links.Instead":     func(w *masking, s shownText) { links := w.remote.LinksFrom(""); links.Instead(titled(s)) },
	"View.ResolveAmong": func(w *masking, s shownText) {
		w.remote.ResolveAmong(s.text, map[string]bool{s.note.ID: true})
	},
	"View.Attachment":    func(w *masking, s shownText) { w.remote.Attachment(s.text) },
	"View.NoteByTitle":   func(w *masking, s shownText) { _, _ = w.remote.NoteByTitle(s.text) },
	"View.NoteByPath":    func(w *masking, s shownText) { _, _ = w.remote.NoteByPath(s.text) },
	"View.CompleteNotes": func(w *masking, s shownText) { w.remote.CompleteNotes(s.text, 10) },
	"View.CompleteEntities": func(w *masking, s shownText) {
		w.remote.CompleteEntities(s.text, nil, 10)
	},
	"View.Moment":     func(w *masking, s shownText) { w.remote.Moment(s.text) },
	"View.Tags":       func(w *masking, s shownText) { w.remote.Tags(s.text) },
	"View.Unresolved": func(w *masking, _ shownText) { w.remote.Unresolved("") },
	"View.Links":      func(w *masking, s shownText) { w.remote.Links(s.note.ID) },
	"View.Backlinks":  func(w *masking, s shownText) { w.remote.Backlinks(s.note.ID) },
	"View.Prose": func(w *masking, s shownText) {
		_, _, _ = w.local.Prose(s.ctx, "", nil, 100)
	},
	"Links.To": func(w *masking, s shownText) {
		links := w.remote.LinksFrom("")
		links.To(titled(s), s.text)
	},
	"View.UnresolvedIn": func(w *masking, s shownText) {
		w.remote.UnresolvedIn(s.entity, 100)
	},
	"View.Withholds":   func(w *masking, s shownText) { w.remote.Withholds(s.note.ID, s.text) },
	"View.MentionOf":   func(w *masking, s shownText) { w.remote.MentionOf(s.entity, s.text) },
	"View.NoteInVault": func(w *masking, s shownText) { _, _ = w.remote.NoteInVault("v", "", s.text) },
	"View.VaultOf":     func(w *masking, s shownText) { w.remote.VaultOf(s.note) },
	"View.MatchName":   func(w *masking, s shownText) { w.remote.MatchName(s.text) },
	"View.SeesNote":    func(w *masking, s shownText) { w.remote.SeesNote(s.note) },
	"View.TypeOf":      func(w *masking, s shownText) { w.remote.TypeOf(s.entity) },
	"View.SeesEntity":  func(w *masking, s shownText) { w.remote.SeesEntity(s.entity) },
	"Namers.Set":       func(w *masking, s shownText) { audience.KeysIn([]string{s.text}) }, // behind it
}

// namesOnly are the functions whose texts are ids, names of types or of vaults, or
// queries, which WQL bounds and reads, or single words.
var namesOnly = []string{
	"ByIDPrefix", "CalledBy", "ComparePrivacy", "KeepClosedTx", "Views.NoteSource", "View.Candidates", "View.Check", "View.CheckWritten", "View.Computed", "View.Count", "View.Entities", "View.Entity",
	"View.EntityByID", "View.FindType", "View.HidesEntity", "View.HidesMemory", "View.HidesNote", "View.LinksFrom",
	"View.Neighbors", "View.Note", "View.NoteByID", "View.Paths",
	"View.PlaceOf", "View.PrivacyOf", "View.Query", "View.ResolveEntity", "View.Type", "View.TypesNamed", "View.WhyFound", "View.WordCounts", "View.WordsHeld",
}

func titled(s shownText) *notes.Note {
	n := *s.note
	n.Title = s.text
	return &n
}

// TestPRIV8_EveryMaskIsLinear runs all of them over texts that are hostile, as a body,
// as frontmatter and as a value, and looks at the growth of their steps.
func TestPRIV8_EveryMaskIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const module = "github.com/ctxd/ctxd/"
	if !steps.Counting(t, module+"context/audience", module+"notes", module+"notes/markdown",
		module+"entities", module+"entities/names", module+"entities/text") {
		return
	}
	one, whole := newMasking(t), newMasking(t)
	places := []steps.Place{
		{},
		{Name: ", as frontmatter", Before: "---\ntype: P\n", After: "\n---\n"},
		{Name: ", as a value", Before: "---\nabout: ", After: "\n---\n# a\n"},
	}
	steps.Each(places, func(family string, text func(size int) string, p steps.Place) {
		made := make(map[string]shownText)
		for name, mask := range masks {
			steps.Linear(t, name, family, 2<<10, text, func(text string) func() {
				if slices.Contains(ofTheStore, name) { // in which there is no other text
					s := whole.shown(t, "open", text, p.Before+text+p.After)
					return func() { mask(whole, s) }
				}
				s, known := made[text]
				if !known {
					s = one.shown(t, fmt.Sprint("open", len(made)), text, p.Before+text+p.After)
					made[text] = s
				}
				return func() { mask(one, s) }
			})
		}
	})
}

// ofTheStore are the masks that read the texts of all notes.
var ofTheStore = []string{"View.Prose", "View.Tags", "View.Unresolved"}

// shown stores a note with that body, where the store takes it: it may be longer, or no
// text.
func (w *masking) shown(t *testing.T, id, text, body string) shownText {
	s := shownText{ctx: t.Context(), text: text, note: new(notes.Note)}
	s.note.ID, s.note.Title, s.note.Body = id, "Open", body
	values := entities.Values{"about": text, "said": []string{text}}
	s.entity = &entities.Entity{ID: "text", Type: "P", Name: text, Fields: values}
	n, err := w.notes.Put(t.Context(), notes.Draft{ID: id, Body: body, Path: id + ".md"}, nil)
	if err == nil {
		s.note = n
	}
	return s
}

// TestEveryMaskIsMeasured: a function that takes a text, a note or an entity has its
// entry above.
func TestEveryMaskIsMeasured(t *testing.T) {
	wanted := steps.Exported(t, "*.go !groups*.go", "string", "*notes.Note", "*entities.Entity", "[]string")
	wanted = slices.DeleteFunc(wanted, func(name string) bool { return slices.Contains(namesOnly, name) })
	steps.Every(t, wanted, slices.Collect(maps.Keys(masks)))
}
