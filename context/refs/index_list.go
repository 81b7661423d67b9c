package refs

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
)

// start is a place of an entry's texts from which it is found.
type start struct {
	key  uint64 // of what is there: see keyOf
	n    number
	text uint16 // in item.texts
	off  uint16 // in the text, in bytes
}

// keySize is how many bytes of a text a key has.
const keySize = 8

// keyOf returns the first bytes of a text as a number, with zeros behind the end. Where two keys
// differ, they are in the order of their texts: most comparisons need not look at these, which lie
// anywhere in memory.
func keyOf(text string) uint64 {
	if len(text) >= keySize {
		return uint64(text[7]) | uint64(text[6])<<8 | uint64(text[5])<<16 | uint64(text[4])<<24 |
			uint64(text[3])<<32 | uint64(text[2])<<40 | uint64(text[1])<<48 | uint64(text[0])<<56
	}
	key := uint64(0)
	for i := range keySize {
		key <<= 8
		if i < len(text) {
			key |= uint64(text[i])
		}
	}
	return key
}

// maxPlaces is how many texts an entry is found by, and up to which byte of one.
const maxPlaces = 1<<16 - 1

// starts visits the starts of an entry.
func (x *Index) starts(at number) iter.Seq[start] {
	return func(yield func(start) bool) {
		m := &x.list[at]
		own := m.own
		if own != "" && !yield(start{key: keyOf(own), n: at}) {
			return
		}
		for i := 1; i < min(len(own), maxPlaces); i++ {
			if joins(own[i-1]) && !joins(own[i]) && !yield(start{keyOf(own[i:]), at, handleText, uint16(i)}) {
				return
			}
		}
		for i := numberText; i < min(len(m.texts), maxPlaces); i++ {
			if m.texts[i] != "" && !yield(start{key: keyOf(m.texts[i]), n: at, text: uint16(i)}) {
				return
			}
		}
	}
}

// joins reports whether a byte of a handle joins words.
func joins(c byte) bool { return c == '_' || c == '-' }

// listOf returns the list that a start belongs to.
func (x *Index) listOf(s start) *list {
	kind := x.list[s.n].Kind
	switch {
	case s.text == numberText:
		return &x.numbers
	case s.text >= nameTexts:
		return &x.names[kind]
	case s.off > 0:
		return &x.words[kind]
	default:
		return &x.handles[kind]
	}
}

func (x *Index) text(s start) string {
	m := &x.list[s.n]
	if s.text == handleText {
		return m.own[s.off:]
	}
	return m.texts[s.text]
}

func (x *Index) compareStarts(a, b start) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	if byText := strings.Compare(x.text(a), x.text(b)); byText != 0 {
		return byText
	}
	switch {
	case a.n != b.n:
		return int(int64(a.n) - int64(b.n))
	case a.text != b.text:
		return int(a.text) - int(b.text)
	}
	return int(a.off) - int(b.off)
}

// list is starts, sorted by text, in pieces.
type list struct {
	pieces [][]start
	best   [readers][]best // of each piece
}

// best is the best start of a piece for a reader, with what it counts; 0 when the reader
// sees none of them.
type best struct {
	rank uint64
	start
}

// pieceSize is how many starts a piece has at most. It is the time of a change, which moves
// half of it, against that of Complete, which looks at the best of each piece
// (BenchmarkREF16_Complete).
const pieceSize = 128

// fill makes an empty list of starts.
func (l *list) fill(x *Index, starts []start) {
	slices.SortFunc(starts, x.compareStarts)
	for piece := range slices.Chunk(starts, pieceSize*3/4) {
		l.addPiece(x, len(l.pieces), slices.Clone(piece))
	}
}

func (l *list) addPiece(x *Index, at int, starts []start) {
	l.pieces = slices.Insert(l.pieces, at, starts)
	for who := range l.best {
		l.best[who] = slices.Insert(l.best[who], at, x.bestOf(reader(who), starts))
	}
}

func (x *Index) bestOf(who reader, starts []start) (b best) {
	for _, s := range starts {
		if x.isBetter(who, s, &b) {
			b = best{x.ranks[who][s.n], s}
		}
	}
	return b
}

