package wql

import (
	"context"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/entities/yield"
)

// environment is all that an expr program can name: comparisons over slots.
// Each is asked whether it is TRUE; see the package documentation for NOT.
type environment struct {
	Eq        func(a, b int) bool   `expr:"eq"`
	Ne        func(a, b int) bool   `expr:"ne"`
	Differs   func(a, b int) bool   `expr:"differs"`
	Lt        func(a, b int) bool   `expr:"lt"`
	Le        func(a, b int) bool   `expr:"le"`
	Gt        func(a, b int) bool   `expr:"gt"`
	Ge        func(a, b int) bool   `expr:"ge"`
	Has       func(a, b int) bool   `expr:"has"`
	Lacks     func(a, b int) bool   `expr:"lacks"`
	Begins    func(a, b int) bool   `expr:"begins"`
	BeginsNot func(a, b int) bool   `expr:"beginsNot"`
	Like      func(a, b int) bool   `expr:"like"`
	Unlike    func(a, b int) bool   `expr:"unlike"`
	OneOf     func(a, set int) bool `expr:"oneOf"`
	NoneOf    func(a, set int) bool `expr:"noneOf"`
	Missing   func(a int) bool      `expr:"missing"`
	Present   func(a int) bool      `expr:"present"`
	Found     func(words int) bool  `expr:"found"`
	NotFound  func(words int) bool  `expr:"notFound"`
}

// maxProgramNodes bounds the program. A query of MaxNodes nodes makes at most
// about five times as many: a call with two numbers, and its share of && or ||.
const maxProgramNodes = 8 * syntax.MaxNodes

// buildProgram compiles a program. The environment is declared by value: with a
// pointer expr looks fields up by name at run time, at twice the time a row.
func buildProgram(source string) (*vm.Program, error) {
	return expr.Compile(source, expr.Env(environment{}), expr.AsBool(), expr.DisableAllBuiltins(),
		expr.MaxNodes(maxProgramNodes))
}

// machine runs one prepared query for one caller at a time. Its VM, its values
// and its environment are reused from row to row and from run to run.
type machine struct {
	p   *prepared
	vm  vm.VM
	env environment

	// The run.
	ctx    context.Context
	engine *Engine
	this   *entities.Entity
	now    time.Time
	scope  evalScope
	depth  int
	found  []func(id string) bool
	rec    *recorder // of what is read; nil: nobody asks
	stood  standing  // what is read that rows do not name
	plan   planner
	err    error // ends the run
	work   int   // steps since the context was looked at
	looks  int   // at the context

	// The row. A value is current when its stamp is that of the row, or of the
	// run for a constant one.
	row      *entities.Entity
	task     *record.Task // that the row stands for; nil for an entity
	values   []datum
	stamps   []uint64
	rowStamp uint64
	runStamp uint64
	fields   []knownField // of the first step of each path
	args     [][]*datum   // of calls
	patterns []likePattern
	keys     []byte // memory for natural keys
	items    int    // in the lists of the row
	fixed    int    // in those that do not depend on the row
}

type knownField struct {
	typeName string
	field    *fieldRef
}

