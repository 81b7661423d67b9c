package wql

// index*.go keep, for a field of a type of entities, who has which value.
//
// An indexSet holds the indexes of one engine. The planner chooses between indexes by Count,
// which is O(1), or O(log² n) for one in order, and takes rows from the best by Gather. An index
// is built when a query first wants it (O(n), in order O(n log n)), kept current by Apply at the
// cost of what a commit changed, and dropped when all have more than half a million entries and
// it was not asked for longest. It is never used when it might show another state than the store.
//
// An index of classInOrder has every entity of the type as ORDER BY has them, and is
// walked from either end (indexWalk).
//
// An indexClass is the form in which an index holds values, because what a value equals
// depends on what it is compared with: hashKey and orderedKey say which key a value
// has in it. Programs and indexes read stored fields by the same loadField, so that an
// index holds what a comparison would see.
//
// # Concurrency
//
// An indexSet may be used by any number of goroutines. Current, and what it returns, are to
// be used between RLock and RUnlock; Build and Apply take the lock themselves.

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// indexClass is the form in which an index holds the values of a field. What a value
// equals depends on what it is compared with: the text "10" equals 10 and "010"
// does so too, but "10" and "010" are different texts. So a field may have an
// index of each class, and a comparison asks that of its own.
type indexClass uint8

// Classes. From Number on their keys have an order.
const (
	classExact   indexClass = iota // texts in NFC, references
	classFolded                    // what is compared without case: select and type
	classBool                      // what is true or false
	classInOrder                   // all entities of the type, as ORDER BY has them
	classNumber                    // from here on in order
	classDay                       // calendar days
	classMicros                    // points in time
)

// Ordered reports whether keys of the class have an order.
func (c indexClass) Ordered() bool { return c >= classNumber }

// hashKey returns the key of a value in an index of a class without order. ok
// is false for what has none, and is equal to nothing there.
func hashKey(c indexClass, v *datum) (key string, ok bool) {
	switch v.Kind {
	case kindText, kindChoice, kindRef:
		switch c {
		case classExact:
			return v.Text, true
		case classFolded:
			return entities.Fold(v.Text), true
		}
		b, ok := parseBool(v.Text)
		return strconv.FormatInt(b, 10), ok
	case kindBool:
		return strconv.FormatInt(v.Int, 10), c == classBool
	}
	return "", false
}

// orderedKey is hashKey for a class with an order, which the keys have.
func orderedKey(c indexClass, v *datum, loc *time.Location) (key int64, ok bool) {
	switch v.Kind {
	case kindText, kindChoice:
		if c == classNumber {
			n, ok := parseNumber(v.Text)
			return numberKey(n), ok
		}
		t, ok := parseTime(v.Text, loc)
		if !ok {
			return 0, false
		}
		return orderedKey(c, &t, loc)
	case kindNumber:
		return numberKey(v.Number), c == classNumber
	case kindDate:
		return v.Int, c == classDay
	case kindInstant:
		if c == classDay {
			return v.Day, true
		}
		return v.Int, c == classMicros
	}
	return 0, false
}

// numberKey maps finite numbers to integers of the same order, next numbers to
// next integers.
func numberKey(n float64) int64 {
	if n == 0 {
		return 0 // -0 is the same number
	}
	bits := int64(math.Float64bits(n))
	if bits < 0 {
		return -(bits & math.MaxInt64)
	}
	return bits
}

// keyNumber is the number of a key.
func keyNumber(key int64) float64 {
	if key < 0 {
		return -math.Float64frombits(uint64(-key))
	}
	return math.Float64frombits(uint64(key))
}

// indexKey names an index. The names are folds.
type indexKey struct {
	TypeName, Field string
	Class           indexClass
}

// indexLookup asks an index who has this value, or one between these.
type indexLookup struct {
	Key       indexKey
	Stored    *storedField // the field, for who has to build the index
	Word      string       // of an index without an order
	Low, High int64        // of one with an order; both belong to the range
}

// fieldIndex knows for one field of the live entities of one type who has which
// value. Its lock is that of indexes.
type fieldIndex struct {
	gen   uint64 // of the store that it shows
	field *storedField
	class indexClass
	loc   *time.Location
	used  atomic.Uint64 // when it was last asked, by indexes.clock
	size  int           // entries

	// Without an order: the ids by key, in no order. Of a long list, where each
	// id stands is kept as well, so that taking one out does not cost its length.
	ids   map[string][]string
	place map[string]map[string]int

	tree *btree.BTreeG[entry] // with one

	sorted   *btree.BTreeG[sortedEntry] // of class InOrder
	unplaced int                        // entities that have no place in it
}

