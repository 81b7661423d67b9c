package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Subject says which records are about what is to be forgotten: by the names of an entity, or by words. One that has all
// words of a name, or all words, in any form and order, is about it. It is immutable.
type Subject struct {
	record.MemoryOrigin
	Names []string   // as they are written
	names [][]string // stems
}

// NewSubject reads what is to be forgotten. The errors are NotFound for an entity that the reader does not see, and Invalid for
// words that say nothing.
func NewSubject(v *audience.View, o record.MemoryOrigin) (*Subject, error) {
	if err := o.Check(); err != nil || !o.IsSubject() {
		return nil, err
	}
	names := []string{o.About}
	if o.EntityID != "" {
		e := v.Entity(o.EntityID)
		if e == nil {
			missing := fault.Missing("entity", o.EntityID)
			missing.Field = "entityId"
			return nil, missing.WithHint("find it with entities.list, and give its id; about takes words")
		}
		names = append([]string{e.Name}, e.Aliases...)
	}
	return subjectOf(o, names)
}

func subjectOf(o record.MemoryOrigin, names []string) (*Subject, error) {
	s := &Subject{MemoryOrigin: o, Names: names}
	for _, name := range names {
		if stems := subjectStems(name); len(stems) > 0 {
			s.names = append(s.names, stems)
		}
	}
	if len(s.names) == 0 {
		return nil, fault.Field("about", "about has no words that tell anything").WithHint("say what is to be forgotten in words that it has")
	}
	return s, nil
}

// subjectStems are the words of a name that tell something, or all where none does.
func subjectStems(name string) (stems []string) {
	var all []string
	var split text.Splitter
	split.Split(name, func(t text.Token) {
		if t.Symbol {
			return
		}
		stem := text.StemEnglish(string(t.Text))
		all = append(all, stem)
		if search.IsInformative(string(t.Text)) {
			stems = append(stems, stem)
		}
	})
	if len(stems) == 0 {
		return all
	}
	return stems
}

// In reports whether texts, together, have all words of the subject. O(texts).
func (s *Subject) In(texts ...string) bool {
	has := make(map[string]bool)
	var split text.Splitter
	for _, t := range texts {
		split.Split(t, func(t text.Token) {
			if !t.Symbol {
				has[text.StemEnglish(string(t.Text))] = true
			}
		})
	}
	return slices.ContainsFunc(s.names, func(name []string) bool {
		return !slices.ContainsFunc(name, func(stem string) bool { return !has[stem] })
	})
}

// about reports whether a memory is about the subject, by what it says or is linked to.
func (s *Subject) about(m *Record) bool {
	if !s.Within(m.CreatedAt) {
		return false
	}
	if s.EntityID != "" && slices.Contains(m.EntityIDs, s.EntityID) {
		return true
	}
	return s.In(slices.Concat([]string{m.Statement, m.Summary, strings.ReplaceAll(m.Handle, "_", " ")}, m.Questions, m.Tags, m.Domains)...)
}

// aboutBefore returns the memories of which a former version was about the subject. O(versions).
func (s *Store) aboutBefore(ctx context.Context, subject *Subject) (map[string]bool, error) {
	ids := make(map[string]bool)
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for key, was := range versions.All(tx, "") {
			if id, _, _ := strings.Cut(key, "/"); !ids[id] && subject.In(was.Statement, was.Summary) {
				ids[id] = true
			}
		}
		return tx.Err()
	})
	return ids, err
}
