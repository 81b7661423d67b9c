package memory

import (
	"iter"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// All gives all memories as they are stored, in no order: for an index of them, which knows by itself
// who sees what. O(memories).
func (s *Store) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		s.mu.RLock()
		list := slices.Collect(maps.Values(s.byID))
		s.mu.RUnlock()
		for _, m := range list {
			if !yield(m) {
				return
			}
		}
	}
}

// Retracted returns the ids of the memories that are retracted, in any order. It is for an index, as All is. O(retracted ones).
func (s *Store) Retracted() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.retracted))
}

// Stored returns a memory as it is stored, nil for none. It is for an index, as All is. O(1).
func (s *Store) Stored(id string) *Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

// Count is how many memories there are, and about how many bytes of text. O(1).
func (s *Store) Count() (n int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.byID), s.text
}

// size is about how many bytes of text a memory has.
func (m *Record) size() int64 { return int64(len(m.Statement) + len(m.Summary)) }

// Texts are what a memory says, in all of its members.
func (m *Record) Texts() []string {
	return slices.Concat([]string{m.Statement, m.Summary}, m.Questions, m.Tags, m.Domains)
}

// Masked is a memory as a remote reader sees its texts: itself where nothing in them is hidden, else
// another one each time. v is the View of such a reader.
func (m *Record) Masked(v *audience.View) *Record {
	masked := func(from string) func(string) bool {
		return func(text string) bool { return v.TextOf(from, text) != text }
	}
	if !slices.ContainsFunc([]string{m.Statement, m.Summary}, masked(m.Source.NoteID)) &&
		!slices.ContainsFunc(slices.Concat(m.Questions, m.Tags, m.Domains), masked("")) {
		return m
	}
	out := record.Memory{MemoryRecord: m.MemoryRecord}
	mask(v, m, &out.MemoryRecord)
	return &Record{MemoryRecord: out.MemoryRecord}
}

// Tagged reports whether a memory has a tag, or one below it, among its tags and domains.
func (m *Record) Tagged(tag string) bool { return tagged(m.Tags, tag) || tagged(m.Domains, tag) }
