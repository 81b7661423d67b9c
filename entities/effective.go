package entities

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
)

// commit is the Store's part in a commit: it takes the new types and entities
// in and puts effective entities into the change set for the views behind it.
func (s *Store) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dependent = nil
	retyped := make(map[string]bool)
	for _, ch := range cs.Changes {
		_, t, ok := TypeRecords.Of(ch)
		if !ok {
			continue
		}
		s.retype(ch.ID, t)
		retyped[ch.ID] = true
	}
	changed := make(map[string]bool)
	inheriting := s.takeInherited(cs)
	for i, ch := range cs.Changes {
		_, record, ok := EntityRecords.Of(ch)
		if !ok {
			continue
		}
		old, now := s.apply(ch.ID, record)
		cs.Changes[i] = entityChange(ch.ID, old, now)
		changed[ch.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(inheriting)) {
		if record := s.record(id); record != nil && !changed[id] {
			if old, now := s.apply(id, record); old != now {
				cs.Changes = append(cs.Changes, entityChange(id, old, now))
			}
			changed[id] = true
		}
	}
	if len(retyped) > 0 {
		s.schema++
		s.sortTypes()
		s.reconsider(cs, changed, func(e *Entity) bool { return retyped[Fold(e.Type)] })
	}
	s.relinkNamesIn(cs)
	if len(retyped)+len(changed) > 0 {
		s.gen++
	}
}

// SetResolver gives the Store the function that finds what links in fields
// mean, and resolves them all. It is to be called once, before the first
// write; resolve is called with the Store locked and must not call it.
func (s *Store) SetResolver(resolve Resolver) {
	s.mu.Early().Lock()
	defer s.mu.Early().Unlock()
	s.resolve = resolve
	if s.dependent == nil {
		s.dependent = slices.Collect(maps.Keys(s.byID))
	}
	for _, id := range s.dependent {
		s.enterLinks(s.record(id))
	}
	for _, id := range s.dependent {
		s.apply(id, s.record(id))
	}
	s.relinkNames(func(string, *Entity, *Entity) {})
	s.dependent, s.early = nil, nil
	s.gen++
}

// Relink looks again at the links with the given keys, because what they mean
// may have changed, and at the entities made from the given notes, whose links
// count from there; it adds the entities that changed by it to cs. It is called
// by the room that resolves, while a commit is under way.
func (s *Store) Relink(cs *kv.ChangeSet, keys, noteIDs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := make(map[string]bool)
	for _, key := range keys {
		for id := range s.linked[key] {
			want[id] = true
		}
	}
	for _, note := range noteIDs {
		for id := range s.byNote[note] {
			want[id] = true
		}
		if len(s.linked) > 0 && record.NeverLed(note) { // a reference may have its id
			for id := range s.linked[Fold(note)] {
				want[id] = true
			}
		}
	}
	if len(want) == 0 {
		return
	}
	put := changesIn(cs)
	change := func(id string, old, now *Entity) {
		put(id, old, now)
		s.gen++
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if old, now := s.apply(id, s.record(id)); old != now {
			change(id, old, now)
		}
	}
	s.relinkNames(change)
}

// reconsider works out the effective entities anew that pick chooses, and adds
// them to cs in id order, also those that are as they were: what a view made of
// an unchanged value may depend on the type of its field.
func (s *Store) reconsider(cs *kv.ChangeSet, done map[string]bool, pick func(*Entity) bool) {
	var ids []string
	for id, e := range s.byID {
		if !done[id] && pick(e) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		old, now := s.apply(id, s.record(id))
		cs.Changes = append(cs.Changes, entityChange(id, old, now))
	}
}

// record returns the entity as it is stored.
func (s *Store) record(id string) *Entity {
	if r := s.records[id]; r != nil {
		return r
	}
	return s.byID[id]
}

// apply takes the stored record of id in, nil for a deleted one, and returns
// the effective entities before and after. They are the same pointer when
// nothing that shows has changed.
func (s *Store) apply(id string, record *Entity) (old, now *Entity) {
	old = s.byID[id]
	if record == nil {
		if old != nil {
			s.leaveLinks(s.record(id))
			s.forget(old)
			s.countPrivate(old, nil)
			delete(s.byID, id)
			delete(s.records, id)
			s.names.Delete(id)
			s.queueNames(old, nil)
		}
		return old, nil
	}
	if before := s.record(id); before != record {
		s.leaveLinks(before)
		s.enterLinks(record)
	}
	now = s.effective(record)
	if now == record {
		delete(s.records, id)
	} else {
		delete(s.records, id) // as below
		s.records[id] = record
		if old != nil && old.Version == now.Version && reflect.DeepEqual(old, now) {
			return old, old
		}
	}
	if now == old {
		return old, old
	}
	if old != nil {
		s.forget(old)
	}
	delete(s.byID, id) // a map keeps the key it has, and with it what that is a part of
	s.byID[id] = now
	s.countPrivate(old, now)
	if s.names != nil { // else a Resolver is set before they are loaded, which changes none
		s.names.Put(names.Record{
			ID: id, Kind: Fold(now.Type), Changed: now.UpdatedAt, Hidden: !now.Live(),
			Private: now.Private,
		}, append([]string{now.Name}, now.Aliases...)...)
	}
	if now.Live() {
		s.enterType(now)
	}
	s.queueNames(old, now)
	return old, now
}

// countPrivate counts the private entities as one becomes another.
func (s *Store) countPrivate(old, now *Entity) {
	if old != nil && old.Private {
		s.privates.Add(-1)
	}
	if now != nil && now.Private {
		s.privates.Add(1)
	}
}

