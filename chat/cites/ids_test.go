package cites_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestCHAT35_KeysOfAnID: an import may bring messages with the ids of others.
func TestCHAT35_KeysOfAnID(t *testing.T) {
	w := start(t)
	put := func(key, id string) {
		w.must(w.db.Update(w.ctx, func(tx *kv.Tx) error {
			return chat.Messages.Put(tx, key, &chat.Message{ID: id, Index: 1})
		}))
	}
	remove := func(key string) {
		w.must(w.db.Update(w.ctx, func(tx *kv.Tx) error { return chat.Messages.Delete(tx, key) }))
	}
	wants := func(id string, want ...string) {
		t.Helper()
		again := cites.OpenIndex(w.db, w.chats, w.messages())
		for _, x := range []*cites.Index{w.index, again} {
			if got := x.Keys(id); !slices.Equal(got, want) {
				t.Errorf("keys of %s: %v, want %v", id, got, want)
			}
		}
	}
	for _, c := range []string{"b", "a", "c"} {
		put(c+"/00000001", "same")
	}
	wants("same", "a/00000001", "b/00000001", "c/00000001")
	put("a/00000001", "same") // changed
	put("c/00000001", "other")
	wants("same", "a/00000001", "b/00000001")
	wants("other", "c/00000001")
	remove("b/00000001")
	wants("same", "a/00000001")
	remove("a/00000001")
	wants("same")
	_, id := w.said("", false, direct("x"))
	if got := w.index.Keys(id); len(got) != 1 {
		t.Errorf("keys of a message: %v", got)
	}
}
