package notes

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/infer"
	"github.com/ctxd/ctxd/notes/markdown"
)

// A type that is made from frontmatter (entities.Type.Inferred) grows with public
// and with private notes. Beside the type the store keeps what public notes alone
// have made of it, so that a reader who sees no private record is told no more.

// typeSource is what public notes have given to an inferred type.
type typeSource struct {
	Fields  []string `json:"fields,omitempty"` // names, in the order in which they were given
	Version int      `json:"version"`          // counts the changes by public notes, from 1
}

var typeSources = kv.NewCollection[typeSource]("type-source") // by the fold of the type's name

// TypeDoc is a text that describes an entity, for the type that is made from it.
type TypeDoc struct {
	*markdown.Document
	Private bool // the note is private, or may be
}

// addSource records what public texts give to the inferred type t.
func addSource(tx *kv.Tx, t *entities.Type, docs []TypeDoc) error {
	key := entities.Fold(t.Name)
	have, err := typeSources.Shared(tx, key)
	if err != nil {
		return err
	}
	grown, public := typeSource{}, false
	if have != nil {
		grown = typeSource{slices.Clip(have.Fields), have.Version}
	}
	for _, d := range docs {
		if d.Private {
			continue
		}
		public = true
		for _, f := range d.Frontmatter.Fields {
			if declared, ok := t.Field(f.Key); ok && infer.GivesField(f) && !slices.Contains(grown.Fields, declared.Name) {
				grown.Fields = append(grown.Fields, declared.Name)
			}
		}
	}
	if !public {
		return nil
	}
	if have != nil && len(grown.Fields) == len(have.Fields) {
		return nil
	}
	grown.Version++
	return typeSources.Put(tx, key, &grown)
}

// loadSources reads what public notes have given to types.
func (s *Store) loadSources() error {
	return s.db.View(context.Background(), func(tx *kv.Tx) error {
		s.sources = maps.Collect(typeSources.All(tx, ""))
		return tx.Err()
	})
}

// takeSources is the part of typeSources in a commit.
func (s *Store) takeSources(cs *kv.ChangeSet) {
	s.sourcesMu.Lock()
	defer s.sourcesMu.Unlock()
	for _, ch := range cs.Changes {
		_, now, ok := typeSources.Of(ch)
		switch {
		case !ok:
		case now == nil:
			delete(s.sources, ch.ID)
		default:
			s.sources[ch.ID] = now
		}
	}
}

// PublicType returns a type as it would be if there were no private record, nil when
// there would be no such type (PRIV-4, PRIV-6).
//
// A declared type is returned as it is: a person has declared it. An inferred type
// exists as long as a live entity of it is not private. Of its fields those exist that
// one of these entities has a value of, in the order in which public notes gave them;
// the version counts the changes that public notes made. Both need present evidence
// beside what is recorded: a note that was public once may be private now. Options of
// a select and computed fields never come from notes.
func (s *Store) PublicType(name string) *entities.Type {
	t := s.ents.Type(name)
	if t == nil || !t.Inferred {
		return t
	}
	use := s.ents.PublicUse(t.Name)
	if use == nil {
		return nil
	}
	s.sourcesMu.RLock()
	source := s.sources[entities.Fold(t.Name)]
	s.sourcesMu.RUnlock()
	public := entities.Type{Name: t.Name, Inferred: true, Version: t.Version, Fields: []entities.Field{}}
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

// PublicTypes returns the types that PublicType knows, by name.
func (s *Store) PublicTypes() []*entities.Type {
	var list []*entities.Type
	for _, t := range s.ents.Types() {
		if public := s.PublicType(t.Name); public != nil {
			list = append(list, public)
		}
	}
	return list
}
