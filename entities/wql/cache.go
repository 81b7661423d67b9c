package wql

import (
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// results keeps the values of computed fields until something they depend on
// changes. A commit finds the results that it makes stale by what it touched,
// without a look at the others.
type results struct {
	engine *Engine

	mu      sync.Mutex // guards what follows
	byKey   map[resultKey]*outcome
	byPart  map[dep]map[*fields]map[*outcome]struct{}
	words   map[string]map[indexKey]watched // by type: the indexes that deps of partWord name
	ranges  map[string]map[indexKey]watched // the same of partRange
	spans   map[indexKey]map[dep]struct{}   // the ranges themselves
	weight  int
	gen     uint64 // of the store that all of them show
	follows bool   // apply is called
}

// watched is an index by which some deps tell entities apart: the field in
// question, and how many deps there are.
type watched struct {
	field *storedField // nil: the type has none of that name
	deps  int
}

type resultKey struct {
	program *prepared
	this    string
}

// maxWeight bounds the memory of the results, in parts of roughly 100 bytes.
const maxWeight = 400_000

func newResults(e *Engine) *results {
	r := &results{engine: e, gen: e.gen()}
	r.clear()
	return r
}

// forget drops all results.
func (r *results) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
}

func (r *results) clear() {
	for _, out := range r.byKey {
		out.dropped.Store(true)
	}
	r.byKey = make(map[resultKey]*outcome)
	r.byPart = make(map[dep]map[*fields]map[*outcome]struct{})
	r.words, r.ranges = make(map[string]map[indexKey]watched), make(map[string]map[indexKey]watched)
	r.spans = make(map[indexKey]map[dep]struct{})
	r.weight = 0
}

// tracked is what the cache knows of an outcome that it holds.
type tracked struct {
	engine   *Engine
	key      resultKey
	readings []reading
	day      int64       // the calendar day on which it is true, when daily
	daily    bool        // it was made from today()
	mixed    bool        // of two days: not kept
	dropped  atomic.Bool // it is not held any more
}

func (o *outcome) weight() int {
	return 8 + max(len(o.result.Rows), len(o.refs)) + 4*len(o.readings) + (len(o.result.stood.ids)+len(o.used.ids))/4
}

// get returns the result of that key if it is what a run would give now.
func (r *results) get(key resultKey, gen uint64) *outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gen != gen {
		return nil
	}
	out := r.byKey[key]
	if out == nil || out.daily && out.day != r.engine.today() {
		return nil
	}
	return out
}

// current reports whether an outcome is held and holds.
func (r *results) current(out *outcome, gen uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gen == gen && !out.dropped.Load() && (!out.daily || out.day == r.engine.today())
}

// put keeps a result of a run that began in generation gen, unless the store
// has changed since: what the result shows can't be told then.
func (r *results) put(key resultKey, gen uint64, out *outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.gen() != gen || out.mixed {
		return
	}
	if r.gen != gen {
		if r.follows {
			return // apply is about to say what became stale
		}
		r.clear()
		r.gen = gen
	}
	if old := r.byKey[key]; old != nil {
		r.drop(old)
	}
	out.engine, out.key, out.result.of = r.engine, key, out
	for _, other := range r.byKey { // whichever comes first
		if r.weight+out.weight() <= maxWeight {
			break
		}
		r.drop(other)
	}
	r.byKey[key] = out
	r.weight += out.weight()
	for _, x := range out.readings {
		r.watch(x, out)
	}
}

func (r *results) watch(x reading, out *outcome) {
	sets := r.byPart[x.dep]
	if sets == nil {
		sets = make(map[*fields]map[*outcome]struct{})
		r.byPart[x.dep] = sets
		r.count(x.dep, 1)
	}
	if sets[x.fields] == nil {
		sets[x.fields] = make(map[*outcome]struct{})
	}
	sets[x.fields][out] = struct{}{}
}

