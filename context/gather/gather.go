package gather

import (
	"cmp"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/yield"
)

// Options are what a Gatherer needs beside the rooms. The zero value works.
type Options struct {
	Now     func() time.Time // nil: time.Now; the day decides about computed fields with today()
	Reports int              // how many reports Recent keeps; 0: DefaultReports

	MaxEntities int // entities in a prompt at most; 0: prompt.MaxEntities

	Refs          *Resolver                  // of what a message refers to; nil: mentions of entities and notes only
	Memories      memories                   // nil: there are none
	Finder        finder                     // of memories and messages; nil: none is found
	Conversations conversations              // nil: there are none
	Personality   func() *prompt.Personality // that is active, nil for none; nil: there is none
	Passive       *recall.Passive            // what waits for conversations; nil: nothing does
	Insights      insights                   // what became of memories; nil: nobody knows
	DayNotes      DayNotes                   // the notes of days; nil: there are none
	NoBooks       bool                       // nothing of books is taken in
	ColdStart     time.Duration              // after which a conversation begins anew; 0: DefaultColdStart
	Distiller     Distiller                  // nil: what is found and pinned stands as it is
	DistillTime   time.Duration              // that it may take; 0: DistillTime
	Deadline      time.Duration              // of the searches of a prompt together, where Params say none; 0: there is none

	// NewSecret returns the 32 bytes by which a store marks the notes in its
	// prompts. It is asked once in the life of a store; nil: random ones.
	NewSecret func() []byte
}

// DefaultColdStart is after how long without a message a conversation begins anew, unless Options say otherwise.
const DefaultColdStart = 24 * time.Hour

// DefaultReports is how many reports Recent keeps unless Options say otherwise.
const DefaultReports = 50

// Gatherer assembles prompts. Open makes one. It is safe for concurrent use.
type Gatherer struct {
	store storage
	all   *audience.View // which tells what refers to what
	opts  Options

	blocks  blocks
	commits atomic.Uint64 // that were seen
	texts   texts
	secret  secret

	mu     sync.Mutex // guards recent
	recent []kept     // newest last
}

// kept is a report as it was told to one reader.
type kept struct {
	Recorded
	told audience.Reader
}

// Readers are for whom an assembly is done.
type Readers struct {
	Prompt *audience.View // who reads the prompt
	// Report is who reads the report: it tells a reader who may know of them which
	// private records were kept from a remote prompt. To others they are unknown.
	Report *audience.View
}

// storage is what a Gatherer needs of the record store: one state of it while it reads,
// and a place for the secret of the boundaries. It is kv.Store, but for what reads records; a test counts its calls.
type storage interface {
	View(ctx context.Context, fn func(*kv.Tx) error) error
	Update(ctx context.Context, fn func(*kv.Tx) error) error
	OnCommit(fn func(*kv.ChangeSet))
}

// Open makes a Gatherer over rooms that were opened before; it is the last to
// hear of a commit.
func Open(store storage, rooms *audience.Views, opts Options) *Gatherer {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Reports == 0 {
		opts.Reports = DefaultReports
	}
	if opts.Refs == nil {
		opts.Refs = NewResolver(ResolverOptions{})
	}
	opts.ColdStart = cmp.Or(opts.ColdStart, DefaultColdStart)
	if opts.NewSecret == nil {
		opts.NewSecret = newSecret
	}
	g := &Gatherer{store: store, all: rooms.View(audience.Local), opts: opts}
	store.OnCommit(g.commit)
	return g
}

// Assemble makes the prompt for p. The same store, parameters and calendar day
// give the same bytes, as soon as the notes that a search finds have their vectors and no search takes too long; a Distiller may
// say otherwise.
func (g *Gatherer) Assemble(ctx context.Context, by Readers, p Params) (*prompt.Result, error) {
	res, _, err := g.AssembleThen(ctx, by, p, func() error { return nil })
	return res, err
}

