package wql

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Result is what a query gives: rows, or the one value of an aggregate.
type Result struct {
	Rows      []Row `json:"rows"`      // never nil
	Total     int   `json:"total"`     // rows that meet the condition, before any limit
	Truncated bool  `json:"truncated"` // there are rows behind the last one returned
	Value     any   `json:"value,omitempty"`
	IsValue   bool  `json:"-"` // the query is an aggregate: Value is float64, string, bool or nil for NULL
	Plan      *Plan `json:"plan,omitempty"`

	of    *outcome // of a computed field: see Engine.Current
	stood standing
}

// StandsOn returns the ids of the entities whose values the result was computed of, but for its rows. Where they are
// too many, they are named by their types instead. The lists are not to be changed.
func (r *Result) StandsOn() (ids, types []string) { return r.stood.ids, r.stood.types }

// standing is what values were computed of. It lets who keeps a value hide it when one of these entities becomes private
// (PRIV-13).
type standing struct{ ids, types, notes []string }

// maxStanding is how many entities are told apart.
const maxStanding = record.MaxStanding

func (s *standing) add(e *entities.Entity) {
	switch n := len(s.ids); {
	case n > 0 && s.ids[n-1] == e.ID:
	case n < maxStanding:
		s.ids = append(s.ids, e.ID)
	default:
		s.types = addType(s.types, e.Type)
	}
}

// MarshalJSON writes the value of an aggregate also when it is null.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if !r.IsValue || r.Value != nil {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct {
		plain
		Value any `json:"value"`
	}{plain: plain(r)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Result) UnmarshalJSON(data []byte) error {
	type plain Result
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	_, r.IsValue = members["value"]
	return nil
}

// outcome is the result of one run with what the plan and the cache need to
// know of it.
type outcome struct {
	result   *Result
	examined int
	refs     []string   // ids of the rows, for queries that use this field: there may be more than in result
	missing  bool       // refs ends before the limit of the query itself
	single   datum      // the aggregate, for the same use
	used     standing   // what a query that uses this field was computed of, with refs
	typesOf  []string   // of all of used.ids
	types    []TypePlan // when a plan is asked for

	tracked
}

// value is the outcome as a value in a path.
func (o *outcome) value() datum {
	switch {
	case o.result.IsValue:
		return o.single
	case len(o.refs) == 0:
		return datum{}
	}
	return datum{Kind: kindList, Elem: kindRef, Texts: o.refs}
}

// how says how a prepared query is run.
type how struct {
	this    *entities.Entity
	depth   int  // computed fields above it
	limit   int  // rows to return
	refs    int  // ids of rows to return, for computed fields: limit or more
	explain bool // note what the plan tells
	record  bool // note what the result depends on
}

// run runs a prepared query.
func (e *Engine) run(ctx context.Context, p *prepared, how how) (*outcome, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	m := p.machines.Get().(*machine)
	defer m.end()
	if err := m.begin(ctx, e, how.this, how.depth); err != nil {
		return nil, err
	}
	if how.record {
		m.rec = &recorder{}
		if how.this != nil {
			m.rec.entity(how.this.ID, p.existence)
		}
	}
	var take func(*entities.Entity) error
	var top *ranking
	var agg *aggregate
	if p.query.What.Kind == syntax.SelectRows {
		offset, limit := 0, max(how.limit, how.refs)
		if p.query.Offset != nil {
			offset = p.query.Offset.N
		}
		if p.query.Limit != nil {
			limit = min(limit, p.query.Limit.N)
		}
		top = newRanking(m, limit, offset)
		defer top.free()
		take = top.add
	} else {
		agg = &aggregate{m: m}
		take = func(row *entities.Entity) error {
			if m.task != nil {
				m.stood.addNote(row.ID)
			} else {
				m.stood.add(row)
			}
			return agg.add(row)
		}
	}
	out := &outcome{}
	done, err := e.inOrder(m, out, top, how.explain)
	if err != nil {
		return nil, err
	}
	for i := range p.types {
		if done {
			break
		}
		if err := e.each(m, i, out, how.explain, top, take); err != nil {
			return nil, err
		}
	}
	if agg != nil {
		if err := agg.finish(out); err != nil {
			return nil, err
		}
	} else {
		top.finish(out, how.limit)
	}
	if how.record {
		out.readings, out.day, out.daily = m.rec.finish(p, how.this), dayNumber(m.now), p.daily
		out.mixed = m.rec.mixed
	}
	out.result.stood, m.stood = m.stood, standing{}
	if how.depth > 0 {
		out.usable(e)
	}
	return out, m.err
}

