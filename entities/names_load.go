package entities

import (
	"slices"
	"sync"
)

// NameBatch is some records on their way into a NameIndex. Batches are made by
// several goroutines, each its own.
type NameBatch struct {
	list         []named // kind is the place in kinds
	ranks        []uint64
	kinds        []string
	whole, words []nameStart // their n is the place in list
}

// Reserve makes room for records.
func (b *NameBatch) Reserve(records int) {
	b.list, b.ranks = make([]named, 0, records), make([]uint64, 0, records)
	b.whole = make([]nameStart, 0, records)
	b.words = make([]nameStart, 0, 3*records)
}

// Add enters a record, which is new and in no other batch. The batch keeps names.
func (b *NameBatch) Add(r NameRecord, names []Name) {
	kind := slices.Index(b.kinds, r.Kind) // there are few, and the last one is likely
	if kind < 0 {
		kind = len(b.kinds)
		b.kinds = append(b.kinds, r.Kind)
	}
	b.list = append(b.list, named{id: r.ID, names: names, kind: uint32(kind)})
	b.ranks = append(b.ranks, rankOf(r))
	n := &b.list[len(b.list)-1]
	for s := range n.starts(uint32(len(b.list) - 1)) {
		if s.word == 0 {
			b.whole = append(b.whole, s)
		} else {
			b.words = append(b.words, s)
		}
	}
}

// LoadNames returns the index that the records of all batches make.
func LoadNames(batches []*NameBatch) *NameIndex {
	records, whole, words := 0, 0, 0
	for _, b := range batches {
		records, whole, words = records+len(b.list), whole+len(b.whole), words+len(b.words)
	}
	x := NewNameIndex()
	x.byID, x.list = make(map[string]uint32, records), make([]named, 0, records)
	x.ranks, x.letters, x.pairs = make([]uint64, 0, records), make([]uint64, records), make([][2]uint64, records)
	starts := [2][]nameStart{make([]nameStart, 0, whole), make([]nameStart, 0, words)}
	for _, b := range batches {
		first := uint32(len(x.list))
		for i, list := range [2][]nameStart{b.whole, b.words} {
			for _, s := range list {
				s.n += first
				starts[i] = append(starts[i], s)
			}
		}
		for _, n := range b.list {
			n.kind = x.kind(b.kinds[n.kind])
			x.list = append(x.list, n)
		}
		x.ranks = append(x.ranks, b.ranks...)
	}
	var both sync.WaitGroup
	both.Go(func() {
		for i := range x.list {
			x.byID[x.list[i].id] = uint32(i)
			x.mark(uint32(i))
		}
		x.whole.load(x, starts[0])
	})
	x.words.load(x, starts[1])
	both.Wait()
	return x
}
