package entities

import (
	"context"

	"github.com/ctxd/ctxd/entities/kv"
)

// loaded is some entities on their way into a Store that opens.
type loaded struct {
	records, effective []*Entity
	names              NameBatch
	dependent          []string // see Store.dependent
}

// load takes in the types and entities of the store: the same as to apply them one
// after the other.
func (s *Store) load() error {
	var names []*NameBatch
	s.dependent = []string{}
	err := s.db.View(context.Background(), func(tx *kv.Tx) error {
		for id, t := range TypeRecords.All(tx, "") {
			s.types[id] = t
		}
		s.sortTypes()
		if tx.Err() != nil {
			return tx.Err()
		}
		for b := range kv.LoadAhead(tx, EntityRecords, s.read) {
			names = append(names, &b.names)
			s.dependent = append(s.dependent, b.dependent...)
			for i, now := range b.effective {
				record := b.records[i]
				s.byID[record.ID] = now
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
	s.names = LoadNames(names)
	return err
}

// read works out what shows of entities. It is called by several goroutines at a
// time; nothing resolves links yet.
func (s *Store) read(_ []string, records []*Entity) *loaded {
	b := &loaded{records: records, effective: make([]*Entity, len(records))}
	b.names.Reserve(len(records))
	kinds := make(map[string]string) // of types, folded
	for i, record := range records {
		b.effective[i] = s.effective(record)
		if record.NoteID != "" || record.hasLink() {
			b.dependent = append(b.dependent, record.ID)
		}
		kind, ok := kinds[record.Type]
		if !ok {
			kind = Fold(record.Type)
			kinds[record.Type] = kind
		}
		names := make([]Name, 0, 1+len(record.Aliases))
		names = append(names, Name{record.Name, Fold(record.Name)})
		for _, a := range record.Aliases {
			names = append(names, Name{a, Fold(a)})
		}
		b.names.Add(NameRecord{ID: record.ID, Kind: kind, Changed: record.UpdatedAt, Hidden: !b.effective[i].Live()}, names)
	}
	return b
}
