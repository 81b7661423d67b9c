package recall

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Library are the books that passages are from.
type Library interface {
	// Keep makes the test of the passages that a reader finds in a conversation, "" for none: those of books
	// for all, and of its own, or of its own only.
	Keep(v *audience.View, conversation string, own bool, test func(added time.Time) bool) func(text.Doc) bool
	// Any reports whether a reader finds any in a conversation, "" for none.
	Any(v *audience.View, conversation string) bool
	// Added is when the book of a passage was.
	Added(d text.Doc) time.Time
	// Found returns passages as a reader sees them in a conversation, nil in the place of each that he does not.
	Found(ctx context.Context, v *audience.View, conversation string, ids []string) ([]*record.Passage, error)
	// Attachment returns the book that the attachment of a vault at a path is, "" for none that a reader finds.
	Attachment(v *audience.View, path string) string
	// Of makes the test of the passages of a book.
	Of(book string) func(text.Doc) bool
	// Page returns passages of a book as a reader sees them: those on a page, or the first for 0.
	Page(ctx context.Context, v *audience.View, book string, page, limit int) ([]*record.Passage, error)
}

// HasPassages reports whether a reader finds any passage of a book in a conversation, "" for none.
func (r *Ranker) HasPassages(v *audience.View, conversation string) bool {
	return r.in.Books != nil && r.in.Books.Any(v, conversation)
}

// PassagesOf returns what of the attachment at a path is for who names it beside a question: the passages on a page, else those
// that answer, else the first. At most limit; none where the reader finds no book of it.
func (r *Ranker) PassagesOf(ctx context.Context, v *audience.View, path string, page, limit int, req Request) ([]*record.Passage, error) {
	if r.in.Books == nil {
		return nil, nil
	}
	book := r.in.Books.Attachment(v, path)
	if book == "" {
		return nil, nil
	}
	if page == 0 && strings.TrimSpace(req.Query) != "" {
		req.Kinds, req.Limit, req.book = []string{Passages}, limit, book
		res, err := r.Search(ctx, v, req)
		if err != nil {
			return nil, err
		}
		var list []*record.Passage
		for i := range res.Hits {
			if p := res.Hits[i].Passage; p != nil {
				list = append(list, p)
			}
		}
		if len(list) > 0 && !res.IsOffTopic() {
			return list, nil
		}
	}
	list, err := r.in.Books.Page(ctx, v, book, page, limit)
	if fault.IsMissing(err) { // it went meanwhile
		return nil, nil
	}
	return list, err
}

// asking is the conversation whose books are found.
func (s *run) asking() string { return cmp.Or(s.req.InConversation, s.req.Conversation) }

// keepPassage returns the test of the passages that may be found.
func (s *run) keepPassage() func(text.Doc) bool {
	after, before := s.req.After, s.req.Before
	if s.req.book != "" {
		return s.in.Books.Of(s.req.book)
	}
	return s.in.Books.Keep(s.v, s.asking(), s.req.InConversation != "", func(added time.Time) bool {
		return (after.IsZero() || !added.Before(after)) && (before.IsZero() || added.Before(before))
	})
}

// passages returns the passages among the candidates as the reader sees them now, by their ids.
func (s *run) passages() (map[string]*record.Passage, error) {
	var ids []string
	for _, c := range s.list {
		if c.kind == Passages {
			ids = append(ids, c.doc.ID())
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := s.in.Books.Found(s.ctx, s.v, s.asking(), ids)
	of := make(map[string]*record.Passage, len(ids))
	for i, p := range list {
		if p != nil {
			of[ids[i]] = p
		}
	}
	return of, err
}
