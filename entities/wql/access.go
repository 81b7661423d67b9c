package wql

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities"
)

// access is what indexes know of the rows for which a condition is TRUE: all of
// them are among those that it gives, and some more may be. It is made with the
// program, and says nothing of which indexes exist.
type access struct {
	or   []*access // the union of these; of none when all members are nil: no row at all
	and  []*access // any one of these will do
	leaf *leaf
}

// anyOf is the access to a chain of OR: every arm must have one.
func anyOf(arms []*access) *access {
	if slices.Contains(arms, nil) {
		return nil
	}
	if len(arms) == 1 {
		return arms[0]
	}
	return &access{or: arms}
}

// allOf is the access to a chain of AND.
func allOf(arms []*access) *access {
	var out []*access
	for _, a := range arms {
		switch {
		case a == nil:
		case len(a.and) > 0:
			out = append(out, a.and...)
		default:
			out = append(out, a)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return &access{and: out}
}

// leaf is a comparison of a field of the row with values that are known before
// a row is seen.
type leaf struct {
	n      int    // among the leaves of the query
	path   *path  // of one step
	op     string // a function of the environment: eq, oneOf, has, begins, lt, le, gt, ge
	values []int  // slots that do not depend on the row
	text   string
}

var mirrored = map[string]string{"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

var indexed = map[string]string{
	"eq": "=", "oneOf": "IN", "has": "CONTAINS", "begins": "STARTS WITH", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}

// leaf returns the access to a call of the program, or nil when no index can
// answer it.
func (c *compiler) leaf(op string, left int, right ...int) *access {
	if indexed[op] == "" {
		return nil
	}
	if op == "oneOf" && c.out.slots[left].constant {
		arms := make([]*access, len(right))
		for i, item := range right {
			arms[i] = c.leaf("eq", left, item)
		}
		return anyOf(arms)
	}
	if len(right) == 1 && mirrored[op] != "" && c.out.slots[left].constant {
		op, left, right = mirrored[op], right[0], []int{left}
	}
	s := &c.out.slots[left]
	if s.op != slotPath || len(s.path.steps) != 1 {
		return nil
	}
	texts := make([]string, len(right))
	for i, v := range right {
		if !c.out.slots[v].constant {
			return nil
		}
		texts[i] = c.out.slots[v].text
	}
	text := strings.Join(texts, ", ")
	if op == "oneOf" {
		text = "(" + text + ")"
	}
	l := &leaf{
		n: len(c.out.leaves), path: s.path, op: op, values: right,
		text: s.path.text + " " + indexed[op] + " " + text,
	}
	c.out.leaves = append(c.out.leaves, l)
	return &access{leaf: l}
}

// probe is one question to one index: who has this value, or one between these.
type probe struct {
	indexLookup
	field *fieldRef
	isID  bool // no index: the entity itself, of which word is the id
	leaf  *leaf
	other *leaf // of a range: that of the other end
}

func (p *probe) isRange() bool { return p.Key.Class.Ordered() && p.Low != p.High }

// answer is what a leaf asks of the rows of one type: the union of the probes
// or, when each will do alone, any of them. ok is false when no index answers.
type answer struct {
	probes []probe
	each   bool
	ok     bool
}

// planner finds the rows of one type that may meet the condition. It belongs to
// a machine.
type planner struct {
	m       *machine
	at      int // of the type in FROM
	fold    string
	answers []answer // by leaf
	gen     uint64
	enough  int    // rows below which no further index is worth building
	missing *probe // whose index would have to be built to know more
	chosen  []probe
	ids     []string
	rows    []*entities.Entity // memory for some of them
	trace   *tracing           // nil: nobody asks for a plan
}

// choose fills chosen with the probes that leave the fewest rows of a type, and
// calls gather, unless it is nil, when they leave few enough. ok is false when the rows
// are to be scanned: no index serves, the best one leaves more than limit, or the store
// changes faster than an index is built.
//
// Counting and gathering happen under one lock, so that what they see is one
// state.
func (pl *planner) choose(x *indexSet, a *access, limit int, gather func(*indexSet)) (rows int, ok bool) {
	pl.ask()
	if pl.m.err != nil {
		return 0, false
	}
	failures := 0
	for tries := 8 + 4*len(pl.answers); ; tries-- {
		pl.missing = nil
		pl.gen = x.Generation()
		x.RLock()
		pl.chosen, rows, ok = pl.best(x, a, pl.chosen[:0])
		if ok && rows <= limit && (pl.missing == nil || rows <= pl.enough) || failures > 2 || tries == 0 ||
			pl.missing == nil {
			ok = ok && rows <= limit
			if ok && gather != nil {
				gather(x)
			}
			x.RUnlock()
			return rows, ok
		}
		x.RUnlock()
		if !x.Build(&pl.missing.indexLookup) {
			failures++
		} else if pl.trace != nil {
			pl.trace.built = append(pl.trace.built, pl.missing.Key)
		}
	}
}

// gather fills ids with those of the chosen probes, each once.
func (pl *planner) gather(x *indexSet) {
	pl.ids = pl.ids[:0]
	for i := range pl.chosen {
		p := &pl.chosen[i]
		if p.isID {
			pl.ids = append(pl.ids, p.Word)
		} else {
			pl.ids = x.Current(p.Key, pl.gen).Gather(&p.indexLookup, pl.ids)
		}
	}
	if len(pl.chosen) > 1 {
		slices.Sort(pl.ids)
		pl.ids = slices.Compact(pl.ids)
	}
}

// best appends the probes of the best access to out, with the number of rows
// they give.
func (pl *planner) best(x *indexSet, a *access, out []probe) (probes []probe, rows int, ok bool) {
	switch {
	case a.leaf != nil:
		return pl.bestOfLeaf(x, &pl.answers[a.leaf.n], out)
	case len(a.and) > 0:
		return pl.bestOfAll(x, a.and, out)
	}
	for _, arm := range a.or {
		var n int
		out, n, ok = pl.best(x, arm, out)
		if !ok {
			return out, 0, false
		}
		rows += n
	}
	return out, rows, true
}

func (pl *planner) bestOfLeaf(x *indexSet, a *answer, out []probe) (probes []probe, rows int, ok bool) {
	if !a.ok {
		return out, 0, false
	}
	if a.each {
		best := -1
		for i := range a.probes {
			n, known := pl.count(x, &a.probes[i])
			if known && (best < 0 || n < rows) {
				best, rows = i, n
			}
		}
		if best < 0 {
			return out, 0, false
		}
		return append(out, a.probes[best]), rows, true
	}
	for i := range a.probes {
		n, known := pl.count(x, &a.probes[i])
		if !known {
			return out, 0, false
		}
		rows += n
	}
	return append(out, a.probes...), rows, true
}

// bestOfAll takes the member that gives the fewest rows. The ranges of one
// field are one range.
func (pl *planner) bestOfAll(x *indexSet, members []*access, out []probe) (probes []probe, rows int, ok bool) {
	start := len(out)
	var spans []probe
	consider := func(part []probe, n int, found bool) {
		if found && (!ok || n < rows) {
			out, rows, ok = append(out[:start], part[start:]...), n, true
		}
	}
	for _, member := range members {
		if l := member.leaf; l != nil && indexedRange(l.op) {
			switch a := &pl.answers[l.n]; {
			case !a.ok:
			case len(a.probes) == 0: // compared with NULL: no row
				return out[:start], 0, true
			default:
				spans = narrow(spans, a.probes[0])
			}
			continue
		}
		part, n, found := pl.best(x, member, out[:start:start])
		consider(part, n, found)
	}
	for i := range spans {
		if spans[i].Low > spans[i].High {
			return out[:start], 0, true
		}
		n, found := pl.count(x, &spans[i])
		consider(append(out[:start:start], spans[i]), n, found)
	}
	return out, rows, ok
}

// narrow intersects a range with that of the same index, or adds it.
func narrow(spans []probe, p probe) []probe {
	for i := range spans {
		if spans[i].Key == p.Key {
			spans[i].Low, spans[i].High = max(spans[i].Low, p.Low), min(spans[i].High, p.High)
			spans[i].other = p.leaf
			return spans
		}
	}
	return append(spans, p)
}

// count returns the number of rows a probe gives. known is false when there is
// no index now; that it could be built is noted, references first.
func (pl *planner) count(x *indexSet, p *probe) (n int, known bool) {
	if p.isID {
		return 1, true
	}
	if ix := x.Current(p.Key, pl.gen); ix != nil {
		return ix.Count(&p.indexLookup), true
	}
	if pl.missing == nil || p.preferred() < pl.missing.preferred() {
		copied := *p
		pl.missing = &copied
	}
	return 0, false
}

// preferred orders probes by what their index is likely to be good for.
func (p *probe) preferred() int {
	switch {
	case p.field.follow:
		return 0
	case !p.Key.Class.Ordered():
		return 1
	case p.Low == p.High:
		return 2
	}
	return 3
}

// ask works out what the leaves ask.
func (pl *planner) ask() {
	pl.answers = pl.answers[:0]
	for _, l := range pl.m.p.leaves {
		pl.answers = append(pl.answers, pl.answer(l))
	}
}

// answer works out what a leaf asks. The values are evaluated here, before a
// lock is held: they may be computed fields with queries of their own.
func (pl *planner) answer(l *leaf) (out answer) {
	t := pl.m.p.types[pl.at]
	f := l.path.steps[0].named(t.Name)
	switch {
	case f == nil: // NULL for every row of the type
		return answer{ok: true}
	case f.computed != nil || f.cyclic != "" || f.of != nil:
		return answer{}
	case l.op == "has" || l.op == "begins":
		// Of texts it is about their parts, of lists and references about items.
		if f.Kind != kindList && f.Kind != kindRef {
			return answer{}
		}
		out.each = true
	case indexedRange(l.op) && (f.Kind == kindList || f.Kind == kindRef):
		return answer{ok: true}
	}
	out.ok = true
	for _, i := range l.values {
		v := pl.m.get(i)
		if v.Kind != kindList {
			out.add(pl, l, f, v)
			continue
		}
		if indexedRange(l.op) {
			continue // a list has no order
		}
		for n := range v.Len() {
			item := v.Item(n)
			before := len(out.probes)
			out.add(pl, l, f, &item)
			if out.each && len(out.probes) == before && out.ok {
				return answer{ok: true} // nobody has this item
			}
		}
	}
	if !out.ok {
		return answer{}
	}
	if len(out.probes) == 0 {
		out.each = false
	}
	return out
}

// exact reports whether the rows that were chosen are those that meet the
// condition, and not only some that may: what the condition asks is what the one
// index that is asked holds. It must be of a kind for which to have the same key
// and to compare equal are one and the same.
func (pl *planner) exact() bool {
	p := pl.m.p
	if !p.whole || len(pl.chosen) != 1 || pl.chosen[0].isID {
		return false
	}
	chosen := &pl.chosen[0]
	members := p.access.and
	if p.access.leaf != nil {
		members = []*access{p.access}
	}
	for _, a := range members {
		// More than one are the ends of a range: those of one index were joined.
		if a.leaf == nil || len(members) > 1 && !indexedRange(a.leaf.op) {
			return false
		}
		of := &pl.answers[a.leaf.n]
		if len(of.probes) != 1 || of.probes[0].Key != chosen.Key || !a.leaf.comparesOne(pl.m) {
			return false
		}
	}
	switch c := chosen.Key.Class; chosen.field.Kind {
	case kindChoice:
		return c == classFolded
	case kindNumber:
		return c == classNumber
	case kindDate:
		return c == classDay
	case kindRef:
		return c == classExact
	}
	return false
}

// comparesOne reports a comparison with a single value.
func (l *leaf) comparesOne(m *machine) bool {
	return (l.op == "eq" || indexedRange(l.op)) && len(l.values) == 1 && m.get(l.values[0]).Kind != kindList
}

func indexedRange(op string) bool { return op == "lt" || op == "le" || op == "gt" || op == "ge" }

// add appends the probe for one value, or none for a value that no row can
// equal. It clears ok when an index can't tell.
func (a *answer) add(pl *planner, l *leaf, f *fieldRef, v *datum) {
	c, serves := classFor(f, v, pl.m.scope.Zone, indexedRange(l.op))
	if !serves {
		a.ok = false
		return
	}
	p := probe{
		indexLookup: indexLookup{Key: indexKey{TypeName: pl.fold, Field: f.fold, Class: c}, Stored: &f.storedField},
		field:       f, leaf: l,
	}
	if !c.Ordered() {
		word, ok := hashKey(c, v)
		if !ok {
			return
		}
		if f.Builtin == builtinType {
			// All rows of the type have it, or none.
			a.ok = a.ok && c == classFolded && word != pl.fold
			return
		}
		p.Word, p.isID = word, f.Builtin == builtinID && c == classExact
		a.probes = append(a.probes, p)
		return
	}
	key, ok := orderedKey(c, v, pl.m.scope.Zone)
	if !ok {
		return
	}
	p.Low, p.High = key, key
	switch l.op {
	case "lt":
		p.Low, p.High = math.MinInt64, key-1
	case "le":
		p.Low = math.MinInt64
	case "gt":
		p.Low, p.High = key+1, math.MaxInt64
	case "ge":
		p.High = math.MaxInt64
	}
	a.probes = append(a.probes, p)
}

// classFor returns the class of index that compares a field with a value as
// compare does. ok is false when there is none: what the field holds is
// compared in one way here and in another there, or has no index.
func classFor(f *fieldRef, v *datum, loc *time.Location, ordered bool) (c indexClass, ok bool) {
	kind := f.Kind
	if kind == kindList {
		kind = f.Elem
	}
	if v.Kind == kindText || v.Kind == kindChoice {
		switch kind {
		case kindNumber:
			return classNumber, true
		case kindDate, kindInstant:
			t, ok := parseTime(v.Text, loc)
			if !ok {
				return classDay, true // equal to no day either
			}
			return classFor(f, &t, loc, ordered)
		case kindBool:
			return classBool, !ordered
		}
	}
	switch v.Kind {
	case kindNumber:
		return classNumber, true
	case kindBool:
		return classBool, !ordered
	case kindDate:
		return classDay, true
	case kindInstant:
		if kind == kindInstant {
			return classMicros, true
		}
		// A text may be a day here and a point in time there.
		return classDay, kind != kindText && kind != kindChoice
	case kindNull:
		return classExact, true // never true: no key
	case kindChoice:
		if kind == kindText || kind == kindChoice {
			return classFolded, !ordered
		}
		return classExact, !ordered
	case kindText:
		if kind == kindChoice {
			return classFolded, !ordered
		}
		return classExact, !ordered
	}
	return classExact, !ordered
}
