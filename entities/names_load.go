package entities

import (
	"sync"
	"time"
)

// NameBatch is some records on their way into a NameIndex. Batches are made by
// several goroutines, each its own.
type NameBatch struct {
	list         []named
	whole, words []nameStart // their n is the place in list
}

// Reserve makes room for records.
func (b *NameBatch) Reserve(records int) {
	b.list = make([]named, 0, records)
	b.whole = make([]nameStart, 0, records)
	b.words = make([]nameStart, 0, 3*records)
}

// Add enters a record, which is new and in no other batch. The batch keeps names.
func (b *NameBatch) Add(id, kind string, changed time.Time, names []Name) {
	b.list = append(b.list, named{id: id, names: names, time: changed, kind: kind})
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
	x := &NameIndex{byID: make(map[string]uint32, records), list: make([]*named, 0, records)}
	starts := [2][]nameStart{make([]nameStart, 0, whole), make([]nameStart, 0, words)}
	for _, b := range batches {
		first := uint32(len(x.list))
		for i, list := range [2][]nameStart{b.whole, b.words} {
			for _, s := range list {
				s.n += first
				starts[i] = append(starts[i], s)
			}
		}
		for i := range b.list {
			x.list = append(x.list, &b.list[i])
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		for i, n := range x.list {
			x.byID[n.id] = uint32(i)
		}
		x.whole.load(x.list, starts[0])
	})
	x.words.load(x.list, starts[1])
	both.Wait()
	return x
}