// count notes that there is one dep more or less by which entities of a type
// are told apart.
func (r *results) count(d dep, by int) {
	all := r.words
	switch d.part {
	case partRange:
		all = r.ranges
		if r.spans[d.index] == nil {
			r.spans[d.index] = make(map[dep]struct{})
		}
		if by > 0 {
			r.spans[d.index][d] = struct{}{}
		} else if delete(r.spans[d.index], d); len(r.spans[d.index]) == 0 {
			delete(r.spans, d.index)
		}
	case partWord:
	default:
		return
	}
	of := all[d.typeName]
	if of == nil {
		of = make(map[indexKey]watched)
		all[d.typeName] = of
	}
	w, known := of[d.index]
	if !known {
		// A type that is gone by now has its results dropped with it.
		for _, t := range r.engine.src.TypesNamed(d.typeName).All() {
			if f, _ := refTo(t, d.index.Field); f != nil {
				w.field = &f.storedField
			}
		}
	}
	w.deps += by
	of[d.index] = w
	if w.deps == 0 {
		delete(of, d.index)
	}
}

// drop forgets a result.
func (r *results) drop(out *outcome) {
	if out.dropped.Swap(true) {
		return
	}
	delete(r.byKey, out.key)
	r.weight -= out.weight()
	for _, x := range out.readings {
		sets := r.byPart[x.dep]
		delete(sets[x.fields], out)
		if len(sets[x.fields]) == 0 {
			delete(sets, x.fields)
		}
		if sets != nil && len(sets) == 0 {
			delete(r.byPart, x.dep)
			r.count(x.dep, -1)
		}
	}
}

// apply drops what a commit makes stale. It is called after the store took the
// commit in, by one goroutine at a time.
func (r *results) apply(cs *kv.ChangeSet) {
	gen := r.engine.gen()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.follows {
		r.follows = true
		if r.gen != gen {
			r.clear() // what was before is not known
		}
	}
	r.gen = gen
	if len(r.byKey) == 0 {
		return
	}
	for _, ch := range cs.Changes {
		if _, _, ok := entities.TypeRecords.Of(ch); ok {
			r.clear()
			return
		}
	}
	for _, ch := range cs.Changes {
		if old, now, ok := entities.EntityRecords.Of(ch); ok && old != now {
			r.entity(ch.ID, old, now)
		}
	}
}

// entity drops what depends on an entity as it was or as it is.
func (r *results) entity(id string, old, now *entities.Entity) {
	names, existence := changedFields(old, now, r.engine.hidden)
	if len(names) == 0 && !existence {
		return
	}
	old, now = r.engine.shownOne(old), r.engine.shownOne(now) // by whose values deps are known
	drop := func(d dep) {
		for f, outs := range r.byPart[d] {
			if f.touches(names, existence) {
				for out := range outs {
					r.drop(out)
				}
			}
		}
	}
	drop(dep{part: partEntity, word: id})
	drop(dep{part: partType})
	loc := r.engine.opts.Location
	seen := ""
	for _, e := range [...]*entities.Entity{old, now} {
		if !e.Live() {
			continue
		}
		fold := entities.Fold(e.Type)
		if fold != seen {
			drop(dep{part: partType, typeName: fold})
		}
		seen = fold
		for key, w := range r.words[fold] {
			eachValue(w.field, e, loc, func(v *datum) {
				d := dep{part: partWord, typeName: fold, index: key}
				var ok bool
				if key.Class.Ordered() {
					d.low, ok = orderedKey(key.Class, v, loc)
					d.high = d.low
				} else {
					d.word, ok = hashKey(key.Class, v)
				}
				if ok {
					drop(d)
				}
			})
		}
		for key, w := range r.ranges[fold] {
			eachValue(w.field, e, loc, func(v *datum) {
				n, ok := orderedKey(key.Class, v, loc)
				for d := range r.spans[key] {
					if ok && d.low <= n && n <= d.high {
						drop(d)
					}
				}
			})
		}
	}
}
