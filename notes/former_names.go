package notes

// former*.go keep what notes were called until lately, so that a name in the field of
// an entity leads to its note for a month after the note was renamed: titles, file names and
// paths. Links in texts do not ask for it: editors rewrite them, and one that is not
// rewritten is to be listed as broken.
//
// The records of the collection "note-former" are by id of the note. A name leaves its
// record when the note has it again, when FormerNameTTL is over (DropFormerNames), when there are
// more than maxNames younger ones, or with the note. What is in the records counts: time alone
// changes nothing, so that a store which is opened again says what it said before.
//
// formerNames are what the store of notes holds of them. They are not safe for concurrent use:
// their owner has the lock.

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// FormerNameTTL is how long a name is kept after the note has lost it.
const FormerNameTTL = 30 * 24 * time.Hour

// maxNames is how many names of one note are kept. A file that is moved loses up to three.
const maxNames = 24

// formerRecord are the former names of one note, the youngest last.
type formerRecord struct {
	Names []name `json:"names"`
}

type name struct {
	Key   string    `json:"key"` // the fold of the name
	Until time.Time `json:"until"`
}

var formerRecords = kv.NewCollection[formerRecord]("note-former") // by the id of the note

// keepFormerTx keeps the keys that a note has lost at a time; it has the keys of own.
func keepFormerTx(tx *kv.Tx, id string, lost, own []string, at time.Time) error {
	old, err := formerRecords.Get(tx, id)
	if err != nil {
		return err
	}
	if old == nil {
		old = &formerRecord{}
	}
	list := slices.DeleteFunc(old.Names, func(n name) bool {
		return !n.Until.After(at) || slices.Contains(own, n.Key) || slices.Contains(lost, n.Key)
	})
	for _, key := range lost {
		list = append(list, name{key, at.Add(FormerNameTTL)})
	}
	list = list[max(0, len(list)-maxNames):]
	return put(tx, id, list)
}

func put(tx *kv.Tx, id string, list []name) error {
	if len(list) == 0 {
		return formerRecords.Delete(tx, id)
	}
	return formerRecords.Put(tx, id, &formerRecord{list})
}

// deleteFormerTx forgets the names of a note.
func deleteFormerTx(tx *kv.Tx, id string) error { return formerRecords.Delete(tx, id) }

// DropFormerNames drops the names that have been kept long enough at a time. It is to be called now and
// then: until it is, fields that have such a name still lead to the note. O(n) in the notes
// that have any.
func DropFormerNames(ctx context.Context, db *kv.Store, at time.Time) error {
	over := func(n name) bool { return !n.Until.After(at) }
	due := false
	err := db.View(ctx, func(tx *kv.Tx) error {
		for _, n := range formerRecords.All(tx, "") {
			due = due || slices.ContainsFunc(n.Names, over)
		}
		return tx.Err()
	})
	if err != nil || !due {
		return err
	}
	return db.Update(ctx, func(tx *kv.Tx) error {
		kept := make(map[string][]name)
		for id, n := range formerRecords.All(tx, "") {
			if slices.ContainsFunc(n.Names, over) {
				kept[id] = slices.DeleteFunc(n.Names, over)
			}
		}
		if tx.Err() != nil {
			return tx.Err()
		}
		for id, list := range kept {
			if err := put(tx, id, list); err != nil {
				return err
			}
		}
		return nil
	})
}

// bestFormer returns the note of highest rank, "" when it has 0, and when several have it.
func bestFormer(ids []string, rank func(id string) int) (best string) {
	most := 0
	for _, id := range ids {
		switch r := rank(id); {
		case r > most:
			best, most = id, r
		case r == most:
			best = ""
		}
	}
	return best
}

// formerNames has the notes by their former names. The zero value is empty.
type formerNames struct {
	byKey map[string][]string // ids, sorted
	keys  map[string][]string // by id
}

// loadFormerNames returns the names that are stored.
func loadFormerNames(tx *kv.Tx) (formerNames, error) {
	var s formerNames
	for id, n := range formerRecords.All(tx, "") {
		s.add(id, n)
	}
	return s, tx.Err()
}

// Take makes the set current after a commit, and adds to keys those that may mean another
// note now.
func (s *formerNames) Take(cs *kv.ChangeSet, keys map[string]struct{}) {
	for _, ch := range cs.Changes {
		old, now, ok := formerRecords.Of(ch)
		if !ok {
			continue
		}
		s.Keys(ch.ID, keys)
		s.remove(ch.ID, old)
		s.add(ch.ID, now)
		s.Keys(ch.ID, keys)
	}
}

// Of returns the ids of the notes that had a name with the first of the keys that any had, in
// the order of bytes. They are shared and not to be changed.
func (s *formerNames) Of(keys ...string) []string {
	for _, key := range keys {
		if list := s.byKey[key]; len(list) > 0 {
			return list
		}
	}
	return nil
}

// Keys adds the former names of a note to keys.
func (s *formerNames) Keys(id string, keys map[string]struct{}) {
	for _, key := range s.keys[id] {
		keys[key] = struct{}{}
	}
}

func (s *formerNames) add(id string, n *formerRecord) {
	if n == nil {
		return
	}
	if s.byKey == nil {
		s.byKey, s.keys = make(map[string][]string), make(map[string][]string)
	}
	id = strings.Clone(id) // it may be a part of a record
	for _, name := range n.Names {
		list := s.byKey[name.Key]
		if at, found := slices.BinarySearch(list, id); !found {
			s.byKey[name.Key] = slices.Insert(slices.Clone(list), at, id)
			s.keys[id] = append(s.keys[id], name.Key)
		}
	}
}

func (s *formerNames) remove(id string, n *formerRecord) {
	if n == nil {
		return
	}
	delete(s.keys, id)
	for _, name := range n.Names {
		list := slices.DeleteFunc(slices.Clone(s.byKey[name.Key]), func(other string) bool { return other == id })
		if len(list) == 0 {
			delete(s.byKey, name.Key)
		} else {
			s.byKey[name.Key] = list
		}
	}
}
