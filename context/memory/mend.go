package memory

import (
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/context/refs/handle"
	"github.com/ctxd/ctxd/entities/kv"
)

// mend has what memories are looked up by say what the memories say. A damaged journal loses whole
// transactions: the memory that a later one changed is there, and the number that the lost one gave
// to it is not. Without that number a second memory would get it.
func (s *Store) mend(tx *kv.Tx) error {
	memories, list := make(map[string]*Record), []*Record(nil)
	for id, m := range Records.All(tx, "") {
		memories[id] = m
		list = append(list, m)
	}
	var tree []*contextRecord
	known := make(map[owned]bool)
	for id, c := range contexts.All(tx, "") {
		tree = append(tree, c)
		known[owned{ofContext, id}] = true
	}
	if err := tx.Err(); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b *Record) int { return cmp.Compare(a.Number, b.Number) })
	for _, m := range list {
		known[owned{ofMemory, m.ID}] = true
	}
	if err := dropLost(tx, memories, known); err != nil {
		return err
	}
	for _, c := range tree {
		if err := s.mendContext(tx, c); err != nil {
			return err
		}
	}
	for _, m := range list {
		if err := s.mendMemory(tx, m); err != nil {
			return err
		}
	}
	return mendLast(tx)
}

// dropLost deletes what leads to a memory or a context that is not there. Of a number stays that it was
// used.
func dropLost(tx *kv.Tx, memories map[string]*Record, known map[owned]bool) error {
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
	for key := range members.All(tx, "") {
		if c, m := cutKey(key); memories[m] == nil || !known[owned{ofContext, c}] {
			drop(key, members.Delete)
		}
	}
	for key := range statements.All(tx, "") {
		said, id := cutKey(key)
		if m := memories[id]; m == nil || said != saidKey(m.Tier, m.Statement) {
			drop(key, statements.Delete)
		}
	}
	for key, by := range handles.All(tx, "") {
		if !known[*by] {
			drop(key, handles.Delete)
		}
	}
	for key, by := range numbers.All(tx, "") {
		if by.ID != "" && memories[by.ID] == nil {
			drop(key, func(tx *kv.Tx, key string) error { return numbers.Put(tx, key, &numbered{}) })
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

// mendMemory gives a memory back what it is looked up by. A handle that another has by now is replaced.
func (s *Store) mendMemory(tx *kv.Tx, m *Record) error {
	if err := numbers.Put(tx, numberKey(m.Number), &numbered{ID: m.ID}); err != nil {
		return err
	}
	if err := statements.Put(tx, joinKey(saidKey(m.Tier, m.Statement), m.ID), &numbered{}); err != nil {
		return err
	}
	own, former, err := mendHandles(tx, owned{ofMemory, m.ID}, m.Handle, m.Aliases)
	if err != nil || own && len(former) == len(m.Aliases) {
		return err
	}
	m.Aliases = former
	if !own {
		if err := s.claim(tx, nil, m, ""); err != nil {
			return err
		}
	}
	return Records.Put(tx, m.ID, m)
}

func (s *Store) mendContext(tx *kv.Tx, c *contextRecord) error {
	own, former, err := mendHandles(tx, owned{ofContext, c.ID}, c.Handle, c.Aliases)
	if err != nil || own && len(former) == len(c.Aliases) {
		return err
	}
	c.Aliases = former
	if !own {
		if err := s.claimContext(tx, nil, c, nil, ""); err != nil {
			return err
		}
	}
	return contexts.Put(tx, c.ID, c)
}

// mendHandles takes the handles of a record unless another has them. It returns whether the record has
// its own, and which of the former ones.
func mendHandles(tx *kv.Tx, by owned, current string, aliases []string) (own bool, former []string, err error) {
	take := func(h string) (bool, error) {
		has, err := handles.Get(tx, handle.Fold(h))
		if err != nil || has != nil {
			return has != nil && *has == by, err
		}
		return true, handles.Put(tx, handle.Fold(h), &by)
	}
	if own, err = take(current); err != nil {
		return false, nil, err
	}
	former = []string{}
	for _, h := range aliases {
		has, err := take(h)
		if err != nil {
			return false, nil, err
		}
		if has {
			former = append(former, h)
		}
	}
	return own, former, nil
}

// mendLast has the last number be that of the newest memory at least.
func mendLast(tx *kv.Tx) error {
	last, err := lastNumber.Get(tx, lastKey)
	if err != nil {
		return err
	}
	newest := int64(0)
	if last != nil {
		newest = *last
	}
	for _, m := range Records.All(tx, "") {
		newest = max(newest, m.Number)
	}
	if err := tx.Err(); err != nil || newest == 0 {
		return err
	}
	return lastNumber.Put(tx, lastKey, &newest)
}
