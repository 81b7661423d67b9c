package record

// A [MemoryOrigin] says what memories stem from: a conversation, a note, a client, or anything
// at all. memory.forget names one of them. It is a value without state; Of costs O(1), and Check
// refuses one that names none or several of them with Invalid.

import (
	"github.com/ctxd/ctxd/entities/fault"
)

// MemoryOrigin says what memories stem from; exactly one member is set.
type MemoryOrigin struct {
	ConversationID string `json:"conversationId,omitempty"`
	NoteID         string `json:"noteId,omitempty"`
	Client         string `json:"client,omitempty"`
	All            bool   `json:"all,omitempty"`
}

// Of reports whether a memory with a source stems from it.
func (o MemoryOrigin) Of(source *MemorySource) bool {
	switch {
	case o.ConversationID != "":
		return source.ConversationID == o.ConversationID
	case o.NoteID != "":
		return source.NoteID == o.NoteID
	case o.Client != "":
		return source.Client == o.Client
	}
	return o.All
}

// Check refuses what does not name exactly one.
func (o MemoryOrigin) Check() error {
	n := 0
	for _, given := range []bool{o.ConversationID != "", o.NoteID != "", o.Client != "", o.All} {
		if given {
			n++
		}
	}
	if n != 1 {
		return fault.Field("conversationId", "say what is to be forgotten").
			WithHint("give exactly one of conversationId, noteId, client and all")
	}
	return nil
}
