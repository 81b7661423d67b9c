package wql

import (
	"math"

	"github.com/ctxd/ctxd/entities"
)

// ordered is an attempt to take the rows from the index that has them in the order
// of the first key of ORDER BY, and to stop when there are enough. It needs to know
// how many rows meet the condition without looking at all of them, because a result
// says so: there is no condition, or one index has counted what meets it.
type ordered struct {
	m      *machine
	lookup indexLookup
	walk   *indexWalk
	need   int  // rows
	total  int  // that meet the condition
	most   int  // rows to look at: with more, another way is cheaper
	tested bool // rows of the walk may fail the condition
	built  bool // the index was built now

	examined int
	rows     []*entities.Entity // that meet the condition, in order
}

// fewRows is the part of the rows of a type that a query must want for an index to
// order them: of more, sorting all is as cheap.
const fewRows = 4

// maxSortedRows is the number of entities of which an index in order is made.
const maxSortedRows = 200_000

// inOrder takes the rows of the query in the order of an index. It reports false,
// and has changed nothing, when that can't be done or is not worth it.
func (e *Engine) inOrder(m *machine, out *outcome, top *ranking, explain bool) (bool, error) {
	o := newOrdered(e, m, top)
	if o == nil || !o.condition(e) {
		return false, m.err
	}
	ok, err := o.collect(e)
	if err != nil || !ok {
		return false, err
	}
	top.inOrder = len(m.p.order) == 1
	for _, row := range o.rows {
		if _, err := m.test(row, true); err != nil {
			return false, err
		}
		if err := top.add(row); err != nil {
			return false, err
		}
	}
	top.total, out.examined = o.total, o.examined
	pl := &m.plan
	if m.p.program == nil {
		m.rec.add(dep{part: partType, typeName: pl.fold}, m.p.reads)
	} else if m.rec != nil {
		m.rec.add(pl.chosen[0].dep(), m.p.reads)
	}
	if explain {
		out.types = append(out.types, o.plan(e))
	}
	return true, m.err
}

// newOrdered returns nil for a query that no index can order.
func newOrdered(e *Engine, m *machine, top *ranking) *ordered {
	p := m.p
	if top == nil || len(p.types) != 1 || isTaskType(p.types[0]) || len(p.order) == 0 || top.limit == 0 {
		return nil
	}
	s := &p.slots[p.order[0].slot]
	if s.op != slotPath || len(s.path.steps) != 1 {
		return nil
	}
	f := s.path.steps[0].named(p.types[0].Name)
	if f == nil || f.computed != nil || f.cyclic != "" || f.of != nil { // of: the types of the name differ in it
		return nil
	}
	switch f.Kind {
	case kindText, kindChoice, kindNumber, kindBool, kindDate, kindInstant:
	default: // the order of a reference depends on another entity, and lists are rare
		return nil
	}
	rows := e.count(p.types[0].Name)
	if rows > maxSortedRows || top.offset > rows || (top.offset+top.limit)*fewRows > rows {
		return nil
	}
	return &ordered{
		m: m, need: top.offset + top.limit, total: rows, most: rows / 2,
		lookup: indexLookup{
			Key: indexKey{TypeName: p.folds[0], Field: f.fold, Class: classInOrder}, Stored: &f.storedField,
		},
		walk: newIndexWalk(p.order[0].desc, p.order[0].nullsFirst),
	}
}

// condition works out how many rows meet the condition and which part of the index
// has them.
func (o *ordered) condition(e *Engine) bool {
	m, pl := o.m, &o.m.plan
	pl.m, pl.at, pl.fold, pl.trace = m, 0, m.p.folds[0], nil
	pl.gen = e.indexes.Generation()
	if m.p.program == nil {
		return true
	}
	if m.p.access == nil || !m.p.whole {
		return false
	}
	all := o.total
	pl.enough = max(64, all/100)
	n, ok := pl.choose(e.indexes, m.p.access, math.MaxInt, nil)
	if !ok || m.err != nil || !pl.exact() {
		return false
	}
	o.total = n
	if p := &pl.chosen[0]; p.Key.Field == o.lookup.Key.Field && p.Key.Class.Ordered() {
		o.walk.Between(p.Low, p.High)
		return true
	}
	o.tested, o.most = true, min(n, all)/2
	// Rows are expected to meet the condition as often along the way as anywhere.
	return o.need < n && o.need*all/n <= o.most
}

// collect takes the rows from the index. It reports false when there is no index that
// shows the same state as the rows and the condition, or the way is too long.
func (o *ordered) collect(e *Engine) (bool, error) {
	x, pl, several := e.indexes, &o.m.plan, len(o.m.p.order) > 1
	atOnce := rowsAtOnce
	if !o.tested {
		atOnce = min(o.need+1, 8*rowsAtOnce) // one more tells whether equal ones follow
	}
	var part []sortedEntity
	var ids []string
	last := ""
	for first := true; ; first = false {
		x.RLock()
		ix := x.Current(o.lookup.Key, pl.gen)
		if ix == nil && first {
			x.RUnlock()
			if o.built = x.Build(&o.lookup); !o.built {
				return false, nil
			}
			x.RLock()
			ix = x.Current(o.lookup.Key, pl.gen)
		}
		if ix == nil {
			x.RUnlock()
			return false, nil
		}
		n, ok := ix.Len()
		if ok = ok && (o.m.p.program != nil || n == o.total); ok {
			part = o.walk.Next(ix, atOnce, part[:0])
		}
		x.RUnlock()
		if !ok {
			return false, nil
		}
		if len(part) == 0 {
			return len(o.rows) >= min(o.need, o.total), nil
		}
		ids = ids[:0]
		for i := range part {
			ids = append(ids, part[i].ID)
		}
		pl.rows, _ = e.src.GetAll(ids, pl.rows[:0])
		if x.Generation() != pl.gen { // these are the rows that the index shows
			return false, nil
		}
		for i, row := range pl.rows {
			if len(o.rows) >= o.need && (!several || part[i].Value != last) {
				return true, nil
			}
			if !row.Live() || e.hidden(row) {
				return false, nil
			}
			if o.examined++; o.examined > o.most && o.examined > o.need {
				return false, nil
			}
			row = e.show(row)
			meets, err := o.m.test(row, !o.tested)
			if err != nil {
				return false, err
			}
			if meets {
				o.rows, last = append(o.rows, row), part[i].Value
			}
		}
	}
}

// plan says what was done.
func (o *ordered) plan(e *Engine) TypePlan {
	pl := &o.m.plan
	key := o.m.p.query.Order[0]
	u := IndexUse{
		Condition: "ORDER BY " + o.m.p.slots[o.m.p.order[0].slot].text, Field: o.lookup.Stored.Name, Kind: IndexSorted,
		Rows: o.examined, Built: o.built,
	}
	if key.Desc {
		u.Condition += " DESC"
	}
	t := TypePlan{
		Type: o.m.p.types[0].Name, Access: AccessOrder, Rows: e.count(o.m.p.types[0].Name), RowsExamined: o.examined,
		Uses: []IndexUse{u}, Considered: []IndexUse{},
	}
	if o.m.p.program == nil {
		return t
	}
	pl.trace = &tracing{plan: t}
	e.indexes.RLock()
	defer e.indexes.RUnlock()
	t.Uses = append(t.Uses, pl.use(e.indexes, pl.chosen))
	return t
}
