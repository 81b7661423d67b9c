package audience

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
)

// shownRecords keeps how records are shown to a remote reader. Queries need the entities as
// they are shown, since they look at all of a type; completion needs to know which names
// are shown as they are. It holds until a record is called otherwise, or becomes private or
// public: a new one replaces it then, so that what a call found out before is not kept.
type shownRecords struct {
	known sync.Map // *entities.Entity to *entities.Entity, and types alike
	size  atomic.Int64

	notes, entities plainNames
}

// plainNames keeps of records which of their names are not shown as they are.
type plainNames struct {
	mu     sync.RWMutex                 // guards what follows; the last lock that anybody takes
	known  map[string]bool              // the records that were looked at
	hidden map[string]func(string) bool // those with names that are not shown, and which
}

// complete asks for completions by the names that are shown. look says of a record which are not, once: those of most records
// all are.
func (p *plainNames) complete(ask func(hides func(id, name string) bool) []names.Hit, look func(id string) (list []string, all bool)) []names.Hit {
	for {
		hits := ask(p.hides)
		if p.have(hits) || !p.learn(hits, look) {
			return hits
		}
	}
}

// hides reports whether a name is known not to be shown.
func (p *plainNames) hides(id, name string) bool {
	p.mu.RLock()
	hidden := p.hidden[id]
	p.mu.RUnlock()
	return hidden != nil && hidden(name)
}

// have reports whether all records that were found were looked at.
func (p *plainNames) have(hits []names.Hit) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return !slices.ContainsFunc(hits, func(h names.Hit) bool { return !p.known[h.ID] })
}

// learn looks at the records that were found, and reports whether one of the names is not shown.
func (p *plainNames) learn(hits []names.Hit, look func(id string) (list []string, all bool)) (hides bool) {
	for i := range hits {
		list, all := look(hits[i].ID)
		p.mu.Lock()
		if p.known == nil || len(p.known) >= maxShown {
			p.known, p.hidden = make(map[string]bool), make(map[string]func(string) bool)
		}
		id := strings.Clone(hits[i].ID) // it may be a part of a record
		p.known[id] = true
		if all || len(list) > 0 {
			p.hidden[id] = func(name string) bool { return all || slices.Contains(list, name) }
		}
		p.mu.Unlock()
		hides = hides || all || slices.Contains(list, hits[i].Name)
	}
	return hides
}

// maxShown is how many records are kept at most; a record that was changed is another.
const maxShown = 1 << 18

func (r *Views) forgetShown() { r.shown.Store(new(shownRecords)) }

// queried returns an entity as queries of a remote reader see it: the entity itself when
// nothing in it is hidden.
func (r *Views) queried(e *entities.Entity) *entities.Entity {
	if !r.remote.masks() {
		return e
	}
	kept := r.shown.Load() // before anything is looked at
	if shown, ok := kept.known.Load(e); ok {
		return shown.(*entities.Entity)
	}
	shown := r.remote.ShownEntity(e)
	if shown.Name == e.Name && reflect.DeepEqual(shown.Fields, e.Fields) {
		shown = e
	}
	kept.keep(e, shown, r)
	return shown
}

// keep keeps how a record or a type is shown.
func (k *shownRecords) keep(stored, shown any, of *Views) {
	k.known.Store(stored, shown)
	if k.size.Add(1) > maxShown {
		of.shown.CompareAndSwap(k, new(shownRecords))
	}
}

// match is wql.Visibility.Match.
func (r *Views) match(ctx context.Context, words string) (func(id string) bool, error) {
	if r.remote.search == nil {
		return nil, fault.New(fault.Unavailable, "MATCHES needs the full-text index, which is not available").
			WithHint("use CONTAINS or LIKE on a field instead")
	}
	get := func(id string) *entities.Entity {
		e := r.remote.Entity(id)
		if e == nil {
			return nil
		}
		return r.queried(e)
	}
	return r.remote.search.EntityTest(ctx, r.remote.entities, words, get, true)
}
