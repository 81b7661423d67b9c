package wql

import (
	"context"
	"fmt"
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

// Sizes of the caches.
const (
	maxPrograms = 1024
	maxResults  = 16384
)

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
	hide    func(*entities.Entity) bool // nil: nothing is hidden

	mu        sync.Mutex // guards what follows
	schema    *schema
	schemaGen uint64
	programs  map[programKey]*prepared
	results   map[resultKey]*outcome // of generation resultGen
	resultGen uint64
}

type programKey struct {
	text, thisType string
	hasThis        bool
	field          string // of which it is the query: it must not need that field then
}

type resultKey struct {
	program *prepared
	this    string
}

// New returns an engine over src.
func New(src *entities.Store, opts Options) *Engine {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Location == nil {
		opts.Location = time.Local
	}
	return &Engine{
		src: src, opts: opts, indexes: newIndexes(src),
		programs: make(map[programKey]*prepared), results: make(map[resultKey]*outcome),
	}
}

// Apply keeps built indexes current. Register it with kv.Store.OnCommit after
// entities.Open, and after every room that has the store resolve links anew.
func (e *Engine) Apply(cs *kv.ChangeSet) { e.indexes.apply(cs) }

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
		if this = e.src.Get(opts.This); this == nil {
			return nil, fault.Missing("entity", opts.This)
		}
		thisType = e.src.Type(this.Type)
	}
	start := time.Now()
	p, cached, err := e.prepare(query, thisType, this != nil, "")
	if err != nil {
		return nil, err
	}
	out, err := e.run(ctx, p, this, 0, rowLimit(opts.Limit))
	if err != nil {
		return nil, err
	}
	result := *out.result
	if opts.Explain {
		result.Plan = out.plan(p)
		result.Plan.CachedProgram = cached
		result.Plan.Micros = float64(time.Since(start).Nanoseconds()) / 1e3
	}
	return &result, nil
}

func rowLimit(asked int) int {
	if asked == 0 {
		return DefaultRows
	}
	return min(asked, MaxRows)
}

// Hiding returns an engine over the same entities for which those that hide
// reports do not exist: neither as rows nor behind references. What it answers
// may be shown to somebody who must not know of them. It keeps caches of its
// own.
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

// computed runs a computed field, or takes its value from the cache when
// nothing changed since.
func (e *Engine) computed(ctx context.Context, p *prepared, ent *entities.Entity, depth int) (*outcome, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	if p.volatile {
		return e.run(ctx, p, ent, depth, DefaultRows)
	}
	key := resultKey{p, ent.ID}
	gen := e.src.Gen()
	if current := e.src.Get(ent.ID); current != ent {
		return e.run(ctx, p, ent, depth, DefaultRows) // an entity that is not stored so
	}
	e.mu.Lock()
	out := e.results[key]
	if e.resultGen != gen {
		out = nil
	}
	e.mu.Unlock()
	if out != nil {
		return out, nil
	}
	out, err := e.run(ctx, p, ent, depth, DefaultRows)
	if err != nil {
		return nil, err
	}
	if e.src.Gen() != gen {
		return out, nil // the store changed meanwhile: whose value it is can't be told
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resultGen != gen || len(e.results) >= maxResults {
		clear(e.results)
		e.resultGen = gen
	}
	e.results[key] = out
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
	sc := e.schemaOf(gen)
	e.mu.Lock()
	p = e.programs[key]
	if e.schemaGen != gen {
		p = nil
	}
	e.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
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
		clear(e.results)
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

// Plan says how a query was run.
type Plan struct {
	Access        string   `json:"access"`            // "index" or "scan"
	Index         string   `json:"index,omitempty"`   // the field that the index is on
	Types         []string `json:"types"`             // of FROM
	Program       string   `json:"program,omitempty"` // of WHERE; the numbers are slots
	Slots         []string `json:"slots"`             // operands by number
	RowsExamined  int      `json:"rowsExamined"`
	CachedProgram bool     `json:"cachedProgram"` // the text had been made ready before
	Micros        float64  `json:"micros"`        // µs from text to result
}

func (o *outcome) plan(p *prepared) *Plan {
	plan := &Plan{Access: "scan", Index: o.index, RowsExamined: o.examined, Program: p.source, Types: []string{}, Slots: []string{}}
	if o.index != "" {
		plan.Access = "index"
	}
	for _, t := range p.types {
		plan.Types = append(plan.Types, t.Name)
	}
	for i, s := range p.slots {
		plan.Slots = append(plan.Slots, fmt.Sprintf("%d = %s", i, s.text))
	}
	return plan
}
