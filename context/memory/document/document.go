package document

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// The fields of a memory, by their numbers.
const (
	Summary = iota
	Questions
	Statement
	Tags
)

var fields = []text.Field{
	Summary:   {Name: "summary", Weight: 1, Counted: true},
	Questions: {Name: "questions", Weight: 1, Counted: true},
	Statement: {Name: "statement", Weight: 1, Counted: true},
	Tags:      {Name: "tags", Weight: 1},
}

// chunksVersion says how memories are split; see notedoc.
const chunksVersion = "memory 1"

// Source is the Source of memories.
type Source struct {
	mem    *memory.Store
	rooms  *audience.Views
	remote *audience.View
	naming *audience.Namers

	mu       sync.Mutex // guards what follows
	seq      uint64     // of the commit that was asked for last; 0: none
	revealed []string
}

// New returns the Source of the memories of a store. Open the store and what it stands on before.
func New(db *kv.Store, mem *memory.Store, rooms *audience.Views) *Source {
	s := &Source{mem: mem, rooms: rooms, remote: rooms.View(audience.Remote)}
	s.naming = rooms.Namers(db, func(yield func(string, []string) bool) {
		for m := range mem.All() {
			if !yield(m.ID, m.Texts()) {
				return
			}
		}
	})
	return s
}

var (
	_ text.Source      = (*Source)(nil)
	_ text.ValueSource = (*Source)(nil)
)

// doc is a memory as it is found.
type doc struct {
	m      *memory.Record
	hidden bool // from remote readers
}

func (s *Source) of(m *memory.Record) text.Doc {
	return doc{m, !memory.Sees(s.remote, m)}
}

// Memory returns the memory that a Doc of a Source of memories is, nil for any other. For a reader who
// may not see all of it, it is a copy with masked texts.
func Memory(d text.Doc) *memory.Record {
	md, _ := d.(doc)
	return md.m
}

// Keep makes a test of Docs of one of memories.
func Keep(test func(*memory.Record) bool) func(text.Doc) bool {
	return func(d text.Doc) bool { return test(Memory(d)) }
}

// Kind returns what documents are called.
func (*Source) Kind() text.DocKind { return text.DocKind{One: "memory", Many: "memories"} }

// Fields returns summary, questions, statement and tags.
func (*Source) Fields() []text.Field { return fields }

// All returns all memories, of whatever status, in no order.
func (s *Source) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for m := range s.mem.All() {
			if !yield(s.of(m)) {
				return
			}
		}
	}
}

// Get returns a memory.
func (s *Source) Get(id string) text.Doc {
	m := s.mem.Stored(id)
	if m == nil {
		return nil
	}
	return s.of(m)
}

// Count counts all memories.
func (s *Source) Count() (docs int, bytes int64) { return s.mem.Count() }

// Changes returns what a commit does to memories, those included whose note becomes private or public.
// O(changes), and O(memories) for a commit that makes a note so.
func (s *Source) Changes(cs *kv.ChangeSet) (list []text.Change) {
	there := make(map[string]bool)
	for _, ch := range cs.Changes {
		old, now, ok := memory.Records.Of(ch)
		if !ok {
			continue
		}
		c := text.Change{ID: ch.ID}
		if old != nil {
			was, _ := s.rooms.NoteSource(cs, old.Source.NoteID)
			c.Old = doc{old, old.Private || was}
		}
		if now != nil {
			_, is := s.rooms.NoteSource(cs, now.Source.NoteID)
			c.Now = doc{now, now.Private || is}
		}
		there[ch.ID] = true
		list = append(list, c)
	}
	flipped := s.flippedNotes(cs)
	if len(flipped) == 0 {
		return list
	}
	for m := range s.mem.All() {
		is, ok := flipped[m.Source.NoteID]
		if ok && !there[m.ID] && !m.Private {
			list = append(list, text.Change{ID: m.ID, Old: doc{m, !is}, Now: doc{m, is}})
		}
	}
	return list
}

// flippedNotes are the notes that a commit makes private or public, and whether they are private now.
func (s *Source) flippedNotes(cs *kv.ChangeSet) map[string]bool {
	flipped := make(map[string]bool)
	for _, ch := range cs.Changes {
		if _, _, ok := notes.Records.Of(ch); ok {
			if was, is := s.rooms.NoteSource(cs, ch.ID); was != is {
				flipped[ch.ID] = is
			}
		}
	}
	return flipped
}

