package record

// A [MemoryOrigin] says which memories are meant: those that stem from a conversation, a note or a client, those about an
// entity or a subject, or all. memory.forget names one of them. It is a value without state; Of costs O(1), and Check
// refuses one that names none or several of them with Invalid.

import (
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// MemoryOrigin says what memories stem from, or what they are about; exactly one of the members before From is set.
type MemoryOrigin struct {
	ConversationID string `json:"conversationId,omitempty"`
	NoteID         string `json:"noteId,omitempty"`
	Client         string `json:"client,omitempty"`
	All            bool   `json:"all,omitempty"`
	EntityID       string `json:"entityId,omitempty"`
	About          string `json:"about,omitempty"` // words, all of which a record has

	From time.Time `json:"from,omitzero"` // with EntityID and About: written down then or later
	To   time.Time `json:"to,omitzero"`   // and before then
}

// IsSubject reports whether it says what memories are about, which the source of a memory does not tell.
func (o *MemoryOrigin) IsSubject() bool { return o.EntityID != "" || o.About != "" }

// Of reports whether a memory with a source stems from it; never for a subject.
func (o *MemoryOrigin) Of(source *MemorySource) bool {
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

// Within reports whether something was written down in its time.
func (o *MemoryOrigin) Within(at time.Time) bool {
	return (o.From.IsZero() || !at.Before(o.From)) && (o.To.IsZero() || at.Before(o.To))
}

// Check refuses what does not name exactly one.
func (o *MemoryOrigin) Check() error {
	n := 0
	for _, given := range []bool{o.ConversationID != "", o.NoteID != "", o.Client != "", o.All, o.EntityID != "", o.About != ""} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return fault.Field("conversationId", "say what is to be forgotten").
			WithHint("give exactly one of conversationId, noteId, client, entityId, about and all")
	case o.About != "" && strings.TrimSpace(o.About) == "":
		return fault.Field("about", "about has no words").WithHint("say what is to be forgotten in words that it has")
	case !o.IsSubject() && !(o.From.IsZero() && o.To.IsZero()):
		return fault.Field("from", "from and to are given without entityId or about").WithHint("leave them out, or say what is to be forgotten of that time")
	case !o.To.IsZero() && !o.To.After(o.From):
		return fault.Field("to", "to is not after from").WithHint("give the later time as to")
	}
	return nil
}
