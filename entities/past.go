package entities

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// What a private entity was called stays private when it is renamed or deleted (PRIV-4).
// When it becomes public, all that it was called stops being secret.

// Past returns the names that private records had and have no more, those of notes too.
func (s *Store) Past() *PastNames { return s.past }

// referringTo returns what texts refer to an entity by, but for its id.
func referringTo(e *Entity) []PastName {
	list := []PastName{
		{Kind: PastEntityName, Text: pastName(e.Name)},
		{Kind: PastEntityHandle, Text: names.Handle(e.Name, e.Type)},
	}
	for _, alias := range e.Aliases {
		list = append(list, PastName{Kind: PastEntityName, Text: pastName(alias)})
	}
	return list
}

// pastName is the form in which names of entities are kept and looked up.
func pastName(name string) string { return Fold(strings.TrimSpace(name)) }

func idOf(e *Entity) PastName { return PastName{Kind: PastEntityID, Text: e.ID} }

// IsFormerName reports whether a private entity had a name or an alias, compared as names
// are, which it has no more. in is Store.Past, or a part of it.
func IsFormerName(in *PastNames, name string) bool {
	return in.Len() > 0 && in.Has(PastEntityName, pastName(name))
}

// IsFormerHandle is WasCalled for handles.
func IsFormerHandle(in *PastNames, handle string) bool {
	return in.Len() > 0 && in.Has(PastEntityHandle, names.FoldHandle(handle))
}

// WasPrivate reports whether a private entity of that id was deleted. There may be
// another one of that id now.
func (s *Store) WasPrivate(id string) bool { return s.past.Has(PastEntityID, id) }

// moved does what is to be done when the record of an entity changes from old to now, as
// moveNote does, and keeps what the entity was called while it was private. made is that
// of moveNote: when a note becomes public that an entity is made from, it calls RevealTx.
func (s *Store) moved(tx *kv.Tx, old, now *Entity, made bool) error {
	lost := lostNames(old, now)
	private := false
	if old != nil && (!made || len(lost) > 0) {
		var err error
		private, err = s.privateTx(tx, old)
		if err != nil {
			return err
		}
	}
	if err := s.moveNote(tx, old, now, made); err != nil {
		return err
	}
	if !private {
		return s.hideStanding(tx, old, now, made)
	}
	if now != nil {
		still, err := s.privateTx(tx, now)
		if err != nil {
			return err
		}
		if !still && !made {
			return ForgetPastTx(tx, idOf(now))
		}
	}
	return KeepPastTx(tx, idOf(old), lost)
}

// hideStanding tells of an entity that was public and becomes private. Its note does so of one that is made of that.
func (s *Store) hideStanding(tx *kv.Tx, old, now *Entity, made bool) error {
	if s.opts.Hide == nil || old == nil || now == nil || made {
		return nil
	}
	private, err := s.privateTx(tx, now)
	if err != nil || !private {
		return err
	}
	return s.opts.Hide(tx, now)
}

// HideMadeTx tells of the entities that a note makes private, in the transaction in which it becomes private. made is that
// of KeepPrivateTx.
func (s *Store) HideMadeTx(tx *kv.Tx, noteID, made string) error {
	if s.opts.Hide == nil {
		return nil
	}
	list, err := s.madeOf(tx, noteID, made)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := s.opts.Hide(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// lostNames returns what refers to an entity before a change and does not after it.
func lostNames(old, now *Entity) []PastName {
	if old == nil {
		return nil
	}
	if now == nil {
		return append(referringTo(old), idOf(old))
	}
	if old.Name == now.Name && old.Type == now.Type && slices.Equal(old.Aliases, now.Aliases) {
		return nil
	}
	return LostNames(referringTo(old), referringTo(now))
}

// privateTx reports whether an entity is private as a transaction sees it.
func (s *Store) privateTx(tx *kv.Tx, e *Entity) (bool, error) {
	if e.Private {
		return true, nil
	}
	inherits, err := inherited.Has(tx, e.ID)
	if err != nil || inherits || e.NoteID == "" {
		return inherits, err
	}
	source, err := s.source(tx, e.NoteID)
	return source.Private, err
}

// RevealTx forgets what entities were called that are public because a note is: it was
// private, and no more in this transaction. made is that of KeepPrivateTx.
func (s *Store) RevealTx(tx *kv.Tx, noteID, made string) error {
	list, err := s.madeOf(tx, noteID, made)
	if err != nil {
		return err
	}
	for _, e := range list {
		private, err := s.privateTx(tx, e)
		if err != nil {
			return err
		}
		if private {
			continue
		}
		if err := ForgetPastTx(tx, idOf(e)); err != nil {
			return err
		}
	}
	return nil
}
