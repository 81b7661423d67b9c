package entities

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// A reference may be written as a name: in brackets, or as a text that is the id of no
// record. The notes are asked first what it means. What they have no entity for is looked
// for among the names of the entities, without those of files: a name in one vault means
// nothing in another, and within a vault the notes have answered.

// resolveText returns the id that a reference in a field means, or text itself when it is
// an id, and when nothing is called so.
func (s *Store) resolveText(f Field, text, from string) string {
	target, isLink := record.LinkTarget(text)
	if !isLink {
		if !record.NeverLed(text) || s.isRecord(f, text) {
			return text
		}
		target = text
	}
	toNote := f.Type.Info().To == record.ToNote
	noteID, id := s.resolve.Resolve(target, from)
	if toNote {
		id = noteID
	}
	if id == "" && !toNote {
		keys := s.resolve.Keys(target)
		if len(keys) > 0 {
			id = s.called(keys[0], f.TargetType)
		}
	}
	if id == "" && s.resolve.Former != nil {
		id = s.resolve.Former(target, from, toNote)
	}
	if id == "" {
		return text
	}
	return id
}

// isRecord reports whether a text is the id of a record that a field can refer to.
func (s *Store) isRecord(f Field, text string) bool {
	if f.Type.Info().To == record.ToNote {
		return s.resolve.Note != nil && s.resolve.Note(text)
	}
	return s.byID[text] != nil
}

// called returns the id of the entity of a type, or of any type for "", that has a name
// or an alias of that fold. Live ones go before those that are archived, then public ones
// before private ones, which change nothing for who may not know of them, then names
// before aliases. Among several that are equal in this none is chosen.
func (s *Store) called(key, typeName string) (id string) {
	typeName = Fold(typeName)
	best, several := 0, false
	for _, e := range s.calledEarly(key) {
		if e.VaultBacked || typeName != "" && Fold(e.Type) != typeName {
			continue
		}
		rank := 1
		if Fold(e.Name) != key {
			rank++
		}
		if e.Private {
			rank += 2
		}
		if !e.Live() {
			rank += 4
		}
		if best == 0 || rank < best {
			best, id, several = rank, e.ID, false
		} else if rank == best && e.ID != id { // two of its names may have one fold
			several = true
		}
	}
	if several {
		return ""
	}
	return id
}

// calledEarly returns the entities with a name or an alias of that fold. While a store
// opens, their names are not loaded, and few are asked for: those of files are left out.
func (s *Store) calledEarly(key string) (list []*Entity) {
	if s.names != nil {
		for _, id := range s.names.Exact(key, nil) {
			list = append(list, s.byID[id])
		}
		return list
	}
	if s.early == nil {
		s.early = make(map[string][]string)
		for id, e := range s.byID {
			if !e.VaultBacked {
				eachCall(e, func(key string) { s.early[key] = append(s.early[key], id) })
			}
		}
	}
	for _, id := range s.early[key] {
		list = append(list, s.byID[id])
	}
	return list
}

// eachCall visits the folds of the name and the aliases of an entity.
func eachCall(e *Entity, visit func(key string)) {
	visit(Fold(e.Name))
	for _, alias := range e.Aliases {
		visit(Fold(alias))
	}
}

// queueNames notes which names may mean another entity since old has become now; either may
// be nil.
func (s *Store) queueNames(old, now *Entity) {
	if len(s.linked) == 0 || old != nil && now != nil && old.Type == now.Type && old.Name == now.Name &&
		old.Live() == now.Live() && old.Private == now.Private && old.VaultBacked == now.VaultBacked &&
		slices.Equal(old.Aliases, now.Aliases) {
		return
	}
	again := func(key string) {
		if s.linked[key] != nil {
			s.renamedKeys = append(s.renamedKeys, key)
		}
	}
	for _, e := range [...]*Entity{old, now} {
		if e == nil {
			continue
		}
		if (old == nil || now == nil) && record.NeverLed(e.ID) {
			again(Fold(e.ID))
		}
		if !e.VaultBacked {
			eachCall(e, again)
		}
	}
}

