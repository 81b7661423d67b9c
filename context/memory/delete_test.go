package memory_test

import (
	"fmt"
	"slices"
	"testing"

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
	_, err = w.mem.RecordUse(ctx, w.local, []string{m.ID})
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
	if n != 250 || !slices.Equal(steps, []int{100, 200, 250}) {
		t.Errorf("%d forgotten, steps %v", n, steps)
	}
	w.get(kept.ID)
	w.sound()
}

func TestMEM5_ForgettingAllIsAboutMemories(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	w.say("first")
	w.say("second")
	_, err := w.mem.PutSynonyms(ctx, w.local, []string{"ux", "user experience"}, false)
	must(t, err)
	_, err = w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: "Health Goals"}, nil)
	must(t, err)
	n, err := w.mem.Forget(ctx, w.local, memory.Origin{All: true}, nil)
	must(t, err)
	left, _ := w.mem.Count()
	sets, contexts := w.mem.Synonyms(w.local), w.mem.AllContexts(w.local)
	if n != 2 || left != 0 || len(sets) != 1 || len(contexts) != 1 {
		t.Errorf("%d forgotten; left are %d memories, %d sets of synonyms, %d contexts", n, left, len(sets), len(contexts))
	}
	w.sound()
}
