package entities

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

func (s nameStart) key(list []*named) string { return list[s.n].names[s.name].Fold[s.word:] }

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

// compareStarts orders by key, then by id, name and word.
func compareStarts(list []*named, a, b nameStart) int {
	if a.head != b.head {
		return cmp.Compare(a.head, b.head)
	}
	if c := strings.Compare(a.key(list), b.key(list)); c != 0 {
		return c
	}
	if a.n != b.n {
		return strings.Compare(list[a.n].id, list[b.n].id)
	}
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.word, b.word))
}

// maxStarts is how many starts lie in one piece of a startList.
const maxStarts = 256

// startList is an ordered list of starts, in pieces of which none is empty. It is
// smaller than a tree of the same and is built from sorted starts in no time. The
// records that the starts are of are handed to its methods.
type startList struct{ pieces [][]nameStart }

// load fills an empty list with starts in any order. It keeps the slice.
func (l *startList) load(list []*named, starts []nameStart) {
	starts = sortByHead(starts)
	l.pieces = make([][]nameStart, 0, len(starts)/maxStarts+1)
	for piece := range slices.Chunk(starts, maxStarts) {
		l.pieces = append(l.pieces, piece)
	}
	var same []tailed
	for len(starts) > 0 {
		n := 1 // how many have the same head
		for n < len(starts) && starts[n].head == starts[0].head {
			n++
		}
		if n > 1 {
			same = sortByTail(list, starts[:n], same)
		}
		starts = starts[n:]
	}
}

// tailed is a start with what comes after its head.
type tailed struct {
	tail uint64
	nameStart
}

// sortByTail sorts starts of the same head. It uses the memory of same.
func sortByTail(list []*named, starts []nameStart, same []tailed) []tailed {
	same = same[:0]
	for _, s := range starts {
		t := tailed{nameStart: s}
		if key := s.key(list); len(key) > 8 {
			t.tail = head(key[8:])
		}
		same = append(same, t)
	}
	slices.SortFunc(same, func(a, b tailed) int {
		if a.tail != b.tail {
			return cmp.Compare(a.tail, b.tail)
		}
		return compareStarts(list, a.nameStart, b.nameStart)
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
func (l *startList) find(list []*named, s nameStart) (piece, at int, found bool) {
	piece, _ = slices.BinarySearchFunc(l.pieces, s, func(p []nameStart, s nameStart) int {
		return compareStarts(list, p[len(p)-1], s)
	})
	if piece == len(l.pieces) {
		return piece, 0, false
	}
	at, found = slices.BinarySearchFunc(l.pieces[piece], s, func(a, b nameStart) int { return compareStarts(list, a, b) })
	return piece, at, found
}

func (l *startList) insert(list []*named, s nameStart) {
	i, at, found := l.find(list, s)
	if found {
		return
	}
	if i == len(l.pieces) { // behind all others
		if i == 0 {
			l.pieces = append(l.pieces, []nameStart{s})
			return
		}
		i, at = i-1, len(l.pieces[i-1])
	}
	piece := slices.Insert(l.pieces[i], at, s)
	if l.pieces[i] = piece; len(piece) <= maxStarts {
		return
	}
	half := len(piece) / 2
	l.pieces[i] = slices.Clone(piece[:half])
	l.pieces = slices.Insert(l.pieces, i+1, slices.Clone(piece[half:]))
}

func (l *startList) remove(list []*named, s nameStart) {
	i, at, found := l.find(list, s)
	if !found {
		return
	}
	if l.pieces[i] = slices.Delete(l.pieces[i], at, at+1); len(l.pieces[i]) == 0 {
		l.pieces = slices.Delete(l.pieces, i, i+1)
	}
}

// ascend calls visit with the starts whose key is not less than fold, in order,
// until it returns false.
func (l *startList) ascend(list []*named, fold string, visit func(nameStart) bool) {
	from := head(fold)
	below := func(s nameStart) bool { return s.head < from || s.head == from && s.key(list) < fold }
	order := func(s nameStart, _ struct{}) int {
		if below(s) {
			return -1
		}
		return 1
	}
	i, _ := slices.BinarySearchFunc(l.pieces, struct{}{}, func(p []nameStart, _ struct{}) int { return order(p[len(p)-1], struct{}{}) })
	if i == len(l.pieces) {
		return
	}
	at, _ := slices.BinarySearchFunc(l.pieces[i], struct{}{}, order)
	for ; i < len(l.pieces); i, at = i+1, 0 {
		for _, s := range l.pieces[i][at:] {
			if !visit(s) {
				return
			}
		}
	}
}
