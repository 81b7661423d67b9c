package gather

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// Options are what a Gatherer needs beside the rooms. The zero value works.
type Options struct {
	Now     func() time.Time // nil: time.Now; the day decides about computed fields with today()
	Reports int              // how many reports Recent keeps; 0: DefaultReports

	MaxEntities int // entities in a prompt at most; 0: prompt.MaxEntities

	// NewSecret returns the 32 bytes by which a store marks the notes in its
	// prompts. It is asked once in the life of a store; nil: random ones.
	NewSecret func() []byte

	Search *search.Index // nil: the search is skipped
}

// DefaultReports is how many reports Recent keeps unless Options say otherwise.
const DefaultReports = 50

// Gatherer assembles prompts. Open makes one. It is safe for concurrent use.
type Gatherer struct {
	db       *kv.Store
	entities *entities.Store
	notes    *notes.Store
	wql      *wql.Engine
	public   *wql.Engine // for which private entities do not exist
	graph    *graph.Graph
	opts     Options

	blocks  blocks
	commits atomic.Uint64 // that were seen
	texts   texts
	secret  secret

	mu     sync.Mutex // guards recent
	recent []Recorded // newest last
}

// Recorded is the report of an assembly that was done.
type Recorded struct {
	At             time.Time     `json:"at"`
	ConversationID string        `json:"conversationId,omitempty"`
	Audience       string        `json:"audience"`
	Report         prompt.Report `json:"report"`
}

// Open makes a Gatherer over rooms that were opened before; it is the last to
// hear of a commit.
func Open(db *kv.Store, ents *entities.Store, ns *notes.Store, engine *wql.Engine, gr *graph.Graph, opts Options) *Gatherer {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Reports == 0 {
		opts.Reports = DefaultReports
	}
	if opts.NewSecret == nil {
		opts.NewSecret = newSecret
	}
	g := &Gatherer{db: db, entities: ents, notes: ns, wql: engine, graph: gr, opts: opts}
	if engine != nil {
		g.public = engine.Hiding(func(e *entities.Entity) bool { return e.Private })
		db.OnCommit(g.public.Apply)
	}
	db.OnCommit(g.commit)
	return g
}

// Public returns the engine that answers for a remote audience: private entities
// do not exist for it. It is nil without an engine.
func (g *Gatherer) Public() *wql.Engine { return g.public }

// Assemble makes the prompt for p. The same store, parameters and calendar day
// give the same bytes, as soon as the notes that a search finds have their vectors.
func (g *Gatherer) Assemble(ctx context.Context, p Params) (*prompt.Result, error) {
	r, err := p.check()
	if err != nil {
		return nil, err
	}
	clock := stopwatch{last: time.Now(), stages: make([]prompt.Stage, 0, 5)}
	var key []byte
	if r.format == prompt.XML {
		if key, err = g.boundaryKey(ctx); err != nil {
			return nil, err
		}
	}
	found, skipped, why := g.search(ctx, r)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case r.SearchNotes == 0:
	case skipped:
		clock.skip("search", why)
	default:
		clock.lap("search")
		clock.stages[len(clock.stages)-1].Why = why
	}
	m := g.mentioned(ctx, r)
	clock.lap("mentions")
	c, err := g.candidates(ctx, r, m, found)
	if err != nil {
		return nil, err
	}
	defer c.scratch.free()
	clock.lap("entities")
	c.in.Secret, c.in.MaxEntities = key, g.opts.MaxEntities
	c.readTexts()
	clock.lap("notes")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	res := prompt.Build(c.in)
	if c.queries != nil {
		res.Report.QueryErrors = c.queries
	}
	clock.lap("render")
	res.Report.Stages = clock.stages
	g.record(r, res.Report)
	return res, nil
}

// Commits wait for a View, and all readers for them: what an assembly does there
// must be short.
const (
	rendersInView = 32 // blocks that are rendered in a View
	attempts      = 4  // to have the others before it
)

// candidates finds the candidates of every section in one state of the store.
// Where many blocks are missing, they are rendered between two looks at it.
func (g *Gatherer) candidates(ctx context.Context, r *request, m *mentions, found []search.Hit) (*call, error) {
	for attempt := 1; ; attempt++ {
		c := g.newCall(ctx, r, m)
		c.found = found
		if c.renders = rendersInView; attempt == attempts {
			c.renders = math.MaxInt // the store changes faster than we render
		}
		err := g.db.View(ctx, func(*kv.Tx) error { return c.collect() })
		if err == nil && !c.incomplete {
			return c, nil
		}
		c.scratch.free()
		if err != nil {
			return nil, err
		}
		warm := g.newCall(ctx, r, m)
		warm.renders = math.MaxInt
		warm.walk(m.entities)
		warm.scratch.free()
	}
}

func (g *Gatherer) newCall(ctx context.Context, r *request, m *mentions) *call {
	c := &call{g: g, ctx: ctx, request: r, mentions: m, scratch: scratches.Get().(*scratch)}
	c.in.Entities = c.scratch.entities
	return c
}

// record keeps a report for Recent.
func (g *Gatherer) record(r *request, report prompt.Report) {
	audience := Remote
	if !r.remote {
		audience = Local
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.recent) == g.opts.Reports {
		g.recent = append(g.recent[:0], g.recent[1:]...)
	}
	g.recent = append(g.recent, Recorded{At: g.opts.Now().UTC(), ConversationID: r.ConversationID, Audience: audience, Report: report})
}

// Recent returns the reports of the last assemblies, newest first, at most
// limit.
func (g *Gatherer) Recent(limit int) []Recorded {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := max(0, min(limit, len(g.recent)))
	out := make([]Recorded, 0, n)
	for i := range n {
		out = append(out, g.recent[len(g.recent)-1-i])
	}
	return out
}

// Forget drops the kept reports: they name records that may be gone for good.
func (g *Gatherer) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recent = nil
}

// stopwatch times the stages of an assembly.
type stopwatch struct {
	last   time.Time
	stages []prompt.Stage
}

func (w *stopwatch) lap(name string) {
	now := time.Now()
	w.stages = append(w.stages, prompt.Stage{Name: name, Ms: float64(now.Sub(w.last).Microseconds()) / 1000})
	w.last = now
}

func (w *stopwatch) skip(name, why string) {
	w.stages = append(w.stages, prompt.Stage{Name: name, Skipped: true, Why: why})
	w.last = time.Now()
}

func checkID(field, id string) error { return entities.CheckID(field, id) }