func newMachine(p *prepared) *machine {
	n := len(p.slots)
	m := &machine{
		p: p, values: make([]datum, n), stamps: make([]uint64, n), fields: make([]knownField, n),
		args: make([][]*datum, n), patterns: make([]likePattern, n),
	}
	for i := range p.slots {
		m.args[i] = make([]*datum, len(p.slots[i].args))
	}
	m.scope.Tick = m.tick
	ordered := func(test func(c int) bool) func(a, b int) bool {
		return func(a, b int) bool {
			x, y := m.get(a), m.get(b)
			if !x.Kind.Orderable() || !y.Kind.Orderable() {
				return false
			}
			c, ok := compareValues(x, y, m.scope.Zone)
			return ok && test(c)
		}
	}
	is := func(test func(a, b *datum, in *evalScope) truthValue, want truthValue) func(a, b int) bool {
		return func(a, b int) bool { return test(m.get(a), m.get(b), &m.scope) == want }
	}
	m.env = environment{
		Eq: is(equalValues, truthTrue), Differs: is(equalValues, truthFalse), Ne: m.ne,
		Lt: ordered(func(c int) bool { return c < 0 }), Le: ordered(func(c int) bool { return c <= 0 }),
		Gt: ordered(func(c int) bool { return c > 0 }), Ge: ordered(func(c int) bool { return c >= 0 }),
		Has: is(containsValue, truthTrue), Lacks: is(containsValue, truthFalse),
		Begins: is(startsWith, truthTrue), BeginsNot: is(startsWith, truthFalse),
		Like:     func(a, b int) bool { return m.like(a, b) == truthTrue },
		Unlike:   func(a, b int) bool { return m.like(a, b) == truthFalse },
		OneOf:    func(a, set int) bool { return m.oneOf(a, set) == truthTrue },
		NoneOf:   func(a, set int) bool { return m.oneOf(a, set) == truthFalse },
		Missing:  func(a int) bool { return m.get(a).Kind == kindNull },
		Present:  func(a int) bool { return m.get(a).Kind != kindNull },
		Found:    func(words int) bool { return m.found[words](m.row.ID) },
		NotFound: func(words int) bool { return !m.found[words](m.row.ID) },
	}
	return m
}

// begin readies the machine for a run.
func (m *machine) begin(ctx context.Context, e *Engine, this *entities.Entity, depth int) error {
	clear(m.plan.rows[:cap(m.plan.rows)])
	m.ctx, m.engine, m.this, m.depth, m.err, m.work = ctx, e, this, depth, nil, 0
	m.scope.Zone = e.opts.Location
	m.now = e.opts.Now().In(m.scope.Zone)
	m.rowStamp++
	m.runStamp = m.rowStamp
	for _, words := range m.p.matches {
		if e.opts.Match == nil {
			return fault.New(fault.Unavailable, "MATCHES needs the full-text index, which is not available").
				WithHint("use CONTAINS or LIKE on a field instead")
		}
		found, err := e.opts.Match(ctx, words)
		if err != nil {
			return err
		}
		m.found = append(m.found, found)
	}
	return nil
}

// end lets go of what belongs to the caller and gives the machine back.
func (m *machine) end() {
	for i := range m.values {
		if cap(m.values[i].Items) > keptItems {
			m.values[i].Items = nil
		}
	}
	m.items, m.fixed = 0, 0
	clear(m.plan.rows[:cap(m.plan.rows)])
	m.ctx, m.engine, m.this, m.row, m.rec, m.found, m.stood = nil, nil, nil, nil, nil, m.found[:0], standing{}
	m.task = nil
	m.keys = m.keys[:0]
	if cap(m.keys) > maxKeptKeys {
		m.keys = nil
	}
	m.p.machines.Put(m)
}

// maxKeptKeys is how much memory for keys a machine keeps from run to run.
const maxKeptKeys = 64 << 10

// test goes on to a row and reports whether it meets the condition, which may be
// known.
func (m *machine) test(row *entities.Entity, known bool) (bool, error) {
	m.trim()
	m.row = row
	m.rowStamp++
	if err := m.tick(1); err != nil {
		return false, err
	}
	if known || m.p.program == nil {
		return true, nil
	}
	out, err := m.vm.Run(m.p.program, &m.env)
	if m.err != nil {
		return false, m.err
	}
	if err != nil {
		return false, fault.Wrap(fault.Internal, err, "the condition failed on a row")
	}
	return out.(bool), nil
}

// workUnit is the number of steps, each of which takes about 100 ns at most,
// between two looks at the context.
const workUnit = 64

// looksAPoint is how many looks at the context come to one yield.Point.
const looksAPoint = 16

// tick counts steps of work and ends the run when its context has ended.
func (m *machine) tick(steps int) error {
	m.work += steps
	if m.work >= workUnit && m.err == nil {
		m.work = 0
		m.looks++
		if m.looks%looksAPoint == 0 {
			_ = yield.Point(m.ctx) // what it returns is looked at below
		}
		m.err = ended(m.ctx)
	}
	return m.err
}

