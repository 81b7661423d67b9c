package notes

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// What a private note was called stays private when it is renamed, moved or deleted
// (PRIV-4): its titles, aliases and paths, and its id when it is gone. When it becomes
// public, all of that stops being secret.

// untitled is the title of a note that nobody has given one. It names nothing.
const untitled = "Untitled"

// referringTo returns what texts refer to a note by, but for its id: of its path every
// end, as links may have it.
func referringTo(n *Note) []entities.PastName {
	var list []entities.PastName
	add := func(kind entities.PastKind, text string) {
		if text != "" && text != pastName(untitled) {
			list = append(list, entities.PastName{Kind: kind, Text: text})
		}
	}
	for _, name := range append([]string{n.Title}, n.Aliases...) {
		add(entities.PastNoteName, pastName(name))
	}
	for end := pastPath(n.Path); end != ""; _, end, _ = strings.Cut(end, "/") {
		add(entities.PastNotePath, end)
	}
	return list
}

// pastName is the form in which titles and aliases are kept and looked up.
func pastName(name string) string { return entities.Fold(strings.TrimSpace(name)) }

// pastPath is pastName for paths: without the ending, and without what a link begins with
// that counts from its own folder.
func pastPath(p string) string {
	p = trimExt(pastName(p))
	if p == "" {
		return ""
	}
	p = path.Clean(p)
	for {
		short := strings.TrimPrefix(strings.TrimPrefix(p, "../"), "/")
		if short == p {
			return p
		}
		p = short
	}
}

func idOf(id string) entities.PastName { return entities.PastName{Kind: entities.PastNoteID, Text: id} }

// IsFormerName reports whether a private note had a text for its title or for an alias,
// which it has no more. in is entities.Store.Past, or a part of it.
func IsFormerName(in *entities.PastNames, text string) bool {
	return in.Len() > 0 && in.Has(entities.PastNoteName, pastName(text))
}

// IsFormerTarget reports whether a link could mean a private note that is called otherwise now
// or gone. It does not matter where the link stands: what counted from there counts
// wherever it is written.
func IsFormerTarget(in *entities.PastNames, link string) bool {
	if in.Len() == 0 {
		return false
	}
	target := targetOf(link)
	if IsFormerName(in, target) {
		return true
	}
	p := pastPath(target)
	return p != "" && in.Has(entities.PastNotePath, p)
}

// WasPrivate reports whether a private note of that id was deleted. There may be another
// one of that id now.
func (s *Store) WasPrivate(id string) bool { return s.ents.Past().Has(entities.PastNoteID, id) }

// keepNames keeps what a private note was called and is not after a change, which it gets
// when the record has been written; now is nil for a note that is deleted. A note that
// becomes public takes back what was kept of it, and of what is made from it.
func (s *Store) keepNames(tx *kv.Tx, old, now *Note) error {
	switch {
	case now != nil && now.Private && (old == nil || !old.Private):
		if err := s.opts.Hide(tx, now.ID, old == nil); err != nil || old == nil {
			return err
		}
		return s.ents.HideMadeTx(tx, now.ID, old.EntityID)
	case old == nil || !old.Private:
		return nil
	case now == nil:
		return entities.KeepPastTx(tx, idOf(old.ID), append(referringTo(old), idOf(old.ID)))
	case !now.Private:
		return s.reveal(tx, now)
	case old.Title == now.Title && old.Path == now.Path && slices.Equal(old.Aliases, now.Aliases):
		return nil
	}
	return entities.KeepPastTx(tx, idOf(old.ID), entities.LostNames(referringTo(old), referringTo(now)))
}

// reveal forgets what was kept of the names of a note that has become public.
func (s *Store) reveal(tx *kv.Tx, n *Note) error {
	if err := entities.ForgetPastTx(tx, idOf(n.ID)); err != nil {
		return err
	}
	return s.ents.RevealTx(tx, n.ID, n.EntityID)
}

// HideTx makes private what a note is called that is to be deleted, and what is made from
// it, although the note may be public: a person has left its file out.
func (s *Store) HideTx(tx *kv.Tx, n *Note) error {
	err := cmp.Or(s.opts.Hide(tx, n.ID, false), s.ents.HideMadeTx(tx, n.ID, n.EntityID), s.ents.KeepPrivateTx(tx, n.ID, n.EntityID))
	if err != nil {
		return err
	}
	return entities.KeepPastTx(tx, idOf(n.ID), append(referringTo(n), idOf(n.ID)))
}

// UpgradePast keeps the ids of the private notes that were deleted in a store of format 3
// or older. What they were called is not known.
func UpgradePast(tx *kv.Tx) error {
	for id := range privateGone.All(tx, "") {
		if err := entities.KeepPastTx(tx, idOf(id), []entities.PastName{idOf(id)}); err != nil {
			return err
		}
	}
	return tx.Err()
}
