package wql

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql/syntax"
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
	indexes *indexSet
	results *results
	shown   *Visibility // nil: everything
	tasks   Tasks       // nil: there are none

	forgotten atomic.Uint64 // how often Forget was called: see gen

	mu        sync.Mutex // guards what follows
	schema    *typeSchema
	schemaGen uint64
	programs  map[programKey]*prepared

	counts    map[string]int // of the entities that are not hidden, by type
	countsGen uint64
}

type programKey struct {
	text, thisType, thisVault string
	hasThis                   bool
	field                     string // of which it is the query: it must not need that field then
}

// New returns an engine over src.
func New(src *entities.Store, opts Options) *Engine {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Location == nil {
		opts.Location = time.Local
	}
	e := &Engine{
		src: src, opts: opts, indexes: newIndexSet(src, opts.Location),
		programs: make(map[programKey]*prepared),
	}
	e.results = newResults(e)
	return e
}

// Apply keeps indexes and the results of computed fields current. Register it
// with kv.Store.OnCommit when the engine is made: after entities.Open and
// Store.SetResolver, and behind every room that has the store resolve links
// anew. It costs O(log n) for each index and value that changed, and what it
// takes to drop the results that depend on them.
func (e *Engine) Apply(cs *kv.ChangeSet) {
	e.indexes.Apply(cs)
	e.results.apply(cs)
}

// QueryOptions say how a query is run.
type QueryOptions struct {
	This    string // id of the entity that {this} means; empty for none
	Limit   int    // most rows to return: 0 for DefaultRows; above MaxRows counts as that
	Explain bool   // return the plan
}

