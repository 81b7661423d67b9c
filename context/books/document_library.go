package books

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// Library finds what a search of passages needs to know of their books.
type Library struct {
	Store  *Store
	Source *Source
}

// Keep makes the test of the passages that a reader finds in a conversation, "" for none: those of books for
// all and of its own, or of its own only. test is asked when their book was added.
func (l Library) Keep(v *audience.View, conversation string, own bool, test func(added time.Time) bool) func(text.Doc) bool {
	return l.Source.Keep(func(b *Record) bool {
		return isReadable(v, b, conversation) && (!own || b.ConversationID == conversation) && test(b.CreatedAt)
	})
}

// Any reports whether a reader finds any in a conversation, "" for none.
func (l Library) Any(v *audience.View, conversation string) bool {
	for b := range l.Store.All() {
		if isReadable(v, b, conversation) {
			return true
		}
	}
	return false
}

// Added is when the book of a passage was.
func (l Library) Added(d text.Doc) time.Time {
	id, _ := parseKey(passageKey(d))
	if b := l.Store.Stored(id); b != nil {
		return b.CreatedAt
	}
	return time.Time{}
}

// Found returns passages as a reader sees them in a conversation, nil in the place of each that he does not.
func (l Library) Found(ctx context.Context, v *audience.View, conversation string, ids []string) ([]*record.Passage, error) {
	return l.Store.Found(ctx, v, conversation, ids)
}
