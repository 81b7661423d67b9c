package names

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strings"
)

// nameStart is one place where a name can be entered: its start or the start of
// one of its words. Its key is the folded name from there on.
type nameStart struct {
	head uint64 // the first bytes of the key, which nearly always decide
	n    uint32 // number of the record
	name uint16 // index into named.names
	word uint16 // byte offset of the key in the folded name
}

// head returns the first eight bytes of a text as a number of the same order.
// What is missing is zero, so texts of equal heads may differ.
func head(s string) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64([]byte(s[:8]))
	}
	h := uint64(0)
	for i := range len(s) {
		h |= uint64(s[i]) << (56 - 8*i)
	}
	return h
}

func (s nameStart) key(x *Index) string { return x.list[s.n].names[s.name].Fold[s.word:] }

// rank is what a start counts for a reader among those with the same beginning: titles
// come before aliases, then what changed last; 0 is never offered.
func (s nameStart) rank(x *Index, who reader) uint64 { return rankAs(x.ranks[who][s.n], s.name) }

// starts yields the places where the names of a record can be entered.
func (n *named) starts(at uint32) iter.Seq[nameStart] {
	return func(yield func(nameStart) bool) {
		var words [maxWords]uint16
		for i := range min(len(n.names), math.MaxUint16+1) {
			fold := n.names[i].Fold
			for _, word := range wordStarts(words[:0], fold) {
				if !yield(nameStart{head(fold[word:]), at, uint16(i), word}) {
					return
				}
			}
		}
	}
}

// compareStarts orders by key, then by the name that it is a part of, then by kind, so that
// ids, which may be random, only part records that look alike; then by place.
func compareStarts(x *Index, a, b nameStart) int {
	if a.head != b.head {
		return cmp.Compare(a.head, b.head)
	}
	if c := strings.Compare(a.key(x), b.key(x)); c != 0 {
		return c
	}
	if a.n == b.n && a.name == b.name {
		return cmp.Compare(a.word, b.word)
	}
	m, n := &x.list[a.n], &x.list[b.n]
	name, other := m.names[a.name], n.names[b.name]
	if c := cmp.Or(strings.Compare(name.Fold, other.Fold), strings.Compare(name.Text, other.Text)); c != 0 {
		return c
	}
	if a.n != b.n {
		return cmp.Or(strings.Compare(x.kindOf[m.kind], x.kindOf[n.kind]), strings.Compare(m.id, n.id))
	}
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.word, b.word))
}

// maxStarts is how many starts lie in one piece of a startList: a completion looks
// at one word for each piece and at all starts of some.
const maxStarts = 64

// startList is an ordered list of starts, in pieces of which none is empty. It is
// smaller than a tree of the same and is built from sorted starts in no time. The
// index that it belongs to is handed to its methods.
type startList struct{ pieces []piece }

// piece is some starts that follow each other. It is no larger than a cache line, since
// completion looks at many (BenchmarkPERF5_Complete).
type piece struct {
	starts []nameStart
	ranking
	public *ranking // of the starts that are not private; nil: the same
}

// ranking says which starts of a piece come first.
type ranking struct {
	top  nameStart // one of those with the highest rank
	best uint64    // that rank
	next uint64    // the highest rank of the others
}

// of returns what a piece offers a reader.
func (p *piece) of(who reader) *ranking {
	if who == public && p.public != nil {
		return p.public
	}
	return &p.ranking
}

// set notes what a piece offers each reader.
func (p *piece) set(by [readers]ranking) {
	p.ranking = by[everybody]
	switch other := by[public]; {
	case other == p.ranking:
		p.public = nil
	case p.public == nil:
		p.public = new(ranking)
		fallthrough
	default:
		*p.public = other
	}
}

// rankings returns what set has noted.
func (p *piece) rankings() (by [readers]ranking) {
	for who := range by {
		by[who] = *p.of(reader(who))
	}
	return by
}

// rerank works out anew what a piece offers.
func (p *piece) rerank(x *Index) {
	var by [readers]ranking
	for who := range by {
		by[who].top = p.starts[0]
		for _, s := range p.starts {
			by[who].add(s, s.rank(x, reader(who)))
		}
	}
	p.set(by)
}

