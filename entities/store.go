package entities

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// The collections that the records lie in.
var (
	TypeRecords   = kv.NewCollection[NamedTypes]("type") // by the fold of the name
	EntityRecords = kv.NewCollection("entity", kv.Codec[Entity]{Encode: encode, Decode: decode})
)

// Options are what a Store needs from elsewhere. The zero value works.
type Options struct {
	// CheckQuery checks the query of a computed field. Findings of severity
	// error refuse the type. nil: queries are not checked.
	CheckQuery func(t *Type, f Field) []Diagnostic
	Now        func() time.Time // nil: time.Now
	NewID      func() string    // nil: random UUIDs
	Limits     Limits
	// Hide is told of an entity in the transaction in which it becomes private, for what was made of it. nil: nobody asks.
	Hide func(tx *kv.Tx, e *Entity) error
}

// A Resolver knows what links in fields mean.
type Resolver struct {
	// Resolve returns the id of the note that the text between the brackets of
	// a link names, and that of the entity made from it, each empty when there
	// is none. from is the id of the note that the field stands in.
	Resolve func(link, from string) (noteID, entityID string)
	// Former returns the id of the note that the text in a link named until lately, or, unless
	// toNote, that of the entity made from it. It is empty when there is none, and when a note
	// is called so now.
	Former func(link, from string, toNote bool) (id string)
	// Keys returns the keys under which Relink is told that the meaning of a
	// link may have changed: first the fold of the name in it, none for a link without one.
	Keys func(link string) []string
	Note func(id string) bool // whether there is a note of that id
	// Private reports whether the note of that id is private: what is made of
	// it is private as well.
	Private func(noteID string) bool
	// Source is Private inside a transaction, which sees what is not committed yet.
	Source func(tx *kv.Tx, noteID string) (Source, error)
	// Makes reports whether an entity is the one that is made from a note.
	Makes func(tx *kv.Tx, noteID, entityID string) (bool, error)
}

// Store keeps types and entities. Open makes one.
type Store struct {
	db   *kv.Store
	opts Options
	past *PastNames // of notes too

	mu      kv.LoadLock             // guards everything below; at first all but names is loaded
	types   map[string]*NamedTypes  // by the fold of the name
	sorted  []*Type                 // by name
	byID    map[string]*Entity      // effective, archived ones included
	records map[string]*Entity      // as stored, only where it differs from the effective one
	byType  map[string]*typeMembers // by the fold of the type's name
	names   *names.Index            // archived ones included; nil until it is loaded
	resolve Resolver
	linked  map[string]map[string]struct{} // key of a link or name to the ids of the entities that refer so
	// renamedKeys are keys of linked that may mean another entity since a change under way.
	renamedKeys []string
	early       map[string][]string // ids by the folds of names, while SetResolver needs them
	// inherited are the entities that are private because of a source that they have no
	// more, with the ids of the notes.
	inherited map[string]string
	byNote    map[string]map[string]struct{} // id of a note to the ids of the entities made from it
	gen       uint64                         // counts changes of types and entities

	// dependent are the entities about which a Resolver has to be asked, as they
	// were loaded. It is nil when that is not known, and not used once there is one.
	dependent []string
	schema    uint64 // counts changes of types

	publicUses publicUses
	privates   atomic.Int64 // private entities
}

// Privates returns the number of private entities, archived ones included. It takes no
// lock.
func (s *Store) Privates() int64 { return s.privates.Load() }

// Open loads the types and entities of db and keeps them current from then on.
func Open(db *kv.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	opts.Limits = opts.Limits.withDefaults()
	s := &Store{
		db: db, opts: opts,
		types: make(map[string]*NamedTypes), byID: make(map[string]*Entity), records: make(map[string]*Entity),
		byType: make(map[string]*typeMembers),
		linked: make(map[string]map[string]struct{}), byNote: make(map[string]map[string]struct{}),
		inherited: make(map[string]string),
	}
	var err error
	s.past, err = OpenPast(db)
	if err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	db.OnCommit(s.commit)
	return s, nil
}

// LoadRest loads what Open leaves for later: the names. Calls that need them see to
// it themselves and wait; it is for when there is time.
func (s *Store) LoadRest() { s.mu.LoadRest() }

// Limits returns the sizes that records may have.
func (s *Store) Limits() Limits { return s.opts.Limits }

// Get returns the entity of that id, also from the archive, or nil. O(1).
func (s *Store) Get(id string) *Entity {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.byID[id]
}

// GetAll appends the entities of these ids to list, nil for an unknown one, and
// returns the generation (see Gen) that all of them are of. Changes wait for it.
func (s *Store) GetAll(ids []string, list []*Entity) (all []*Entity, gen uint64) {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	for _, id := range ids {
		list = append(list, s.byID[id])
	}
	return list, s.gen
}

// Type returns the type that entities of that name have which come from no vault (see
// NamedTypes.In), compared without case, or nil.
func (s *Store) Type(name string) *Type { return s.TypesNamed(name).In("", false) }

// TypeOf returns the type of an entity, or nil. O(1).
func (s *Store) TypeOf(e *Entity) *Type { return s.TypesNamed(e.Type).Of(e) }

// TypesNamed returns the types of that name, compared without case: nil for none. They
// are shared and not to be changed. O(1).
func (s *Store) TypesNamed(name string) *NamedTypes {
	key := Fold(name)
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.types[key]
}

// Types returns all types by name, of one name that of everybody first, then by vault. The
// slice is shared and not to be changed.
func (s *Store) Types() []*Type {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.sorted
}

// CompareEntities orders entities by name, natural order, then by id.
func CompareEntities(a, b *Entity) int {
	if c := CompareNatural(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// All yields every entity that there is when it begins, archived ones included, in no order. The store may be used and
// changed meanwhile. O(entities).
func (s *Store) All() iter.Seq[*Entity] {
	return func(yield func(*Entity) bool) {
		s.mu.Early().RLock()
		all := slices.AppendSeq(make([]*Entity, 0, len(s.byID)), maps.Values(s.byID))
		s.mu.Early().RUnlock()
		slices.Values(all)(yield)
	}
}

// Count returns the number of live entities of a type, or of all types for "".
func (s *Store) Count(typeName string) int {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	if typeName != "" {
		if m := s.byType[Fold(typeName)]; m != nil {
			return len(m.ids)
		}
		return 0
	}
	n := 0
	for _, m := range s.byType {
		n += len(m.ids)
	}
	return n
}

// Gen counts the changes of types and entities, links in fields included. Two
// equal values mean that nothing changed in between.
func (s *Store) Gen() uint64 {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.gen
}

// SchemaGen counts the changes of types.
func (s *Store) SchemaGen() uint64 {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.schema
}
