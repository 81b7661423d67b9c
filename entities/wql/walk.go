package wql

import (
	"fmt"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// walk reads a path from an entity; first is the field of its first step.
func (m *machine) walk(p *path, first *fieldRef, e *entities.Entity, v *datum) {
	f := first
	for i := 0; i < len(p.steps)-1; i++ {
		if f == nil {
			*v = datum{}
			return
		}
		if f.Kind != kindRef || f.computed != nil || !f.follow {
			m.fan(p, i, e, v)
			return
		}
		id, _ := e.Fields[f.Name].(string)
		if id == "" {
			*v = datum{}
			return
		}
		m.rec.entity(id, p.steps[i+1].reads)
		e = m.engine.get(id)
		if !e.Live() {
			*v = datum{}
			return
		}
		m.stood.add(e)
		f = p.steps[i+1].field(e)
	}
	m.load(f, e, v)
}

// fan reads a path that goes on from many entities. Each is visited once a
// step, so the work is bounded by the number of entities.
func (m *machine) fan(p *path, from int, e *entities.Entity, v *datum) {
	level := []*entities.Entity{e}
	var targets datum
	for i := from; i < len(p.steps)-1; i++ {
		var next []*entities.Entity
		seen := make(map[string]struct{})
		for _, e := range level {
			f := p.steps[i].field(e)
			if f == nil || !f.follow {
				continue
			}
			m.load(f, e, &targets)
			if targets.Kind == kindRef {
				targets = datum{Kind: kindList, Elem: kindRef, Texts: []string{targets.Text}}
			}
			for n := range targets.Texts {
				id := targets.Texts[n]
				if _, twice := seen[id]; twice {
					continue
				}
				seen[id] = struct{}{}
				m.rec.entity(id, p.steps[i+1].reads)
				if target := m.engine.get(id); target.Live() {
					m.stood.add(target)
					next = append(next, target)
				}
				if m.tick(1) != nil {
					*v = datum{}
					return
				}
			}
		}
		level = next
	}
	m.collect(p, level, v)
}

// collect reads the last step of a path from many entities into a list, which
// is NULL when there is nothing in it.
func (m *machine) collect(p *path, level []*entities.Entity, v *datum) {
	items := v.Items[:0]
	var x datum
	for _, e := range level {
		m.load(p.steps[len(p.steps)-1].field(e), e, &x)
		switch {
		case x.Kind == kindList:
			if m.mayHold(x.Len()) {
				for n := range x.Len() {
					items = append(items, x.Item(n))
				}
			}
		case x.Kind != kindNull && m.mayHold(1):
			items = append(items, x)
		}
		if m.tick(1) != nil {
			break
		}
	}
	if len(items) == 0 {
		*v = datum{Items: items}
		return
	}
	*v = datum{Kind: kindList, Items: items}
}

// maxItems is the number of items of all lists that paths over many entities
// give for one row, each of about 120 bytes.
const maxItems = 100_000

// keptItems is how long a list may be for its memory to be used again.
const keptItems = 1024

// mayHold counts items of a list, and ends the run when there are too many.
func (m *machine) mayHold(n int) bool {
	m.items += n
	if m.items+m.fixed > maxItems && m.err == nil {
		m.err = fault.New(fault.Limit, "paths over many entities give more than %d values for one row", maxItems).
			WithHint("shorten the path, or ask for the values by a query of their own type")
	}
	return m.err == nil
}

// trim lets go of long lists.
func (m *machine) trim() {
	if m.items > keptItems {
		for i := range m.values {
			if cap(m.values[i].Items) > keptItems && !m.p.slots[i].constant {
				m.values[i].Items = nil
			}
		}
	}
	m.items = 0
}

// load reads a field of an entity.
func (m *machine) load(f *fieldRef, e *entities.Entity, v *datum) {
	if f == nil {
		*v = datum{}
		return
	}
	switch {
	case f.ofTask:
		m.loadTask(f, v)
		return
	case f.computed != nil || f.cyclic != "":
		m.loadComputed(f, e, v)
		return
	}
	loadField(&f.storedField, e, m.scope.Zone, v)
}

// loadComputed runs the query of a computed field for an entity.
func (m *machine) loadComputed(f *fieldRef, e *entities.Entity, v *datum) {
	*v = datum{}
	if m.err != nil {
		return
	}
	if f.cyclic != "" {
		m.err = m.fault("computed fields need each other: "+f.cyclic, "remove one of them from the cycle")
		return
	}
	if m.depth >= maxComputedDepth {
		m.err = m.fault(fmt.Sprintf("computed fields use each other more than %d deep", maxComputedDepth),
			"shorten the chain")
		return
	}
	out, err := m.engine.computed(m.ctx, f.computed, e, m.depth+1, maxItems)
	if err != nil {
		m.err = err
		return
	}
	if out.missing {
		m.err = fault.New(fault.Limit, "the computed field %s gives more than %d entities", f.Name, maxItems).
			WithHint("give its query a LIMIT, or ask for the entities by a query of their own type")
		return
	}
	m.uses(out)
	*v = out.value()
}

// uses notes that the run used another result.
func (m *machine) uses(out *outcome) {
	m.stood.all(out)
	if m.rec == nil {
		return
	}
	m.rec.all(out.readings)
	if out.daily {
		m.rec.mixed = m.rec.mixed || out.day != dayNumber(m.now) // midnight went by
	}
}

// fault is an error that only a row could show; it is put at the condition.
func (m *machine) fault(message, hint string) error {
	at := m.p.query.What.Span
	if m.p.query.Where != nil {
		at = m.p.query.Where.Source()
	}
	line, column, _ := syntax.Locate(m.p.text, at.Start)
	return &fault.Error{Kind: fault.Query, Msg: message, Hint: hint, Line: line, Column: column}
}
