package entities

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// loaded is some entities on their way into a Store that opens.
type loaded struct {
	records, effective []*Entity
	dependent          []string // see Store.dependent
}

// load takes in the types and entities of the store, and leaves their names for
// later: both together are the same as to apply them one after the other.
func (s *Store) load() error {
	var lists [][]*Entity
	s.dependent = []string{}
	err := s.db.View(context.Background(), func(tx *kv.Tx) error {
		for id, t := range TypeRecords.All(tx, "") {
			s.types[id] = t
		}
		s.sortTypes()
		for id, i := range inherited.All(tx, "") {
			s.inherited[id] = i.NoteID
		}
		if tx.Err() != nil {
			return tx.Err()
		}
		for b := range kv.LoadAhead(tx, EntityRecords, s.read) {
			lists = append(lists, b.records)
			s.dependent = append(s.dependent, b.dependent...)
			for i, now := range b.effective {
				record := b.records[i]
				s.byID[record.ID] = now
				s.countPrivate(nil, now)
				if now != record {
					s.records[record.ID] = record
				}
				s.enterNote(record)
				if now.Live() {
					s.enterType(now)
				}
			}
		}
		return tx.Err()
	})
	s.mu.Later(func() { s.loadNames(lists) })
	return err
}

// loadNames loads the names of entities.
func (s *Store) loadNames(lists [][]*Entity) {
	batches := make([]*names.Batch, len(lists))
	var readers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(lists)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(lists)); i = next.Add(1) - 1 {
				batches[i] = s.readNames(lists[i])
			}
		})
	}
	readers.Wait()
	s.names = names.Load(batches)
}

// readNames reads the names of some entities as they are stored. Whether they are private
// depends on other records, and is known by now.
func (s *Store) readNames(records []*Entity) *names.Batch {
	b := new(names.Batch)
	b.Reserve(len(records))
	kinds := make(map[string]string) // of types, folded
	for _, record := range records {
		kind, ok := kinds[record.Type]
		if !ok {
			kind = Fold(record.Type)
			kinds[record.Type] = kind
		}
		all := make([]names.Name, 0, 1+len(record.Aliases))
		all = append(all, names.Name{Text: record.Name, Fold: Fold(record.Name)})
		for _, a := range record.Aliases {
			all = append(all, names.Name{Text: a, Fold: Fold(a)})
		}
		b.Add(names.Record{
			ID: record.ID, Kind: kind, Changed: record.UpdatedAt, Hidden: !record.Live(),
			Private: s.byID[record.ID].Private,
		}, all)
	}
	return b
}

// read works out what shows of entities. It is called by several goroutines at a
// time; nothing resolves links yet.
func (s *Store) read(_ []string, records []*Entity) *loaded {
	b := &loaded{records: records, effective: make([]*Entity, len(records))}
	for i, record := range records {
		b.effective[i] = s.effective(record)
		if record.NoteID != "" || hasLink(record) || s.hasName(record) {
			b.dependent = append(b.dependent, record.ID)
		}
	}
	return b
}
