package books_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is a store with its books.
type house struct {
	*books.Store
	t             testing.TB
	db            *kv.Store
	dir           string // of files that are to be read
	local, remote *audience.View
	conversations map[string]bool // whether they are private
	child         []string
}

// maxBytes is how large a file may be.
const maxBytes = 2 << 20

func open(t testing.TB) *house {
	t.Helper()
	return over(t, kv.InMemory, t.TempDir())
}

// over opens the books of a store, with files that are read by a child.
func over(t testing.TB, data, dir string, child ...string) *house {
	t.Helper()
	if len(child) == 0 {
		child = []string{os.Args[0], books.ChildCommand}
	}
	db, err := kv.Open(data, kv.Options{Format: 1})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	ns, err := notes.Open(db, ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	h := &house{t: t, db: db, dir: dir, local: rooms.View(audience.Local), remote: rooms.View(audience.Remote), conversations: map[string]bool{}, child: child}
	now := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	h.Store, err = books.Open(db, books.Options{
		Dir: dir, MaxBytes: maxBytes, Child: child, Now: func() time.Time { now = now.Add(time.Second); return now },
		Conversation: func(_ *kv.Tx, id string) (bool, bool, error) {
			private, found := h.conversations[id]
			return private, found, nil
		},
	})
	must(t, err)
	t.Cleanup(func() { _ = h.Store.Close() })
	return h
}

// left counts the records of books and passages, and the files that are kept.
func (h *house) left() string {
	h.t.Helper()
	n, p := 0, 0
	must(h.t, h.db.View(h.t.Context(), func(tx *kv.Tx) error {
		for range books.Records.All(tx, "") {
			n++
		}
		for range books.Passages.All(tx, "") {
			p++
		}
		problems, err := books.Check(tx)
		if len(problems) > 0 {
			h.t.Errorf("check says %q", problems)
		}
		return err
	}))
	files, err := os.ReadDir(h.dir)
	must(h.t, err)
	return fmt.Sprintf("%d books, %d passages, %d files", n, p, len(files))
}

func (h *house) put(d books.Draft) *record.Book {
	h.t.Helper()
	b, _, err := h.Put(h.t.Context(), h.local, d, nil)
	must(h.t, err)
	return b
}

func textDraft(s string) books.Draft {
	return books.Draft{Content: []byte(s), MimeType: "md", Name: "book.md"}
}

const manual = "# Boats\n\nThere are two boats.\n\n## Red\n\nIt has six seats.\n\n# Fees\n\nA day costs twelve euro.\n"

func TestMEM67_ABookIsReadAndRead(t *testing.T) {
	h := open(t)
	path := filepath.Join(t.TempDir(), "Manual of boats.md")
	must(t, os.WriteFile(path, []byte(manual), 0o600))
	var stages []string
	b, duplicate, err := h.Put(t.Context(), h.local, books.Draft{Path: path, Author: "Ada"}, func(stage string, _, _ int) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages = append(stages, stage)
		}
	})
	must(t, err)
	if duplicate || b.State != record.BookReady || b.Title != "Boats" || b.Author != "Ada" || b.File != "Manual of boats.md" || b.Passages != 3 || b.Format != "md" {
		t.Errorf("%+v", b)
	}
	if got := strings.Join(stages, " "); got != "convert cut index" {
		t.Errorf("stages %s", got)
	}
	sections, err := h.Contents(t.Context(), h.local, b.ID, "")
	must(t, err)
	if got := fmt.Sprint(sections); got != "[{[Boats] 0 1} {[Boats Red] 0 1} {[Fees] 0 1}]" {
		t.Errorf("sections %s", got)
	}
	for section, want := range map[string]string{"Boats": "There are two boats.|It has six seats.", "boats > red": "It has six seats.", "Red": "It has six seats.", "": "There are two boats.|It has six seats.|A day costs twelve euro."} {
		list, more, err := h.Read(t.Context(), h.local, b.ID, "", section, 0, 10)
		must(t, err)
		var said []string
		for _, p := range list {
			said = append(said, p.Text)
		}
		if got := strings.Join(said, "|"); got != want || more {
			t.Errorf("section %q reads %q, want %q", section, got, want)
		}
	}
	list, more, err := h.Read(t.Context(), h.local, b.ID, "", "", 1, 1)
	if err != nil || !more || len(list) != 1 || list[0].Cite != "[Boats, Boats > Red]" {
		t.Errorf("%+v %v %v", list, more, err)
	}
	if _, _, err := h.Read(t.Context(), h.local, b.ID, "", "Cars", 0, 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a section that there is not: %v", err)
	}
	if got := h.left(); got != "1 books, 3 passages, 0 files" {
		t.Error(got)
	}
}