// usable makes ready what a query notes that uses the result, which may be often.
func (o *outcome) usable(e *Engine) {
	for _, list := range [...][]string{o.result.stood.ids, o.refs} {
		for _, id := range list {
			if x := e.get(id); x != nil {
				if len(o.used.ids) < maxStanding {
					o.typesOf = addType(o.typesOf, x.Type)
				}
				o.used.add(x)
			}
		}
	}
	for _, t := range o.result.stood.types {
		o.used.types = addType(o.used.types, t)
	}
}

func addType(list []string, t string) []string {
	if slices.Contains(list, t) {
		return list
	}
	return append(list, t)
}

// all adds what a result that is used was computed of.
func (s *standing) all(o *outcome) {
	room := max(0, maxStanding-len(s.ids))
	s.ids = append(s.ids, o.used.ids[:min(room, len(o.used.ids))]...)
	for _, t := range o.used.types {
		s.types = addType(s.types, t)
	}
	if len(o.used.ids) > room {
		for _, t := range o.typesOf {
			s.types = addType(s.types, t)
		}
	}
}

// each runs the condition over the rows of one type that may meet it.
func (e *Engine) each(m *machine, at int, out *outcome, explain bool, top *ranking,
	take func(*entities.Entity) error,
) error {
	if isTaskType(m.p.types[at]) {
		return e.eachTask(m, at, out, explain, take)
	}
	pl := &m.plan
	ids, ok := e.candidates(m, at, explain)
	if m.err != nil {
		return m.err
	}
	before := out.examined
	one := func(row *entities.Entity, known bool) error {
		if e.hidden(row) {
			return nil
		}
		out.examined++
		row = e.show(row)
		stood := len(m.stood.ids)
		ok, err := m.test(row, known)
		if err != nil || !ok {
			m.stood.ids = m.stood.ids[:stood]
			return err
		}
		if err := take(row); err != nil {
			return err
		}
		return m.err
	}
	if ok {
		if err := e.indexed(m, at, ids, one); err != nil {
			return err
		}
	} else {
		if top != nil {
			top.inOrder = len(m.p.types) == 1 && len(m.p.order) == 0 && e.shown == nil
		}
		for _, row := range e.src.OfType(m.p.types[at].Name) {
			if err := one(row, false); err != nil {
				return err
			}
		}
	}
	if explain {
		pl.trace.plan.RowsExamined = out.examined - before
		out.types = append(out.types, pl.trace.plan)
	}
	return nil
}

// rowsAtOnce is how many rows are taken from the store under one lock.
const rowsAtOnce = 128

