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

// Attachment returns the id of the book that the attachment at a path is, of any vault; "" for none that a reader finds. Of several
// vaults the first by name counts.
func (l Library) Attachment(v *audience.View, path string) string {
	var found *Record
	for b := range l.Store.All() {
		if b.Vault != "" && b.Path == path && isReadable(v, b, "") && (found == nil || b.Vault < found.Vault) {
			found = b
		}
	}
	if found == nil {
		return ""
	}
	return found.ID
}

// Of makes the test of the passages of a book.
func (l Library) Of(book string) func(text.Doc) bool {
	return l.Source.Keep(func(b *Record) bool { return b.ID == book })
}

// Page returns passages of a book as a reader sees them: those on a page, or the first for 0. At most limit.
func (l Library) Page(ctx context.Context, v *audience.View, book string, page, limit int) (list []*record.Passage, err error) {
	err = l.Store.each(ctx, v, book, "", func(p *record.Passage) bool {
		if page == 0 || p.Page <= page && page <= max(p.Page, p.Last) {
			list = append(list, p)
		}
		return len(list) < limit
	})
	return list, err
}