func TestMEM68_TheSameContentIsTheSameBook(t *testing.T) {
	h := open(t)
	first := h.put(textDraft(manual))
	b, duplicate, err := h.Put(t.Context(), h.local, books.Draft{Content: []byte(manual), MimeType: "text/plain", Title: "Other"}, nil)
	if err != nil || !duplicate || b.ID != first.ID || b.Title != "Boats" {
		t.Errorf("%+v %v %v", b, duplicate, err)
	}
	if got := h.left(); got != "1 books, 3 passages, 0 files" {
		t.Error(got)
	}
	h.put(books.Draft{Content: []byte(manual), MimeType: "md", Private: true})
	if got, err := h.Get(h.local, first.ID, ""); err != nil || !got.Private {
		t.Errorf("put once more as private: %+v %v", got, err)
	}
	if b, duplicate, err := h.Put(t.Context(), h.remote, textDraft(manual), nil); err != nil || duplicate || b.ID == first.ID {
		t.Errorf("a remote reader is told of a hidden book: %+v %v %v", b, duplicate, err)
	}
}

func TestMEM67_WhatIsRefused(t *testing.T) {
	h := open(t)
	large := filepath.Join(t.TempDir(), "large.txt")
	must(t, os.WriteFile(large, make([]byte, maxBytes+1), 0o600))
	for _, c := range []struct {
		draft books.Draft
		kind  fault.Kind
		field string
	}{
		{books.Draft{}, fault.Invalid, "path"},
		{books.Draft{Path: "/x", Content: []byte("a")}, fault.Invalid, "path"},
		{books.Draft{Path: "relative.md"}, fault.Invalid, "path"},
		{books.Draft{Path: "/no/such/file.md"}, fault.Invalid, "path"},
		{books.Draft{Path: t.TempDir()}, fault.Invalid, "path"},
		{books.Draft{Path: large}, fault.Limit, "path"},
		{books.Draft{Content: make([]byte, maxBytes+1), MimeType: "txt"}, fault.Limit, "content"},
		{books.Draft{Content: []byte("a"), MimeType: "image/png"}, fault.Invalid, "mimeType"},
		{books.Draft{Content: []byte("a")}, fault.Invalid, "content"},
		{books.Draft{Content: []byte("a\x00"), MimeType: "txt"}, fault.Invalid, "content"},
		{books.Draft{Content: []byte("a"), MimeType: "txt", ConversationID: "none"}, fault.NotFound, "conversationId"},
	} {
		_, _, err := h.Put(t.Context(), h.local, c.draft, nil)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Field != c.field || e.Hint == "" {
			t.Errorf("%+v: %v, field %q", c.draft.Path, err, e.Field)
		}
	}
	if got := h.left(); got != "0 books, 0 passages, 0 files" {
		t.Error(got)
	}
}