// relinkNames works out the entities anew that refer to others by names which may mean another
// one since the last time, and tells changed which of them are different.
func (s *Store) relinkNames(changed func(id string, old, now *Entity)) {
	for len(s.renamedKeys) > 0 {
		want := make(map[string]struct{})
		for _, key := range s.renamedKeys {
			maps.Copy(want, s.linked[key])
		}
		s.renamedKeys = nil
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if old, now := s.apply(id, s.record(id)); old != now {
				changed(id, old, now)
			}
		}
	}
}

// relinkNamesIn is relinkNames for what a commit has changed.
func (s *Store) relinkNamesIn(cs *kv.ChangeSet) {
	if len(s.renamedKeys) > 0 {
		s.relinkNames(changesIn(cs))
	}
}

// changesIn returns what puts a change of an entity into a change set, which has one of
// each at most.
func changesIn(cs *kv.ChangeSet) (put func(id string, old, now *Entity)) {
	position := make(map[string]int)
	for i, ch := range cs.Changes {
		if _, _, ok := EntityRecords.Of(ch); ok {
			position[ch.ID] = i
		}
	}
	return func(id string, old, now *Entity) {
		if i, ok := position[id]; ok {
			first, _, _ := EntityRecords.Of(cs.Changes[i])
			cs.Changes[i] = entityChange(id, first, now)
			return
		}
		position[id] = len(cs.Changes)
		cs.Changes = append(cs.Changes, entityChange(id, old, now))
	}
}

// eachName visits the texts in the references of an entity of type t, which may be nil,
// that may be names: neither links nor ids as they are made here.
func eachName(e *Entity, t *Type, visit func(text string)) {
	if t == nil || !slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Type.IsRef() }) {
		return
	}
	each := func(text string) {
		if _, isLink := record.LinkTarget(text); !isLink && text != "" && record.NeverLed(text) {
			visit(text)
		}
	}
	for name, value := range e.Fields {
		f, ok := t.Field(name)
		if !ok || !f.Type.IsRef() {
			continue
		}
		id, isText := value.(string)
		if isText && !record.NeverLed(id) { // most are (BenchmarkOpen_References)
			continue
		}
		shown, err := f.Check(value)
		if err != nil {
			continue
		}
		switch v := shown.(type) {
		case string:
			each(v)
		case []string:
			for _, text := range v {
				each(text)
			}
		}
	}
}

// hasName reports whether a reference of an entity may be a name.
func (s *Store) hasName(e *Entity) (found bool) {
	eachName(e, s.types[Fold(e.Type)].Of(e), func(string) { found = true })
	return found
}

// enterNames notes by which names an entity of type t refers to others.
func (s *Store) enterNames(e *Entity, t *Type) {
	eachName(e, t, func(text string) {
		key := Fold(text)
		if s.linked[key] == nil {
			s.linked[strings.Clone(key)] = make(map[string]struct{})
		}
		s.linked[key][e.ID] = struct{}{}
	})
}

// leaveNames takes back enterNames. A link may be found under the same key: who calls it
// enters the links again.
func (s *Store) leaveNames(e *Entity, t *Type) {
	eachName(e, t, func(text string) { s.unlink(Fold(text), e.ID) })
}

func (s *Store) unlink(key, id string) {
	delete(s.linked[key], id)
	if len(s.linked[key]) == 0 {
		delete(s.linked, key)
	}
}

// retype takes other declarations of the types of a name in, nil for some that are gone:
// which of the texts of their entities are references is another matter then.
func (s *Store) retype(key string, t *NamedTypes) {
	before := s.types[key]
	if t == nil {
		delete(s.types, key)
	} else {
		s.types[key] = t
	}
	if s.resolve.Keys == nil {
		return
	}
	refers := func(named *NamedTypes) bool {
		return slices.ContainsFunc(named.All(), func(t *Type) bool {
			return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Type.IsRef() })
		})
	}
	if !refers(before) && !refers(t) {
		return
	}
	for id, e := range s.byID {
		if Fold(e.Type) == key {
			stored := s.record(id)
			s.leaveNames(stored, before.Of(stored))
			s.enterLinks(stored)
		}
	}
}
