package wql

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// sortKey is one key of ORDER BY of one row: what of a value is needed to
// order it.
type sortKey struct {
	kind valueKind
	n    float64
	i    int64
	key  []byte // of a text: its natural key, of a long one that of its beginning
	cut  bool   // there is more of the text than of the key
	s    string // of a text: as it is, for texts with equal keys
}

// longText is the number of bytes of a text of which a natural key is made
// before it is needed.
const longText = 256

// What a query holds to order its rows is bounded, in bytes.
const (
	maxHeld     = 96 << 20 // of all rows
	maxListText = 1 << 20  // of the items of one list
	rowBytes    = 128      // of a row without its keys, roughly
	keyBytes    = 104      // of a key without its texts
)

// compareSortTexts is entities.CompareNatural by the keys, as far as they go.
func (m *machine) compareSortTexts(a, b *sortKey) int {
	n := min(len(a.key), len(b.key))
	if c := bytes.Compare(a.key[:n], b.key[:n]); c != 0 {
		return c
	}
	if a.cut || b.cut {
		if a.s == b.s || m.tickText(len(a.s)+len(b.s)) != nil {
			return 0
		}
		return entities.CompareNatural(a.s, b.s)
	}
	return cmp.Or(cmp.Compare(len(a.key), len(b.key)), strings.Compare(a.s, b.s))
}

// naturalKey is appendNaturalKey in the memory that the machine has for the
// keys of a run.
func (m *machine) naturalKey(s string) []byte {
	if cap(m.keys)-len(m.keys) < 2*len(s)+16 {
		m.keys = make([]byte, 0, max(4096, 8*len(s)))
	}
	start := len(m.keys)
	m.keys = appendNaturalKey(m.keys, s)
	return m.keys[start:len(m.keys):len(m.keys)]
}

var readName = fieldsOf("name")

// rankedRow is a row with what orders it. The key of its name is made at the
// first tie.
type rankedRow struct {
	row  *entities.Entity
	task *record.Task // that it stands for
	keys []sortKey
	name []byte // its natural key
	done bool   // name is set
}

func (r *rankedRow) nameKey(m *machine) []byte {
	if !r.done {
		r.name, r.done = m.naturalKey(r.row.Name), true
	}
	return r.name
}

// line is that of a task, which tells two of one name in one note apart.
func (r *rankedRow) line() int {
	if r.task == nil {
		return 0
	}
	return r.task.Line
}

// shownTask returns the task as it is told, nil for an entity.
func (r *rankedRow) shownTask() *record.Task {
	if r.task == nil {
		return nil
	}
	out := *r.task
	if out.Tags == nil {
		out.Tags = []string{}
	}
	return &out
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
	spare   []rankedRow
	refused *rankedRow        // its memory is for the next row
	texts   map[string]string // the long texts in the keys
	held    int               // bytes of the rows with their keys, roughly

	memory *rankMemory
}

// rankMemory is memory for the rows of a ranking that is used again.
type rankMemory struct {
	rows   []*rankedRow
	chunks [][]rankedRow
	used   int // of chunks
}

var rankMemories = sync.Pool{New: func() any { return new(rankMemory) }}

const (
	chunkRows  = 64 // rows that memory is had for at once
	keptChunks = 8  // are used again
)

func newRanking(m *machine, limit, offset int) *ranking {
	memory := rankMemories.Get().(*rankMemory)
	return &ranking{m: m, limit: limit, offset: offset, memory: memory, rows: memory.rows[:0]}
}

// chunk returns memory for some rows.
func (m *rankMemory) chunk() []rankedRow {
	if m.used < len(m.chunks) {
		m.used++
		return m.chunks[m.used-1]
	}
	c := make([]rankedRow, chunkRows)
	if len(m.chunks) < keptChunks {
		m.chunks = append(m.chunks, c)
		m.used++
	}
	return c
}

// free gives the memory back, without what it points to.
func (r *ranking) free() {
	memory := r.memory
	for _, c := range memory.chunks[:memory.used] {
		clear(c)
	}
	memory.used = 0
	if cap(r.rows) <= keptChunks*chunkRows {
		clear(r.rows[:cap(r.rows)])
		memory.rows = r.rows[:0]
	}
	rankMemories.Put(memory)
}

// hold counts the memory of a row, and has rows with equal long texts share one.
func (r *ranking) hold(ranked *rankedRow) {
	r.held += rowBytes + 2*len(ranked.row.Name)
	for i := range ranked.keys {
		k := &ranked.keys[i]
		r.held += keyBytes + len(k.key)
		if !k.cut {
			r.held += len(k.s)
			continue
		}
		if r.texts == nil {
			r.texts = make(map[string]string)
		}
		if same, known := r.texts[k.s]; known {
			k.s = same
			continue
		}
		r.texts[k.s] = k.s
		r.held += len(k.s)
	}
}

// newRow returns a row from memory that is made for many at once.
func (r *ranking) newRow(row *entities.Entity) *rankedRow {
	if ranked := r.refused; ranked != nil {
		r.refused = nil
		*ranked = rankedRow{row: row, keys: ranked.keys[:0]}
		return ranked
	}
	if len(r.spare) == 0 {
		r.spare = r.memory.chunk()
	}
	ranked := &r.spare[0]
	r.spare = r.spare[1:]
	*ranked = rankedRow{row: row}
	return ranked
}