// AssembleThen is Assemble that calls found when all is found: its error ends the assembly, and the time of a Distiller comes
// after it. plain is the text as it is without one.
func (g *Gatherer) AssembleThen(ctx context.Context, by Readers, p Params, found func() error) (
	res *prompt.Result, plain string, err error,
) {
	r, err := g.check(by, p)
	if err != nil {
		return nil, "", err
	}
	c, clock, err := g.find(ctx, r)
	if err != nil {
		return nil, "", err
	}
	defer func() { c.scratch.free() }()
	if err := found(); err != nil {
		return nil, "", err
	}
	clock.last = time.Now()
	waited, err := c.distil(ctx, clock)
	if err == nil && waited {
		var hidden bool
		hidden, err = c.hiddenMeanwhile(ctx)
		if hidden && err == nil {
			c.scratch.free()
			r.begin()
			if c, clock, err = g.find(ctx, r); err == nil {
				clock.skip(DistillStage, "private records changed meanwhile")
			}
		}
	}
	if err != nil {
		return nil, "", err
	}
	res = c.build(clock)
	plain = res.System
	if c.plain != nil {
		plain = prompt.Build(*c.plain).System
	}
	g.record(r, res.Report)
	return res, plain, nil
}

// Preview is Assemble for a prompt that is compared and not sent: Recent does not have its report, and no
// Distiller is asked.
func (g *Gatherer) Preview(ctx context.Context, by Readers, p Params) (*prompt.Result, error) {
	r, err := g.check(by, p)
	if err != nil {
		return nil, err
	}
	c, clock, err := g.find(ctx, r)
	if err != nil {
		return nil, err
	}
	defer c.scratch.free()
	return c.build(clock), nil
}

// check returns the request of a call, whose time begins.
func (g *Gatherer) check(by Readers, p Params) (*request, error) {
	r, err := check(by, p)
	if err != nil {
		return nil, err
	}
	r.limit = cmp.Or(time.Duration(p.DeadlineMS)*time.Millisecond, g.opts.Deadline)
	r.begin()
	return r, nil
}

// begin has the time of the searches begin.
func (r *request) begin() { r.until = time.Now().Add(r.limit) }

// find finds all that goes into a prompt. Who has the call gives its scratch back.
func (g *Gatherer) find(ctx context.Context, r *request) (*call, *stopwatch, error) {
	clock := &stopwatch{last: time.Now(), stages: make([]prompt.Stage, 0, 5)}
	var key []byte
	var err error
	if r.format == prompt.XML {
		key, err = g.boundaryKey(ctx)
		if err != nil {
			return nil, nil, err
		}
	}
	var warnings []prompt.Warning
	if r.pins, warnings, err = g.pinsOf(ctx, r); err != nil {
		return nil, nil, err
	}
	m, err := mentioned(ctx, g.opts.Refs, r)
	if err != nil {
		return nil, nil, err
	}
	m.warnings = append(m.warnings, warnings...)
	if ctx, err = g.findFocus(ctx, r, m); err != nil {
		return nil, nil, err
	}
	m.day = g.noteOfDay(ctx, r)
	clock.lap("mentions")
	found, st := g.search(ctx, r, m)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	switch {
	case r.SearchNotes == 0:
	case st.Skipped:
		clock.skip("search", st.Why)
		clock.stage().Best = st.Best
	default:
		clock.lap("search")
		clock.stage().Why, clock.stage().Best = st.Why, st.Best
	}
	c, err := g.readable(ctx, r, m, found, clock)
	if err != nil {
		return nil, nil, err
	}
	c.nameNotes()
	c.in.Secret, c.in.MaxEntities = key, g.opts.MaxEntities
	return c, clock, nil
}

// build makes the prompt of what was found.
func (c *call) build(clock *stopwatch) *prompt.Result {
	res := prompt.Build(c.in)
	if c.queries != nil {
		res.Report.QueryErrors = c.queries
	}
	res.Report.Warnings, res.Report.StandsOn = c.warnings, c.stood
	res.Report.Query = c.searchedFor()
	clock.lap("render")
	res.Report.Stages = clock.stages
	return res
}

// Commits wait for a View, and all readers for them: what an assembly does there
// must be short, whatever the records hold. So no text of a note is read in it, and
// blocks are rendered in it only while they are few and small.
const (
	rendersInView = 32       // blocks
	bytesInView   = 64 << 10 // of the values in them
	attempts      = 4        // to have the others before it
)

