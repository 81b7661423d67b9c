package books

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Stages that a book goes through, as progress names them.
const (
	StageConvert = "convert"
	StageCut     = "cut"
	StageIndex   = "index"
)

// A group of passages is written in one transaction.
const (
	groupPassages = 400
	groupBytes    = 1 << 20
)

// Draft is what a client says of a new book.
type Draft struct {
	ID       string // "": one is made
	Path     string // of a file on this machine
	Content  []byte // or its bytes,
	MimeType string // and their content type, or the name of a format
	Name     string // of the file; "": the last part of Path

	Title   string // "": what the file says, else its name
	Author  string
	Private bool
	// IsPrivate reports whether a file is private by its path, empty for none, and by the beginning of its text, empty where it
	// is none; nil: no file is.
	IsPrivate func(ctx context.Context, path, head string) (bool, error)
	// NoteOf returns the id of the note that the file with a path is of, "" for none; nil: no file is of one.
	NoteOf         func(ctx context.Context, path string) (string, error)
	ConversationID string // the one that alone sees it; "": all

	noteID string // what NoteOf gave
}

// Progress is told how far a book is: done of total, 0 for unknown.
type Progress func(stage string, done, total int)

// source opens what a draft gives.
func (s *Store) source(d *Draft) (in io.Reader, field string, closing func(), err error) {
	closing = func() {}
	switch {
	case (d.Path == "") == (d.Content == nil):
		return nil, "", closing, fault.Field("path", "neither path nor content is given, or both are").WithHint("give one of them")
	case d.Content != nil:
		if n := int64(len(d.Content)); n > s.opts.MaxBytes {
			return nil, "", closing, tooLarge("content", n, s.opts.MaxBytes)
		}
		return bytes.NewReader(d.Content), "content", closing, nil
	case !filepath.IsAbs(d.Path):
		return nil, "", closing, fault.Field("path", "path is not absolute").WithHint("give the whole path, from the root on")
	}
	f, err := openFile(d.Path, s.opts.MaxBytes)
	if err != nil {
		return nil, "", closing, err
	}
	d.Name = cmp.Or(d.Name, filepath.Base(d.Path))
	return &bounded{from: f, most: s.opts.MaxBytes}, "path", func() { _ = f.Close() }, nil
}

// file takes the file of a draft into the spool, as it is read, and says which format it has.
func (s *Store) file(d *Draft) (a *arrived, format convert.Format, err error) {
	in, field, closing, err := s.source(d)
	if err != nil {
		return nil, "", err
	}
	defer closing()
	said := convert.ByType(d.MimeType)
	if said == "" && (d.MimeType == "application/gzip" || d.MimeType == "application/x-gzip") {
		d.MimeType = ""
	}
	if d.MimeType != "" && said == "" {
		return nil, "", convert.Unknown("mimeType")
	}
	name, in, err := convert.Unpack(d.Name, in, s.opts.MaxBytes)
	if err != nil {
		return nil, "", fault.In(field, err)
	}
	d.Name = name
	said = cmp.Or(said, convert.ByName(d.Name))
	if said == "" && d.Path != "" && filepath.Ext(d.Name) != "" {
		return nil, "", convert.Unknown(field)
	}
	if a, err = s.spool.take(in); err != nil {
		if kind := fault.KindOf(err); kind == fault.Invalid || kind == fault.Limit {
			err = fault.In(field, err)
		}
		return nil, "", err
	}
	if format = convert.Detect(said, a, a.size); format == "" {
		a.drop()
		return nil, "", convert.Unknown(field)
	}
	return a, format, nil
}

// rangesOf writes numbers for people: 3–9, 12.
func rangesOf(list []int) string {
	var out []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		one := strconv.Itoa(list[i])
		if end > i {
			one += "–" + strconv.Itoa(list[end])
		}
		out = append(out, one)
		i = end + 1
	}
	return strings.Join(out, ", ")
}

