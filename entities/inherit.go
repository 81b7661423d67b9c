package entities

import (
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// An entity is private when a client says so, when the note that it names as its source
// is private, and when such a source is gone or was taken away from it: what was made of
// private text stays private (PRIV-4). The last is recorded here, apart from the entity,
// so that no write of a client takes it back. It goes with the entity, or when the note
// that it was made from comes back and speaks for itself.

// inheritance is kept of an entity that is private because of a source that it has no
// more.
type inheritance struct {
	NoteID string `json:"noteId"` // of the source
}

var (
	inherited = kv.NewCollection[inheritance]("entity-private") // by entity id
	// namedNotes are the notes that clients gave to entities as their sources. Store.byNote
	// has them too, but not those of transactions that are on their way.
	namedNotes = kv.NewCollection("entity-note", kv.JSONText()) // by note id, /, entity id
)

// moveNote keeps what is known of the source of an entity when its record changes from
// old to now; old is nil for a new one, now for one that is deleted. made says that the
// note itself writes the entity that is made from it, of which the note knows.
func (s *Store) moveNote(tx *kv.Tx, old, now *Entity, made bool) error {
	from, to, id := "", "", ""
	if old != nil {
		from, id = old.NoteID, old.ID
	}
	if now != nil {
		to, id = now.NoteID, now.ID
	}
	if from != to && from != "" {
		if err := namedNotes.Delete(tx, from+"/"+id); err != nil {
			return err
		}
		if err := s.inheritIfPrivate(tx, id, from); err != nil {
			return err
		}
	}
	if from != to && to != "" && !made {
		if err := namedNotes.Put(tx, to+"/"+id, &id); err != nil {
			return err
		}
		return s.inheritIfGone(tx, id, to)
	}
	return nil
}

// inheritIfPrivate makes an entity private for good if its source is.
func (s *Store) inheritIfPrivate(tx *kv.Tx, id, noteID string) error {
	source, err := s.source(tx, noteID)
	if err != nil || !source.Private {
		return err
	}
	return inherited.Put(tx, id, &inheritance{noteID})
}

// inheritIfGone makes an entity private for good if its source was and is gone: of two
// who name and delete a note in the same moment, either may be first.
func (s *Store) inheritIfGone(tx *kv.Tx, id, noteID string) error {
	source, err := s.source(tx, noteID)
	if err != nil || !source.Private || !source.Gone {
		return err
	}
	return inherited.Put(tx, id, &inheritance{noteID})
}

// Source is what a transaction sees of a note that an entity names as its source.
type Source struct {
	Private bool // it is private, or was when it was deleted
	Gone    bool // it was deleted
}

func (s *Store) source(tx *kv.Tx, noteID string) (Source, error) {
	s.mu.Early().RLock()
	ask := s.resolve.Source
	s.mu.Early().RUnlock()
	if ask == nil {
		return Source{}, nil
	}
	return ask(tx, noteID)
}

// KeepPrivateTx makes private for good what is private because of a note, which is
// removed in the transaction. made is the entity that the note describes, empty for none.
func (s *Store) KeepPrivateTx(tx *kv.Tx, noteID, made string) error {
	list, err := s.madeOf(tx, noteID, made)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := inherited.Put(tx, e.ID, &inheritance{noteID}); err != nil {
			return err
		}
	}
	return nil
}

// madeOf returns the entities that name a note as their source. made is the one that the
// note describes, empty for none.
func (s *Store) madeOf(tx *kv.Tx, noteID, made string) ([]*Entity, error) {
	s.mu.Early().RLock()
	ids := slices.Collect(maps.Keys(s.byNote[noteID]))
	s.mu.Early().RUnlock()
	if made != "" {
		ids = append(ids, made) // it may be new, and its commit under way
	}
	for _, id := range namedNotes.All(tx, noteID+"/") {
		ids = append(ids, *id)
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	slices.Sort(ids)
	var list []*Entity
	for _, id := range slices.Compact(ids) {
		e, err := EntityRecords.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if e != nil && e.NoteID == noteID {
			list = append(list, e)
		}
	}
	return list, nil
}

// InheritTx makes an entity private for good because of a note that it was made from and
// that says no more what the entity says.
func (s *Store) InheritTx(tx *kv.Tx, id, noteID string) error {
	return inherited.Put(tx, id, &inheritance{noteID})
}

// PublishTx takes back what KeepPrivateTx did to an entity whose note is there again
// and speaks for itself; an unknown id is no error.
func (s *Store) PublishTx(tx *kv.Tx, id, noteID string) error {
	have, err := inherited.Get(tx, id)
	if err != nil || have == nil || have.NoteID != noteID {
		return err
	}
	return inherited.Delete(tx, id)
}

// UnhideTx is PublishTx for an entity that a program before this one has made private
// by its own record.
func (s *Store) UnhideTx(tx *kv.Tx, id string) error {
	old, err := EntityRecords.Get(tx, id)
	if err != nil || old == nil || !old.Private {
		return err
	}
	return s.changeTx(tx, id, nil, func(_ *kv.Tx, e *Entity) error {
		e.Private = false
		return nil
	})
}

// Inherited reports whether an entity is private because of a source that it has no
// more, and returns the id of that note.
func (s *Store) Inherited(id string) (noteID string, ok bool) {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	noteID, ok = s.inherited[id]
	return noteID, ok
}

// takeInherited takes the changes of inheritances in, and returns the ids of the
// entities that they are about. mu is held.
func (s *Store) takeInherited(cs *kv.ChangeSet) (ids map[string]bool) {
	for _, ch := range cs.Changes {
		_, now, ok := inherited.Of(ch)
		if !ok {
			continue
		}
		if ids == nil {
			ids = make(map[string]bool)
		}
		ids[ch.ID] = true
		if now == nil {
			delete(s.inherited, ch.ID)
		} else {
			s.inherited[ch.ID] = now.NoteID
		}
	}
	return ids
}
