package notes

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// A type that is made from frontmatter (entities.Type.Inferred) grows with public
// and with private notes. Beside the type the store keeps what public notes alone
// have made of it, so that a reader who sees no private record is told no more.

// loadSources reads what public notes have given to types.
func (s *Store) loadSources() error {
	return s.db.View(context.Background(), func(tx *kv.Tx) error {
		s.sources = maps.Collect(typeSourceRecords.All(tx, ""))
		return tx.Err()
	})
}

// takeSources is the part of typeSourceRecords in a commit.
func (s *Store) takeSources(cs *kv.ChangeSet) {
	s.sourcesMu.Lock()
	defer s.sourcesMu.Unlock()
	for _, ch := range cs.Changes {
		_, now, ok := typeSourceRecords.Of(ch)
		switch {
		case !ok:
		case now == nil:
			delete(s.sources, ch.ID)
		default:
			s.sources[ch.ID] = now
		}
	}
}

// PublicType returns a type of the store as it would be if there were no private record, nil when
// there would be no such type (PRIV-4, PRIV-6).
//
// A declared type is returned as it is: a person has declared it. An inferred type
// exists as long as a live entity of it is not private. Of its fields those exist that
// one of these entities has a value of, in the order in which public notes gave them;
// the version counts the changes that public notes made. Both need present evidence
// beside what is recorded: a note that was public once may be private now. Options of
// a select and computed fields never come from notes.
func (s *Store) PublicType(t *entities.Type) *entities.Type {
	if t == nil || !t.Inferred {
		return t
	}
	use := s.ents.PublicUse(t)
	if use == nil {
		return nil
	}
	s.sourcesMu.RLock()
	source := s.sources[entities.TypeKey(t)]
	s.sourcesMu.RUnlock()
	public := entities.Type{
		Name: t.Name, Inferred: true, Version: t.Version, Vault: t.Vault, Fields: []entities.Field{},
	}
	var given []string
	if source != nil { // else the type is older than this record
		public.Version, given = source.Version, source.Fields
	}
	for _, name := range given {
		if f, ok := t.Field(name); ok && use.Fields[f.Name] {
			public.Fields = append(public.Fields, f)
		}
	}
	for _, f := range t.Fields { // a client gave these to public entities
		if use.Fields[f.Name] && !slices.Contains(given, f.Name) {
			public.Fields = append(public.Fields, f)
		}
	}
	return &public
}
