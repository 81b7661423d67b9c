package gather_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func (w *world) mustNote(t *testing.T, d notes.Draft) *notes.Note {
	t.Helper()
	n, err := w.notes.Put(ctx, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCTX34_CandidatesDoNotTell(t *testing.T) {
	w := named(t, "Sam", "Sam")
	w.mustPut(t, entities.Entity{ID: "hidden", Type: "P", Name: "Sam", Private: true})
	for i := range 3 {
		w.mustNote(t, notes.Draft{ID: fmt.Sprint("n", i), Title: "Plan", Private: i == 0})
	}
	for audience, want := range map[string]int{gather.Remote: 2, gather.Local: 3} {
		res := w.assemble(t, gather.Params{Text: "@Sam and [[Plan]]", Audience: audience})
		if len(res.Report.Dropped) != 2 {
			t.Fatalf("%+v", res.Report.Dropped)
		}
		for _, d := range res.Report.Dropped {
			if d.Reason != prompt.Ambiguous || len(d.Candidates) != want {
				t.Errorf("%s: %+v", audience, d)
			}
		}
	}
}

func TestTooManyMentionsAreReported(t *testing.T) {
	w := named(t, "A")
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "@nobody%d ", i)
	}
	res := w.assemble(t, gather.Params{Text: text.String()})
	last := res.Report.Dropped[len(res.Report.Dropped)-1]
	if len(res.Report.Dropped) != 1001 || last.Reason != prompt.OverLimit {
		t.Errorf("%d dropped, the last %+v", len(res.Report.Dropped), last)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.assembled(done, w.gather, gather.Params{Text: text.String(), SearchNotes: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
}

// TestCTX20_APinnedNoteThatFoundNoRoomKeepsItsText is shown as a linked one.
func TestCTX20_APinnedNoteThatFoundNoRoomKeepsItsText(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "note", Type: record.NoteRef}}})
	w.mustNote(t, notes.Draft{ID: "n", Title: "Plan", Body: "what we do " + strings.Repeat("x", 300)})
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "A", Fields: entities.Values{"note": "n"}})
	none := 0
	res := w.assemble(t, gather.Params{
		MentionedEntityIDs: []string{"a"}, MentionedNoteIDs: []string{"n"}, Budgets: &gather.Budgets{Pinned: &none},
	})
	if !strings.Contains(res.System, "## Notes linked") || !strings.Contains(res.System, "what we do") || len(res.Report.Dropped) != 0 {
		t.Errorf("%s\n%+v", res.System, res.Report.Dropped)
	}
}

func TestCTX34_PrivateHitsDoNotHidePublicOnes(t *testing.T) {
	w := newWorld(t)
	for range 60 {
		w.mustNote(t, notes.Draft{Title: "budget budget", Private: true})
	}
	w.mustNote(t, notes.Draft{ID: "open", Title: "Other", Body: "budget"})
	res := w.assemble(t, gather.Params{Text: "budget", SearchNotes: 2})
	if len(res.Report.Sections) != 1 || res.Report.Sections[0].Items[0].ID != "open" {
		t.Errorf("%+v", res.Report.Sections)
	}
}

func TestCTX32_AnUnresolvedReferenceIsReportedOnce(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "one", Type: record.EntityRef}, {Name: "two", Type: record.EntityRef}}})
	for _, id := range []string{"a", "b"} {
		w.mustPut(t, entities.Entity{ID: id, Type: "P", Name: id, Fields: entities.Values{"one": "[[Ghost]]", "two": "[[Ghost]]"}})
	}
	res := w.assemble(t, gather.Params{MentionedEntityIDs: []string{"a", "b"}})
	if d := res.Report.Dropped; len(d) != 1 || d[0].Title != "Ghost" || d[0].Reason != prompt.Unknown {
		t.Errorf("%+v", d)
	}
}

func TestForgottenReports(t *testing.T) {
	w := newWorld(t)
	w.assemble(t, gather.Params{Text: "x"})
	w.gather.Forget()
	if len(w.gather.Recent(10, audience.Local)) != 0 || len(w.gather.Recent(-1, audience.Local)) != 0 {
		t.Error("reports are left")
	}
}
