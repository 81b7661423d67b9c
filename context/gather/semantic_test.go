package gather_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// garage is a world that is searched by meaning, with a private note that is
// nearest of all to the question.
func garage(t *testing.T) (w *world, question string) {
	t.Helper()
	w = worldWith(t, kv.InMemory, kv.Options{}, search.Options{Embedder: embed.LazyBuiltinTable()})
	for _, d := range []notes.Draft{
		{ID: "car", Title: "Garage", Body: "The automobile needs new tyres before winter."},
		{ID: "bike", Title: "Shed", Body: "The bicycle has a flat tyre."},
		{ID: "canary", Title: "Canary", Body: "Canary: wheels of the vehicle for the snow are in the cellar.", Private: true},
		{ID: "cake", Title: "Kitchen", Body: "Bake it for forty minutes, then let the cake cool."},
	} {
		if _, err := w.notes.Put(ctx, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); w.index.Stats().Meanings.Docs < 4; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the notes get no vectors")
		}
	}
	return w, "vehicle wheels for snowy days"
}

func TestSRCH13_PromptsHoldWhatIsFoundByItsMeaning(t *testing.T) {
	w, question := garage(t)
	res := w.assemble(t, gather.Params{Text: "rubber for my auto in the cold season", SearchNotes: 3, Audience: gather.Local, Explain: true})
	found := ""
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			if item.ID == "car" {
				found = item.Reason
			}
		}
	}
	if found != "found by search, by its meaning" {
		t.Errorf("the report says %q of the note", found)
	}
	if res := w.assemble(t, gather.Params{Text: question, SearchNotes: 3, Audience: gather.Local}); !strings.Contains(res.System, "Canary") {
		t.Error("a local reader does not get the private note")
	}
}

// A private note that is nearest in meaning is reported as withheld from a remote
// reader, and has no say in what that gets.
func TestCTX34_PrivateNotesAreWithheldFromASearchByMeaning(t *testing.T) {
	w, question := garage(t)
	p := gather.Params{Text: question, SearchNotes: 3, Audience: gather.Remote, Explain: true}
	with := w.assemble(t, p)
	if strings.Contains(with.System, "Canary") || strings.Contains(with.System, "cellar") {
		t.Errorf("a private note is shown:\n%s", with.System)
	}
	withheld := false
	for _, d := range with.Report.Dropped {
		withheld = withheld || d.ID == "canary" && d.Reason == prompt.Private
	}
	if !withheld {
		t.Errorf("it is not reported: %+v", with.Report.Dropped)
	}
	if _, err := w.notes.Delete(ctx, "canary", nil); err != nil {
		t.Fatal(err)
	}
	if without := w.assemble(t, p); without.System != with.System {
		t.Errorf("it has a say in what is shown:\n%s\nwithout it\n%s", with.System, without.System)
	}
}

// TestCTX42_TheBestThatIsNotAbout: of a message that nothing is about the report says which note was the best, how near it was, and
// how near it would have had to be, and tells a remote reader of none that he does not see.
func TestCTX42_TheBestThatIsNotAbout(t *testing.T) {
	w, _ := garage(t)
	for _, reader := range []string{gather.Local, gather.Remote} {
		for text, id := range map[string]string{
			"parliamentary elections and hurricanes in Norway":                   "canary",
			"how do volcanoes erupt under the ocean before parliament assembles": "car",
			"when do I need new tyres":                                           "",
		} {
			res := w.assemble(t, gather.Params{Text: text, SearchNotes: 3, Audience: reader})
			st := res.Report.Stages[1]
			if id == "" {
				if st.Best != nil || st.Skipped {
					t.Errorf("%s, %q: %+v", reader, text, st)
				}
				continue
			}
			if !st.Skipped || st.Why != "no note is about the message" || len(st.Best) > 1 {
				t.Errorf("%s, %q: %+v", reader, text, st)
			}
			for _, b := range st.Best {
				if b.Kind != prompt.KindNote || b.Score >= b.Floor || reader == gather.Remote && b.ID == "canary" {
					t.Errorf("%s, %q: the best is %+v", reader, text, b)
				}
			}
			if reader == gather.Local && (len(st.Best) == 0 || st.Best[0].ID != id) {
				t.Errorf("%q: the best is %+v, want %s", text, st.Best, id)
			}
		}
	}
}
