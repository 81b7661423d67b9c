package wql

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/ctxd/ctxd/entities"
)

// Row is one entity of a result.
type Row struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// Result is what a query gives: rows, or the one value of an aggregate.
type Result struct {
	Rows      []Row `json:"rows"`      // never nil
	Total     int   `json:"total"`     // rows that meet the condition, before any limit
	Truncated bool  `json:"truncated"` // there are rows behind the last one returned
	Value     any   `json:"value,omitempty"`
	IsValue   bool  `json:"-"` // the query is an aggregate: Value is float64, string, bool or nil for NULL
	Plan      *Plan `json:"plan,omitempty"`
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

// outcome is the result of one run with what the plan tells of it.
type outcome struct {
	result   *Result
	index    string
	examined int
	refs     []string // ids of the rows, for computed fields that use this one
	single   value    // the aggregate, for the same use
}

// value is the outcome as a value in a path.
func (o *outcome) value() value {
	switch {
	case o.result.IsValue:
		return o.single
	case len(o.refs) == 0:
		return value{}
	}
	return value{kind: kindList, elem: kindRef, strs: o.refs}
}

// run runs a prepared query and returns at most limit rows.
func (e *Engine) run(ctx context.Context, p *prepared, this *entities.Entity, depth, limit int) (*outcome, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	m := p.machines.Get().(*machine)
	defer m.end()
	if err := m.begin(ctx, e, this, depth); err != nil {
		return nil, err
	}
	var take func(*entities.Entity) error
	var top *ranking
	var agg *aggregate
	if p.query.What.Kind == SelectRows {
		offset := 0
		if p.query.Offset != nil {
			offset = p.query.Offset.N
		}
		if p.query.Limit != nil {
			limit = min(limit, p.query.Limit.N)
		}
		top = &ranking{m: m, limit: limit, offset: offset}
		take = top.add
	} else {
		agg = &aggregate{m: m}
		take = agg.add
	}
	out := &outcome{}
	if err := e.scan(m, out, top, take); err != nil {
		return nil, err
	}
	if agg != nil {
		return out, agg.finish(out)
	}
	top.finish(out)
	return out, m.err
}

// scan runs the condition over the rows that may meet it.
func (e *Engine) scan(m *machine, out *outcome, top *ranking, take func(*entities.Entity) error) error {
	each := func(rows []*entities.Entity) error {
		for _, row := range rows {
			out.examined++
			if e.hidden(row) {
				continue
			}
			ok, err := m.test(row)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := take(row); err != nil {
				return err
			}
		}
		return m.err
	}
	rows, field, ok := e.candidates(m)
	if m.err != nil {
		return m.err
	}
	if ok {
		out.index = field
		return each(rows)
	}
	if top != nil {
		top.inOrder = len(m.p.types) == 1 && len(m.p.order) == 0
	}
	for _, t := range m.p.types {
		if err := each(e.src.OfType(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// aggregate computes the one value of COUNT, SUM, AVG, MIN and MAX. NULLs
// don't count; a list counts by its items.
type aggregate struct {
	m       *machine
	total   int
	count   int
	numbers []float64
	best    value
}

func (a *aggregate) add(*entities.Entity) error {
	a.total++
	if a.m.p.agg < 0 {
		a.count++
		return nil
	}
	v := a.m.get(a.m.p.agg)
	if v.kind == kindList {
		for i := range v.length() {
			x := v.item(i)
			a.one(&x)
		}
	} else if v.kind != kindNull {
		a.one(v)
	}
	return a.m.err
}

func (a *aggregate) one(v *value) {
	a.count++
	switch a.m.p.query.What.Kind {
	case SelectSum, SelectAvg:
		if v.kind == kindNumber {
			a.numbers = append(a.numbers, v.n)
		}
	case SelectMin, SelectMax:
		if !v.kind.orderable() {
			return
		}
		if a.best.kind == kindNull {
			a.best = *v
			return
		}
		x, y := a.m.sortKey(v), a.m.sortKey(&a.best)
		c := compareKeys(&x, &y, orderKey{})
		if c < 0 && a.m.p.query.What.Kind == SelectMin || c > 0 && a.m.p.query.What.Kind == SelectMax {
			a.best = *v
		}
	}
}

func (a *aggregate) finish(out *outcome) error {
	switch a.m.p.query.What.Kind {
	case SelectCount:
		out.single = value{kind: kindNumber, n: float64(a.count)}
	case SelectMin, SelectMax:
		out.single = a.best
	default:
		if len(a.numbers) == 0 {
			break
		}
		sum := sum(a.numbers)
		if a.m.p.query.What.Kind == SelectAvg {
			sum /= float64(len(a.numbers))
		}
		if math.IsInf(sum, 0) || math.IsNaN(sum) {
			return a.m.fault("the sum is larger than a number can be", "narrow the query with a condition")
		}
		out.single = value{kind: kindNumber, n: sum}
	}
	out.result = &Result{Rows: []Row{}, Total: a.total, Value: out.single.wire(), IsValue: true}
	return a.m.err
}

// sum adds numbers so that the result does not depend on the order the rows
// came in, with Neumaier's compensation.
func sum(numbers []float64) float64 {
	slices.Sort(numbers)
	total, rest := 0.0, 0.0
	for _, x := range numbers {
		t := total + x
		if math.Abs(total) >= math.Abs(x) {
			rest += (total - t) + x
		} else {
			rest += (x - t) + total
		}
		total = t
	}
	return total + rest
}
