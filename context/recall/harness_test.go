package recall_test

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/facts"
	"github.com/ctxd/ctxd/notes"
)

var must, until = searchtest.Must, searchtest.Until

// house is a store with its memories and messages, and their indexes.
type house struct {
	testing.TB
	searchtest.Rooms
	mem           *memory.Store
	local, remote *audience.View
	in            recall.Indexes
	gate          outbound.Gate
	now           time.Time
}

// open opens a house with records that are there before the stores. e may be nil.
func open(t testing.TB, e embed.Embedder, records []*memory.Record, said []said) *house {
	t.Helper()
	return openWith(t, search.Options{Embedder: e}, records, said)
}

// openWith is open with an encoder of words as well.
func openWith(t testing.TB, opts search.Options, records []*memory.Record, said []said) *house {
	t.Helper()
	db := searchtest.Open(t, kv.InMemory)
	for part := range slices.Chunk(records, 500) {
		must(t, db.Update(t.Context(), func(tx *kv.Tx) error {
			for _, m := range part {
				if err := memory.Records.Put(tx, m.ID, m); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	h := &house{TB: t, Rooms: searchtest.Over(t, db, notes.Options{}), now: facts.Now}
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	var err error
	h.mem, err = memory.Open(db, memory.Options{Now: func() time.Time { return h.now }, Entity: entities.EntityRecords.Has})
	must(t, err)
	h.gate = seen.Gate
	opts.Gate, opts.AtOnce = h.gate, 1<<30
	src := document.New(db, h.mem, seen)
	h.in = recall.Indexes{Memories: recall.Index{Search: search.Open(db, src, opts), Source: src}, Store: h.mem}
	if said != nil {
		chat := newTalk(said)
		h.in.Messages = recall.Index{Search: search.Open(db, chat, opts), Source: chat}
		h.in.Message = func(d text.Doc, _ bool) *recall.Message { return &d.(*utterance).Message }
	}
	h.settle()
	return h
}

// settle waits until all has its vectors.
func (h *house) settle() {
	h.Helper()
	for _, x := range []*search.Index{h.in.Memories.Search, h.in.Messages.Search} {
		if x == nil {
			continue
		}
		if _, ok := x.Embedder(); ok {
			until(h, "vectors", func() bool { st := x.Stats(); return st.Meanings.Idle && (st.Tokens == nil || st.Tokens.Idle) })
		}
	}
}

func (h *house) ranker(opts recall.Options) *recall.Ranker {
	h.Helper()
	opts.Now, opts.Gate = func() time.Time { return h.now }, h.gate
	return recall.New(h.in, opts)
}

// ask searches as somebody would on a machine that is never too slow to embed the question.
func ask(t testing.TB, r *recall.Ranker, v *audience.View, req recall.Request) *recall.Result {
	t.Helper()
	var res *recall.Result
	until(t, "the vector of the question", func() bool {
		var err error
		res, err = r.Search(context.Background(), v, req)
		must(t, err)
		return !contains(res.Degraded, "in time")
	})
	return res
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

// recordOf is a memory of the labelled set as a store has it.
func recordOf(m facts.Memory, number int) *memory.Record {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return &memory.Record{MemoryRecord: record.MemoryRecord{
		ID: m.ID, Number: int64(number), Tier: m.Tier, Kind: m.Kind, Statement: m.Statement, Summary: m.Summary,
		Questions: m.Questions, Domains: m.Domains, Tags: m.Tags, Status: m.Status, Importance: m.Importance,
		Confidence: m.Confidence, ValidFrom: at(m.ValidFrom), ValidTo: at(m.ValidTo), Supersedes: m.Supersedes,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, TierSince: m.CreatedAt, ConfidenceAt: m.CreatedAt, Version: 1,
		Source: record.MemorySource{Kind: "user"},
	}}
}

// said is a message of a test.
type said struct {
	recall.Message
	id, text string
}

// utterance is a said as a document.
type utterance struct {
	said
	chunks []text.Chunk
}

func (u *utterance) ID() string           { return u.id }
func (u *utterance) Title() string        { return "" }
func (u *utterance) Version() uint64      { return 1 }
func (u *utterance) UpdatedAt() time.Time { return u.CreatedAt }
func (u *utterance) Private() bool        { return false }
func (u *utterance) Size() int            { return len(u.text) }
func (u *utterance) Plain() string        { return u.text }

func (u *utterance) Fields(visit func(int, string) bool) { visit(0, u.text) }
func (u *utterance) Stored(visit func(string))           { visit(u.text) }
func (u *utterance) Chunks() []text.Chunk                { return u.chunks }
func (u *utterance) ChunkedFrom() []string               { return []string{"1", u.text} }

// talk is a Source of messages that never change.
type talk struct {
	list []*utterance
	byID map[string]*utterance
}

func newTalk(list []said) *talk {
	s := &talk{byID: make(map[string]*utterance)}
	for _, m := range list {
		u := &utterance{said: m}
		u.Message.ID = m.id
		for _, part := range text.Parts(m.text) {
			u.chunks = append(u.chunks, text.Chunk{Text: part})
		}
		if len(u.chunks) == 0 {
			u.chunks = []text.Chunk{{Text: m.text}}
		}
		s.list = append(s.list, u)
		s.byID[u.id] = u
	}
	return s
}

func (*talk) Kind() text.DocKind   { return text.DocKind{One: "message", Many: "messages"} }
func (*talk) Fields() []text.Field { return []text.Field{{Name: "text", Weight: 1, Counted: true}} }

func (s *talk) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for _, u := range s.list {
			if !yield(u) {
				return
			}
		}
	}
}

func (s *talk) Get(id string) text.Doc {
	if u := s.byID[id]; u != nil {
		return u
	}
	return nil
}

func (s *talk) Count() (docs int, bytes int64) {
	for _, u := range s.list {
		bytes += int64(len(u.text))
	}
	return len(s.list), bytes
}

func (*talk) Changes(*kv.ChangeSet) []text.Change       { return nil }
func (*talk) Revealed(*kv.ChangeSet) []string           { return nil }
func (*talk) Public(d text.Doc) text.Doc                { return d }
func (*talk) Usual(text.Doc) bool                       { return true }
func (*talk) Filters() []string                         { return nil }
func (*talk) Filter(string, string) func(text.Doc) bool { return nil }

func note(id, title string, private bool) notes.Draft {
	return notes.Draft{ID: id, Title: title, Body: "Text.", Private: private}
}