// Put adds a book, and returns when it is ready. What is the same, byte for byte, as a book that the reader
// sees is that book. The errors are Invalid for a file of no known format or that can't be read, Limit for
// one that is too large, NotFound for an unknown conversation; the record of a book whose file can't be read
// stays, failed with the reason, until it is put again or removed. When ctx is cancelled nothing is left of
// it; when it ends otherwise, as with the daemon, the book is pending. progress may be nil.
func (s *Store) Put(ctx context.Context, v *audience.View, d Draft, progress Progress) (b *record.Book, duplicate bool, err error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	progress(StageConvert, 0, 0)
	if d.ID != "" {
		if err := entities.CheckID("id", d.ID); err != nil {
			return nil, false, err
		}
	}
	a, format, err := s.file(&d)
	if err != nil {
		return nil, false, err
	}
	defer a.drop()
	if d.IsPrivate != nil && !d.Private {
		if d.Private, err = d.IsPrivate(ctx, d.Path, convert.Head(format, a)); err != nil {
			return nil, false, err
		}
	}
	if d.NoteOf != nil && d.Path != "" {
		if d.noteID, err = d.NoteOf(ctx, d.Path); err != nil {
			return nil, false, err
		}
	}
	r, known, within, mine, err := s.admit(ctx, v, d, &Record{Book: record.Book{
		Format: string(format), File: convert.CleanName(d.Name), Bytes: a.size, State: record.BookPending,
		Private: d.Private, ConversationID: d.ConversationID, Author: convert.CleanName(d.Author), Title: convert.CleanName(d.Title),
	}, Hash: a.hash, NoteID: d.noteID}, a)
	if err != nil {
		return nil, false, err
	}
	if known != nil {
		return s.again(ctx, v, known, d, progress)
	}
	err = s.process(within, r.ID, progress)
	s.finish(r.ID, mine, err)
	if err != nil {
		return nil, false, s.ended(ctx, within, r.ID, err)
	}
	b, err = s.shownOr(v, r.ID)
	return b, false, err
}

// admit writes the record of a new book down, pending, with its file kept; or returns a book of the same bytes.
func (s *Store) admit(ctx context.Context, v *audience.View, d Draft, r *Record, a *arrived) (
	admitted, known *Record, within context.Context, mine *reading, err error,
) {
	s.admitting.Lock()
	defer s.admitting.Unlock()
	if known := s.same(v, r.Hash, d.ConversationID); known != nil {
		return nil, known, nil, nil, nil
	}
	if r.ID = cmp.Or(d.ID, s.opts.NewID()); s.Stored(r.ID) != nil {
		return nil, nil, nil, nil, (&fault.Error{
			Kind: fault.Conflict, Reason: fault.Exists, Field: "id", Ref: r.ID, Msg: "another book has that id", Hint: "remove it first, or leave the id out",
		})
	}
	if r.Named = r.Title != ""; !r.Named {
		r.Title = cmp.Or(strings.TrimSuffix(r.File, filepath.Ext(r.File)), "Untitled")
	}
	within, mine = s.begin(ctx, r.ID)
	if err = s.spool.keep(r.ID, a); err == nil {
		err = s.db.Update(ctx, func(tx *kv.Tx) error {
			private, err := s.conversation(tx, d.ConversationID)
			if err != nil {
				return err
			}
			r.Private = r.Private || private
			r.CreatedAt = tx.Now(s.opts.Now)
			r.UpdatedAt = r.CreatedAt
			return Records.Put(tx, r.ID, r)
		})
	}
	if err != nil {
		s.spool.drop(r.ID)
		s.finish(r.ID, mine, err)
		return nil, nil, nil, nil, err
	}
	return r, nil, within, mine, nil
}

func (s *Store) shownOr(v *audience.View, id string) (*record.Book, error) {
	b, err := s.find(v, id, "", true)
	if err != nil {
		return nil, err
	}
	return b.shown(v), nil
}

