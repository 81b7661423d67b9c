package names

import (
	"slices"
	"sync"
)

// Batch is some records on their way into an Index. Batches are made by
// several goroutines, each its own.
type Batch struct {
	list         []named // kind is the place in kinds
	ranks        [readers][]uint64
	kinds        []string
	whole, words []nameStart // their n is the place in list
}

// Reserve makes room for records.
func (b *Batch) Reserve(records int) {
	b.list = make([]named, 0, records)
	for who := range b.ranks {
		b.ranks[who] = make([]uint64, 0, records)
	}
	b.whole = make([]nameStart, 0, records)
	b.words = make([]nameStart, 0, 3*records)
}

// Add enters a record, which is new and in no other batch. The batch keeps names.
func (b *Batch) Add(r Record, names []Name) {
	for i := range names {
		names[i].Fold = typedAs(names[i].Fold)
	}
	kind := slices.Index(b.kinds, r.Kind) // there are few, and the last one is likely
	if kind < 0 {
		kind = len(b.kinds)
		b.kinds = append(b.kinds, r.Kind)
	}
	b.list = append(b.list, named{id: r.ID, names: names, kind: uint32(kind)})
	for who, rank := range ranksOf(r) {
		b.ranks[who] = append(b.ranks[who], rank)
	}
	n := &b.list[len(b.list)-1]
	for s := range n.starts(uint32(len(b.list) - 1)) {
		if s.word == 0 {
			b.whole = append(b.whole, s)
		} else {
			b.words = append(b.words, s)
		}
	}
}

// Load returns the index that the records of all batches make.
func Load(batches []*Batch) *Index {
	records, whole, words := 0, 0, 0
	for _, b := range batches {
		records, whole, words = records+len(b.list), whole+len(b.whole), words+len(b.words)
	}
	x := New()
	x.byID, x.list = make(map[string]uint32, records), make([]named, 0, records)
	x.letters, x.pairs = make([]uint64, records), make([][2]uint64, records)
	for who := range x.ranks {
		x.ranks[who] = make([]uint64, 0, records)
	}
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
		for who := range x.ranks {
			x.ranks[who] = append(x.ranks[who], b.ranks[who]...)
		}
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
