package wql

import (
	"context"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Numbers of rows of a result.
const (
	DefaultRows = 200
	MaxRows     = 10_000
)

// maxPrograms is how many texts are kept ready.
const maxPrograms = 1024

// Options are what an Engine needs from elsewhere. The zero value works.
type Options struct {
	Now      func() time.Time // nil: time.Now
	Location *time.Location   // of today(), dates and days; nil: time.Local
	// Match returns the test for entities that the full-text index finds for
	// the words. It is called once a query for each MATCHES; the test is called
	// for each row. nil: MATCHES is fault.Unavailable.
	Match func(ctx context.Context, words string) (func(id string) bool, error)
}

// Engine answers queries over an entities.Store. New makes one.
type Engine struct {
	src     *entities.Store
	opts    Options
	indexes *indexes
	results *results
	hide    func(*entities.Entity) bool // nil: nothing is hidden

	mu        sync.Mutex // guards what follows
	schema    *schema
	schemaGen uint64
	programs  map[programKey]*prepared
}

type programKey struct {
	text, thisType string
	hasThis        bool
	field          string // of which it is the query: it must not need that field then
}

// New returns an engine over src.
func New(src *entities.Store, opts Options) *Engine {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Location == nil {
		opts.Location = time.Local
	}
	e := &Engine{src: src, opts: opts, indexes: newIndexes(src, opts.Location), programs: make(map[programKey]*prepared)}
	e.results = newResults(e)
	return e
}

// Apply keeps indexes and the results of computed fields current. Register it
// with kv.Store.OnCommit when the engine is made: after entities.Open and
// Store.SetResolver, and behind every room that has the store resolve links
// anew. It costs O(log n) for each index and value that changed, and what it
// takes to drop the results that depend on them.
func (e *Engine) Apply(cs *kv.ChangeSet) {
	e.indexes.apply(cs)
	e.results.apply(cs)
}

// QueryOptions say how a query is run.
type QueryOptions struct {
	This    string // id of the entity that {this} means; empty for none
	Limit   int    // most rows to return: 0 for DefaultRows; above MaxRows counts as that
	Explain bool   // return the plan
}

// Query runs a query. Errors: Query with line, column and hint for a text that
// can't run; Limit for one over MaxSource; NotFound for an unknown This;
// Deadline and Cancelled when ctx ends first; Unavailable for MATCHES without
// an index.
func (e *Engine) Query(ctx context.Context, query string, opts QueryOptions) (*Result, error) {
	if opts.Limit < 0 {
		return nil, fault.Field("limit", "limit is negative").WithHint("give 1 to %d, or none for %d", MaxRows, DefaultRows)
	}
	var this *entities.Entity
	var thisType *entities.Type
	if opts.This != "" {
		if this = e.src.Get(opts.This); this == nil || e.hidden(this) {
			return nil, fault.Missing("entity", opts.This)
		}
		thisType = e.src.Type(this.Type)
	}
	start := time.Now()
	p, cached, err := e.prepare(query, thisType, this != nil, "")
	if err != nil {
		return nil, err
	}
	out, err := e.run(ctx, p, how{this: this, limit: rowLimit(opts.Limit), explain: opts.Explain, record: opts.Explain})
	if err != nil {
		return nil, err
	}
	if opts.Explain {
		micros := float64(time.Since(start).Nanoseconds()) / 1e3
		plan := e.planOf(out, p)
		plan.CachedProgram, plan.CachedResult, plan.Micros = cached, e.cachedValue(query, this), micros
		out.result.Plan = plan
	}
	return out.result, nil
}

func rowLimit(asked int) int {
	if asked == 0 {
		return DefaultRows
	}
	return min(asked, MaxRows)
}

// Hiding returns an engine over the same entities for which those that hide
// reports do not exist: neither as rows nor behind references nor as this. What
// it answers may be shown to somebody who must not know of them. hide must go by
// what the entity holds alone. The engine keeps caches of its own, and its Apply
// is to be registered as well.
func (e *Engine) Hiding(hide func(*entities.Entity) bool) *Engine {
	other := New(e.src, e.opts)
	other.hide = hide
	return other
}

func (e *Engine) hidden(row *entities.Entity) bool { return e.hide != nil && e.hide(row) }

// Computed returns the value of a computed field of an entity, with the
// default limit of rows. The result may be shared with other callers. Errors
// are those of Query.
func (e *Engine) Computed(ctx context.Context, ent *entities.Entity, field entities.Field) (*Result, error) {
	if field.Type != entities.Computed {
		return nil, fault.Field(field.Name, "field %q is not computed", field.Name)
	}
	if e.hidden(ent) {
		return nil, fault.Missing("entity", ent.ID)
	}
	t := e.src.Type(ent.Type)
	p, _, err := e.prepare(field.Query, t, true, field.Name)
	if err != nil {
		return nil, err
	}
	out, err := e.computed(ctx, p, ent, 1)
	if err != nil {
		return nil, err
	}
	return out.result, nil
}

// Current reports whether a result that Computed of this engine gave is still
// what the field gives: nothing that it depends on has changed since. It is
// false in doubt: for what depends on now() or MATCHES, for a result that had
// to make room for others, and while a commit is under way that Apply has not
// seen. O(1).
func (e *Engine) Current(r *Result) bool {
	if r == nil || r.of == nil || r.of.engine != e || r.of.dropped.Load() {
		return false
	}
	return e.results.current(r.of, e.src.Gen())
}

// today is the day number of today.
func (e *Engine) today() int64 { return dayOf(e.opts.Now().In(e.opts.Location)) }

// computed runs a computed field, or takes its value from the cache when
// nothing that it depends on has changed.
func (e *Engine) computed(ctx context.Context, p *prepared, ent *entities.Entity, depth int) (*outcome, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	how := how{this: ent, depth: depth, limit: DefaultRows}
	if p.volatile {
		return e.run(ctx, p, how)
	}
	gen := e.src.Gen()
	if current := e.src.Get(ent.ID); current != ent {
		return e.run(ctx, p, how) // an entity that is not stored so
	}
	key := resultKey{p, ent.ID}
	if out := e.results.get(key, gen); out != nil {
		return out, nil
	}
	how.record = true
	out, err := e.run(ctx, p, how)
	if err != nil {
		return nil, err
	}
	e.results.put(key, gen, out)
	return out, nil
}

// prepare returns a query made ready. field is set when the query is that of a
// computed field of thisType, which then must not need itself.
func (e *Engine) prepare(text string, thisType *entities.Type, hasThis bool, field string) (p *prepared, cached bool, err error) {
	if len(text) > MaxSource {
		return nil, false, fault.TooLarge("query", len(text), MaxSource, "bytes")
	}
	key := programKey{text: text, hasThis: hasThis, field: field}
	if thisType != nil {
		key.thisType = thisType.Name
	}
	gen := e.src.SchemaGen()
	e.mu.Lock()
	if e.schema != nil && e.schemaGen == gen {
		p = e.programs[key]
	}
	e.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
	sc := e.schemaOf(gen)
	s := newSession(sc)
	if field != "" && thisType != nil {
		s.stack = []string{thisType.Name + "." + field}
	}
	var found findings
	if p = check(s, text, thisType, hasThis, &found); p == nil {
		return nil, false, firstError(found.diagnostics(text))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schemaGen == gen {
		if len(e.programs) >= maxPrograms {
			clear(e.programs)
		}
		e.programs[key] = p
	}
	return p, false, nil
}

// schemaOf returns the declared types, and forgets all programs when they
// changed.
func (e *Engine) schemaOf(gen uint64) *schema {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schema == nil || e.schemaGen != gen {
		e.schema = newSchema(e.src.Types(), nil)
		e.schemaGen = gen
		clear(e.programs)
	}
	return e.schema
}

// Check returns everything that is to be said about a query: all errors and
// warnings, in the order of the text. thisType names the type that {this} is
// of; when empty, what {this.path} means is not checked.
func (e *Engine) Check(query, thisType string) []Diagnostic {
	sc := newSchema(e.src.Types(), nil)
	s := newSession(sc)
	var found findings
	var t *entities.Type
	s.lax = thisType == ""
	s.misnamed = func(text string) bool { return e.src.Get(text) == nil && len(e.src.Named(text)) > 0 }
	if thisType != "" {
		if t = sc.byName[entities.Fold(thisType)]; t == nil {
			found.fail(Span{}, "there is no type "+clip(thisType)+" that this could be of",
				didYouMean(thisType, sc.typeNames(), "declare it with types.put"))
		}
	}
	check(s, query, t, t != nil, &found)
	return found.diagnostics(query)
}

// CheckField returns what is to be said about the query of a computed field of
// t, which counts as declared as it is given. Types that are not declared yet
// are warnings. It is meant for entities.Options.CheckQuery.
func (e *Engine) CheckField(t *entities.Type, f entities.Field) []Diagnostic {
	s := newSession(newSchema(e.src.Types(), t))
	s.laxTypes = true
	s.stack = []string{t.Name + "." + f.Name}
	var found findings
	check(s, f.Query, t, true, &found)
	return found.diagnostics(f.Query)
}

// check parses and types a text, and returns it ready to run when there is no
// error. What can be typed of a text with syntax errors is typed too, so that
// all is said at once.
func check(s *session, text string, t *entities.Type, hasThis bool, found *findings) *prepared {
	q := parse(text, found)
	if q == nil || len(q.From) == 0 {
		return nil
	}
	return s.compile(q, t, hasThis, found)
}
