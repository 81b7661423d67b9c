package memory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func TestMEM7_WhatIsPrivate(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	secret, err := w.notes.Put(ctx, notes.Draft{Title: "Secret Plan", Body: "text", Private: true}, nil)
	must(t, err)
	open, err := w.notes.Put(ctx, notes.Draft{Title: "Open Plan", Body: "text"}, nil)
	must(t, err)
	from := w.add(memory.Draft{Statement: "we begin in May", Source: record.MemorySource{NoteID: secret.ID}})
	if !from.Private {
		t.Error("a memory of a private note is public")
	}
	later := w.add(memory.Draft{Statement: "we end in June", Source: record.MemorySource{NoteID: open.ID}})
	about := w.add(memory.Draft{Statement: "I wrote [[Secret Plan]] with care", NoteIDs: []string{secret.ID, open.ID}})
	next := w.add(memory.Draft{Statement: "we begin in July", Supersedes: []string{from.ID}})
	if !next.Private {
		t.Error("what supersedes a private memory is public")
	}
	for _, id := range []string{from.ID, next.ID, from.Handle, "1"} {
		_, err := w.mem.Get(w.remote, id)
		refused(t, err, fault.NotFound, "")
	}
	seen, err := w.mem.Get(w.remote, about.ID)
	must(t, err)
	if strings.Contains(seen.Statement, "Secret") || seen.Handle != "" || !slices.Equal(seen.NoteIDs, []string{open.ID}) {
		t.Errorf("a remote reader sees %+v", seen.MemoryRecord)
	}
	_, err = w.mem.Get(w.remote, about.Handle)
	refused(t, err, fault.NotFound, "")
	_, err = w.mem.Update(ctx, w.remote, memory.Patch{ID: about.ID, NoteIDs: &[]string{}}, nil)
	must(t, err)
	if now := w.get(about.ID); !slices.Equal(now.NoteIDs, []string{secret.ID}) {
		t.Errorf("a remote reader took away what it does not see: %q", now.NoteIDs)
	}
	if _, err := w.mem.Get(w.remote, later.ID); err != nil {
		t.Error(err)
	}
	_, err = w.notes.Patch(ctx, notes.Patch{ID: open.ID, Private: ptr(true)}, nil)
	must(t, err)
	_, err = w.mem.Get(w.remote, later.ID)
	refused(t, err, fault.NotFound, "")
	_, err = w.notes.Delete(ctx, open.ID, nil)
	must(t, err)
	_, err = w.mem.Get(w.remote, later.ID)
	refused(t, err, fault.NotFound, "")
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: from.ID, Private: ptr(false)}, nil)
	refused(t, err, fault.Conflict, "private")
	w.add(memory.Draft{Statement: "hidden by its handle", Handle: "my-secret", Private: true})
	_, err = w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "another", Handle: "My-Secret"}})
	refused(t, err, fault.Conflict, "handle")
	list, err := w.mem.Add(ctx, w.remote, []memory.Draft{{Statement: "seen by all", Handle: "my-secret"}})
	must(t, err)
	if h := list[0].Memory.Handle; h == "my-secret" || !strings.HasPrefix(h, "secret_") {
		t.Errorf("handle %q", h)
	}
	if got := w.mem.Stats(w.remote); got.Total != 2 {
		t.Errorf("a remote reader counts %d", got.Total)
	}
}