// add takes in a start that was not counted before.
func (o *ranking) add(s nameStart, rank uint64) {
	if rank <= o.best {
		o.next = max(o.next, rank)
		return
	}
	o.top, o.best, o.next = s, rank, o.best
}

// rank takes in what one of the starts counts now: more than all others, or it is new
// or counted less than the two best.
func (p *piece) rank(x *Index, s nameStart) {
	by := p.rankings()
	for who := range by {
		o, rank := &by[who], s.rank(x, reader(who))
		if rank > o.best && o.top == s {
			o.best = rank
		} else {
			o.add(s, rank)
		}
	}
	p.set(by)
}

// leads reports whether a start is one of the two best of a piece for a reader, to whom
// it counts so much.
func (p *piece) leads(s nameStart, ranks [readers]uint64) bool {
	for who, rank := range ranks {
		if o := p.of(reader(who)); o.top == s || o.next == rankAs(rank, s.name) {
			return true
		}
	}
	return false
}

// load fills an empty list with starts in any order. It keeps the slice.
func (l *startList) load(x *Index, starts []nameStart) {
	starts = sortByHead(starts)
	l.pieces = make([]piece, 0, len(starts)/maxStarts+1)
	for part := range slices.Chunk(starts, maxStarts) {
		l.pieces = append(l.pieces, piece{starts: part})
	}
	var same []tailed
	for len(starts) > 0 {
		n := 1 // how many have the same head
		for n < len(starts) && starts[n].head == starts[0].head {
			n++
		}
		if n > 1 {
			same = sortByTail(x, starts[:n], same)
		}
		starts = starts[n:]
	}
	for i := range l.pieces {
		l.pieces[i].rerank(x)
	}
}

// tailed is a start with what comes after its head.
type tailed struct {
	tail uint64
	nameStart
}

// sortByTail sorts starts of the same head. It uses the memory of same.
func sortByTail(x *Index, starts []nameStart, same []tailed) []tailed {
	same = same[:0]
	for _, s := range starts {
		t := tailed{nameStart: s}
		if key := s.key(x); len(key) > 8 {
			t.tail = head(key[8:])
		}
		same = append(same, t)
	}
	slices.SortFunc(same, func(a, b tailed) int {
		if a.tail != b.tail {
			return cmp.Compare(a.tail, b.tail)
		}
		return compareStarts(x, a.nameStart, b.nameStart)
	})
	for i := range same {
		starts[i] = same[i].nameStart
	}
	return same
}

// sortByHead returns starts sorted by their heads, byte by byte from the last one:
// there are many, and a comparison costs more than to move them.
func sortByHead(starts []nameStart) []nameStart {
	var counts [8][256]uint32
	for i := range starts {
		for b, h := 0, starts[i].head; b < 8; b, h = b+1, h>>8 {
			counts[b][byte(h)]++
		}
	}
	other := make([]nameStart, len(starts))
	for b := range counts {
		places, sum := &counts[b], uint32(0)
		if len(starts) > 0 && places[byte(starts[0].head>>(8*b))] == uint32(len(starts)) {
			continue // all have the same byte here
		}
		for i, n := range places {
			places[i], sum = sum, sum+n
		}
		for _, s := range starts {
			to := &places[byte(s.head>>(8*b))]
			other[*to] = s
			*to++
		}
		starts, other = other, starts
	}
	return starts
}

// find returns where s is, or would be: the piece and the place in it.
func (l *startList) find(x *Index, s nameStart) (at, in int, found bool) {
	at, _ = slices.BinarySearchFunc(l.pieces, s, func(p piece, s nameStart) int {
		return compareStarts(x, p.starts[len(p.starts)-1], s)
	})
	if at == len(l.pieces) {
		return at, 0, false
	}
	in, found = slices.BinarySearchFunc(l.pieces[at].starts, s,
		func(a, b nameStart) int { return compareStarts(x, a, b) })
	return at, in, found
}