// ended says what is left of a book that was not read: nothing when its call was cancelled.
func (s *Store) ended(ctx, within context.Context, id string, err error) error {
	if removed := (*fault.Error)(nil); errors.As(context.Cause(within), &removed) && ctx.Err() == nil {
		return removed // by another call
	}
	if ctx.Err() != nil && fault.KindOf(context.Cause(ctx)) == fault.Cancelled {
		if left := s.remove(context.WithoutCancel(ctx), id); left != nil {
			return left
		}
		return ctx.Err()
	}
	var known *fault.Error
	if errors.As(err, &known) && known.Ref == "" {
		told := *known
		told.Ref = id
		return &told
	}
	return err
}

// conversation says whether a conversation is private. "" is none.
func (s *Store) conversation(tx *kv.Tx, id string) (private bool, err error) {
	if id == "" {
		return false, nil
	}
	found := false
	if s.opts.Conversation != nil {
		if private, found, err = s.opts.Conversation(tx, id); err != nil {
			return false, err
		}
	}
	if !found {
		return false, fault.Under("conversationId", fault.Missing("conversation", id).WithHint("give the id of a conversation"))
	}
	return private, nil
}

// same returns a book of the same bytes that a reader sees: one for all, else one of the conversation. An attachment of a vault is
// none: it goes with its file.
func (s *Store) same(v *audience.View, hash, conversation string) (found *Record) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.byID {
		if b.Hash != hash || b.Vault != "" || !v.Sees(b.Private) || b.ConversationID != "" && conversation != "" && b.ConversationID != conversation {
			continue
		}
		if found == nil || found.ConversationID != "" && b.ConversationID == "" ||
			(found.ConversationID == "") == (b.ConversationID == "") && b.ID < found.ID {
			found = b
		}
	}
	return found
}