func TestMEM68_AFileThatCantBeReadLeavesItsReason(t *testing.T) {
	h := open(t)
	broken := books.Draft{Content: []byte("PK\x03\x04 and no more"), MimeType: "docx", Name: "x.docx"}
	for range 2 { // once more: the failed one makes place
		_, _, err := h.Put(t.Context(), h.local, broken, nil)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Ref == "" {
			t.Fatal(err)
		}
		b, err := h.Get(h.local, e.Ref, "")
		if err != nil || b.State != record.BookFailed || b.Reason != "the file is broken" {
			t.Errorf("%+v %v", b, err)
		}
		if got := h.left(); got != "1 books, 0 passages, 0 files" {
			t.Error(got)
		}
	}
}

// long is a book that is written in several groups.
func long() books.Draft {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "# Chapter %d\n\nIt tells of the number %d.\n\n", i, i*7)
	}
	return textDraft(b.String())
}

func TestMEM68_ACancelledBookLeavesNothing(t *testing.T) {
	for _, at := range []string{books.StageConvert, books.StageCut, books.StageIndex} {
		h := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := h.Put(ctx, h.local, long(), func(stage string, done, _ int) {
			if stage == at && (stage != books.StageIndex || done > 0) {
				cancel()
			}
		})
		if fault.KindOf(err) != fault.Cancelled {
			t.Errorf("cancelled at %s: %v", at, err)
		}
		if got := h.left(); got != "0 books, 0 passages, 0 files" {
			t.Errorf("cancelled at %s: %s", at, got)
		}
		cancel()
	}
}

func TestMEM67_WhatAStopLeavesGoesOn(t *testing.T) {
	h := open(t)
	ctx, stop := context.WithCancelCause(t.Context())
	_, _, err := h.Put(ctx, h.local, long(), func(stage string, done, _ int) {
		if stage == books.StageIndex && done > 0 {
			stop(fault.New(fault.Unavailable, "the daemon is stopping"))
		}
	})
	if err == nil {
		t.Fatal("it was not stopped")
	}
	list := h.List(h.local, books.Filter{})
	if len(list) != 1 || list[0].State != record.BookPending {
		t.Fatalf("%+v", list)
	}
	if got := h.left(); got != "1 books, 0 passages, 1 files" {
		t.Error(got)
	}
	must(t, h.Resume(t.Context()))
	if got := h.left(); got != "1 books, 1500 passages, 0 files" {
		t.Error(got)
	}
	if b, err := h.Get(h.local, list[0].ID, ""); err != nil || b.State != record.BookReady || b.Passages != 1500 {
		t.Errorf("%+v %v", b, err)
	}
}

func TestMEM67_AFileThatIsGoneIsSaid(t *testing.T) {
	h := open(t)
	ctx, stop := context.WithCancelCause(t.Context())
	_, _, _ = h.Put(ctx, h.local, long(), func(stage string, _, _ int) {
		if stage == books.StageCut {
			stop(fault.New(fault.Unavailable, "stop"))
		}
	})
	list, err := os.ReadDir(h.dir)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d files", len(list))
	}
	must(t, os.Remove(filepath.Join(h.dir, list[0].Name())))
	must(t, h.Resume(t.Context()))
	if b := h.List(h.local, books.Filter{})[0]; b.State != record.BookFailed || !strings.Contains(b.Reason, "not there") {
		t.Errorf("%+v", b)
	}
}

func TestMEM69_ARemovedBookIsGone(t *testing.T) {
	h := open(t)
	b := h.put(long())
	must(t, h.Remove(t.Context(), h.local, b.ID))
	if got := h.left(); got != "0 books, 0 passages, 0 files" {
		t.Error(got)
	}
	if err := h.Remove(t.Context(), h.local, b.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("removed twice: %v", err)
	}
}

func TestMEM69_ABookThatIsRemovedWhileItIsRead(t *testing.T) {
	h := open(t)
	_, _, err := h.Put(t.Context(), h.local, long(), func(stage string, done, _ int) {
		if stage == books.StageIndex && done > 0 {
			for _, b := range h.List(h.local, books.Filter{}) {
				must(t, h.Remove(t.Context(), h.local, b.ID))
			}
		}
	})
	if fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
	if got := h.left(); got != "0 books, 0 passages, 0 files" {
		t.Error(got)
	}
}

