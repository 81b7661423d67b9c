package memory_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestREF1_ContextsAreATree(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	put := func(d memory.ContextDraft) (*memory.Context, error) { return w.mem.PutContext(ctx, w.local, d, nil) }
	a, err := put(memory.ContextDraft{ID: "a", Name: "Health Goals"})
	must(t, err)
	if a.Handle != "health_goals_context" {
		t.Errorf("handle %q", a.Handle)
	}
	_, err = put(memory.ContextDraft{ID: "b", Name: "Sport", ParentID: "a"})
	must(t, err)
	_, err = put(memory.ContextDraft{ID: "c", Name: "Running", ParentID: "b"})
	must(t, err)
	_, err = put(memory.ContextDraft{ID: "a", Name: "Health Goals", ParentID: "c"})
	refused(t, err, fault.Conflict, "parentId")
	_, err = put(memory.ContextDraft{ID: "a", Name: "Health Goals", ParentID: "a"})
	refused(t, err, fault.Conflict, "parentId")
	_, err = put(memory.ContextDraft{Name: "x", ParentID: "none"})
	refused(t, err, fault.NotFound, "parentId")
	twin, err := put(memory.ContextDraft{Name: "Health goals"})
	must(t, err)
	if twin.Handle == a.Handle {
		t.Errorf("two contexts have the handle %q", a.Handle)
	}
	m := w.add(memory.Draft{Statement: "I run on Mondays", Contexts: []string{"b", "c"}})
	if n, err := w.mem.Link(ctx, w.local, "b", []string{m.ID}, true); err != nil || n != 0 {
		t.Errorf("linked %d, %v", n, err)
	}
	moved, unlinked, err := w.mem.DeleteContext(ctx, w.local, "b", false)
	must(t, err)
	if moved != 1 || unlinked != 1 {
		t.Errorf("moved %d, unlinked %d", moved, unlinked)
	}
	_, below, _, err := w.mem.GetContext(w.local, "a")
	must(t, err)
	if len(below) != 1 || below[0].ID != "c" {
		t.Errorf("below it %v", below)
	}
	moved, unlinked, err = w.mem.DeleteContext(ctx, w.local, "a", true)
	must(t, err)
	if moved != 1 || unlinked != 1 || len(w.get(m.ID).Contexts) != 0 {
		t.Errorf("moved %d, unlinked %d, contexts %v", moved, unlinked, w.get(m.ID).Contexts)
	}
	w.sound()
}
