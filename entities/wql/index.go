package wql

import (
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// indexes answer "which live entities of this type refer to that id in this
// field", without looking at the others. An index is built when a query first
// wants it, in O(n), and kept current by apply, in O(changed values).
//
// An index is used only while it is known to belong to the store's present
// generation; in any doubt it is built again.
type indexes struct {
	src *entities.Store

	mu      sync.RWMutex // guards what follows; never held while a store is asked
	byField map[indexKey]*postings
	applied uint64 // the generation after the last change set

	building sync.Mutex // one build at a time, or a crowd would build the same one
}

type indexKey struct{ typeName, field string } // folds

type postings struct {
	gen uint64
	ids map[string][]string // value to ids, ascending
}

func newIndexes(src *entities.Store) *indexes {
	return &indexes{src: src, byField: make(map[indexKey]*postings), applied: src.Gen()}
}

// lookup appends to ids those of the entities of the type that have one of the
// values in the field. ok is false when no index could be had, because the
// store changes faster than one is built, or when more than limit were found:
// then a scan does better.
func (x *indexes) lookup(typeName, field string, values []string, ids []string, limit int) ([]string, bool) {
	key := indexKey{entities.Fold(typeName), entities.Fold(field)}
	for range 3 {
		gen := x.src.Gen()
		x.mu.RLock()
		if p := x.byField[key]; p != nil && p.gen == gen {
			ok := true
			for _, v := range values {
				list := p.ids[v]
				if ok = len(ids)+len(list) <= limit; !ok {
					break
				}
				ids = append(ids, list...)
			}
			x.mu.RUnlock()
			return ids, ok
		}
		x.mu.RUnlock()
		x.build(key, typeName, field)
	}
	return ids, false
}

// build makes an index, unless another caller made it meanwhile or the store
// changed under it.
func (x *indexes) build(key indexKey, typeName, field string) {
	x.building.Lock()
	defer x.building.Unlock()
	gen := x.src.Gen()
	x.mu.RLock()
	have := x.byField[key]
	current := have != nil && have.gen == gen
	x.mu.RUnlock()
	if current {
		return
	}
	p := &postings{gen: gen, ids: make(map[string][]string)}
	for _, e := range x.src.OfType(typeName) {
		for _, v := range indexed(e, field) {
			p.ids[v] = append(p.ids[v], e.ID)
		}
	}
	for v, ids := range p.ids {
		slices.Sort(ids)
		p.ids[v] = slices.Compact(ids)
	}
	if x.src.Gen() != gen {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byField[key] = p
}

// apply takes a commit into the indexes. It is called after the store took it
// in, by one goroutine at a time.
func (x *indexes) apply(cs *kv.ChangeSet) {
	gen := x.src.Gen()
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.applied
	x.applied = gen
	for key, p := range x.byField {
		switch p.gen {
		case gen: // nothing changed, or it was built from what changed
		case before:
			if !p.update(key, cs) {
				delete(x.byField, key)
				continue
			}
			p.gen = gen
		default:
			delete(x.byField, key)
		}
	}
}

// update moves the ids of the changed entities. It reports false when a type
// changed: fields may have other meanings then.
func (p *postings) update(key indexKey, cs *kv.ChangeSet) bool {
	for _, ch := range cs.Changes {
		if _, _, ok := entities.TypeRecords.Of(ch); ok {
			return false
		}
		old, now, ok := entities.EntityRecords.Of(ch)
		if !ok {
			continue
		}
		for _, v := range p.valuesOf(key, old) {
			p.remove(v, old.ID)
		}
		for _, v := range p.valuesOf(key, now) {
			p.insert(v, now.ID)
		}
	}
	return true
}

func (p *postings) valuesOf(key indexKey, e *entities.Entity) []string {
	if !e.Live() || entities.Fold(e.Type) != key.typeName {
		return nil
	}
	return indexed(e, key.field)
}

func (p *postings) remove(v, id string) {
	ids := p.ids[v]
	if i, ok := slices.BinarySearch(ids, id); ok {
		ids = slices.Delete(ids, i, i+1)
	}
	if p.ids[v] = ids; len(ids) == 0 {
		delete(p.ids, v)
	}
}

func (p *postings) insert(v, id string) {
	ids := p.ids[v]
	if i, ok := slices.BinarySearch(ids, id); !ok {
		p.ids[v] = slices.Insert(ids, i, id)
	}
}

// indexed returns the values of a reference field in the form comparisons use.
// The field is given as declared or folded.
func indexed(e *entities.Entity, field string) []string {
	values := e.Strings(field)
	if values == nil {
		for name := range e.Fields {
			if strings.EqualFold(name, field) || entities.Fold(name) == entities.Fold(field) {
				values = e.Strings(name)
				break
			}
		}
	}
	for i, v := range values {
		if n := nfc(v); n != v {
			values = slices.Clone(values)
			values[i] = n
		}
	}
	return values
}

// candidates returns the rows that the best probe leaves, ordered by nothing;
// ok is false when the query has none that helps, and every row is to be
// looked at. used names the field.
func (e *Engine) candidates(m *machine) (rows []*entities.Entity, used string, ok bool) {
	all := 0
	for _, t := range m.p.types {
		all += e.src.Count(t.Name)
	}
	limit := max(16, all/4)
	var best []string
	for _, pr := range m.p.probes {
		ids, found := e.probe(m, pr, limit)
		if found && (!ok || len(ids) < len(best)) {
			best, used, ok = ids, pr.field, true
			limit = max(len(best), 1)
		}
	}
	if !ok {
		return nil, "", false
	}
	slices.Sort(best)
	rows = make([]*entities.Entity, 0, len(best))
	for _, id := range slices.Compact(best) {
		if row := e.src.Get(id); row.Live() && m.p.hasType(row.Type) {
			rows = append(rows, row)
		}
	}
	return rows, used, true
}

func (p *prepared) hasType(name string) bool {
	for _, t := range p.types {
		if t.Name == name || entities.Fold(t.Name) == entities.Fold(name) {
			return true
		}
	}
	return false
}

// probe asks the indexes for the rows with one of the values.
func (e *Engine) probe(m *machine, pr probe, limit int) (ids []string, ok bool) {
	values := make([]string, 0, len(pr.values))
	for _, i := range pr.values {
		v := m.get(i)
		switch v.kind {
		case kindText, kindChoice, kindRef:
			values = append(values, v.s)
		case kindList:
			for n := range v.length() {
				if x := v.item(n); x.kind == kindText || x.kind == kindChoice || x.kind == kindRef {
					values = append(values, x.s)
				}
			}
		}
	}
	if pr.isID {
		return values, len(values) <= limit
	}
	for _, t := range m.p.types {
		f, declared := t.Field(pr.field)
		if !declared {
			continue
		}
		if ids, ok = e.indexes.lookup(t.Name, f.Name, values, ids, limit); !ok {
			return nil, false
		}
	}
	return ids, true
}