// isBetter reports whether a start counts more for a reader than the best of others.
func (x *Index) isBetter(who reader, s start, b *best) bool {
	rank := x.ranks[who][s.n]
	return rank > b.rank || rank > 0 && rank == b.rank && x.compare(who, s.n, b.n) < 0
}

// renewBest looks for the best of a piece again.
func (l *list) renewBest(x *Index, at int) {
	for who := range l.best {
		l.best[who][at] = x.bestOf(reader(who), l.pieces[at])
	}
}

// pieceOf returns the piece that a start lies in, or would.
func (l *list) pieceOf(x *Index, s start) int {
	after := sort.Search(len(l.pieces), func(i int) bool { return x.compareStarts(l.pieces[i][0], s) > 0 })
	return max(after-1, 0)
}

func (l *list) insert(x *Index, s start) {
	if len(l.pieces) == 0 {
		l.addPiece(x, 0, append(make([]start, 0, pieceSize), s))
		return
	}
	p := l.pieceOf(x, s)
	in, _ := slices.BinarySearchFunc(l.pieces[p], s, x.compareStarts)
	l.pieces[p] = slices.Insert(l.pieces[p], in, s)
	if len(l.pieces[p]) <= pieceSize {
		l.raise(x, p, s)
		return
	}
	half := pieceSize / 2
	upper := append(make([]start, 0, pieceSize), l.pieces[p][half:]...)
	l.pieces[p] = l.pieces[p][:half]
	l.addPiece(x, p+1, upper)
	l.renewBest(x, p)
}

// raise has a start that came into a piece be its best, where it is.
func (l *list) raise(x *Index, at int, s start) {
	for who := range l.best {
		b := &l.best[who][at]
		if x.isBetter(reader(who), s, b) {
			*b = best{x.ranks[who][s.n], s}
		}
	}
}

func (l *list) remove(x *Index, s start) {
	p := l.pieceOf(x, s)
	in, found := slices.BinarySearchFunc(l.pieces[p], s, x.compareStarts)
	if !found {
		return
	}
	l.pieces[p] = slices.Delete(l.pieces[p], in, in+1)
	if len(l.pieces[p]) == 0 {
		l.pieces = slices.Delete(l.pieces, p, p+1)
		for who := range l.best {
			l.best[who] = slices.Delete(l.best[who], p, p+1)
		}
		return
	}
	l.renewBest(x, p)
}

// rerank takes in that the entry of a start counts differently.
func (l *list) rerank(x *Index, s start) { l.renewBest(x, l.pieceOf(x, s)) }

// place is a start of a list, or its end.
type place struct{ piece, in int }

// prefixed returns the range of the starts that begin with a text.
func (l *list) prefixed(x *Index, prefix string) (from, to place) {
	if prefix == "" {
		return place{}, place{len(l.pieces), 0}
	}
	from = l.from(x, prefix)
	if from.piece == len(l.pieces) || !strings.HasPrefix(x.text(l.pieces[from.piece][from.in]), prefix) {
		return from, from
	}
	last := uint64(0) // key of a text that begins with the prefix
	if len(prefix) < keySize {
		last = 1<<(8*(keySize-len(prefix))) - 1
	}
	key := keyOf(prefix)
	return from, l.first(func(s start) bool {
		if s.key < key || s.key > key|last {
			return s.key > key
		}
		if len(prefix) <= keySize {
			return false
		}
		text := x.text(s)
		return text > prefix && !strings.HasPrefix(text, prefix)
	})
}

// from returns the first start whose text is not before another.
func (l *list) from(x *Index, text string) place {
	key := keyOf(text)
	return l.first(func(s start) bool {
		if s.key != key || len(text) <= keySize {
			return s.key >= key
		}
		return x.text(s) >= text
	})
}

// first returns the first start that is behind; those that are stand at the end.
func (l *list) first(behind func(start) bool) place {
	p := sort.Search(len(l.pieces), func(i int) bool { return behind(l.pieces[i][0]) })
	if p == 0 {
		return place{}
	}
	starts := l.pieces[p-1]
	in := sort.Search(len(starts), func(i int) bool { return behind(starts[i]) })
	if in < len(starts) {
		return place{p - 1, in}
	}
	return place{p, 0}
}
