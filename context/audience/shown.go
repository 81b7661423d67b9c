package audience

import (
	"context"
	"reflect"
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

// plainNames keeps of records whether all of their names are shown as they are.
type plainNames struct {
	mu    sync.RWMutex // guards known
	known map[string]bool
}

// have reports whether all that was found is known to be shown as it is.
func (p *plainNames) have(hits []names.Hit) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range hits {
		if !p.known[hits[i].ID] {
			return false
		}
	}
	return true
}

// is reports whether the names of a record are shown as they are: it asks look if that
// is not known.
func (p *plainNames) is(id string, look func(id string) bool) bool {
	p.mu.RLock()
	plain, known := p.known[id]
	p.mu.RUnlock()
	if known {
		return plain
	}
	plain = look(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= maxShown {
		p.known = make(map[string]bool)
	}
	p.known[strings.Clone(id)] = plain // it may be a part of a record
	return plain
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
