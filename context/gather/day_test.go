package gather_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH60_TheNoteOfADayThatAQuestionNames is in the prompt, once, and no other one; a message that asks nothing, of a time
// that is no day or of a day without a note gets none.
func TestSRCH60_TheNoteOfADayThatAQuestionNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"2025-07-08", "2026-03-03", "2026-03-04"} {
		w.mustNote(t, notes.Draft{ID: name, Vault: "V", Path: "Log/" + name + ".md", Body: "met Zoe"})
	}
	w.mustNote(t, notes.Draft{ID: "2026-03-02", Vault: "V", Path: "Log/2026-03-02.md", Body: "---\nprivate: true\n---\nx"})
	g := gather.Open(w.db, w.rooms, gather.Options{
		Now: func() time.Time { return time.Date(2026, 3, 4, 23, 30, 0, 0, time.FixedZone("", 5*3600)) },
		DayNotes: func(_ context.Context, day time.Time, sees func(*notes.Note) bool) []string {
			n := w.notes.Get(day.Format(time.DateOnly))
			if n == nil || !sees(n) {
				return nil
			}
			return []string{n.ID}
		},
	})
	for text, want := range map[string]string{
		"what happened on 8 July 2025?":               "2025-07-08 8 July 2025",
		"What happened on July 8, 2025":               "2025-07-08 8 July 2025",
		"What did I do yesterday?":                    "2026-03-03 3 March 2026",
		"and what did I do today?":                    "2026-03-04 4 March 2026",
		"Was habe ich gestern gemacht?":               "2026-03-03 3 March 2026",
		"Was war am 8. Juli 2025?":                    "2025-07-08 8 July 2025",
		"Que s'est-il passé le 8 juillet 2025 ?":      "2025-07-08 8 July 2025",
		"what about 2025-07-08?":                      "2025-07-08 8 July 2025",
		"what happened on 9 July 2025?":               "",
		"what happened in July 2025?":                 "",
		"what happened before 8 July 2025?":           "",
		"Yesterday I met Zoe.":                        "",
		"thanks!":                                     "",
		"what did I do two days ago?":                 "2026-03-02 2 March 2026",
		"what is on [[2026-03-03]]? I mean yesterday": "",
	} {
		for _, audience := range []string{gather.Local, gather.Remote} {
			p := gather.Params{Text: text, Audience: audience}
			p.SearchNotes = 3
			res, err := w.assembled(t.Context(), g, p)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range res.Report.Sections {
				for _, it := range s.Items {
					if day, ok := strings.CutPrefix(it.Reason, prompt.NoteOfDay); ok {
						got += it.ID + " " + day
					}
				}
			}
			if audience == gather.Remote && want == "2026-03-02 2 March 2026" {
				want = "" // it is private
			}
			if got != want {
				t.Errorf("%s, %q: %q, want %q", audience, text, got, want)
			}
		}
	}
}