func (r *ranking) add(row *entities.Entity) error {
	r.total++
	keep := r.offset + r.limit
	if r.inOrder && len(r.rows) >= keep || r.limit == 0 {
		return nil
	}
	ranked, before := r.newRow(row), r.m.keys
	ranked.task = r.m.task
	if len(r.m.p.order) > 0 {
		if ranked.keys == nil {
			ranked.keys = make([]sortKey, 0, len(r.m.p.order))
		}
		for _, k := range r.m.p.order {
			ranked.keys = append(ranked.keys, r.m.sortKey(r.m.get(k.slot)))
		}
		if r.m.err != nil {
			return r.m.err
		}
	}
	if r.worst != nil && r.compare(ranked, r.worst) > 0 {
		r.refused, r.m.keys = ranked, before
		return nil
	}
	if ranked.task != nil {
		kept := *row // the next task has the same one
		ranked.row = &kept
	}
	r.hold(ranked)
	if r.held > maxHeld {
		return fault.New(fault.Limit, "the values that the rows are ordered by take more than %d bytes", maxHeld).
			WithHint("order by fields with shorter values, or narrow the query with a condition or a smaller OFFSET")
	}
	r.rows = append(r.rows, ranked)
	if !r.inOrder && len(r.rows) >= 2*keep+256 {
		r.cut(keep)
		r.worst = r.rows[keep-1]
		_ = r.worst.nameKey(r.m) // made now: the memory of keys made later may be given back
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
		clear(r.texts)
		r.held = 0
		for _, ranked := range r.rows {
			r.hold(ranked)
		}
	}
}

func (r *ranking) compare(a, b *rankedRow) int {
	for i, k := range r.m.p.order {
		if c := r.m.compareKeys(&a.keys[i], &b.keys[i], k); c != 0 {
			return c
		}
	}
	if c := bytes.Compare(a.nameKey(r.m), b.nameKey(r.m)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.row.Name, b.row.Name), strings.Compare(a.row.ID, b.row.ID), cmp.Compare(a.line(), b.line()))
}

// finish makes the result of at most so many rows.
func (r *ranking) finish(out *outcome, limit int) {
	r.cut(r.offset + r.limit)
	rows := r.rows[min(r.offset, len(r.rows)):]
	if r.m.rec != nil || r.m.depth > 0 { // of a computed field, which others may use
		out.refs = make([]string, len(rows))
		own := r.m.p.query.Limit
		out.missing = r.offset+len(rows) < r.total && (own == nil || len(rows) < own.N)
		for i, x := range rows {
			out.refs[i] = x.row.ID
			if r.m.rec != nil && i >= limit { // it is kept: see below
				out.refs[i] = strings.Clone(x.row.ID)
			}
		}
		rows = rows[:min(limit, len(rows))]
	}
	result := &Result{Rows: make([]Row, len(rows)), Total: r.total, Truncated: r.offset+len(rows) < r.total}
	for i, x := range rows {
		row := Row{ID: x.row.ID, Name: x.row.Name, Type: x.row.Type, Task: x.shownTask()}
		if r.m.rec != nil { // it is kept, and must not keep the records of all rows with it
			row.ID, row.Name = strings.Clone(row.ID), strings.Clone(row.Name)
			row.Type = r.m.p.declared(row.Type)
		}
		result.Rows[i] = row
		if out.refs != nil {
			out.refs[i] = row.ID
		}
	}
	out.result = result
}

// sortKey takes from a value what orders it. A reference is ordered by the name
// of its target, a list by its items.
func (m *machine) sortKey(v *datum) sortKey {
	k := sortKey{kind: v.Kind, n: v.Number, i: v.Int}
	switch v.Kind {
	case kindText, kindChoice, kindRef:
		k.s = v.Text
		if v.Kind == kindRef {
			m.rec.entity(v.Text, readName)
			if target := m.engine.get(v.Text); target.Live() {
				k.s = target.Name + "\x00" + v.Text
			}
		}
		k.kind = kindText
		m.textKey(&k)
	case kindInstant:
		k.kind = kindDate
	case kindDate:
		k.i *= 24 * microsPerHour
	case kindList:
		k.s = m.listText(v)
		m.textKey(&k)
	}
	return k
}

func (m *machine) textKey(k *sortKey) {
	part, cut := naturalPrefix(k.s, longText)
	k.key, k.cut = m.naturalKey(part), cut
}

// listText joins the texts of the items of a list.
func (m *machine) listText(v *datum) string {
	var b strings.Builder
	for i := range v.Len() {
		x := v.Item(i)
		s := m.sortKey(&x).s
		if s == "" {
			s, _ = valueText(&x)
		}
		if i > 0 {
			b.WriteByte(0)
		}
		if b.Len()+len(s) > maxListText {
			if m.err == nil {
				m.err = fault.New(fault.Limit, "cannot order by a list of more than %d bytes", maxListText).
					WithHint("order by a field with shorter values")
			}
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

// compareKeys orders two keys: NULLs where they were asked for whatever the
// direction, kinds apart, texts in natural order.
func (m *machine) compareKeys(a, b *sortKey, by orderKey) int {
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
			c = m.compareSortTexts(a, b)
		}
	}
	if by.desc {
		c = -c
	}
	return c
}
