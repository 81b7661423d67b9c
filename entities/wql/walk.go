package wql

import (
	"fmt"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// walk reads a path from an entity; first is the field of its first step.
func (m *machine) walk(p *path, first *fieldRef, e *entities.Entity, v *value) {
	f := first
	for i := 0; i < len(p.steps)-1; i++ {
		if f == nil {
			*v = value{}
			return
		}
		if f.kind != kindRef || f.computed != nil || !f.follow {
			m.fan(p, i, e, v)
			return
		}
		id, _ := e.Fields[f.name].(string)
		if id == "" {
			*v = value{}
			return
		}
		m.rec.entity(id, p.steps[i+1].reads)
		if e = m.engine.src.Get(id); !e.Live() || m.engine.hidden(e) {
			*v = value{}
			return
		}
		f = p.steps[i+1].field(e.Type)
	}
	m.load(f, e, v)
}

// fan reads a path that goes on from many entities. Each is visited once a
// step, so the work is bounded by the number of entities.
func (m *machine) fan(p *path, from int, e *entities.Entity, v *value) {
	level := []*entities.Entity{e}
	var targets value
	for i := from; i < len(p.steps)-1; i++ {
		var next []*entities.Entity
		seen := make(map[string]struct{})
		for _, e := range level {
			f := p.steps[i].field(e.Type)
			if f == nil || !f.follow {
				continue
			}
			m.load(f, e, &targets)
			if targets.kind == kindRef {
				targets = value{kind: kindList, elem: kindRef, strs: []string{targets.s}}
			}
			for n := range targets.strs {
				id := targets.strs[n]
				if _, twice := seen[id]; twice {
					continue
				}
				seen[id] = struct{}{}
				m.rec.entity(id, p.steps[i+1].reads)
				if target := m.engine.src.Get(id); target.Live() && !m.engine.hidden(target) {
					next = append(next, target)
				}
				if m.tick(1) != nil {
					*v = value{}
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
func (m *machine) collect(p *path, level []*entities.Entity, v *value) {
	items := v.items[:0]
	var x value
	for _, e := range level {
		m.load(p.steps[len(p.steps)-1].field(e.Type), e, &x)
		switch {
		case x.kind == kindList:
			if m.mayHold(x.length()) {
				for n := range x.length() {
					items = append(items, x.item(n))
				}
			}
		case x.kind != kindNull && m.mayHold(1):
			items = append(items, x)
		}
		if m.tick(1) != nil {
			break
		}
	}
	if len(items) == 0 {
		*v = value{items: items}
		return
	}
	*v = value{kind: kindList, items: items}
}

// maxItems is the number of items of all lists that paths over many entities
// give for one row, each of about 120 bytes.
const maxItems = 100_000

// keptItems is how long a list may be for its memory to be used again.
const keptItems = 1024

// mayHold counts items of a list, and ends the run when there are too many.
func (m *machine) mayHold(n int) bool {
	if m.items += n; m.items+m.fixed > maxItems && m.err == nil {
		m.err = fault.New(fault.Limit, "paths over many entities give more than %d values for one row", maxItems).
			WithHint("shorten the path, or ask for the values by a query of their own type")
	}
	return m.err == nil
}

// trim lets go of long lists.
func (m *machine) trim() {
	if m.items > keptItems {
		for i := range m.values {
			if cap(m.values[i].items) > keptItems && !m.p.slots[i].constant {
				m.values[i].items = nil
			}
		}
	}
	m.items = 0
}

// load reads a field of an entity.
func (m *machine) load(f *fieldRef, e *entities.Entity, v *value) {
	if f == nil {
		*v = value{}
		return
	}
	if f.computed != nil || f.cyclic != "" {
		m.loadComputed(f, e, v)
		return
	}
	loadStored(f, e, m.loc, v)
}

// loadStored reads a field that is not computed. Programs and indexes both read
// by it, so that an index holds what a comparison would see.
func loadStored(f *fieldRef, e *entities.Entity, loc *time.Location, v *value) {
	switch f.builtin {
	case fieldID:
		*v = value{kind: kindRef, s: e.ID}
		return
	case fieldName:
		*v = textValue(e.Name)
		return
	case fieldType:
		*v = value{kind: kindChoice, s: nfc(e.Type)}
		return
	case fieldCreated:
		*v = instantOf(e.CreatedAt, loc)
		return
	case fieldUpdated:
		*v = instantOf(e.UpdatedAt, loc)
		return
	}
	*v = value{}
	switch raw := e.Fields[f.name].(type) {
	case string:
		if f.kind == kindDate {
			if day, ok := parseDay(raw); ok {
				v.kind, v.i = kindDate, day
			}
			return
		}
		v.kind, v.s = f.kind, nfc(raw)
	case float64:
		v.kind, v.n = kindNumber, raw
	case bool:
		*v = boolValue(raw)
	case []string:
		if len(raw) > 0 {
			v.kind, v.elem, v.strs = kindList, f.elem, raw
		}
	}
}

// instantOf is the value of a time stamp, NULL for none.
func instantOf(t time.Time, loc *time.Location) value {
	if t.IsZero() {
		return value{}
	}
	return instant(t, loc)
}

// loadComputed runs the query of a computed field for an entity.
func (m *machine) loadComputed(f *fieldRef, e *entities.Entity, v *value) {
	*v = value{}
	if m.err != nil {
		return
	}
	if f.cyclic != "" {
		m.err = m.fault("computed fields need each other: "+f.cyclic, "take one of them out of the cycle")
		return
	}
	if m.depth >= maxComputedDepth {
		m.err = m.fault(fmt.Sprintf("computed fields use each other more than %d deep", maxComputedDepth), "shorten the chain")
		return
	}
	out, err := m.engine.computed(m.ctx, f.computed, e, m.depth+1)
	if err != nil {
		m.err = err
		return
	}
	m.uses(out)
	*v = out.value()
}

// uses notes that the run used another result.
func (m *machine) uses(out *outcome) {
	if m.rec == nil {
		return
	}
	m.rec.all(out.readings)
	if out.daily {
		m.rec.mixed = m.rec.mixed || out.day != dayOf(m.now) // midnight went by
	}
}

// fault is an error that only a row could show; it is put at the condition.
func (m *machine) fault(message, hint string) error {
	at := m.p.query.What.Span
	if m.p.query.Where != nil {
		at = m.p.query.Where.Source()
	}
	line, column, _ := locate(m.p.text, at.Start)
	return &fault.Error{Kind: fault.Query, Msg: message, Hint: hint, Line: line, Column: column}
}
