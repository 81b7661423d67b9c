package rpc

// This file has the handlers of books.*: files that a person asks about. A handler turns params into a call of
// context/books or context/recall, and its answer into the result. books.add is for local connections, as it reads any
// file that the daemon can read. Errors are those of the rooms.

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// bookHandlers has the handlers. New makes one.
type bookHandlers struct {
	books   bookKeeper
	recall  *recall.Ranker
	waiting func() int

	files vaultFiles
}

// vaultFiles know what files of vaults are (PRIV-13, PRIV-14). They are vault.Importer, which no handler has, as it reads without a
// View (PRIV-2).
type vaultFiles interface {
	IsPrivateFile(ctx context.Context, file, head string) (bool, error)
	NoteOfFile(ctx context.Context, file string) (id string, err error)
}

// bookKeeper is the room of books: no handler has the Store, which reads without a View (PRIV-2).
type bookKeeper interface {
	Put(ctx context.Context, v *audience.View, d books.Draft, progress books.Progress) (*record.Book, bool, error)
	Get(v *audience.View, id, conversation string) (*record.Book, error)
	List(v *audience.View, f books.Filter) []*record.Book
	Contents(ctx context.Context, v *audience.View, id, conversation string) ([]books.Section, error)
	Read(ctx context.Context, v *audience.View, id, conversation, section string, after, limit int) ([]*record.Passage, bool, error)
	Publish(ctx context.Context, v *audience.View, id string) (*record.Book, error)
	Remove(ctx context.Context, v *audience.View, id string) error
}

// newBookHandlers returns the handlers. waiting says how many passages have no vector yet.
func newBookHandlers(store bookKeeper, ranker *recall.Ranker, waiting func() int, files vaultFiles) *bookHandlers {
	return &bookHandlers{books: store, recall: ranker, waiting: waiting, files: files}
}

// Add is books.add.
func (r *bookHandlers) Add(ctx context.Context, by callReader, p record.BooksAdd) (out record.BookAdded, err error) {
	d := books.Draft{
		ID: p.ID, Path: p.Path, MimeType: p.MimeType, Name: p.Name, Title: p.Title, Author: p.Author, Private: p.Private,
		IsPrivate: r.files.IsPrivateFile, NoteOf: r.files.NoteOfFile, ConversationID: p.ConversationID,
	}
	field := "path"
	if p.Text != "" {
		if p.Content != "" {
			return out, fault.Field("text", "text and content are given").WithHint("give one of them")
		}
		field, d.Content = "text", []byte(p.Text)
	}
	if p.Content != "" {
		field = "content"
		if d.Content, err = base64.StdEncoding.DecodeString(p.Content); err != nil {
			return out, fault.Field("content", "content is no base64").WithHint("give the bytes of the file in standard base64, or its path")
		}
	}
	out.Book, out.Duplicate, err = r.books.Put(ctx, by.View, d, func(stage string, done, total int) {
		ReportProgress(ctx, stage, int64(done), int64(total))
	})
	var about *fault.Error
	if errors.As(err, &about) && about.Kind == fault.Invalid && about.Field == "" {
		return out, fault.Under(field, err)
	}
	if about != nil && about.Field == "content" && field == "text" {
		told := *about
		told.Field = field
		return out, &told
	}
	if err == nil && !out.Duplicate {
		r.embed(ctx)
	}
	return out, err
}

const (
	embedStep = 50 * time.Millisecond
	embedRest = 2 * time.Second // without a vector after which nobody waits for one
)

// embed tells of the vectors as they are made, and waits for them: not for an embedder that makes none.
func (r *bookHandlers) embed(ctx context.Context) {
	all := r.waiting()
	left, rest := all, time.Duration(0)
	ticks := time.NewTicker(embedStep)
	defer ticks.Stop()
	for left > 0 && rest < embedRest {
		ReportProgress(ctx, "embed", int64(all-left), int64(all))
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := r.waiting()
		if rest += embedStep; now < left {
			rest = 0
		}
		left, all = now, max(all, now)
	}
	ReportProgress(ctx, "embed", int64(all-left), int64(all))
}

// Get is books.get.
func (r *bookHandlers) Get(ctx context.Context, by callReader, p protocol.BooksGet) (out record.BookFull, err error) {
	out.Book, err = r.books.Get(by.View, p.Ref, p.ConversationID)
	if err != nil {
		return out, fault.In("ref", err)
	}
	if p.Section == "" && !p.Text {
		list, err := r.books.Contents(ctx, by.View, out.Book.ID, p.ConversationID)
		for _, s := range list {
			out.Sections = append(out.Sections, record.BookSection(s))
		}
		return out, err
	}
	after := 0
	if p.Cursor != "" {
		if after, err = strconv.Atoi(p.Cursor); err != nil || after < 0 {
			return out, badCursorError()
		}
	}
	list, more, err := r.books.Read(ctx, by.View, out.Book.ID, p.ConversationID, p.Section, after, p.Limit)
	out.Passages = list
	if more {
		out.NextCursor = strconv.Itoa(after + len(list))
	}
	return out, err
}

// List is books.list.
func (r *bookHandlers) List(_ context.Context, by callReader, p protocol.BooksList) (out record.BookList, err error) {
	list := r.books.List(by.View, books.Filter{Conversation: p.ConversationID, State: p.State})
	out.Books, out.NextCursor, err = paginate(list, p.Page, markOf, func(b *record.Book, m pageMark) int {
		mine := markOf(b)
		switch {
		case mine.Name != m.Name && mine.Name > m.Name: // the latest first
			return -1
		case mine.Name != m.Name:
			return 1
		case mine.ID < m.ID:
			return -1
		case mine.ID > m.ID:
			return 1
		}
		return 0
	})
	return out, err
}

// markOf is where a book stands in the list.
func markOf(b *record.Book) pageMark {
	return pageMark{Name: b.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000Z"), ID: b.ID}
}

// Search is books.search.
func (r *bookHandlers) Search(ctx context.Context, by callReader, p protocol.BooksSearch) (out protocol.BooksFound, err error) {
	res, err := r.recall.Search(ctx, by.View, recall.Request{
		Query: p.Query, Kinds: []string{recall.Passages}, Conversation: p.ConversationID, Limit: p.Limit,
	})
	if err != nil {
		return out, err
	}
	out = protocol.BooksFound{Hits: []record.BookHit{}, Confidence: res.Confidence, Reason: res.Reason}
	for i := range res.Hits {
		h := &res.Hits[i]
		out.Hits = append(out.Hits, record.BookHit{Position: i + 1, Passage: h.Passage, Score: h.Score, Ranges: h.Ranges})
	}
	if res.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: res.Stage, Why: res.Degraded}
	}
	return out, nil
}

// Publish is books.publish.
func (r *bookHandlers) Publish(ctx context.Context, by callReader, p record.BookRef) (record.Book, error) {
	b, err := r.books.Publish(ctx, by.View, p.ID)
	if err != nil {
		return record.Book{}, err
	}
	return *b, nil
}

// Delete is books.delete.
func (r *bookHandlers) Delete(ctx context.Context, by callReader, p record.BookRef) (protocol.Deleted, error) {
	return protocol.Deleted{ID: p.ID}, r.books.Remove(ctx, by.View, p.ID)
}
