package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func TestMEM5_DeletingMeansGone(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	c, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: "Home"}, nil)
	must(t, err)
	old := w.say("I rent")
	m := w.add(memory.Draft{Statement: "I own a house", Contexts: []string{c.ID}, Supersedes: []string{old.ID}})
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I own a flat")}, nil)
	must(t, err)
	_, err = w.mem.Use(ctx, w.local, []string{m.ID})
	must(t, err)
	refused(t, w.mem.Delete(ctx, w.local, m.ID, false, nil), fault.Conflict, "force")
	must(t, w.mem.Delete(ctx, w.local, m.ID, true, nil))
	for _, ref := range []string{m.ID, m.Handle, "2"} {
		_, err := w.mem.Get(w.local, ref)
		refused(t, err, fault.NotFound, "")
	}
	if now := w.get(old.ID); now.SupersededBy != "" {
		t.Errorf("superseded by %s, which is gone", now.SupersededBy)
	}
	if _, _, n, err := w.mem.GetContext(w.local, c.ID); err != nil || n != 0 {
		t.Errorf("%d memories, %v", n, err)
	}
	w.sound()
}

func TestMEM5_ForgettingWhatStemsFrom(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	note, err := w.notes.Put(ctx, notes.Draft{Title: "Diary", Body: "text"}, nil)
	must(t, err)
	for i := range 250 {
		w.add(memory.Draft{Statement: fmt.Sprintf("of the note %d", i), Source: record.MemorySource{Kind: "extraction", NoteID: note.ID}})
	}
	kept := w.say("of somebody else")
	_, err = w.mem.Forget(ctx, w.local, memory.Origin{}, nil)
	refused(t, err, fault.Invalid, "conversationId")
	var steps []int
	n, err := w.mem.Forget(ctx, w.local, memory.Origin{NoteID: note.ID}, func(done, total int) { steps = append(steps, done) })
	must(t, err)
	if n.Memories != 250 || !slices.Equal(steps, []int{100, 200, 250}) {
		t.Errorf("%d forgotten, steps %v", n, steps)
	}
	w.get(kept.ID)
	w.sound()
}

// taught is what is in the memories, contexts and synonyms of the world, for the local reader.
func (w *world) taught() string {
	left, _ := w.mem.Count()
	var names []string
	for _, c := range w.mem.AllContexts(w.local) {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%d memories, contexts %q, synonyms %q", left, names, w.sets(w.local))
}

// teach adds memories, contexts below each other, and synonyms, private ones among them.
func (w *world) teach() {
	w.Helper()
	ctx := w.Context()
	w.say("first")
	w.add(memory.Draft{Statement: "second", Private: true})
	w.same(false, "ux", "user experience")
	w.same(true, "Zoé", "boss")
	above := ""
	for _, name := range []string{"Life", "Health", "Sport"} {
		c, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: name, ParentID: above, Private: name == "Sport"}, nil)
		must(w, err)
		above = c.ID
	}
	_, err := w.mem.Link(ctx, w.local, above, []string{w.say("third").ID}, true)
	must(w, err)
}

// TestMEM5_ForgettingAllIsAboutWhatWasTaughtToo: contexts and synonyms go with all memories, and with those of one
// origin they stay. What is to go is told first.
func TestMEM5_ForgettingAllIsAboutWhatWasTaughtToo(t *testing.T) {
	for _, tc := range []struct {
		origin memory.Origin
		want   memory.Forgotten
		left   string
	}{
		{
			memory.Origin{Client: "none"},
			memory.Forgotten{},
			`3 memories, contexts ["Health" "Life" "Sport"], synonyms "ux|user experience\nZoé|boss"`,
		},
		{memory.Origin{All: true}, memory.Forgotten{Memories: 3, Contexts: 3, Synonyms: 2}, `0 memories, contexts [], synonyms ""`},
	} {
		w := open(t, memory.Limits{})
		w.teach()
		plan, err := w.mem.Stemming(t.Context(), w.local, tc.origin)
		must(t, err)
		told := memory.Forgotten{Memories: len(plan.Memories), Contexts: len(plan.Contexts), Synonyms: len(plan.Synonyms)}
		done, last := 0, 0
		n, err := w.mem.Forget(t.Context(), w.local, tc.origin, func(d, total int) { done, last = d, total })
		must(t, err)
		if n != tc.want || told != tc.want || w.taught() != tc.left || done != last || done != tc.want.Memories+tc.want.Contexts+tc.want.Synonyms {
			t.Errorf("%+v: %+v was told, %+v forgotten, progress %d of %d; left are %s", tc.origin, told, n, done, last, w.taught())
		}
		w.sound()
		if tc.origin.All {
			w.same(false, "ux", "interface") // the words are free
			c, err := w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{Name: "Life"}, nil)
			if must(t, err); c.Handle != "life_context" {
				t.Errorf("the handle of a context that is gone is kept: %s", c.Handle)
			}
		}
	}
}

// TestMEM5_ForgettingAllLeavesWhatAReaderDoesNotSee: a context below one that is gone moves up.
func TestMEM5_ForgettingAllLeavesWhatAReaderDoesNotSee(t *testing.T) {
	w := open(t, memory.Limits{})
	w.teach()
	n, err := w.mem.Forget(t.Context(), w.remote, memory.Origin{All: true}, nil)
	must(t, err)
	if want := (memory.Forgotten{Memories: 2, Contexts: 2, Synonyms: 1}); n != want {
		t.Errorf("%+v forgotten, want %+v", n, want)
	}
	if left := w.taught(); left != `1 memories, contexts ["Sport"], synonyms "Zoé|boss"` {
		t.Errorf("left are %s", left)
	}
	if c := w.mem.AllContexts(w.local)[0]; c.ParentID != "" {
		t.Errorf("the context lies below %q, which is gone", c.ParentID)
	}
	w.sound()
}

// TestMEM5_ForgettingAllGoesOnAtTheNextStart, whatever group it was interrupted after.
func TestMEM5_ForgettingAllGoesOnAtTheNextStart(t *testing.T) {
	for stop := 1; stop <= 3; stop++ {
		dir := t.TempDir()
		w := openIn(t, dir, memory.Limits{})
		w.teach()
		ctx, cancel := context.WithCancel(t.Context())
		groups := 0
		_, err := w.mem.Forget(ctx, w.local, memory.Origin{All: true}, func(int, int) {
			if groups++; groups == stop {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d groups: %v", stop, err)
		}
		must(t, w.db.Close())
		again := openIn(t, dir, memory.Limits{})
		again.sound()
		must(t, again.mem.Resume(t.Context(), func(audience.Reader) *audience.View { return again.local }))
		if left := again.taught(); left != `0 memories, contexts [], synonyms ""` {
			t.Errorf("after %d groups and a start there are %s", stop, left)
		}
		again.sound()
	}
}