// indexed calls one with the rows that indexes gave, and whether they are known
// to meet the condition: they may have changed since the index was asked.
func (e *Engine) indexed(m *machine, at int, ids []string, one func(row *entities.Entity, known bool) error) error {
	pl := &m.plan
	exact := m.rec == nil && e.shown == nil && pl.exact() // how a row is shown may change any time
	for len(ids) > 0 {
		n := min(rowsAtOnce, len(ids))
		var gen uint64
		pl.rows, gen = e.src.GetAll(ids[:n], pl.rows[:0])
		ids = ids[n:]
		for _, row := range pl.rows {
			if row.Live() && (row.Type == m.p.types[at].Name || entities.Fold(row.Type) == m.p.folds[at]) {
				if err := one(row, exact && gen == pl.gen); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// candidates asks the indexes for the rows of a type that may meet the
// condition. ok is false when all rows are to be looked at.
func (e *Engine) candidates(m *machine, at int, explain bool) (ids []string, ok bool) {
	t, a := m.p.types[at], m.p.access
	pl := &m.plan
	pl.m, pl.at, pl.fold, pl.trace = m, at, m.p.folds[at], nil
	if a == nil && !explain {
		m.rec.add(dep{part: partType, typeName: pl.fold}, m.p.reads)
		return nil, false
	}
	all, rows := e.count(t.Name), 0
	if explain {
		pl.trace = &tracing{plan: TypePlan{Type: t.Name, Access: AccessScan, Rows: all, Uses: []IndexUse{}, Considered: []IndexUse{}}}
	}
	if a != nil {
		pl.enough = max(64, all/100)
		rows, ok = pl.choose(e.indexes, a, max(16, all/4), pl.gather)
	}
	if explain {
		if a == nil {
			pl.ask()
		}
		pl.explain(e.indexes, a, rows, ok)
	}
	if !ok {
		m.rec.add(dep{part: partType, typeName: pl.fold}, m.p.reads)
		return nil, false
	}
	if m.rec != nil {
		for i := range pl.chosen {
			m.rec.add(pl.chosen[i].dep(), m.p.reads)
		}
	}
	return pl.ids, true
}

// dep is what a result depends on that was made from what the probe gives.
func (p *probe) dep() dep {
	switch {
	case p.isID:
		return dep{part: partEntity, word: p.Word}
	case p.isRange():
		return dep{part: partRange, typeName: p.Key.TypeName, index: p.Key, low: p.Low, high: p.High}
	}
	return dep{part: partWord, typeName: p.Key.TypeName, index: p.Key, word: p.Word, low: p.Low, high: p.High}
}

// aggregate computes the one value of COUNT, SUM, AVG, MIN and MAX. NULLs
// don't count; a list counts by its items.
type aggregate struct {
	m       *machine
	total   int
	count   int
	sum     exactSum
	numbers int // in sum
	best    datum
}

func (a *aggregate) add(*entities.Entity) error {
	a.total++
	if a.m.p.agg < 0 {
		a.count++
		return nil
	}
	v := a.m.get(a.m.p.agg)
	if v.Kind == kindList {
		for i := range v.Len() {
			x := v.Item(i)
			a.one(&x)
		}
	} else if v.Kind != kindNull {
		a.one(v)
	}
	return a.m.err
}

func (a *aggregate) one(v *datum) {
	a.count++
	switch a.m.p.query.What.Kind {
	case syntax.SelectSum, syntax.SelectAvg:
		if v.Kind == kindNumber {
			a.sum.Add(v.Number)
			a.numbers++
		}
	case syntax.SelectMin, syntax.SelectMax:
		if !v.Kind.Orderable() {
			return
		}
		if a.best.Kind == kindNull {
			a.best = *v
			return
		}
		before := a.m.keys
		x, y := a.m.sortKey(v), a.m.sortKey(&a.best)
		c := a.m.compareKeys(&x, &y, orderKey{})
		a.m.keys = before
		if c < 0 && a.m.p.query.What.Kind == syntax.SelectMin || c > 0 && a.m.p.query.What.Kind == syntax.SelectMax {
			a.best = *v
		}
	}
}

func (a *aggregate) finish(out *outcome) error {
	switch a.m.p.query.What.Kind {
	case syntax.SelectCount:
		out.single = datum{Kind: kindNumber, Number: float64(a.count)}
	case syntax.SelectMin, syntax.SelectMax:
		out.single = a.best
	default:
		if a.numbers == 0 {
			break
		}
		sum := a.sum.Total()
		if a.m.p.query.What.Kind == syntax.SelectAvg {
			sum /= float64(a.numbers)
		}
		if math.IsInf(sum, 0) || math.IsNaN(sum) {
			return a.m.fault("the sum is larger than a number can be", "narrow the query with a condition")
		}
		out.single = datum{Kind: kindNumber, Number: sum}
	}
	out.result = &Result{Rows: []Row{}, Total: a.total, Value: out.single.Wire(), IsValue: true}
	return a.m.err
}