// again is Put of a file that is there. One that failed is read once more; one that is being read is waited
// for. A book of a conversation that is now put for all is published, and one that is now private becomes so.
func (s *Store) again(ctx context.Context, v *audience.View, known *Record, d Draft, progress Progress) (*record.Book, bool, error) {
	s.mu.RLock()
	busy := s.busy[known.ID]
	s.mu.RUnlock()
	switch {
	case busy != nil:
		select {
		case <-busy.done:
			if busy.err != nil {
				return nil, false, busy.err
			}
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	case known.State != record.BookReady:
		if err := s.remove(ctx, known.ID); err != nil {
			return nil, false, err
		}
		return s.Put(ctx, v, d, progress)
	}
	err := s.change(ctx, known.ID, func(b *Record) bool {
		publish, hide := d.ConversationID == "" && b.ConversationID != "", d.Private && !b.Private
		if publish {
			b.ConversationID = ""
		}
		b.Private = b.Private || hide
		noted := b.NoteID == "" && d.noteID != ""
		if noted {
			b.NoteID = d.noteID
		}
		return publish || hide || noted
	})
	if err != nil {
		return nil, false, err
	}
	b, err := s.shownOr(v, known.ID)
	return b, true, err
}

// begin marks a book as being read.
func (s *Store) begin(ctx context.Context, id string) (context.Context, *reading) {
	within, cancel := context.WithCancelCause(ctx)
	r := &reading{done: make(chan struct{}), cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[id] = r
	if s.idle != nil {
		s.idle.Stop()
	}
	return within, r
}

func (s *Store) finish(id string, r *reading, err error) {
	s.mu.Lock()
	delete(s.busy, id)
	if len(s.busy) == 0 {
		s.idle = time.AfterFunc(idleTime, s.release)
	}
	s.mu.Unlock()
	r.err = err
	close(r.done)
	r.cancel(nil)
}

// idleTime is how long what readers hold is kept for the next file.
const idleTime = time.Minute

// release gives back what readers hold, unless a file is being read again.
func (s *Store) release() {
	s.mu.RLock()
	busy := len(s.busy) > 0
	s.mu.RUnlock()
	if !busy {
		_ = s.Close() // the memory is gone in any case
	}
}

// process reads the file of a pending book. An error of the file makes it failed; any other leaves it pending.
func (s *Store) process(ctx context.Context, id string, progress Progress) error {
	var b *Record
	err := s.change(ctx, id, func(r *Record) bool { b = r; r.State = record.BookProcessing; return true })
	if err != nil {
		return err
	}
	err = s.read(ctx, b, progress)
	if err == nil {
		s.spool.drop(id)
		return nil
	}
	bare := context.WithoutCancel(ctx)
	if left := s.dropPassages(bare, id); left != nil {
		return left
	}
	if kind := fault.KindOf(err); kind == fault.Invalid || kind == fault.Limit {
		reason := fault.Message(err)
		if failed := s.change(bare, id, func(r *Record) bool { r.State, r.Reason = record.BookFailed, reason; return true }); failed != nil {
			return failed
		}
		s.spool.drop(id)
		return err
	}
	_ = s.change(bare, id, func(r *Record) bool { r.State = record.BookPending; return true })
	return err
}

// read converts, cuts and writes. Where the system kills the child, the file is given to another one, once.
func (s *Store) read(ctx context.Context, b *Record, progress Progress) error {
	err := s.readOnce(ctx, b, progress)
	if errors.Is(err, errKilled) {
		if err := s.dropPassages(ctx, b.ID); err != nil {
			return err
		}
		err = s.readOnce(ctx, b, progress)
	}
	if err != nil {
		return err
	}
	return s.change(ctx, b.ID, func(r *Record) bool { r.State, r.Reason = record.BookReady, ""; return true })
}

func (s *Store) readOnce(ctx context.Context, b *Record, progress Progress) error {
	progress(StageConvert, 0, 0)
	file, size, err := s.spool.open(b.ID)
	if err != nil {
		return err
	}
	if file == nil {
		return fault.New(fault.Invalid, "its file is not there any more: put it again")
	}
	defer func() { _ = file.Close() }()
	w := bookWriter{s: s, ctx: ctx, id: b.ID, progress: progress}
	to := sink{progress: func(done, total int) { progress(StageConvert, done, total) }, head: w.head, passage: w.passage}
	q := request{Format: convert.Format(b.Format), Size: size}
	if s.children != nil {
		err = s.children.convert(ctx, q, file, to)
	} else {
		err = s.convertHere(ctx, q, file, to)
	}
	if err != nil {
		return err
	}
	return w.flush()
}

// convertHere converts within this process, where there is no program for a child: in tests.
func (s *Store) convertHere(ctx context.Context, q request, file io.Reader, to sink) error {
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	return produce(ctx, &s.conv, q.Format, data, to)
}

// bookWriter writes the passages of a book as they come, in groups.
type bookWriter struct {
	s        *Store
	ctx      context.Context
	id       string
	progress Progress

	total, written, bytes int
	group                 []CutPassage
}

// head takes in what the file says of itself.
func (w *bookWriter) head(m made) error {
	w.total = m.Passages
	w.progress(StageCut, 0, 0)
	return w.s.change(w.ctx, w.id, func(r *Record) bool {
		if !r.Named {
			r.Title = cmp.Or(convert.CleanName(m.Title), r.Title)
		}
		r.Author, r.Pages, r.Passages = cmp.Or(r.Author, convert.CleanName(m.Author)), m.Pages, m.Passages
		r.TextlessPages = rangesOf(m.Empty)
		return true
	})
}

func (w *bookWriter) passage(p CutPassage) error {
	w.group = append(w.group, p)
	w.bytes += len(p.Text)
	if len(w.group) < groupPassages && w.bytes < groupBytes {
		return nil
	}
	return w.flush()
}

// flush writes the group that is gathered.
func (w *bookWriter) flush() error {
	if len(w.group) == 0 {
		return nil
	}
	err := w.s.db.Update(w.ctx, func(tx *kv.Tx) error {
		if has, err := Records.Has(tx, w.id); err != nil || !has {
			return cmp.Or(err, gone(w.id))
		}
		for i := range w.group {
			if err := Passages.Put(tx, Key(w.id, w.written+i), &Passage{w.group[i]}); err != nil {
				return err
			}
		}
		return nil
	})
	w.written += len(w.group)
	w.group, w.bytes = w.group[:0], 0
	w.progress(StageIndex, w.written, w.total)
	return err
}

func gone(id string) error {
	return fault.New(fault.Cancelled, "the book was removed meanwhile").WithRef(id)
}

// change changes a book, when fn says that it did. The error is Cancelled for one that is gone.
func (s *Store) change(ctx context.Context, id string, fn func(*Record) bool) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error { return s.changeTx(tx, id, fn) })
}