// Revealed returns the ids of the memories whose masked texts a commit may change: those that name what
// it makes private or public or calls otherwise, and those of notes that are shown otherwise.
func (s *Source) Revealed(cs *kv.ChangeSet) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seq == cs.Seq {
		return s.revealed
	}
	ids := s.naming.Revealed(cs)
	from := make(map[string]bool)
	for _, id := range s.rooms.Revealed(cs) {
		from[id] = true
	}
	for _, ch := range cs.Changes {
		if _, now, ok := memory.Records.Of(ch); ok {
			var texts []string
			if now != nil {
				texts = now.Texts()
			}
			s.naming.Set(ch.ID, texts)
			delete(ids, ch.ID)
		}
		old, now, ok := notes.Records.Of(ch)
		if ok && old != nil && (now == nil || old.Sources != now.Sources) {
			from[ch.ID] = true
		}
	}
	s.seq, s.revealed = cs.Seq, slices.Collect(maps.Keys(ids))
	turned, flipped := memory.Turned(cs), s.flippedNotes(cs)
	if len(from) > 0 {
		for m := range s.mem.All() {
			if from[m.Source.NoteID] && !ids[m.ID] {
				ids[m.ID] = true
				s.revealed = append(s.revealed, m.ID)
			}
		}
	}
	if len(turned)+len(flipped) > 0 {
		for _, id := range s.mem.Changed(func(by string) bool { return turned[by] || s.isOfAny(by, flipped) }) {
			if !ids[id] {
				s.revealed = append(s.revealed, id)
			}
		}
	}
	slices.Sort(s.revealed)
	return s.revealed
}

// isOfAny reports whether a memory comes from one of some notes.
func (s *Source) isOfAny(id string, notes map[string]bool) bool {
	m := s.mem.Stored(id)
	if m == nil {
		return false
	}
	_, ok := notes[m.Source.NoteID]
	return ok
}

// Public returns a memory as a remote reader sees it.
func (s *Source) Public(d text.Doc) text.Doc {
	md := d.(doc)
	seen := s.mem.As(s.remote, md.m)
	if md.hidden || seen == nil {
		return nil
	}
	shown := seen.Masked(s.remote)
	if shown == md.m {
		return d
	}
	return doc{shown, false}
}

// Usual reports whether a memory is active or contested.
func (*Source) Usual(d text.Doc) bool { return Memory(d).Current() }

// Filters returns the operators for memories: tag, kind, tier and status.
func (*Source) Filters() []string { return []string{"tag", "kind", "tier", "status"} }

// Filter returns the test of an operator.
func (s *Source) Filter(operator, value string) func(text.Doc) bool {
	if operator == "tag" {
		return Keep(func(m *memory.Record) bool { return m.Tagged(value) })
	}
	fold := entities.Fold(value)
	return func(d text.Doc) bool { return entities.Fold(s.Value(operator, d)) == fold }
}

// Valued returns kind, tier and status.
func (*Source) Valued() []string { return []string{"kind", "tier", "status"} }

// Value returns the kind, the tier or the status of a memory.
func (*Source) Value(operator string, d text.Doc) string {
	m := Memory(d)
	switch operator {
	case "kind":
		return m.Kind
	case "tier":
		return m.Tier
	}
	return m.Status
}

func (d doc) ID() string           { return d.m.ID }
func (d doc) Title() string        { return d.m.Summary }
func (d doc) Version() uint64      { return uint64(d.m.Version) }
func (d doc) UpdatedAt() time.Time { return d.m.UpdatedAt }
func (d doc) Private() bool        { return d.hidden }
func (d doc) Size() int            { return len(d.m.Statement) + len(d.m.Summary) }
func (d doc) Plain() string        { return d.m.Statement }

// Fields gives the texts of a memory.
func (d doc) Fields(visit func(int, string) bool) {
	if d.m.Summary != "" && !visit(Summary, d.m.Summary) {
		return
	}
	for _, q := range d.m.Questions {
		if !visit(Questions, q) {
			return
		}
	}
	if !visit(Statement, d.m.Statement) {
		return
	}
	for _, tag := range slices.Concat(d.m.Tags, d.m.Domains) {
		if !visit(Tags, tag) {
			return
		}
	}
}

// Stored gives the texts that Fields are made of.
func (d doc) Stored(visit func(string)) {
	visit(d.m.Summary)
	visit(d.m.Statement)
	for _, list := range [][]string{d.m.Questions, d.m.Tags, d.m.Domains} {
		for _, t := range list {
			visit(t)
		}
		visit("")
	}
}

// Chunks gives a vector to the statement, or to each part of a long one, to the summary, and to each
// question: what is asked is often said in the words of one of them.
func (d doc) Chunks() []text.Chunk {
	var list []text.Chunk
	for _, part := range text.Parts(d.m.Statement) {
		list = append(list, text.Chunk{Text: part})
	}
	for _, t := range append([]string{d.m.Summary}, d.m.Questions...) {
		if t != "" {
			list = append(list, text.Chunk{Text: t})
		}
	}
	if len(list) == 0 {
		list = append(list, text.Chunk{Text: d.m.Statement})
	}
	return list
}

// ChunkedFrom returns the version of Chunks, and what they are made of.
func (d doc) ChunkedFrom() []string {
	return append([]string{chunksVersion, d.m.Statement, d.m.Summary}, d.m.Questions...)
}