// longList is the length from which the places of ids are kept.
const longList = 64

type entry struct {
	key int64
	id  string
}

func entryLess(a, b entry) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	return a.id < b.id
}

func newIndex(f *storedField, c indexClass, loc *time.Location) *fieldIndex {
	x := &fieldIndex{field: f, class: c, loc: loc}
	if c == classInOrder {
		x.sorted = newSorted()
	} else if c.Ordered() {
		// Whoever asks or changes holds the lock of indexes.
		x.tree = btree.NewBTreeGOptions(entryLess, btree.Options{NoLocks: true})
	} else {
		x.ids, x.place = make(map[string][]string), make(map[string]map[string]int)
	}
	return x
}

// hashKeys appends the keys of an entity, ascending and each once.
func (x *fieldIndex) hashKeys(e *entities.Entity, keys []string) []string {
	eachValue(x.field, e, x.loc, func(v *datum) {
		if key, ok := hashKey(x.class, v); ok {
			keys = append(keys, key)
		}
	})
	if len(keys) > 1 {
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return keys
}

func (x *fieldIndex) orderedKeys(e *entities.Entity, keys []int64) []int64 {
	eachValue(x.field, e, x.loc, func(v *datum) {
		if key, ok := orderedKey(x.class, v, x.loc); ok {
			keys = append(keys, key)
		}
	})
	if len(keys) > 1 {
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return keys
}

// eachValue visits the value of a field, and each item of a list.
func eachValue(f *storedField, e *entities.Entity, loc *time.Location, visit func(*datum)) {
	if f == nil {
		return
	}
	var v datum
	loadField(f, e, loc, &v)
	if v.Kind != kindList {
		visit(&v)
		return
	}
	for i := range v.Len() {
		item := v.Item(i)
		visit(&item)
	}
}

// load fills a new index. O(n), with an order O(n log n).
func (x *fieldIndex) load(list []*entities.Entity) {
	if x.sorted != nil {
		entries := make([]sortedEntry, 0, len(list))
		for _, e := range list {
			if en, ok := x.entryOf(e); ok {
				entries = append(entries, en)
				x.size += en.weight()
			} else {
				x.unplaced++
			}
		}
		slices.SortFunc(entries, func(a, b sortedEntry) int { return strings.Compare(a.text, b.text) })
		for _, en := range entries {
			x.sorted.Load(en)
		}
		return
	}
	if x.tree == nil {
		var keys []string
		for _, e := range list {
			keys = x.hashKeys(e, keys[:0])
			id := owned(e.ID, len(keys))
			for _, key := range keys {
				x.insert(key, id)
			}
		}
		return
	}
	var entries []entry
	var keys []int64
	for _, e := range list {
		keys = x.orderedKeys(e, keys[:0])
		id := owned(e.ID, len(keys))
		for _, key := range keys {
			entries = append(entries, entry{key, id})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
	})
	for _, en := range entries {
		x.tree.Load(en)
	}
	x.size = len(entries)
}

// owned returns an id that an index may keep n times: the text of an entity is
// part of its whole record, which would stay in memory with it.
func owned(id string, n int) string {
	if n == 0 {
		return ""
	}
	return strings.Clone(id)
}

func placesOf(ids []string) map[string]int {
	places := make(map[string]int, len(ids))
	for i, id := range ids {
		places[id] = i
	}
	return places
}

// change takes in that an entity of the type was old and is now; either may be
// nil. O(log n) for each value that changed.
func (x *fieldIndex) change(old, now *entities.Entity) {
	if x.sorted != nil {
		x.changeSorted(old, now)
		return
	}
	if x.tree != nil {
		var before, after []int64
		if old != nil {
			before = x.orderedKeys(old, nil)
		}
		if now != nil {
			after = x.orderedKeys(now, nil)
		}
		eachDifference(before, after, func(key int64) {
			x.tree.Delete(entry{key, old.ID})
		}, func(key int64) {
			x.tree.Set(entry{key, strings.Clone(now.ID)})
		})
		x.size = x.tree.Len()
		return
	}
	var before, after []string
	if old != nil {
		before = x.hashKeys(old, nil)
	}
	if now != nil {
		after = x.hashKeys(now, nil)
	}
	eachDifference(before, after, func(key string) { x.remove(key, old.ID) },
		func(key string) { x.insert(key, strings.Clone(now.ID)) })
}

// eachDifference visits what only one of two ascending lists has.
func eachDifference[K cmp.Ordered](before, after []K, gone, come func(K)) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			gone(before[0])
			before = before[1:]
		case len(before) == 0 || after[0] < before[0]:
			come(after[0])
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
}

func (x *fieldIndex) insert(key, id string) {
	ids, known := x.ids[key]
	if !known {
		key = strings.Clone(key) // see owned
	}
	ids = append(ids, id)
	x.ids[key] = ids
	x.size++
	switch places := x.place[key]; {
	case places != nil:
		places[id] = len(ids) - 1
	case len(ids) > longList:
		x.place[key] = placesOf(ids)
	}
}

func (x *fieldIndex) remove(key, id string) {
	ids := x.ids[key]
	places := x.place[key]
	at := -1
	if places == nil {
		at = slices.Index(ids, id)
	} else if i, ok := places[id]; ok {
		at = i
	}
	if at < 0 {
		return
	}
	last := len(ids) - 1
	ids[at] = ids[last]
	ids[last] = ""
	if places != nil {
		places[ids[at]] = at
		delete(places, id)
	}
	x.size--
	ids = ids[:last]
	if len(ids) == 0 {
		delete(x.ids, key)
		delete(x.place, key)
		return
	}
	x.ids[key] = ids
}

// Count returns how many entities a probe gives. O(1), with an order O(log² n).
func (x *fieldIndex) Count(p *indexLookup) int {
	if x.tree == nil {
		return len(x.ids[p.Word])
	}
	from := x.rank(p.Low)
	if p.Low == p.High {
		// Few have one and the same value, so counting them is cheaper.
		n := 0
		x.tree.Ascend(entry{key: p.Low}, func(en entry) bool {
			if en.key != p.Low || n > longList {
				return false
			}
			n++
			return true
		})
		if n <= longList {
			return n
		}
	}
	if p.High == math.MaxInt64 {
		return x.tree.Len() - from
	}
	return x.rank(p.High+1) - from
}

// rank is the number of entries below a key.
func (x *fieldIndex) rank(key int64) int {
	return sort.Search(x.tree.Len(), func(i int) bool {
		en, _ := x.tree.GetAt(i)
		return en.key >= key
	})
}

// Gather appends the ids that a probe gives.
func (x *fieldIndex) Gather(p *indexLookup, ids []string) []string {
	if x.tree == nil {
		return append(ids, x.ids[p.Word]...)
	}
	x.tree.Ascend(entry{key: p.Low}, func(en entry) bool {
		if en.key > p.High {
			return false
		}
		ids = append(ids, en.id)
		return true
	})
	return ids
}

// indexSet are those of one engine. One is built when a query first wants it,
// and kept current by apply, at the cost of what changed. It is used only while
// it is known to show the store's present generation; in any doubt it is built
// again, or the rows are scanned.
type indexSet struct {
	src *entities.Store
	loc *time.Location

	gen  func() uint64                               // of what is indexed
	show func([]*entities.Entity) []*entities.Entity // what of some entities is indexed; nil: all

	mu      sync.RWMutex // guards what follows; constants are evaluated before it is taken
	byType  map[string]map[indexKey]*fieldIndex
	applied uint64 // the generation after the last change set
	follows bool   // apply is called: what is behind applied is about to come

	clock    atomic.Uint64
	building sync.Mutex // one build at a time, or a crowd would build the same one
}

// maxEntries is the number of entries of all indexes, of 100 to 140 bytes each,
// above which those that were not asked for longest are dropped.
const maxEntries = 1 << 19

// newIndexSet makes the indexes over a store: none, until a query wants one. loc says
// which day a point in time belongs to.
func newIndexSet(src *entities.Store, loc *time.Location) *indexSet {
	return &indexSet{src: src, loc: loc, gen: src.Gen, byType: make(map[string]map[indexKey]*fieldIndex), applied: src.Gen()}
}

// ShowOnly has only what a function makes of entities indexed, in generations of its own:
// those of the store and of what decides about them. Call it before the first use.
func (x *indexSet) ShowOnly(gen func() uint64, show func([]*entities.Entity) []*entities.Entity) {
	x.gen, x.show = gen, show
}

// Generation returns that of what is indexed.
func (x *indexSet) Generation() uint64 { return x.gen() }

// RLock keeps all indexes as they are until runlock.
func (x *indexSet) RLock() { x.mu.RLock() }

// RUnlock ends what RLock began.
func (x *indexSet) RUnlock() { x.mu.RUnlock() }

// Current returns an index that shows the present generation, or nil. Called
// between rlock and runlock.
func (x *indexSet) Current(key indexKey, gen uint64) *fieldIndex {
	if have := x.byType[key.TypeName][key]; have != nil && have.gen == gen {
		have.used.Store(x.clock.Add(1))
		return have
	}
	return nil
}

// Build makes an index, unless another caller made it meanwhile. It reports
// false when the store changed under it, or is about to tell what changed: then
// a scan is cheaper than a build that is out of date at once.
func (x *indexSet) Build(p *indexLookup) bool {
	x.building.Lock()
	defer x.building.Unlock()
	gen := x.gen()
	x.mu.RLock()
	have := x.byType[p.Key.TypeName][p.Key]
	upcoming := have != nil && x.follows && have.gen == x.applied && have.gen != gen
	done := have != nil && have.gen == gen
	x.mu.RUnlock()
	if done || upcoming {
		return done
	}
	made := newIndex(p.Stored, p.Key.Class, x.loc)
	made.gen = gen
	made.used.Store(x.clock.Add(1))
	made.load(x.shown(x.members(p.Key.TypeName)))
	if x.gen() != gen {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byType[p.Key.TypeName] == nil {
		x.byType[p.Key.TypeName] = make(map[indexKey]*fieldIndex)
	}
	x.byType[p.Key.TypeName][p.Key] = made
	x.shrink(made)
	return true
}

// shown returns what of some entities is indexed.
func (x *indexSet) shown(list []*entities.Entity) []*entities.Entity {
	if x.show == nil {
		return list
	}
	return x.show(list)
}

// shownOne is shown for one entity, nil for one that is not indexed.
func (x *indexSet) shownOne(e *entities.Entity) *entities.Entity {
	if x.show == nil || e == nil {
		return e
	}
	list := x.show([]*entities.Entity{e})
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// Clear drops all indexes.
func (x *indexSet) Clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.byType)
}

// members returns the live entities of a type in no order: OfType would sort
// them anew after each write, which takes longer than an index does.
func (x *indexSet) members(typeName string) []*entities.Entity {
	list := make([]*entities.Entity, 0, x.src.Count(typeName))
	known := make(map[string]bool) // spellings of type names
	for e := range x.src.All() {
		is, ok := known[e.Type]
		if !ok {
			is = entities.Fold(e.Type) == typeName
			known[e.Type] = is
		}
		if is && e.Live() {
			list = append(list, e)
		}
	}
	return list
}

// shrink drops what was not asked for longest while there are too many entries.
func (x *indexSet) shrink(keep *fieldIndex) {
	for {
		total := 0
		var oldest *fieldIndex
		var at indexKey
		for _, of := range x.byType {
			for key, ix := range of {
				total += ix.size
				if ix != keep && (oldest == nil || ix.used.Load() < oldest.used.Load()) {
					oldest, at = ix, key
				}
			}
		}
		if total <= maxEntries || oldest == nil {
			return
		}
		delete(x.byType[at.TypeName], at)
	}
}

// Apply takes a commit into the indexes. It is called after the store took it
// in, by one goroutine at a time.
func (x *indexSet) Apply(cs *kv.ChangeSet) {
	gen := x.gen()
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.applied
	if !x.follows {
		x.follows, before = true, gen // what was before is not known
	}
	x.applied = gen
	for _, ch := range cs.Changes {
		if _, _, ok := entities.TypeRecords.Of(ch); ok {
			delete(x.byType, ch.ID) // its fields may mean something else
		}
	}
	for _, of := range x.byType {
		for key, ix := range of {
			if ix.gen != before && ix.gen != gen {
				delete(of, key)
			}
		}
	}
	if before != gen && len(x.byType) > 0 {
		for _, ch := range cs.Changes {
			if old, now, ok := entities.EntityRecords.Of(ch); ok {
				x.change(x.shownOne(old), x.shownOne(now), before)
			}
		}
	}
	for _, of := range x.byType {
		for _, ix := range of {
			ix.gen = gen
		}
	}
}

// change takes one entity into the indexes of its type that show the
// generation before.
func (x *indexSet) change(old, now *entities.Entity, before uint64) {
	var from, to string
	if old.Live() {
		from = entities.Fold(old.Type)
	}
	if now.Live() {
		to = entities.Fold(now.Type)
	}
	for _, ix := range x.byType[from] {
		switch {
		case ix.gen != before:
		case from == to:
			ix.change(old, now)
		case old.Live():
			ix.change(old, nil)
		}
	}
	if from == to {
		return
	}
	for _, ix := range x.byType[to] {
		if ix.gen == before && now.Live() {
			ix.change(nil, now)
		}
	}
}
