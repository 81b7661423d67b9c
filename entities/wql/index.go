package wql

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

// class is the form in which an index holds the values of a field. What a value
// equals depends on what it is compared with: the text "10" equals 10 and "010"
// does so too, but "10" and "010" are different texts. So a field may have an
// index of each class, and a comparison asks that of its own.
type class uint8

const (
	classExact  class = iota // texts in NFC, references
	classFold                // what is compared without case: select and type
	classBool                // what is true or false
	classNumber              // from here on in order
	classDay                 // calendar days
	classMicros              // points in time
)

func (c class) ordered() bool { return c >= classNumber }

// hashKey returns the key of a value in an index of a class without order. ok
// is false for what has none, and is equal to nothing there.
func hashKey(c class, v *value) (key string, ok bool) {
	switch v.kind {
	case kindText, kindChoice, kindRef:
		switch c {
		case classExact:
			return v.s, true
		case classFold:
			return entities.Fold(v.s), true
		}
		b, ok := parseBool(v.s)
		return strconv.FormatInt(b, 10), ok
	case kindBool:
		return strconv.FormatInt(v.i, 10), c == classBool
	}
	return "", false
}

// orderedKey is hashKey for a class with an order, which the keys have.
func orderedKey(c class, v *value, loc *time.Location) (key int64, ok bool) {
	switch v.kind {
	case kindText, kindChoice:
		if c == classNumber {
			n, ok := parseNumber(v.s)
			return numberKey(n), ok
		}
		t, ok := parseTime(v.s, loc)
		if !ok {
			return 0, false
		}
		return orderedKey(c, &t, loc)
	case kindNumber:
		return numberKey(v.n), c == classNumber
	case kindDate:
		return v.i, c == classDay
	case kindInstant:
		if c == classDay {
			return v.day, true
		}
		return v.i, c == classMicros
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
	typeName, field string
	class           class
}

// index knows for one field of the live entities of one type who has which
// value. Its lock is that of indexes.
type index struct {
	gen   uint64 // of the store that it shows
	field *fieldRef
	class class
	loc   *time.Location
	used  atomic.Uint64 // when it was last asked, by indexes.clock
	size  int           // entries

	// Without an order: the ids by key, in no order. Of a long list, where each
	// id stands is kept as well, so that taking one out does not cost its length.
	ids   map[string][]string
	place map[string]map[string]int

	tree *btree.BTreeG[entry] // with one
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

func newIndex(f *fieldRef, c class, loc *time.Location) *index {
	x := &index{field: f, class: c, loc: loc}
	if c.ordered() {
		// Whoever asks or changes holds the lock of indexes.
		x.tree = btree.NewBTreeGOptions(entryLess, btree.Options{NoLocks: true})
	} else {
		x.ids, x.place = make(map[string][]string), make(map[string]map[string]int)
	}
	return x
}

// hashKeys appends the keys of an entity, ascending and each once.
func (x *index) hashKeys(e *entities.Entity, keys []string) []string {
	eachStored(x.field, e, x.loc, func(v *value) {
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

func (x *index) orderedKeys(e *entities.Entity, keys []int64) []int64 {
	eachStored(x.field, e, x.loc, func(v *value) {
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

// eachStored visits the value of a field, and each item of a list.
func eachStored(f *fieldRef, e *entities.Entity, loc *time.Location, visit func(*value)) {
	if f == nil {
		return
	}
	var v value
	loadStored(f, e, loc, &v)
	if v.kind != kindList {
		visit(&v)
		return
	}
	for i := range v.length() {
		item := v.item(i)
		visit(&item)
	}
}

// load fills a new index. O(n), with an order O(n log n).
func (x *index) load(list []*entities.Entity) {
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
func (x *index) change(old, now *entities.Entity) {
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
	eachDifference(before, after, func(key string) { x.remove(key, old.ID) }, func(key string) { x.insert(key, strings.Clone(now.ID)) })
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

func (x *index) insert(key, id string) {
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

func (x *index) remove(key, id string) {
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
	if ids = ids[:last]; len(ids) == 0 {
		delete(x.ids, key)
		delete(x.place, key)
		return
	}
	x.ids[key] = ids
}

// count returns how many entities a probe gives. O(1), with an order O(log² n).
func (x *index) count(p *probe) int {
	if x.tree == nil {
		return len(x.ids[p.word])
	}
	from := x.rank(p.low)
	if p.low == p.high {
		// Few have one and the same value, so counting them is cheaper.
		n := 0
		x.tree.Ascend(entry{key: p.low}, func(en entry) bool {
			if en.key != p.low || n > longList {
				return false
			}
			n++
			return true
		})
		if n <= longList {
			return n
		}
	}
	if p.high == math.MaxInt64 {
		return x.tree.Len() - from
	}
	return x.rank(p.high+1) - from
}

// rank is the number of entries below a key.
func (x *index) rank(key int64) int {
	return sort.Search(x.tree.Len(), func(i int) bool {
		en, _ := x.tree.GetAt(i)
		return en.key >= key
	})
}

// gather appends the ids that a probe gives.
func (x *index) gather(p *probe, ids []string) []string {
	if x.tree == nil {
		return append(ids, x.ids[p.word]...)
	}
	x.tree.Ascend(entry{key: p.low}, func(en entry) bool {
		if en.key > p.high {
			return false
		}
		ids = append(ids, en.id)
		return true
	})
	return ids
}

// indexes are those of one engine. One is built when a query first wants it,
// and kept current by apply, at the cost of what changed. It is used only while
// it is known to show the store's present generation; in any doubt it is built
// again, or the rows are scanned.
type indexes struct {
	src *entities.Store
	loc *time.Location

	mu      sync.RWMutex // guards what follows; constants are evaluated before it is taken
	byType  map[string]map[indexKey]*index
	applied uint64 // the generation after the last change set
	follows bool   // apply is called: what is behind applied is about to come

	clock    atomic.Uint64
	building sync.Mutex // one build at a time, or a crowd would build the same one
}

// maxEntries is the number of entries of all indexes, of 100 to 140 bytes each,
// above which those that were not asked for longest are dropped.
const maxEntries = 1 << 19

func newIndexes(src *entities.Store, loc *time.Location) *indexes {
	return &indexes{src: src, loc: loc, byType: make(map[string]map[indexKey]*index), applied: src.Gen()}
}

// current returns an index that shows the present generation, or nil. Called
// with mu held.
func (x *indexes) current(key indexKey, gen uint64) *index {
	if have := x.byType[key.typeName][key]; have != nil && have.gen == gen {
		have.used.Store(x.clock.Add(1))
		return have
	}
	return nil
}

// build makes an index, unless another caller made it meanwhile. It reports
// false when the store changed under it, or is about to tell what changed: then
// a scan is cheaper than a build that is out of date at once.
func (x *indexes) build(p *probe) bool {
	x.building.Lock()
	defer x.building.Unlock()
	gen := x.src.Gen()
	x.mu.RLock()
	have := x.byType[p.key.typeName][p.key]
	upcoming := have != nil && x.follows && have.gen == x.applied && have.gen != gen
	done := have != nil && have.gen == gen
	x.mu.RUnlock()
	if done || upcoming {
		return done
	}
	made := newIndex(p.field, p.key.class, x.loc)
	made.gen = gen
	made.used.Store(x.clock.Add(1))
	made.load(x.members(p.key.typeName))
	if x.src.Gen() != gen {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byType[p.key.typeName] == nil {
		x.byType[p.key.typeName] = make(map[indexKey]*index)
	}
	x.byType[p.key.typeName][p.key] = made
	x.shrink(made)
	return true
}

// members returns the live entities of a type in no order: OfType would sort
// them anew after each write, which takes longer than an index does.
func (x *indexes) members(typeName string) []*entities.Entity {
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
func (x *indexes) shrink(keep *index) {
	for {
		total := 0
		var oldest *index
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
		delete(x.byType[at.typeName], at)
	}
}

// apply takes a commit into the indexes. It is called after the store took it
// in, by one goroutine at a time.
func (x *indexes) apply(cs *kv.ChangeSet) {
	gen := x.src.Gen()
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
				x.change(old, now, before)
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
func (x *indexes) change(old, now *entities.Entity, before uint64) {
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
