package gather

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// block is what an entity shows to one audience in one format, ready to be put
// in.
type block struct {
	full    bool // it has the fields
	fixed   bool // it stands on no queries and no links: it holds until it is dropped
	links   bool // a text in it holds links, whose meaning any note may change
	instant bool // an answer holds for one call: it asks for the time

	notes   []noteRef // notes of the fields, then its own
	card    prompt.Card
	edges   []graph.Node     // what each of card.Edges leads to
	dropped []prompt.Dropped // what the fields refer to and can't be shown
	failed  []prompt.QueryError

	queries []answer      // of computed fields
	privacy uint64        // of the View when it was rendered
	seen    atomic.Uint64 // the moment for which queries and links were last looked at
}

// noteRef is a note that an entity refers to.
type noteRef struct {
	id    string
	field string
}

// answer is what a computed field gave, nil for an error.
type answer struct {
	view   *audience.View
	result *wql.Result
}

// variants of a block: two audiences and two formats.
const variants = 4

// blocks keeps the blocks by variant and number of the entity.
type blocks struct {
	list [variants]atomic.Pointer[[]atomic.Pointer[block]] // read without a lock, replaced by longer ones

	rendered atomic.Int64 // how many were

	mu   sync.Mutex // guards writes to list, and all below
	gens []uint32   // counts, by number, how often the blocks of an entity became stale
	all  uint32     // counts how often all did
}

// commit drops the blocks that a commit makes stale.
func (g *Gatherer) commit(cs *kv.ChangeSet) {
	g.commits.Add(1)
	for _, ch := range cs.Changes {
		if _, _, ok := entities.TypeRecords.Of(ch); ok {
			g.blocks.clear()
			return
		}
	}
	for _, ch := range cs.Changes {
		key := graph.Key{Kind: graph.Entity, ID: ch.ID}
		if _, _, ok := entities.EntityRecords.Of(ch); ok {
			g.blocks.drop(g.all.Number(key))
		} else if _, _, ok := notes.Records.Of(ch); ok {
			key.Kind = graph.Note
		} else {
			continue
		}
		for _, id := range g.all.Referrers(key) {
			g.blocks.drop(g.all.Number(graph.Key{Kind: graph.Entity, ID: id}))
		}
	}
}

// moment names the state of the store and the day. Two equal moments give equal
// answers, but for those that ask for the time of day.
func (g *Gatherer) moment() uint64 {
	const secondsADay = 24 * 60 * 60
	now := g.opts.Now()
	_, offset := now.Zone()
	day := (now.Unix() + int64(offset)) / secondsADay
	return g.commits.Load()<<24 | uint64(day)&(1<<24-1)
}

func (b *blocks) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.list {
		b.list[i].Store(nil)
	}
	b.all++
}

func (b *blocks) drop(n graph.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gens = reaching(b.gens, n)
	b.gens[n]++
	for i := range b.list {
		if list := b.list[i].Load(); list != nil && int(n) < len(*list) {
			(*list)[n].Store(nil)
		}
	}
}

func (b *blocks) get(variant int, n graph.Node) *block {
	if list := b.list[variant].Load(); list != nil && int(n) < len(*list) {
		return (*list)[n].Load()
	}
	return nil
}

// gen is what put asks for: how often the blocks of an entity became stale.
type gen struct{ of, all uint32 }

func (b *blocks) gen(n graph.Node) gen {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := gen{all: b.all}
	if int(n) < len(b.gens) {
		g.of = b.gens[n]
	}
	return g
}

// put keeps a block unless a commit has made it stale since since.
func (b *blocks) put(variant int, n graph.Node, blk *block, since gen) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := gen{all: b.all}
	if int(n) < len(b.gens) {
		now.of = b.gens[n]
	}
	if now != since {
		return false
	}
	list := b.list[variant].Load()
	if list == nil || int(n) >= len(*list) {
		var old []atomic.Pointer[block]
		if list != nil {
			old = *list
		}
		grown := make([]atomic.Pointer[block], max(int(n)+1, 2*len(old)))
		for i := range old {
			grown[i].Store(old[i].Load())
		}
		list = &grown
		b.list[variant].Store(list)
	}
	(*list)[n].Store(blk)
	return true
}

// reaching returns a list that has a place for n.
func reaching[T any](list []T, n graph.Node) []T {
	if int(n) < len(list) {
		return list
	}
	grown := make([]T, max(int(n)+1, 2*len(list)))
	copy(grown, list)
	return grown
}

// current reports whether a block that was kept is still what it would be.
func (c *call) current(b *block) bool {
	if b.privacy != c.view.Privacy() {
		return false
	}
	if b.fixed {
		return true // commit drops what is not
	}
	if c.at == 0 {
		c.at = c.g.moment()
	}
	switch {
	case b.instant:
		return false
	case b.seen.Load() == c.at:
		return true
	case b.links:
		return false
	}
	for _, a := range b.queries {
		if !a.view.Current(a.result) { // nor is one that failed
			return false
		}
	}
	b.seen.Store(c.at)
	return true
}

// room is what a call may still render.
type room struct{ blocks, bytes int }

// takes makes room for a block, and reports whether there was enough. How long a
// computed field takes nobody knows: it needs all of it.
func (r *room) takes(e *entities.Entity, t *entities.Type) bool {
	if r.bytes == math.MaxInt {
		return true
	}
	r.blocks--
	for _, value := range e.Fields {
		switch v := value.(type) {
		case string:
			r.bytes -= len(v)
		case []string:
			for _, item := range v {
				r.bytes -= len(item)
			}
		}
	}
	computed := t != nil && slices.ContainsFunc(t.Fields, func(f entities.Field) bool { return f.Type.IsComputed() })
	if computed {
		r.bytes = -1
	}
	return r.blocks >= 0 && r.bytes >= 0
}

// rendered are the blocks that were rendered for one assembly, by number. One whose
// answers hold for one call holds for it.
type rendered map[graph.Node]*block

// block returns the block of an entity, nil for one that is not live. ready is
// false for one that would have to be rendered when the call has no room for it.
func (c *call) block(n graph.Node, full bool) (b *block, ready bool) {
	b = c.g.blocks.get(c.variant, n)
	if b != nil && (b.full || !full) && c.current(b) {
		return b, true
	}
	b = c.made[n]
	if b != nil && (b.full || !full) && b.privacy == c.view.Privacy() && b.seen.Load() == c.g.moment() {
		return b, true
	}
	// A commit that comes from here on makes what is read now stale.
	since, moment, privacy := c.g.blocks.gen(n), c.g.moment(), c.view.Privacy()
	e := c.view.Entity(c.view.Key(n).ID)
	if !e.Live() {
		return nil, true
	}
	if !c.room.takes(e, c.view.TypeOf(e)) || c.ctx.Err() != nil {
		return nil, false
	}
	c.g.blocks.rendered.Add(1)
	b = c.render(e, full, moment, privacy)
	if c.ctx.Err() == nil { // a cancelled query leaves a gap that must not stay
		c.g.blocks.put(c.variant, n, b, since)
		c.made[n] = b
	}
	return b, true
}