func (l *startList) insert(x *Index, s nameStart) {
	at, in, found := l.find(x, s)
	if found {
		return
	}
	if at == len(l.pieces) { // behind all others
		if at == 0 {
			l.pieces = append(l.pieces, piece{})
		} else {
			at, in = at-1, len(l.pieces[at-1].starts)
		}
	}
	p := &l.pieces[at]
	p.starts = slices.Insert(p.starts, in, s)
	if len(p.starts) == 1 {
		p.rerank(x)
		return
	}
	p.rank(x, s)
	if len(p.starts) <= maxStarts {
		return
	}
	half := len(p.starts) / 2
	behind := piece{starts: slices.Clone(p.starts[half:])}
	p.starts = slices.Clone(p.starts[:half])
	p.rerank(x)
	behind.rerank(x)
	l.pieces = slices.Insert(l.pieces, at+1, behind)
}

func (l *startList) remove(x *Index, s nameStart) {
	at, in, found := l.find(x, s)
	if !found {
		return
	}
	p := &l.pieces[at]
	p.starts = slices.Delete(p.starts, in, in+1)
	switch {
	case len(p.starts) == 0:
		l.pieces = slices.Delete(l.pieces, at, at+1)
	case p.leads(s, x.ranksAt(s.n)):
		p.rerank(x)
	}
}

// rerank takes in that a start counts something else than was for its record.
func (l *startList) rerank(x *Index, s nameStart, was [readers]uint64) {
	at, _, found := l.find(x, s)
	if !found {
		return
	}
	p := &l.pieces[at]
	if p.leads(s, was) && !p.rises(x, s) {
		p.rerank(x)
	} else {
		p.rank(x, s)
	}
}

// rises reports whether a start counts more than all others now, for every reader.
func (p *piece) rises(x *Index, s nameStart) bool {
	for who := range readers {
		if s.rank(x, who) <= p.of(who).best {
			return false
		}
	}
	return true
}

// place is a place in a startList.
type place struct{ piece, in int }

// bound is a place in the order of starts: before or behind those whose key begins
// with a text.
type bound struct {
	fold        string
	first, last uint64 // the least and the greatest head of a key that begins with fold
	behind      bool
}

func boundOf(fold string) bound {
	b := bound{fold: fold, first: head(fold)}
	b.last = b.first
	if len(fold) < 8 {
		b.last |= ^uint64(0) >> (8 * len(fold))
	}
	return b
}

// after reports whether the bound comes after a start.
func (b *bound) after(x *Index, s nameStart) bool {
	switch {
	case s.head < b.first || s.head > b.last:
		return s.head < b.first
	case !b.behind:
		return s.head == b.first && s.key(x) < b.fold
	case len(b.fold) < 8:
		return true
	}
	key := s.key(x)
	return key < b.fold || strings.HasPrefix(key, b.fold)
}

// from returns the place of the first start that the bound does not come after, which
// is in no piece before first.
func (l *startList) from(x *Index, b *bound, first int) place {
	at, end := first, len(l.pieces)
	for at < end {
		mid := (at + end) / 2
		if starts := l.pieces[mid].starts; b.after(x, starts[len(starts)-1]) {
			at = mid + 1
		} else {
			end = mid
		}
	}
	if at == len(l.pieces) {
		return place{at, 0}
	}
	starts := l.pieces[at].starts
	in, end := 0, len(starts)
	for in < end {
		mid := (in + end) / 2
		if b.after(x, starts[mid]) {
			in = mid + 1
		} else {
			end = mid
		}
	}
	return place{at, in}
}

// prefixed returns the places where the starts whose key begins with fold begin
// and end.
func (l *startList) prefixed(x *Index, fold string) (from, to place) {
	b := boundOf(fold)
	from = l.from(x, &b, 0)
	b.behind = true
	return from, l.from(x, &b, from.piece)
}

// ascend calls visit with the starts whose key is not less than fold, in order,
// until it returns false.
func (l *startList) ascend(x *Index, fold string, visit func(nameStart) bool) {
	b := boundOf(fold)
	for at := l.from(x, &b, 0); at.piece < len(l.pieces); at = (place{at.piece + 1, 0}) {
		for _, s := range l.pieces[at.piece].starts[at.in:] {
			if !visit(s) {
				return
			}
		}
	}
}