// tickText counts the work that a long text makes: to fold or to compose one
// takes about 20 ns a byte.
func (m *machine) tickText(bytes int) error { return m.tick(1 + bytes/8) }

// ended returns the fault of a context that has ended, or nil.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if fault.KindOf(err) == fault.Deadline {
		return fault.Wrap(fault.Deadline, err, "the query ran out of time").
			WithHint("narrow it with a condition on a reference, or allow more time")
	}
	return fault.Wrap(fault.Cancelled, err, "the query was cancelled")
}

// get returns the value of a slot for the row.
func (m *machine) get(i int) *datum {
	s := &m.p.slots[i]
	v := &m.values[i]
	stamp := m.rowStamp
	if s.constant {
		stamp = m.runStamp
	}
	if m.stamps[i] == stamp {
		if len(v.Text) > longText {
			_ = m.tickText(len(v.Text))
		}
		return v
	}
	if m.err != nil { // the run is over: nothing is made any more
		*v = datum{}
		return v
	}
	before := m.items
	m.evaluate(i, s, v)
	if len(v.Text) > longText {
		_ = m.tickText(len(v.Text))
	}
	if s.constant { // held from row to row
		m.fixed, m.items = m.fixed+m.items-before, before
	}
	m.stamps[i] = stamp
	return v
}

func (m *machine) evaluate(i int, s *slot, v *datum) {
	switch s.op {
	case slotLiteral:
		*v = s.value
	case slotPath:
		known := &m.fields[i]
		if known.field == nil || known.typeName != m.row.Type {
			*known = knownField{m.row.Type, s.path.steps[0].named(m.row.Type)}
		}
		m.walk(s.path, known.field.own(m.row), m.row, v)
	case slotThis:
		*v = datum{Kind: kindRef, Text: m.this.ID}
	case slotThisPath:
		m.rec.entity(m.this.ID, s.path.steps[0].reads)
		m.walk(s.path, s.path.steps[0].field(m.this), m.this, v)
	case slotShift:
		*v = shiftTime(*m.get(s.args[0]), s.amount, s.unit, m.scope.Zone)
	case slotCall:
		args := m.args[i]
		for n, arg := range s.args {
			args[n] = m.get(arg)
			if m.err != nil || args[n].Kind == kindNull && s.fn.name != "coalesce" {
				*v = datum{}
				return
			}
		}
		*v = s.fn.call(m, args)
	}
}

// day returns the calendar day of a date, an instant or a text that is one.
func (m *machine) day(v *datum) (int64, bool) {
	switch v.Kind {
	case kindDate:
		return v.Int, true
	case kindInstant:
		return v.Day, true
	case kindText, kindChoice:
		if t, ok := parseTime(v.Text, m.scope.Zone); ok {
			return m.day(&t)
		}
	}
	return 0, false
}

// ne is != : unlike in SQL a missing field differs from every value.
func (m *machine) ne(a, b int) bool {
	x, y := m.get(a), m.get(b)
	if x.Kind == kindNull || y.Kind == kindNull {
		return true
	}
	return equalValues(x, y, &m.scope) == truthFalse
}

// oneOf is x = a OR x = b …
func (m *machine) oneOf(a, set int) truthValue {
	x := m.get(a)
	result := truthFalse
	for _, item := range m.p.sets[set] {
		result = max(result, equalValues(x, m.get(item), &m.scope))
		if result == truthTrue {
			break
		}
	}
	return result
}

// like says whether a text, or any item of a list, matches a pattern.
func (m *machine) like(a, b int) truthValue {
	x, y := m.get(a), m.get(b)
	pattern, ok := valueText(y)
	if !ok || x.Kind == kindNull {
		return truthUnknown
	}
	p := &m.patterns[b]
	p.Prepare(pattern)
	if x.Kind == kindList {
		return anyItem(x, &m.scope, func(item *datum) truthValue { return p.Matches(item, &m.scope) })
	}
	return p.Matches(x, &m.scope)
}
