package memory

import (
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// mend has what memories are looked up by say what the memories say. A damaged journal loses whole
// transactions: the memory that a later one changed is there, and the handle that the lost one gave
// to it is not. Without that handle a second memory could get it.
func (s *Store) mend(tx *kv.Tx) error {
	memories, list := make(map[string]*Record), []*Record(nil)
	for id, m := range Records.All(tx, "") {
		memories[id] = m
		list = append(list, m)
	}
	var tree []*StoredContext
	known := make(map[handleOwner]bool)
	for id, c := range StoredContexts.All(tx, "") {
		tree = append(tree, c)
		known[handleOwner{Kind: KindContext, ID: id}] = true
	}
	if err := tx.Err(); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b *Record) int { return cmp.Compare(a.Number, b.Number) })
	for _, m := range list {
		known[handleOwner{Kind: KindMemory, ID: m.ID}] = true
	}
	if err := dropLost(tx, memories, known); err != nil {
		return err
	}
	for _, c := range tree {
		if err := s.tree.Mend(tx, c); err != nil {
			return err
		}
	}
	for _, m := range list {
		if err := s.mendMemory(tx, m); err != nil {
			return err
		}
	}
	return nil
}

// dropLost deletes what leads to a memory or a context that is not there.
func dropLost(tx *kv.Tx, memories map[string]*Record, known map[handleOwner]bool) error {
	var gone []func() error
	drop := func(key string, del func(*kv.Tx, string) error) {
		gone = append(gone, func() error { return del(tx, key) })
	}
	for key := range uses.All(tx, "") {
		if memories[key] == nil {
			drop(key, uses.Delete)
		}
	}
	for key := range versions.All(tx, "") {
		if id, _ := cutKey(key); memories[id] == nil {
			drop(key, versions.Delete)
		}
	}
	for key := range contextMembers.All(tx, "") {
		if c, m := cutMemberKey(key); memories[m] == nil || !known[handleOwner{Kind: KindContext, ID: c}] {
			drop(key, contextMembers.Delete)
		}
	}
	for key, by := range handleOwners.All(tx, "") {
		if !known[*by] {
			drop(key, handleOwners.Delete)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, do := range gone {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// mendMemory gives a memory back what it is looked up by. A handle that another has by now is replaced. One
// that comes from something private is private, also where that was said by a transaction that is lost.
func (s *Store) mendMemory(tx *kv.Tx, m *Record) error {
	own, former, err := mendHandles(tx, handleOwner{Kind: KindMemory, ID: m.ID}, m.Handle, m.Aliases)
	if err != nil {
		return err
	}
	private, err := s.fromPrivate(tx, &m.Source)
	if err != nil || own && len(former) == len(m.Aliases) && (m.Private || !private) {
		return err
	}
	m.Aliases, m.Private = former, m.Private || private
	if !own {
		if err := s.claim(tx, nil, m, ""); err != nil {
			return err
		}
	}
	return Records.Put(tx, m.ID, m)
}