func (s *Store) changeTx(tx *kv.Tx, id string, fn func(*Record) bool) error {
	b, err := Records.Get(tx, id)
	if err != nil || b == nil {
		return cmp.Or(err, gone(id))
	}
	was := b.Private
	if !fn(b) {
		return nil
	}
	if b.Private && !was && s.opts.Hide != nil {
		if err := s.opts.Hide(tx, id); err != nil {
			return err
		}
	}
	b.UpdatedAt = tx.Now(s.opts.Now)
	return Records.Put(tx, id, b)
}

// Publish shows a book of a conversation to all. The error is NotFound.
func (s *Store) Publish(ctx context.Context, v *audience.View, id string) (*record.Book, error) {
	if _, err := s.find(v, id, "", true); err != nil {
		return nil, err
	}
	err := s.change(ctx, id, func(b *Record) bool {
		bound := b.ConversationID != ""
		b.ConversationID = ""
		return bound
	})
	if err != nil {
		return nil, err
	}
	b, err := s.shownOr(v, id)
	return b, err
}

// Remove deletes a book. The next call does not find it. The errors are NotFound, and Conflict with the reason VaultBacked for an
// attachment of a vault that this machine follows.
func (s *Store) Remove(ctx context.Context, v *audience.View, id string) error {
	b, err := s.find(v, id, "", true)
	if err == nil {
		err = s.checkOwn(ctx, b)
	}
	if err != nil {
		return err
	}
	return s.remove(ctx, id)
}

func (s *Store) remove(ctx context.Context, id string) error {
	if err := s.db.Update(ctx, func(tx *kv.Tx) error { return Records.Delete(tx, id) }); err != nil {
		return err
	}
	s.mu.RLock()
	busy := s.busy[id]
	s.mu.RUnlock()
	if busy != nil {
		busy.cancel(gone(id))
	}
	s.spool.drop(id)
	return s.dropPassages(ctx, id)
}

// dropPassages deletes the passages of a book in groups.
func (s *Store) dropPassages(ctx context.Context, id string) error {
	for {
		left := 0
		err := s.db.Update(ctx, func(tx *kv.Tx) error {
			var keys []string
			for key := range Passages.All(tx, id+separator) {
				if len(keys) == groupPassages {
					left = 1
					break
				}
				keys = append(keys, key)
			}
			if err := tx.Err(); err != nil {
				return err
			}
			for _, key := range keys {
				if err := Passages.Delete(tx, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || left == 0 {
			return err
		}
	}
}

// IsPrivate reports whether a book is private, inside a transaction, or is gone.
func (s *Store) IsPrivate(tx *kv.Tx, id string) (bool, error) {
	b, err := Records.Get(tx, id)
	return b == nil || b.Private, err
}

// HideConversation makes the books of a conversation private, in the transaction that makes it so.
func (s *Store) HideConversation(tx *kv.Tx, conversation string) error {
	return s.hide(tx, s.of(conversation))
}

// HideNoted makes the books of the file of a note private, in the transaction that makes the note so.
func (s *Store) HideNoted(tx *kv.Tx, noteID string) error {
	var ids []string
	for b := range s.All() {
		if b.NoteID == noteID {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	return s.hide(tx, ids)
}

func (s *Store) hide(tx *kv.Tx, ids []string) error {
	for _, id := range ids {
		if err := s.changeTx(tx, id, func(r *Record) bool { hide := !r.Private; r.Private = true; return hide }); err != nil {
			return err
		}
	}
	return nil
}

// of returns the ids of the books that only a conversation sees.
func (s *Store) of(conversation string) (ids []string) {
	for b := range s.All() {
		if conversation != "" && b.ConversationID == conversation {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
