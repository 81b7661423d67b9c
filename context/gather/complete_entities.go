package gather

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// EntitySource is the Source of entities that are not archived.
type EntitySource struct{ store *entities.Store }

// NewEntitySource returns the Source of a store.
func NewEntitySource(store *entities.Store) *EntitySource { return &EntitySource{store} }

// Kinds is that of Source.
func (s *EntitySource) Kinds() []refs.HandleKind { return []refs.HandleKind{refs.EntityHandle} }

// Load is that of Source.
func (s *EntitySource) Load(ctx context.Context) ([]HandleKey, error) {
	var keys []HandleKey
	for e := range s.store.All() {
		keys = append(keys, HandleKey{refs.EntityHandle, e.ID})
	}
	return keys, ctx.Err()
}

// Touched is that of Source.
func (s *EntitySource) Touched(cs *kv.ChangeSet) []HandleKey {
	var keys []HandleKey
	for _, ch := range cs.Changes {
		if _, _, ok := entities.EntityRecords.Of(ch); ok {
			keys = append(keys, HandleKey{refs.EntityHandle, ch.ID})
		}
	}
	return keys
}

// Entry is that of Source.
func (s *EntitySource) Entry(k HandleKey) (refs.Entry, bool) {
	e := s.store.Get(k.ID)
	if e == nil || !e.Live() {
		return refs.Entry{}, false
	}
	out := refs.Entry{
		Kind: refs.EntityHandle, ID: e.ID, Handle: names.Handle(e.Name, e.Type), Names: append([]string{e.Name}, e.Aliases...),
		Label: e.Name, Used: e.UpdatedAt,
	}
	if !e.Private {
		out.Public = e.UpdatedAt
	}
	return out, true
}

// Show is that of Source.
func (s *EntitySource) Show(_ context.Context, v *audience.View, e *refs.Entry) (EntryVisibility, error) {
	stored := v.Entity(e.ID)
	if stored == nil || !stored.Live() {
		return EntryVisibility{}, nil
	}
	shown := v.ShownEntity(stored)
	plain := shown.Name == stored.Name && names.Handle(stored.Name, stored.Type) == e.Handle
	out := EntryVisibility{Exists: true, Handle: plain, Label: shown.Name, Names: make([]bool, len(e.Names))}
	for i, name := range e.Names {
		out.Names[i] = name == shown.Name || slices.Contains(shown.Aliases, name)
	}
	return out, nil
}
