package chat

// RegisterHandles tells context/audience of the records that texts refer to by handles, and that audience does not
// import: memories, contexts and conversations. A View masks what refers to a private one of them (PRIV-8).
//
// It holds nothing: the daemon calls it once, behind memories and conversations and before the indexes of texts, which
// keep what may be shown to whom.

import (
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
)

// RegisterHandles tells rooms of all records that have handles, and how to read changes of them. O(records).
func RegisterHandles(rooms *audience.Views, mem *memory.Store, chats *Store) {
	rooms.SetHandled(func(yield func(audience.Handled) bool) {
		for m := range mem.All() {
			if !yield(ofMemory(m)) {
				return
			}
		}
		for c := range mem.StoredContexts() {
			if !yield(ofContext(c)) {
				return
			}
		}
		for _, c := range chats.Records() {
			if !yield(c.Handled()) {
				return
			}
		}
	}, changed)
	rooms.CountPrivacy(func(ch kv.Change) bool {
		old, now, ok := Messages.Of(ch)
		return ok && old != nil && now != nil && old.private() != now.private()
	})
}

func ofMemory(m *memory.Record) audience.Handled { return memory.HandledMemory(m) }

func ofContext(c *memory.StoredContext) audience.Handled { return memory.HandledContext(c) }

// changed returns what a change makes of a record that has handles.
func changed(ch kv.Change) (before, after *audience.Handled, ok bool) {
	if old, now, ok := memory.Records.Of(ch); ok {
		return called(old, ofMemory), called(now, ofMemory), true
	}
	if old, now, ok := memory.StoredContexts.Of(ch); ok {
		return called(old, ofContext), called(now, ofContext), true
	}
	if old, now, ok := Conversations.Of(ch); ok {
		return called(old, (*Record).Handled), called(now, (*Record).Handled), true
	}
	return nil, nil, false
}

// called is what a record is called, nil for none.
func called[T any](of *T, read func(*T) audience.Handled) *audience.Handled {
	if of == nil {
		return nil
	}
	h := read(of)
	return &h
}