// readable finds the candidates of every section with their texts. These are read, and
// masked, when no commit waits. What private records are called must not have changed
// meanwhile: a text that names one by what it was called before would tell.
func (g *Gatherer) readable(ctx context.Context, r *request, m *mentions, found []search.Hit,
	clock *stopwatch,
) (*call, error) {
	before := len(clock.stages)
	for attempt := 1; ; attempt++ {
		c, err := g.candidates(ctx, r, m, found)
		if err != nil {
			return nil, err
		}
		clock.lap("entities")
		err = c.referenced()
		if err == nil {
			err = c.remember(clock)
		}
		if err == nil {
			err = c.passages(clock)
		}
		c.scratch.referenced, c.scratch.recalled = c.in.Referenced, c.in.Recalled
		if err == nil {
			err = c.readTexts()
		}
		told := false
		if err == nil {
			told, err = c.toldBefore(ctx)
		}
		switch {
		case err != nil:
			c.scratch.free()
			return nil, err
		case !told:
			clock.lap("notes")
			return c, nil
		case attempt == attempts:
			c.withoutTexts()
			clock.skip("notes", "private records changed faster than texts could be looked through for them")
			return c, nil
		}
		c.scratch.free()
		clock.stages = clock.stages[:before]
	}
}

// candidates finds the candidates of every section in one state of the store. The
// blocks that are missing are rendered between two looks at it. When the store
// changes faster than that, the last look is none at one state: what it finds was
// there while the prompt was made, but not all of it at once.
func (g *Gatherer) candidates(ctx context.Context, r *request, m *mentions, found []search.Hit) (*call, error) {
	made := make(rendered)
	for attempt := 1; ; attempt++ {
		inView := attempt <= attempts
		work := ctx
		if inView {
			work = yield.Never(ctx)
		}
		c := g.newCall(work, r, m, made)
		c.found = found
		var err error
		if inView {
			c.room = room{blocks: rendersInView, bytes: bytesInView}
			err = g.store.View(ctx, func(*kv.Tx) error { return c.collect() })
		} else {
			err = c.collect()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && !c.incomplete {
			return c, nil
		}
		c.scratch.free()
		if err != nil {
			return nil, err
		}
		warm := g.newCall(ctx, r, m, made)
		warm.walkAll()
		warm.scratch.free()
	}
}

// newCall makes a call that may render what it likes.
func (g *Gatherer) newCall(ctx context.Context, r *request, m *mentions, made rendered) *call {
	c := &call{g: g, ctx: ctx, request: r, mentions: m, made: made, scratch: scratches.Get().(*scratch)}
	c.room = room{blocks: math.MaxInt, bytes: math.MaxInt}
	c.in.Entities, c.in.Referenced, c.in.Recalled = c.scratch.entities, c.scratch.referenced, c.scratch.recalled
	return c
}

// record keeps a report for Recent.
func (g *Gatherer) record(r *request, report prompt.Report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.recent) == g.opts.Reports {
		g.recent = append(g.recent[:0], g.recent[1:]...)
	}
	recorded := Recorded{
		At: g.opts.Now().UTC(), ConversationID: r.ConversationID, Audience: string(r.view.Reader()), Report: report,
	}
	g.recent = append(g.recent, kept{recorded, r.told.Reader()})
}

// Recent returns the reports of the last assemblies, newest first, at most limit. A
// remote reader is told of those alone that were made for remote readers: what they
// say was meant for one.
func (g *Gatherer) Recent(limit int, reader audience.Reader) []Recorded {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Recorded, 0, max(0, min(limit, len(g.recent))))
	for i := len(g.recent) - 1; i >= 0 && len(out) < limit; i-- {
		if reader == audience.Local || g.recent[i].told == audience.Remote {
			out = append(out, g.recent[i].Recorded)
		}
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
	w.stages = append(w.stages, prompt.Stage{Name: name, Ms: milliseconds(now.Sub(w.last))})
	w.last = now
}

// stage is the one that was told last.
func (w *stopwatch) stage() *prompt.Stage { return &w.stages[len(w.stages)-1] }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (w *stopwatch) skip(name, why string) {
	w.stages = append(w.stages, prompt.Stage{Name: name, Skipped: true, Why: why})
	w.last = time.Now()
}

func checkID(field, id string) error { return entities.CheckID(field, id) }
