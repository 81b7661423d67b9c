package notes

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// keepFormer keeps what a note is called no more: its title, its file name, its path.
func (s *Store) keepFormer(tx *kv.Tx, old, now *Note) error {
	if old == nil || old.Title == now.Title && old.Path == now.Path {
		return nil
	}
	var lost, own []string
	eachName(now, func(_, key string, _ role) { own = append(own, key) })
	eachName(old, func(name, key string, as role) {
		if as != byAlias && name != untitled && !slices.Contains(own, key) && !slices.Contains(lost, key) {
			lost = append(lost, key)
		}
	})
	return keepFormerTx(tx, now.ID, lost, own, s.now(tx))
}

// resolveFormer finds what a name in a field of an entity meant until lately, unless a note is
// called so now: a note with toNote, else the entity made from one. Live notes go before
// archived ones, public ones before private ones; among equals none is chosen.
func (s *Store) resolveFormer(link, from string, toNote bool) (id string) {
	target := targetOf(link)
	key := entities.Fold(strings.TrimSpace(target))
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids := s.former.Of(key, trimExt(key))
	if len(ids) == 0 {
		return ""
	}
	place := s.index.numberOf(from)
	if m := s.index.resolve(target, place); m.to != nowhere || len(m.several) > 0 {
		return ""
	}
	vault := ""
	if place != nowhere {
		vault = s.index.list[place].note.Vault
	}
	id = bestFormer(ids, func(id string) int {
		n := s.index.get(id)
		switch {
		case n == nil || vault != "" && n.Vault != "" && n.Vault != vault || !toNote && n.EntityID == "":
			return 0
		case n.Live() && !n.Private:
			return 4
		case n.Live():
			return 3
		case !n.Private:
			return 2
		}
		return 1
	})
	if id == "" || toNote {
		return id
	}
	return s.index.get(id).EntityID
}