// enterType puts an effective entity into the list of its type.
func (s *Store) enterType(e *Entity) {
	key := Fold(e.Type)
	m := s.byType[key]
	if m == nil {
		m = &typeMembers{ids: make(map[string]*Entity)}
		s.byType[strings.Clone(key)] = m
	}
	m.put(e)
}

// enterNote notes that a record was made from its note.
func (s *Store) enterNote(record *Entity) {
	if record.NoteID == "" {
		return
	}
	made := s.byNote[record.NoteID]
	if made == nil {
		made = make(map[string]struct{})
		s.byNote[record.NoteID] = made
	}
	made[record.ID] = struct{}{}
}

// enterLinks notes under which keys the links of a record are found.
func (s *Store) enterLinks(record *Entity) {
	s.enterNote(record)
	s.eachLinkKey(record, func(key string) {
		if s.linked[key] == nil {
			s.linked[key] = make(map[string]struct{})
		}
		s.linked[key][record.ID] = struct{}{}
	})
	if s.resolve.Keys != nil {
		s.enterNames(record, s.types[Fold(record.Type)].Of(record))
	}
}

func (s *Store) leaveLinks(record *Entity) {
	if record != nil && record.NoteID != "" {
		delete(s.byNote[record.NoteID], record.ID)
		if len(s.byNote[record.NoteID]) == 0 {
			delete(s.byNote, record.NoteID)
		}
	}
	s.eachLinkKey(record, func(key string) { s.unlink(key, record.ID) })
	if record != nil && s.resolve.Keys != nil {
		s.leaveNames(record, s.types[Fold(record.Type)].Of(record))
	}
}

func (s *Store) eachLinkKey(record *Entity, visit func(key string)) {
	if record == nil || s.resolve.Keys == nil {
		return
	}
	eachLink(record, func(link string) bool {
		for _, key := range s.resolve.Keys(link) {
			visit(key)
		}
		return true
	})
}

// eachLink visits the targets of the links in the fields of an entity until visit
// returns false.
func eachLink(e *Entity, visit func(link string) bool) {
	for _, value := range e.Fields {
		switch v := value.(type) {
		case string:
			if link, ok := record.LinkTarget(v); ok && !visit(link) {
				return
			}
		case []string:
			for _, text := range v {
				if link, ok := record.LinkTarget(text); ok && !visit(link) {
					return
				}
			}
		}
	}
}

func hasLink(e *Entity) (found bool) {
	eachLink(e, func(string) bool {
		found = true
		return false
	})
	return found
}

// forget takes an effective entity out of the list of its type.
func (s *Store) forget(e *Entity) {
	key := Fold(e.Type)
	if m := s.byType[key]; m != nil {
		m.remove(e.ID)
		if len(m.ids) == 0 {
			delete(s.byType, key)
		}
	}
}

// effective returns record as it is to be seen: links resolved, values that
// the type does not declare left out. It returns record itself when there is
// no difference, which is the common case.
func (s *Store) effective(record *Entity) *Entity {
	t := s.types[Fold(record.Type)].Of(record)
	var fields Values
	change := func() {
		if fields == nil {
			fields = maps.Clone(record.Fields)
		}
	}
	for name, value := range record.Fields {
		f, ok := Field{}, false
		if t != nil {
			f, ok = t.Field(name)
		}
		if !ok {
			change()
			delete(fields, name)
			continue
		}
		// The type may have changed after the value was written.
		shown, err := f.Check(value)
		if text, ok := f.KeptAsText(value); ok {
			shown, err = text, nil
		}
		if err != nil || shown == nil {
			change()
			delete(fields, name)
			continue
		}
		if f.Name != name {
			// The field was declared anew in another spelling; a value under
			// the present one is newer.
			change()
			delete(fields, name)
			if _, newer := record.Fields[f.Name]; newer {
				continue
			}
		}
		if resolved := s.resolveValue(f, shown, record.NoteID); f.Name != name || !sameValue(resolved, value) {
			change()
			fields[f.Name] = resolved
		}
	}
	_, private := s.inherited[record.ID]
	private = private || record.Private ||
		s.resolve.Private != nil && record.NoteID != "" && s.resolve.Private(record.NoteID)
	if fields == nil && private == record.Private {
		return record
	}
	now := *record
	now.Private = private
	if fields != nil {
		now.Fields = fields
	}
	return &now
}

// sameValue compares two stored values.
func sameValue(a, b any) bool {
	if la, ok := a.([]string); ok {
		lb, ok := b.([]string)
		return ok && slices.Equal(la, lb)
	}
	if _, ok := b.([]string); ok {
		return false
	}
	return a == b
}

// resolveValue replaces the links and names in a reference by the ids they mean; one
// without a target stays as it is.
func (s *Store) resolveValue(f Field, value any, from string) any {
	if s.resolve.Resolve == nil || !f.Type.IsRef() {
		return value
	}
	if text, ok := value.(string); ok {
		return s.resolveText(f, text, from)
	}
	list, _ := value.([]string)
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = s.resolveText(f, text, from)
	}
	return out
}

func (s *Store) sortTypes() {
	byName := slices.SortedFunc(maps.Values(s.types),
		func(a, b *NamedTypes) int { return CompareNatural(a.Name, b.Name) })
	s.sorted = make([]*Type, 0, len(byName))
	for _, n := range byName {
		s.sorted = append(s.sorted, n.All()...)
	}
}

// entityChange is the change of an entity with nil where there is none.
func entityChange(id string, old, now *Entity) kv.Change {
	ch := kv.Change{Collection: EntityRecords.Name(), ID: id}
	if old != nil {
		ch.Old = old
	}
	if now != nil {
		ch.New = now
	}
	return ch
}
