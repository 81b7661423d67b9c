package wql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// How the rows of a type were found.
const (
	AccessIndex = "index" // by one or several values
	AccessRange = "range" // by what is between two values
	AccessScan  = "scan"  // by a look at all of them
	AccessOrder = "order" // in the order asked for, up to the last that is returned
	AccessMixed = "mixed" // of a whole plan: not the same for all types
)

// Kinds of indexes.
const (
	IndexID        = "id"        // no index: the entities themselves
	IndexReference = "reference" // who refers to whom
	IndexEquality  = "equality"  // who has which value
	IndexOrdered   = "ordered"   // numbers and dates in their order
	IndexSorted    = "sorted"    // all entities of the type, in the order of a field
)

// tracing collects what a plan tells of one type.
type tracing struct {
	plan  TypePlan
	built []indexKey
}

func (p *probe) kind() string {
	switch {
	case p.isID:
		return IndexID
	case p.Key.Class.Ordered():
		return IndexOrdered
	case p.field.Kind == kindRef || p.field.Elem == kindRef:
		return IndexReference
	}
	return IndexEquality
}

// use describes the probes of one condition: those of IN are one.
func (pl *planner) use(x *indexSet, probes []probe) IndexUse {
	p := &probes[0]
	u := IndexUse{
		Condition: p.leaf.text, Field: p.field.Name, Kind: p.kind(),
		Built: slices.Contains(pl.trace.built, p.Key),
	}
	if other := p.other; other != nil && other != p.leaf {
		u.Condition += " AND " + other.text
	}
	for i := range probes {
		n, known := pl.count(x, &probes[i])
		if !known {
			u.Rows = -1
			break
		}
		u.Rows += n
	}
	return u
}

// explain completes the trace of a type. rows is what the best access gives
// when served is true, or would have given when it is not.
func (pl *planner) explain(x *indexSet, a *access, rows int, served bool) {
	t := &pl.trace.plan
	x.RLock()
	defer x.RUnlock()
	used := make(map[*leaf]bool)
	if served {
		t.Access = AccessIndex
		for start := 0; start < len(pl.chosen); {
			end := start + 1
			for end < len(pl.chosen) && pl.chosen[end].leaf == pl.chosen[start].leaf &&
				pl.chosen[end].Key == pl.chosen[start].Key {
				end++
			}
			p := &pl.chosen[start]
			used[p.leaf], used[p.other] = true, true
			if p.isRange() {
				t.Access = AccessRange
			}
			t.Uses = append(t.Uses, pl.use(x, pl.chosen[start:end]))
			start = end
		}
	}
	for n, answer := range pl.answers {
		l := pl.m.p.leaves[n]
		if used[l] || !answer.ok {
			continue
		}
		if len(answer.probes) > 0 {
			t.Considered = append(t.Considered, pl.use(x, answer.probes))
		}
	}
	if served {
		return
	}
	switch {
	case a == nil && pl.m.p.program == nil:
		t.Why = "there is no WHERE"
	case a == nil && len(t.Considered) > 0:
		t.Why = "an index answers a part of the condition only: with OR it must answer every side"
	case a == nil:
		t.Why = "no index answers the condition: =, IN, <, <=, >, >= or BETWEEN between a field of the row and a value, or CONTAINS on a list, would use one"
	case len(t.Considered) > 0 && rows > 0:
		t.Why = fmt.Sprintf("the best index leaves %d of %d rows: reading all is cheaper", rows, t.Rows)
	case pl.missing != nil:
		t.Why = "the store changes faster than an index is built"
	default:
		t.Why = "no index answers the condition for this type"
	}
}

// planOf makes the plan of a run that traced.
func (e *Engine) planOf(o *outcome, p *prepared) *Plan {
	plan := &Plan{
		Types: o.types, Program: p.source, Slots: []string{}, RowsExamined: o.examined, RowsMatched: o.result.Total,
		DependsOn: []string{},
	}
	for i, t := range plan.Types {
		if i == 0 || plan.Access == t.Access {
			plan.Access = t.Access
		} else {
			plan.Access = AccessMixed
		}
	}
	for i, s := range p.slots {
		plan.Slots = append(plan.Slots, fmt.Sprintf("%d = %s", i, s.text))
	}
	for _, r := range o.readings {
		if text := e.describe(r); !slices.Contains(plan.DependsOn, text) {
			plan.DependsOn = append(plan.DependsOn, text)
		}
	}
	switch {
	case p.volatile:
		plan.Expires = "now"
	case p.daily:
		plan.Expires = "day"
	}
	return plan
}

// cachedValue reports whether an entity has a computed field of that query, the
// value of which is in the cache.
func (e *Engine) cachedValue(text string, this *entities.Entity) bool {
	if this == nil {
		return false
	}
	t := e.src.TypeOf(this)
	if t == nil {
		return false
	}
	for _, f := range t.Fields {
		if !f.Type.IsComputed() || strings.TrimSpace(f.Query) != strings.TrimSpace(text) {
			continue
		}
		if p, _, err := e.prepare(f.Query, t, true, f.Name); err == nil &&
			e.results.get(resultKey{p, this.ID}, e.gen()) != nil {
			return true
		}
	}
	return false
}