// Query runs a query. Between its steps it passes a yield.Point, with no lock of the engine
// held. Errors: Query with line, column and hint for a text that
// can't run; Limit for one over MaxSource; NotFound for an unknown This;
// Deadline and Cancelled when ctx ends first; Unavailable for MATCHES without
// an index.
func (e *Engine) Query(ctx context.Context, query string, opts QueryOptions) (*Result, error) {
	if opts.Limit < 0 {
		return nil, fault.Field("limit", "limit is negative").
			WithHint("give 1 to %d, or none for %d", MaxRows, DefaultRows)
	}
	var this *entities.Entity
	var thisType *entities.Type
	if opts.This != "" {
		this = e.get(opts.This)
		if this == nil {
			return nil, fault.Missing("entity", opts.This)
		}
		thisType = e.typeOf(this)
	}
	start := time.Now()
	p, cached, err := e.prepare(query, thisType, this != nil, "")
	if err != nil {
		return nil, err
	}
	out, err := e.run(ctx, p, how{
		this: this, limit: rowLimit(opts.Limit), explain: opts.Explain, record: opts.Explain,
	})
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

// Visibility says what an engine answers from whose reader does not see everything. A nil
// As or Types, TypeOf and Named show all of that.
type Visibility struct {
	// Hides reports whether an entity does not exist for the reader, by what the entity
	// holds alone.
	Hides func(*entities.Entity) bool
	// As returns an entity as the reader sees it: the entity itself when nothing in it
	// is hidden. It must give the same until Forget is called.
	As func(*entities.Entity) *entities.Entity
	// Types returns the types that exist for the reader, and TypeOf that of an entity or nil.
	Types  func() []*entities.Type
	TypeOf func(*entities.Entity) *entities.Type
	Named  func(name string) *entities.NamedTypes // those of Types that have a name
	// Match stands in for that of Options; nil: none does.
	Match func(ctx context.Context, words string) (func(id string) bool, error)
	// Tasks are those that exist for the reader; nil: none do.
	Tasks Tasks
}

// Showing returns an engine over the same entities as a reader sees them: hidden ones
// are neither rows nor behind references nor this, and every value is compared, ordered
// and counted as it is shown. What it answers may be shown to somebody who must not know
// of the rest. The engine keeps caches of its own, and its Apply is to be registered as
// well.
func (e *Engine) Showing(shown Visibility) *Engine {
	opts := e.opts
	if shown.Match != nil {
		opts.Match = shown.Match
	}
	other := New(e.src, opts)
	other.shown, other.tasks = &shown, shown.Tasks
	other.indexes.ShowOnly(other.gen, other.showAll)
	return other
}

// Forget drops everything that was kept. It is to be called when a commit may have
// changed how entities are shown, before Apply.
func (e *Engine) Forget() {
	e.forgotten.Add(1) // what is being worked out now is not kept
	e.indexes.Clear()
	e.results.forget()
}

// gen is the generation of what queries read: it changes with the entities and with how
// they are shown.
func (e *Engine) gen() uint64 { return e.src.Gen() + e.forgotten.Load()<<40 }

// schemaGenNow is the generation of the types. Types that were made from notes exist for
// some readers as long as entities of them do, and what a type says may be shown otherwise
// after Forget.
func (e *Engine) schemaGenNow() uint64 {
	gen := e.src.SchemaGen() + e.forgotten.Load()<<40
	if e.shown != nil && slices.ContainsFunc(e.src.Types(), func(t *entities.Type) bool { return t.Inferred }) {
		gen += e.gen() << 20
	}
	return gen
}

func (e *Engine) types() []*entities.Type {
	if e.shown == nil || e.shown.Types == nil {
		return e.src.Types()
	}
	return e.shown.Types()
}

func (e *Engine) typeOf(row *entities.Entity) *entities.Type {
	if e.shown == nil || e.shown.TypeOf == nil {
		return e.src.TypeOf(row)
	}
	return e.shown.TypeOf(row)
}

// count is the number of live entities of a type that are not hidden. With a Shown it is
// O(n) once after each change, and O(1) without.
func (e *Engine) count(typeName string) int {
	if e.shown == nil {
		return e.src.Count(typeName)
	}
	gen := e.gen()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil || e.countsGen != gen {
		e.counts, e.countsGen = make(map[string]int), gen
	}
	n, known := e.counts[typeName]
	if !known {
		for _, row := range e.src.OfType(typeName) {
			if !e.hidden(row) {
				n++
			}
		}
		e.counts[typeName] = n
	}
	return n
}

func (e *Engine) hidden(row *entities.Entity) bool { return e.shown != nil && e.shown.Hides(row) }

// show returns an entity that is not hidden as the reader sees it.
func (e *Engine) show(row *entities.Entity) *entities.Entity {
	if e.shown == nil || e.shown.As == nil {
		return row
	}
	return e.shown.As(row)
}

// showAll returns those of the entities that are not hidden as the reader sees them.
func (e *Engine) showAll(list []*entities.Entity) []*entities.Entity {
	out := make([]*entities.Entity, 0, len(list))
	for _, row := range list {
		if row != nil && !e.hidden(row) {
			out = append(out, e.show(row))
		}
	}
	return out
}

// shownOne returns an entity as the reader sees it, nil for one that is hidden.
func (e *Engine) shownOne(row *entities.Entity) *entities.Entity {
	if row == nil || e.hidden(row) {
		return nil
	}
	return e.show(row)
}

// get returns the entity of an id as the reader sees it, nil for none.
func (e *Engine) get(id string) *entities.Entity {
	return e.shownOne(e.src.Get(id))
}

// Computed returns the value of a computed field of an entity, with the
// default limit of rows. The result may be shared with other callers. Errors are those of
// Query.
func (e *Engine) Computed(ctx context.Context, ent *entities.Entity, field entities.Field) (*Result, error) {
	if !field.Type.IsComputed() {
		return nil, fault.Field(field.Name, "field %q is not computed", field.Name)
	}
	if e.hidden(ent) {
		return nil, fault.Missing("entity", ent.ID)
	}
	t := e.typeOf(ent)
	if e.shown != nil && t != nil { // the caller's is as the reader is shown it
		if own, ok := t.Field(field.Name); ok && own.Type.IsComputed() {
			field = own
		}
	}
	p, _, err := e.prepare(field.Query, t, true, field.Name)
	if err != nil {
		return nil, err
	}
	out, err := e.computed(ctx, p, ent, 1, DefaultRows)
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
	return e.results.current(r.of, e.gen())
}

// today is the day number of today.
func (e *Engine) today() int64 { return dayNumber(e.opts.Now().In(e.opts.Location)) }

// computed runs a computed field, or takes its value from the cache when
// nothing that it depends on has changed. It gives up to so many refs.
func (e *Engine) computed(ctx context.Context, p *prepared, ent *entities.Entity, depth, refs int) (*outcome, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	how := how{this: e.show(ent), depth: depth, limit: DefaultRows, refs: refs}
	if p.volatile {
		return e.run(ctx, p, how)
	}
	gen := e.gen()
	if current := e.src.Get(ent.ID); current != ent {
		return e.run(ctx, p, how) // an entity that is not stored so
	}
	key := resultKey{p, ent.ID}
	if out := e.results.get(key, gen); out != nil && (!out.missing || len(out.refs) >= refs) {
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
func (e *Engine) prepare(text string, thisType *entities.Type, hasThis bool,
	field string,
) (p *prepared, cached bool, err error) {
	if len(text) > syntax.MaxSource {
		return nil, false, fault.TooLarge("query", len(text), syntax.MaxSource, "bytes")
	}
	key := programKey{text: text, hasThis: hasThis, field: field}
	if thisType != nil {
		key.thisType, key.thisVault = thisType.Name, thisType.Vault
	}
	gen := e.schemaGenNow()
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
	s.tasks = e.tasks != nil && field == ""
	if field != "" && thisType != nil {
		s.stack = []string{fieldKey(thisType, field)}
	}
	var found syntax.Findings
	p = check(s, text, thisType, hasThis, &found)
	if p == nil {
		return nil, false, syntax.FirstError(found.Diagnostics(text))
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
func (e *Engine) schemaOf(gen uint64) *typeSchema {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.schema == nil || e.schemaGen != gen {
		e.schema = newSchema(e.types(), nil)
		e.schema.Named = e.src.TypesNamed
		if e.shown != nil && e.shown.Named != nil {
			e.schema.Named = e.shown.Named
		}
		e.schemaGen = gen
		clear(e.programs)
	}
	return e.schema
}

// Check returns everything that is to be said about a query: all errors and
// warnings, in the order of the text. thisType names the type that {this} is
// of; when empty, what {this.path} means is not checked.
func (e *Engine) Check(query, thisType string) []syntax.Diagnostic {
	sc := newSchema(e.types(), nil)
	s := newSession(sc)
	var found syntax.Findings
	var t *entities.Type
	s.lax, s.tasks = thisType == "", e.tasks != nil
	s.misnamed = func(text string) bool {
		return e.get(text) == nil && len(e.src.Named(text, e.hidden)) > 0
	}
	if thisType != "" {
		if named := sc.Of(thisType); named != nil {
			t = named[0]
		} else {
			found.Fail(syntax.Span{}, "there is no type "+syntax.Clip(thisType)+" that this could be of",
				syntax.DidYouMean(thisType, sc.TypeNames(), "declare it with types.put"))
		}
	}
	check(s, query, t, t != nil, &found)
	return found.Diagnostics(query)
}

// CheckField returns what is to be said about the query of a computed field of
// t, which counts as declared as it is given. Types that are not declared yet
// are warnings. It is meant for entities.Options.CheckQuery.
func (e *Engine) CheckField(t *entities.Type, f entities.Field) []syntax.Diagnostic {
	s := newSession(newSchema(e.src.Types(), t))
	s.laxTypes = true
	s.stack = []string{fieldKey(t, f.Name)}
	var found syntax.Findings
	check(s, f.Query, t, true, &found)
	return found.Diagnostics(f.Query)
}

// check parses and types a text, and returns it ready to run when there is no
// error. What can be typed of a text with syntax errors is typed too, so that
// all is said at once.
func check(s *session, text string, t *entities.Type, hasThis bool, found *syntax.Findings) *prepared {
	q := syntax.ParseInto(text, found)
	if q == nil || len(q.From) == 0 {
		return nil
	}
	return s.compile(q, t, hasThis, found)
}
