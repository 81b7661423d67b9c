package gather_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
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
				if st.Skipped { // the rest of what was found may be told of, see NotesFarBehindTheBest
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

// saidOnce finds messages of another conversation with three scores.
type saidOnce struct{ confidence string }

func (f saidOnce) Search(context.Context, *audience.View, recall.Request) (*recall.Result, error) {
	res := &recall.Result{Confidence: f.confidence}
	for _, score := range []float64{0.95, 0.7, 0.4} {
		id := fmt.Sprint("said", score)
		res.Hits = append(res.Hits, recall.Hit{
			Kind: recall.Messages, ID: id, Text: id, Score: score, Message: &recall.Message{ID: id, Conversation: "other", Role: "user"},
		})
	}
	return res, nil
}

// TestCTX42_MessagesOfOtherSubjects: of what was said in other conversations a prompt holds what is near enough, the less sure the
// search is the nearer, and the report names the best of the rest.
func TestCTX42_MessagesOfOtherSubjects(t *testing.T) {
	w := newWorld(t)
	mem, err := memory.Open(w.db, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for confidence, c := range map[string]struct {
		shown int
		best  prompt.LeftOut
	}{
		search.High:   {2, prompt.LeftOut{Kind: prompt.KindMessage, ID: "said0.4", Score: 0.4, Floor: 0.6}},
		search.Medium: {1, prompt.LeftOut{Kind: prompt.KindMessage, ID: "said0.7", Score: 0.7, Floor: 0.8}},
		search.Low:    {0, prompt.LeftOut{Kind: prompt.KindMessage, ID: "said0.95", Score: 0.95, Floor: 1.01}},
	} {
		g := gather.Open(w.db, w.rooms, gather.Options{Memories: mem, Finder: saidOnce{confidence}})
		res, err := w.assembled(ctx, g, gather.Params{Text: "when does the plan begin?", Memories: 5})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(res.System, "[id:said0"); n != c.shown {
			t.Errorf("%s: %d are shown, want %d:\n%s", confidence, n, c.shown, res.System)
		}
		best := bestOf(res, "memories")
		if len(best) != 1 || best[0] != c.best {
			t.Errorf("%s: the best of the rest is %+v, want %+v", confidence, best, c.best)
		}
	}
}

// bestOf are the best that a stage has left out.
func bestOf(res *prompt.Result, stage string) []prompt.LeftOut {
	for _, st := range res.Report.Stages {
		if st.Name == stage {
			return st.Best
		}
	}
	return nil
}

// TestCTX42_NotesFarBehindTheBest are left out, and the first of them is named.
func TestCTX42_NotesFarBehindTheBest(t *testing.T) {
	w, _ := garage(t)
	for i := range 30 { // so that words tell something
		if _, err := w.notes.Put(ctx, notes.Draft{Title: fmt.Sprint("Ledger ", i), Body: "Accounts of the guild, and the winter fair."}, nil); err != nil {
			t.Fatal(err)
		}
	}
	searchtest.Until(t, "the notes get vectors", func() bool { return w.index.Stats().Meanings.Docs == 34 })
	res := w.inTime(t, gather.Params{Text: "does the automobile need new tyres before winter", SearchNotes: 3, Audience: gather.Local})
	var shown []string
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			shown = append(shown, item.ID)
		}
	}
	best := bestOf(res, "search")
	if len(shown) != 1 || shown[0] != "car" || len(best) != 1 || best[0].Score >= best[0].Floor {
		t.Errorf("shown are %v, the best of the rest is %+v", shown, best)
	}
}
