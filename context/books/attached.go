package books

// attached*.go keep a book for each attachment of a vault whose text can be read (SRCH-54): attached.go is what is stored,
// attached_follow.go who looks at the files.
//
// Such a book has a vault and a path, its file's name as its title, and no file of its own beside the store. One of the same
// bytes that a person has added is another book, and so is an attachment of the same bytes. What this machine has read is in
// the collection "book-attachment", which stays on it: where a store is shared, or was restored on a machine that has no such
// folder, the books are there, are found, and are changed by those machines alone that have the file.

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// attachment is what this machine knows of the file of a book.
type attachment struct {
	BookID string `json:"bookId"`
	// Size and Modified are those of the file when its book was made of it; 0 until that is done.
	Size     int64 `json:"size,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

var attachments = kv.NewCollection[attachment]("book-attachment").Local() // by vault name, /, path

func attachmentKey(vault, p string) string { return vault + "/" + p }

// Reads reports whether an attachment becomes a book, by its name. Markdown is a note.
func (*Store) Reads(name string) bool {
	format := convert.ByName(name)
	return format != "" && format != convert.Markdown
}

// Unread returns the attachments of a vault that can't be read, with the reasons, by path.
func (s *Store) Unread(vault string) (list []record.VaultSkip) {
	for b := range s.All() {
		if b.Vault == vault && b.State == record.BookFailed {
			list = append(list, record.VaultSkip{Path: b.Path, Reason: b.Reason})
		}
	}
	slices.SortFunc(list, func(a, b record.VaultSkip) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// ForgetVault removes the books of a vault whose attachments are forgotten.
func (s *Store) ForgetVault(ctx context.Context, vault string) error {
	known, err := s.attached(ctx, vault)
	if err != nil {
		return err
	}
	for p := range known {
		if err := s.forget(ctx, vault, p); err != nil {
			return err
		}
	}
	for b := range s.All() { // those of other machines
		if b.Vault == vault {
			if err := s.remove(ctx, b.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// attached returns what this machine has read of a vault, by path.
func (s *Store) attached(ctx context.Context, vault string) (map[string]attachment, error) {
	out := make(map[string]attachment)
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for key, a := range attachments.All(tx, vault+"/") {
			out[strings.TrimPrefix(key, vault+"/")] = *a
		}
		return tx.Err()
	})
	return out, err
}

// checkOwn returns an error when a book is the attachment of a vault of this machine, which goes with its file alone.
func (s *Store) checkOwn(ctx context.Context, b *Record) error {
	if b.Vault == "" {
		return nil
	}
	return s.db.View(ctx, func(tx *kv.Tx) error {
		has, err := attachments.Has(tx, attachmentKey(b.Vault, b.Path))
		if err != nil || !has {
			return err
		}
		return fault.Clash(fault.VaultBacked, "the book is an attachment of a vault, and goes with its file").WithRef(b.ID).
			WithHint("remove the file, or name it in .ctxdignore")
	})
}

// attachedBook returns the book that was made of an attachment, nil when that is not what the store has.
func (s *Store) attachedBook(a attachment, vault, p string) *Record {
	b := s.Stored(a.BookID)
	if b == nil || b.Vault != vault || b.Path != p {
		return nil
	}
	return b
}

// forget removes the book of an attachment that is gone.
func (s *Store) forget(ctx context.Context, vault, p string) error {
	key, id := attachmentKey(vault, p), ""
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		a, err := attachments.Get(tx, key)
		if err != nil || a == nil {
			return err
		}
		if b, err := Records.Get(tx, a.BookID); err != nil || b != nil && b.Vault == vault && b.Path == p {
			if err != nil {
				return err
			}
			id = b.ID
		}
		return attachments.Delete(tx, key)
	})
	if err != nil || id == "" {
		return err
	}
	return s.remove(ctx, id)
}

// hideAttached makes books private whose attachments are so by their place or their head, and public those that are so no longer.
func (s *Store) hideAttached(ctx context.Context, vault string, known map[string]attachment, isPrivate func(vault, path string) bool) error {
	for p, a := range known {
		b := s.attachedBook(a, vault, p)
		if b == nil || b.Private == (b.SaysPrivate || isPrivate(vault, p)) {
			continue
		}
		err := s.change(ctx, b.ID, func(r *Record) bool {
			r.Private = r.SaysPrivate || isPrivate(r.Vault, r.Path)
			return true
		})
		if err != nil && fault.KindOf(err) != fault.Cancelled { // it went meanwhile
			return err
		}
	}
	return nil
}

// attachedFile is an attachment that is to become a book.
type attachedFile struct {
	notes.Attachment
	vault  string
	moved  []string // paths of attachments that are gone and may be this one
	reason string   // why it can't be read; "": a is read
	a      *arrived // nil with reason
	format convert.Format
	// private says that its place is so, says that its head does.
	private, says bool
}

// take takes the bytes of an attachment in. The error is Invalid or Limit for one that can't be read.
func (s *Store) take(f *attachedFile, from io.Reader) (err error) {
	if f.Size > s.opts.MaxBytes {
		return fault.New(fault.Limit, "it has %s, and what is read has %s at most (books.maxBytes)", megabytes(f.Size), megabytes(s.opts.MaxBytes))
	}
	if f.a, err = s.spool.take(&bounded{from: from, most: s.opts.MaxBytes}); err != nil {
		return err
	}
	if f.format = convert.Detect(convert.ByName(f.Path), f.a, f.a.size); f.format == "" {
		return fault.New(fault.Invalid, "it is not what its name says")
	}
	f.says = notes.SaysPrivate(convert.Head(f.format, f.a))
	return nil
}

// admitAttached writes an attachment down. It returns the id of its book, "" when the attachment is not there any more as it was or
// another machine reads it, and whether the book is to be read.
func (s *Store) admitAttached(ctx context.Context, f *attachedFile) (id string, due bool, err error) {
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		id, due = "", false
		there, err := notes.HasAttachment(tx, f.vault, f.Attachment)
		if err != nil || !there {
			return err
		}
		b, err := s.bookFor(tx, f)
		if err != nil || b == nil || f.reason != "" && b.State == record.BookFailed && b.Reason == f.reason && b.Bytes == f.Size {
			return err
		}
		id, due = b.ID, f.reason == "" && (b.Hash != f.a.hash || b.State != record.BookReady)
		entry := attachment{BookID: id}
		if !due {
			entry.Size, entry.Modified = f.Size, f.Modified
		}
		if err := attachments.Put(tx, attachmentKey(f.vault, f.Path), &entry); err != nil {
			return err
		}
		return s.writeAttached(tx, f, b, due)
	})
	return id, due, err
}

// othersRead is how long a book that another machine has begun to read is left to it.
const othersRead = 15 * time.Minute

// bookFor returns the book of an attachment as it is stored: that of its path, that of a file of the same bytes that is gone, or
// a new one; nil while another machine reads it.
func (s *Store) bookFor(tx *kv.Tx, f *attachedFile) (*Record, error) {
	for _, p := range append([]string{f.Path}, f.moved...) {
		a, err := attachments.Get(tx, attachmentKey(f.vault, p))
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		b, err := Records.Get(tx, a.BookID)
		if err != nil {
			return nil, err
		}
		if b == nil || b.Vault != f.vault || b.Path != p || p != f.Path && (f.a == nil || b.Hash != f.a.hash) {
			continue
		}
		if p != f.Path {
			err = attachments.Delete(tx, attachmentKey(f.vault, p))
		}
		return b, err
	}
	id := notes.VaultID(f.vault, f.Path, "book")
	b, err := Records.Get(tx, id)
	switch {
	case err != nil:
		return nil, err
	case b != nil && b.Vault == f.vault && b.Path == f.Path: // a machine that shares the store has the file, too
		if unread(b) && tx.Now(s.opts.Now).Sub(b.UpdatedAt) < othersRead {
			return nil, nil //nolint:nilnil // there is no book to write
		}
		return b, nil
	case b != nil:
		id = s.opts.NewID() // the file that had this path moved, and keeps its book
	}
	return &Record{Book: record.Book{ID: id, CreatedAt: tx.Now(s.opts.Now)}}, nil
}

// writeAttached writes the book of an attachment: pending when it is to be read.
func (s *Store) writeAttached(tx *kv.Tx, f *attachedFile, b *Record, due bool) error {
	was := b.Private
	b.Vault, b.Path, b.File, b.Title, b.Named = f.vault, f.Path, path.Base(f.Path), path.Base(f.Path), true
	b.Bytes, b.Private, b.SaysPrivate = f.Size, f.private || f.says, f.says
	b.Format = string(cmp.Or(f.format, convert.ByName(f.Path)))
	switch {
	case f.reason != "":
		b.State, b.Reason, b.Hash, b.Pages, b.Passages, b.TextlessPages = record.BookFailed, f.reason, "", 0, 0, ""
	case due:
		b.State, b.Reason, b.Hash, b.Author, b.Pages, b.Passages, b.TextlessPages = record.BookPending, "", f.a.hash, "", 0, 0, ""
	}
	if b.Private && !was && s.opts.Hide != nil {
		if err := s.opts.Hide(tx, b.ID); err != nil {
			return err
		}
	}
	b.UpdatedAt = tx.Now(s.opts.Now)
	return Records.Put(tx, b.ID, b)
}

// putAttached makes a book of an attachment, unless it has one of the same bytes. The error is not that of the file, which
// stands in the record.
func (s *Store) putAttached(ctx context.Context, f *attachedFile) error {
	id, due, err := s.admitAttached(ctx, f)
	if err != nil || id == "" {
		return err
	}
	if !due {
		if f.reason == "" {
			return nil
		}
		return s.dropPassages(ctx, id)
	}
	if err := s.spool.keep(id, f.a); err != nil {
		return err
	}
	within, mine := s.begin(ctx, id)
	if err = s.dropPassages(within, id); err == nil {
		err = s.process(within, id, func(string, int, int) {})
	}
	s.finish(id, mine, err)
	if kind := fault.KindOf(err); err != nil && kind != fault.Invalid && kind != fault.Limit {
		return err
	}
	return s.settle(ctx, f, id)
}

// settle notes that the book of an attachment is made, so that it is not read again.
func (s *Store) settle(ctx context.Context, f *attachedFile, id string) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		key := attachmentKey(f.vault, f.Path)
		a, err := attachments.Get(tx, key)
		if err != nil || a == nil || a.BookID != id {
			return err
		}
		return attachments.Put(tx, key, &attachment{id, f.Size, f.Modified})
	})
}
