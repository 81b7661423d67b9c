package search

import (
	"encoding/binary"
	"slices"
	"sort"
)

// docID is the number of a note in the index. That of a note that is gone is
// given to another.
type docID uint32

// blockSize is how many postings a block has at most.
const blockSize = 128

// block is a part of the postings of a term, in the order of the documents. There
// are two forms of it. In the one that grows, a posting is the distance from the
// document before, doubled, plus one for a frequency of 1; otherwise the frequency
// less 2 follows. Both are varints. Larger blocks are packed (see packing.go), which
// is about as small and read several times as fast.
type block struct {
	first, last docID
	n           uint8
	packed      bool
	// max is at least what any posting of the block is worth (see saturation);
	// only writing a block anew lowers it.
	max  float32
	data []byte
}

// list is the postings of one term. Most terms are rare: theirs are one block
// without a slice around it.
type list struct {
	one  [1]block
	more *blocks // nil as long as one holds all
}

type blocks struct {
	list []block
	docs int
}

func (l *list) blocks() []block {
	if l.more != nil {
		return l.more.list
	}
	if l.one[0].n == 0 {
		return nil
	}
	return l.one[:]
}

// docs returns the number of documents.
func (l *list) docs() int {
	if l.more != nil {
		return l.more.docs
	}
	return int(l.one[0].n)
}

// decode writes the postings of a block into docs and tfs and returns how many
// there are.
func (b *block) decode(docs, tfs *[blockSize + 1]uint32) int {
	if b.packed {
		unpack(b.data, int(b.n), uint32(b.first), docs, tfs)
		return int(b.n)
	}
	data, doc := b.data, uint32(b.first)
	n := int(b.n)
	at := 0
	for i := range n {
		v := uint32(data[at])
		at++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				c := uint32(data[at])
				at++
				v |= (c & 0x7f) << shift
				if c < 0x80 {
					break
				}
			}
		}
		tf := uint32(1)
		if v&1 == 0 {
			tf = uint32(data[at])
			at++
			if tf >= 0x80 {
				tf &= 0x7f
				for shift := 7; ; shift += 7 {
					c := uint32(data[at])
					at++
					tf |= (c & 0x7f) << shift
					if c < 0x80 {
						break
					}
				}
			}
			tf += 2
		}
		doc += v >> 1
		docs[i] = doc
		tfs[i] = tf
	}
	return n
}