func TestMEM70_ABookOfAConversation(t *testing.T) {
	h := open(t)
	h.conversations["c"] = false
	d := textDraft(manual)
	d.ConversationID = "c"
	b := h.put(d)
	if _, err := h.Get(h.local, b.ID, ""); fault.KindOf(err) != fault.NotFound {
		t.Errorf("seen without its conversation: %v", err)
	}
	if _, err := h.Get(h.local, b.ID, "other"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("seen in another conversation: %v", err)
	}
	if got, err := h.Get(h.local, b.ID, "c"); err != nil || got.ConversationID != "c" {
		t.Errorf("%+v %v", got, err)
	}
	if len(h.List(h.local, books.Filter{})) != 0 || len(h.List(h.local, books.Filter{Conversation: "c"})) != 1 || len(h.Bound(h.local, "c")) != 1 {
		t.Error("lists")
	}
	must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error { return h.HideConversation(tx, "c") }))
	if _, err := h.Get(h.remote, b.ID, "c"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the conversation is private: %v", err)
	}
	if _, err := h.Publish(t.Context(), h.remote, b.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("published by one who does not see it: %v", err)
	}
	if got, err := h.Publish(t.Context(), h.local, b.ID); err != nil || got.ConversationID != "" || !got.Private {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := h.Get(h.local, b.ID, ""); err != nil {
		t.Error(err)
	}

	h.conversations["secret"] = true
	d = textDraft("# Secret\n\nNobody knows.\n")
	d.ConversationID = "secret"
	if b := h.put(d); !b.Private {
		t.Errorf("a book of a private conversation: %+v", b)
	}
	delete(h.conversations, "secret")
	must(t, h.Resume(t.Context()))
	if n := len(h.List(h.local, books.Filter{Conversation: "secret"})); n != 1 {
		t.Errorf("%d books when the conversation is gone", n)
	}
	if got := h.left(); got != "1 books, 3 passages, 0 files" {
		t.Error(got)
	}
}

func TestMEM7_APrivateBookDoesNotExistForARemoteReader(t *testing.T) {
	h := open(t)
	d := textDraft(manual)
	d.Private = true
	b := h.put(d)
	if _, err := h.Get(h.remote, b.ID, ""); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if len(h.List(h.remote, books.Filter{})) != 0 || len(h.Stats(h.remote).States) != 0 {
		t.Error("listed or counted")
	}
	found, err := h.Found(t.Context(), h.remote, "", []string{books.Key(b.ID, 0), "none"})
	if err != nil || found[0] != nil || found[1] != nil {
		t.Errorf("%v %v", found, err)
	}
}

const asChild = "CTXD_TEST_BOOKS_CHILD"

// TestREL1_AKillAmidABook kills a process that writes a book, and goes on with what it left.
func TestREL1_AKillAmidABook(t *testing.T) {
	data := os.Getenv(asChild)
	if data != "" {
		dir := filepath.Join(data, books.Folder)
		h := over(t, data, dir)
		_, _, _ = h.Put(t.Context(), h.local, long(), func(stage string, done, total int) {
			if stage == books.StageIndex && done > 0 && done < total {
				fmt.Println("half of it")
				select {} // until the kill
			}
		})
		return
	}
	data = t.TempDir()
	dir := filepath.Join(data, books.Folder)
	kill(t, data)
	h := over(t, data, dir)
	list := h.List(h.local, books.Filter{})
	if len(list) != 1 || list[0].State == record.BookReady {
		t.Fatalf("%+v", list)
	}
	if got := h.left(); got != "1 books, 0 passages, 1 files" {
		t.Errorf("after the kill: %s", got)
	}
	must(t, h.Resume(t.Context()))
	if got := h.left(); got != "1 books, 1500 passages, 0 files" {
		t.Errorf("after that: %s", got)
	}
}
