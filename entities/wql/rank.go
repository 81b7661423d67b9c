package wql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// sortKey is one key of ORDER BY of one row: what of a value is needed to
// order it.
type sortKey struct {
	kind kind
	n    float64
	i    int64
	key  string // of a text: its natural key
	s    string // of a text: as it is, for texts with equal keys
}

// naturalKey returns a text whose order by bytes is the natural order of names
// without case (entities.CompareNatural), so that sorting n rows folds each
// once and not at each of n log n comparisons. A run of digits becomes a digit,
// the number of digits without leading zeros, and these digits.
func naturalKey(s string) string {
	fold := entities.Fold(s)
	if !strings.ContainsAny(fold, "0123456789") {
		return fold
	}
	key := make([]byte, 0, len(fold)+8)
	for i := 0; i < len(fold); {
		if !isDigit(fold[i]) {
			key = append(key, fold[i])
			i++
			continue
		}
		end := i
		for end < len(fold) && isDigit(fold[end]) {
			end++
		}
		digits := strings.TrimLeft(fold[i:end], "0")
		n := len(digits)
		key = append(key, '0', byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		key = append(key, digits...)
		i = end
	}
	return string(key)
}

// rankedRow is a row with what orders it. The key of its name is made at the
// first tie.
type rankedRow struct {
	row  *entities.Entity
	keys []sortKey
	name string // its natural key
	done bool   // name is set
}

func (r *rankedRow) nameKey() string {
	if !r.done {
		r.name, r.done = naturalKey(r.row.Name), true
	}
	return r.name
}

// ranking keeps the first offset + limit rows in the order asked for. It holds
// at most a few times as many, whatever the number of rows.
type ranking struct {
	m       *machine
	limit   int
	offset  int
	inOrder bool // rows come in the order asked for
	total   int
	rows    []*rankedRow
	worst   *rankedRow // the last row worth keeping, once there are enough
}

func (r *ranking) add(row *entities.Entity) error {
	r.total++
	keep := r.offset + r.limit
	if r.inOrder && len(r.rows) >= keep || r.limit == 0 {
		return nil
	}
	ranked := &rankedRow{row: row}
	if len(r.m.p.order) > 0 {
		ranked.keys = make([]sortKey, len(r.m.p.order))
		for i, k := range r.m.p.order {
			ranked.keys[i] = r.m.sortKey(r.m.get(k.slot))
		}
		if r.m.err != nil {
			return r.m.err
		}
	}
	if r.worst != nil && r.compare(ranked, r.worst) > 0 {
		return nil
	}
	r.rows = append(r.rows, ranked)
	if !r.inOrder && len(r.rows) >= 2*keep+256 {
		r.cut(keep)
		r.worst = r.rows[keep-1]
	}
	return nil
}

func (r *ranking) cut(keep int) {
	if !r.inOrder {
		slices.SortFunc(r.rows, r.compare)
	}
	if len(r.rows) > keep {
		clear(r.rows[keep:])
		r.rows = r.rows[:keep]
	}
}

func (r *ranking) compare(a, b *rankedRow) int {
	for i, k := range r.m.p.order {
		if c := compareKeys(&a.keys[i], &b.keys[i], k); c != 0 {
			return c
		}
	}
	if a.row.Name != b.row.Name {
		return cmp.Or(strings.Compare(a.nameKey(), b.nameKey()), strings.Compare(a.row.Name, b.row.Name))
	}
	return strings.Compare(a.row.ID, b.row.ID)
}

func (r *ranking) finish(out *outcome) {
	r.cut(r.offset + r.limit)
	rows := r.rows[min(r.offset, len(r.rows)):]
	result := &Result{Rows: make([]Row, len(rows)), Total: r.total, Truncated: r.offset+len(rows) < r.total}
	out.refs = make([]string, len(rows))
	for i, x := range rows {
		result.Rows[i] = Row{ID: x.row.ID, Name: x.row.Name, Type: x.row.Type}
		out.refs[i] = x.row.ID
	}
	out.result = result
}

// sortKey takes from a value what orders it. A reference is ordered by the name
// of its target, a list by its items.
func (m *machine) sortKey(v *value) sortKey {
	k := sortKey{kind: v.kind, n: v.n, i: v.i}
	switch v.kind {
	case kindText, kindChoice, kindRef:
		k.s = v.s
		if target := m.engine.src.Get(v.s); v.kind == kindRef && target.Live() && !m.engine.hidden(target) {
			k.s = target.Name + "\x00" + v.s
		}
		k.kind, k.key = kindText, naturalKey(k.s)
	case kindInstant:
		k.kind = kindDate
	case kindDate:
		k.i *= 24 * microsPerHour
	case kindList:
		texts := make([]string, 0, v.length())
		for i := range v.length() {
			x := v.item(i)
			s := m.sortKey(&x).s
			if s == "" {
				s, _ = textOf(&x)
			}
			texts = append(texts, s)
		}
		k.s = strings.Join(texts, "\x00")
		k.key = naturalKey(k.s)
	}
	return k
}

// compareKeys orders two keys: NULLs where they were asked for whatever the
// direction, kinds apart, texts in natural order.
func compareKeys(a, b *sortKey, by orderKey) int {
	if a.kind == kindNull || b.kind == kindNull {
		switch {
		case a.kind == b.kind:
			return 0
		case (a.kind == kindNull) == by.nullsFirst:
			return -1
		}
		return 1
	}
	c := cmp.Compare(a.kind, b.kind)
	if c == 0 {
		switch a.kind {
		case kindNumber:
			c = cmp.Compare(a.n, b.n)
		case kindBool, kindDate:
			c = cmp.Compare(a.i, b.i)
		default:
			c = cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.s, b.s))
		}
	}
	if by.desc {
		c = -c
	}
	return c
}