func appendPosting(data []byte, gap, tf uint32) []byte {
	if tf == 1 && gap < 1<<6 {
		return append(data, byte(gap<<1|1))
	}
	if tf == 1 {
		return binary.AppendUvarint(data, uint64(gap)<<1|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(data, uint64(gap)<<1), uint64(tf-2))
}

// worth returns what a posting counts at most.
type worth func(doc docID, tf uint32) float32

// encode makes a block of postings.
func encode(docs, tfs []uint32, w worth) block {
	b := block{first: docID(docs[0]), last: docID(docs[len(docs)-1]), n: uint8(len(docs))}
	for i, doc := range docs {
		b.max = max(b.max, w(docID(doc), tfs[i]))
	}
	b.write(docs, tfs)
	return b
}

// write gives a block its data, in the form that suits it.
func (b *block) write(docs, tfs []uint32) {
	var scratch [10 * (blockSize + 1)]byte
	data := scratch[:0]
	before := docs[0]
	for i, doc := range docs {
		data = appendPosting(data, doc-before, tfs[i])
		before = doc
	}
	b.pack(data, docs, tfs)
}

// pack gives a block its data: packed, unless the form that grows is smaller.
func (b *block) pack(growing []byte, docs, tfs []uint32) {
	b.packed = false
	if len(docs) >= minPacked {
		var space [packedHeader + 20*blockSize]byte
		if other := pack(space[:0], docs, tfs); len(other) <= len(growing)+len(growing)/16 {
			growing, b.packed = other, true
		}
	}
	b.data = slices.Clone(growing)
}

// find returns the index of the block that a document belongs to: the last that
// begins at or before it.
func find(list []block, doc docID) int {
	return max(0, sort.Search(len(list), func(i int) bool { return list[i].first > doc })-1)
}

// set gives a document a frequency in a list, 0 to take it out. It touches one
// block.
func (l *list) set(doc docID, tf uint32, w worth) {
	all := l.blocks()
	if n := len(all); tf > 0 && (n == 0 || doc > all[n-1].last) {
		l.append(doc, tf, w)
		return
	}
	if len(all) == 0 {
		return
	}
	at := find(all, doc)
	var docs, tfs [blockSize + 1]uint32
	n := all[at].decode(&docs, &tfs)
	i, there := slices.BinarySearch(docs[:n], uint32(doc))
	change := 0
	switch {
	case tf > 0 && there:
		tfs[i] = tf
	case tf > 0:
		copy(docs[i+1:n+1], docs[i:n])
		copy(tfs[i+1:n+1], tfs[i:n])
		docs[i], tfs[i] = uint32(doc), tf
		change = 1
	case there:
		copy(docs[i:], docs[i+1:n])
		copy(tfs[i:], tfs[i+1:n])
		change = -1
	default:
		return
	}
	n += change
	switch {
	case n > blockSize:
		total := l.docs() + change
		half := encode(docs[n/2:n], tfs[n/2:n], w)
		all[at] = encode(docs[:n/2], tfs[:n/2], w)
		l.insert(at+1, half)
		l.more.docs = total
	case n == 0:
		l.remove(at)
	default:
		all[at] = encode(docs[:n], tfs[:n], w)
		if l.more != nil {
			l.more.docs += change
		}
	}
}

// append adds a posting behind the last.
func (l *list) append(doc docID, tf uint32, w worth) {
	all := l.blocks()
	n := len(all)
	if n == 0 || all[n-1].n >= blockSize {
		if n > 0 {
			all[n-1].settle() // no more come
		}
		l.insert(n, block{first: doc, last: doc, n: 1, max: w(doc, tf), data: appendPosting(nil, 0, tf)})
		return
	}
	b := &all[n-1]
	if b.packed { // it was full, or of a file
		b.loosen()
	}
	b.data = appendPosting(b.data, uint32(doc-b.last), tf)
	b.last, b.max = doc, max(b.max, w(doc, tf))
	b.n++
	if l.more != nil {
		l.more.docs++
	}
}

// extend adds postings. It is append for many, as long as they come in order behind
// the last.
func (l *list) extend(docs, tfs []uint32, w worth) {
	for len(docs) > 0 {
		all, n := l.blocks(), 1
		at := len(all) - 1
		switch {
		case at >= 0 && docID(docs[0]) <= all[at].last:
			l.set(docID(docs[0]), tfs[0], w)
		case at >= 0 && all[at].n < blockSize:
			if n = all[at].extend(docs, tfs, w); l.more != nil {
				l.more.docs += n
			}
		default:
			if at >= 0 {
				all[at].settle() // no more come
			}
			b := block{first: docID(docs[0]), last: docID(docs[0])}
			n = b.extend(docs, tfs, w)
			l.insert(at+1, b)
		}
		docs, tfs = docs[n:], tfs[n:]
	}
}

// extend adds postings to the last block of a list, which has room and ends before
// they begin, or is empty, and returns how many it took: those that come in order and
// have room.
func (b *block) extend(docs, tfs []uint32, w worth) (n int) {
	if b.packed { // it is of a file
		b.loosen()
	}
	var scratch [10 * blockSize]byte
	data := scratch[:0]
	for room := blockSize - int(b.n); n < min(room, len(docs)); n++ {
		doc := docID(docs[n])
		if doc <= b.last && int(b.n)+n > 0 {
			break
		}
		data = appendPosting(data, uint32(doc-b.last), tfs[n])
		b.last, b.max = doc, max(b.max, w(doc, tfs[n]))
	}
	b.data = append(b.data, data...)
	b.n += uint8(n)
	return n
}

// settle brings a block that grew into the form in which it stays.
func (b *block) settle() {
	if b.packed {
		return
	}
	var docs, tfs [blockSize + 1]uint32
	n := b.decode(&docs, &tfs)
	b.pack(b.data, docs[:n], tfs[:n])
}

// loosen brings a block into the form that can grow.
func (b *block) loosen() {
	var docs, tfs [blockSize + 1]uint32
	n := b.decode(&docs, &tfs)
	b.data, b.packed = nil, false
	before := docs[0]
	for i, doc := range docs[:n] {
		b.data = appendPosting(b.data, doc-before, tfs[i])
		before = doc
	}
}

// clip gives back room for more postings. Only the last block has any, and the
// slice of the blocks.
func (l *list) clip() {
	all := l.blocks()
	if n := len(all); n > 0 {
		all[n-1].settle()
	}
	if l.more != nil {
		l.more.list = slices.Clip(slices.Clone(l.more.list))
	}
}

// insert puts a block at an index.
func (l *list) insert(at int, b block) {
	switch {
	case l.more != nil:
		l.more.list = slices.Insert(l.more.list, at, b)
		l.more.docs += int(b.n)
	case l.one[0].n == 0:
		l.one[0] = b
	default:
		l.more = &blocks{list: slices.Insert([]block{l.one[0]}, at, b), docs: int(l.one[0].n) + int(b.n)}
		l.one[0] = block{}
	}
}

// remove takes a block out that held one posting.
func (l *list) remove(at int) {
	if l.more == nil {
		l.one[0] = block{}
		return
	}
	l.more.list = slices.Delete(l.more.list, at, at+1)
	l.more.docs--
	if len(l.more.list) == 0 {
		l.more = nil
	}
}

// raise sees to it that the block of a document is worth at least that much.
func (l *list) raise(doc docID, by float32) {
	all := l.blocks()
	if len(all) > 0 {
		b := &all[find(all, doc)]
		b.max = max(b.max, by)
	}
}

// revalue works out anew what the blocks are worth.
func (l *list) revalue(w worth) {
	var docs, tfs [blockSize + 1]uint32
	all := l.blocks()
	for i := range all {
		n := all[i].decode(&docs, &tfs)
		all[i].max = 0
		for j := range n {
			all[i].max = max(all[i].max, w(docID(docs[j]), tfs[j]))
		}
	}
}
