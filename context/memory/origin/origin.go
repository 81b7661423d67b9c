package origin

import (
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Origin says what memories stem from; exactly one member is set.
type Origin struct {
	ConversationID string `json:"conversationId,omitempty"`
	NoteID         string `json:"noteId,omitempty"`
	Client         string `json:"client,omitempty"`
	All            bool   `json:"all,omitempty"`
}

// Of reports whether a memory with a source stems from it.
func (o Origin) Of(source *record.MemorySource) bool {
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
func (o Origin) Check() error {
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
