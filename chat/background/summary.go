package background

// A SummaryStore says in a line what a note is about: its first paragraph where that is short, else a sentence that a
// model made of it, else its first sentence, cut.
//
// Callers show or send references to notes, with the View of the reader, and not within a transaction of the store.
// Nothing is made for a note before somebody asks for it. Nobody waits for a model: [SummaryStore.Of] takes what is
// there, and has a [Summarizer] ask for what is not.
//
// Package notes keeps the sentences of models beside their notes (notes/digest.go). The key is the SHA-256 of the text
// of the note as the reader sees it, of the limit and of the model. So a sentence that was made of private text is not
// found by a reader who does not see that text, and what was said of a text that is gone is never shown.
//
// What a remote model is given is what a remote reader would see, of a note that he sees. Where a local reader sees
// more, a remote model is not asked, and the first sentence stands.
//
// A call takes time linear in the text of the note, up to the first 256 KiB, and where a model is configured in all of
// it.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Lengths of a summary, in code points.
const (
	defaultSummaryLimit = 100
	maxSummaryLimit     = 1000
)

// Why a note has no summary.
const (
	ReasonNoNote = "there is no such note"
	ReasonNoText = "it has no text but headings, code, tables and images"
)

// SummaryStoreOptions are what a Store needs.
type SummaryStoreOptions struct {
	Remote *audience.View // of remote readers
	Maker  *Summarizer    // nil: no model is asked
	// Enter runs work while the rooms can be used. It returns an error without running it once they are gone.
	Enter func(ctx context.Context, work func(ctx context.Context) error) error
}

// SummaryStore says what notes are about. New makes one.
type SummaryStore struct {
	db    *kv.Store
	opts  SummaryStoreOptions
	lines madeLines
}

// NewSummaryStore returns a Store over the notes of db.
func NewSummaryStore(db *kv.Store, o SummaryStoreOptions) *SummaryStore {
	return &SummaryStore{db: db, opts: o}
}

// Of returns what a note is about, for the reader of a View: one line of at most limit code points, 0 for DefaultLimit.
// Where there is none, the text is empty and the reason says why. It waits for no model. It must not be called within
// a transaction.
func (s *SummaryStore) Of(ctx context.Context, v *audience.View, noteID string, limit int) (content, reason string) {
	if limit <= 0 {
		limit = defaultSummaryLimit
	}
	limit = min(limit, maxSummaryLimit)
	n := v.Note(noteID)
	if n == nil {
		return "", ReasonNoNote
	}
	body, err := bodyOf(ctx, v, n)
	if err != nil {
		return "", "it could not be read: " + fault.Message(err)
	}
	first := paragraph(body)
	switch {
	case first == "":
		return "", ReasonNoText
	case text.CountChars(first) <= limit:
		return first, ""
	}
	if m := s.opts.Maker; m.asks() {
		j := &summaryJob{store: s, view: v, noteID: noteID, limit: limit, key: keyOf(body, limit, m.model)}
		made, ok, err := s.made(ctx, j)
		if made != "" {
			return made, ""
		}
		if !ok && err == nil {
			m.ask(j)
		}
	}
	return sentence(first, limit), ""
}

// made returns the sentence of a model that is kept, and whether one was asked for it.
func (s *SummaryStore) made(ctx context.Context, j *summaryJob) (text string, ok bool, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		text, ok, err = notes.GetSummary(tx, j.noteID, j.key)
		return err
	})
	return text, ok, err
}

// bodyOf returns the text of a note as a reader sees it, "" for one that is not written in words.
func bodyOf(ctx context.Context, v *audience.View, n *notes.Note) (string, error) {
	if n.Kind == notes.KindBase {
		return "", nil
	}
	shown, err := v.Body(ctx, n, audience.MarksOf(n.Body))
	if err != nil {
		return "", err
	}
	return shown.Body, nil
}

// keyOf is the SHA-256 of a text, a limit and a model. No two of them make one key: only the text may be of any form,
// and it comes last.
func keyOf(body string, limit int, model string) string {
	h := sha256.New()
	_, _ = h.Write([]byte(strconv.Itoa(limit) + "\n" + strconv.Quote(model) + "\n"))
	_, _ = h.Write([]byte(body))
	return hex.EncodeToString(h.Sum(nil))
}

// asked is the text that a model is shown of a note.
func asked(body string) string { return markdown.PlainNote(body) }

// readSummary makes a summary of the answer of a model, which may have been cut at its end.
func readSummary(answer string, whole bool, limit int) string {
	if whole {
		return text.AnswerLine(answer, limit)
	}
	line := text.AnswerLine(answer, maxSummaryLimit)
	if line == "" {
		return ""
	}
	return cut(line+" ", min(limit, text.CountChars(line)+1))
}
