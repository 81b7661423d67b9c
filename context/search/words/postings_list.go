package words

// A postingList (postings_*.go) keeps the postings of one term: which documents hold it and
// how often, in order, a byte and a half each.
//
// It is a row of blocks of up to 128 postings. A postingBlock knows its first and last
// document and what any posting in it is worth at most, so that a search passes over
// blocks that can't matter without reading them (Ding and Suel 2011). The last block
// grows by appending varints; one that is full is packed into numbers of few bits with
// exceptions (Zukowski and others, Super-Scalar RAM-CPU Cache Compression, 2006), which
// is read several times as fast (BenchmarkUnpack). A change rewrites one block.
//
// Nothing here is safe for concurrent use but reading while nobody writes. The file of the
// index holds blocks as they are.

import (
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"
)

// docID is the number of a document in an index. That of a document that is gone is
// given to another.
type docID uint32

// postingBlockSize is how many postings a block has at most.
const postingBlockSize = 128

// postingBlock is a part of the postings of a term, in the order of the documents. There
// are two forms of it. In the one that grows, a posting is the distance from the
// document before, doubled, plus one for a frequency of 1; otherwise the frequency
// less 2 follows. Both are varints. Larger blocks are packed (see postings_packing.go), which
// is about as small and read several times as fast.
type postingBlock struct {
	First, Last docID
	N           uint8
	Packed      bool
	// Max is at least what any posting of the block is worth (see saturation);
	// only writing a block anew lowers it.
	Max  float32
	Data []byte
}

// postingList is the postings of one term. Most terms are rare: theirs are one block
// without a slice around it.
type postingList struct {
	one  [1]postingBlock
	more *blocks // nil as long as one holds all
}

type blocks struct {
	list []postingBlock
	docs int
}

// Blocks returns the blocks in order. They are only read.
func (l *postingList) Blocks() []postingBlock {
	if l.more != nil {
		return l.more.list
	}
	if l.one[0].N == 0 {
		return nil
	}
	return l.one[:]
}

// Docs returns the number of documents.
func (l *postingList) Docs() int {
	if l.more != nil {
		return l.more.docs
	}
	return int(l.one[0].N)
}

// Decode writes the postings of a block into docs and tfs and returns how many
// there are.
func (b *postingBlock) Decode(docs, tfs *[postingBlockSize + 1]uint32) int {
	if b.Packed {
		unpack(b.Data, int(b.N), uint32(b.First), docs, tfs)
		return int(b.N)
	}
	data, doc := b.Data, uint32(b.First)
	n := int(b.N)
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

// maxScoreFunc returns what a posting counts at most.
type maxScoreFunc func(doc docID, tf uint32) float32

// encode makes a block of postings.
func encode(docs, tfs []uint32, w maxScoreFunc) postingBlock {
	b := postingBlock{First: docID(docs[0]), Last: docID(docs[len(docs)-1]), N: uint8(len(docs))}
	for i, doc := range docs {
		b.Max = max(b.Max, w(docID(doc), tfs[i]))
	}
	b.write(docs, tfs)
	return b
}

// write gives a block its data, in the form that suits it.
func (b *postingBlock) write(docs, tfs []uint32) {
	var scratch [10 * (postingBlockSize + 1)]byte
	data := scratch[:0]
	before := docs[0]
	for i, doc := range docs {
		data = appendPosting(data, doc-before, tfs[i])
		before = doc
	}
	b.pack(data, docs, tfs)
}

// pack gives a block its Data: packed, unless the form that grows is smaller.
func (b *postingBlock) pack(growing []byte, docs, tfs []uint32) {
	b.Packed = false
	if len(docs) >= minPacked {
		var space [packedHeader + 20*postingBlockSize]byte
		if other := pack(space[:0], docs, tfs); len(other) <= len(growing)+len(growing)/16 {
			growing, b.Packed = other, true
		}
	}
	b.Data = slices.Clone(growing)
}

// find returns the index of the block that a document belongs to: the last that
// begins at or before it.
func find(list []postingBlock, doc docID) int {
	return max(0, sort.Search(len(list), func(i int) bool { return list[i].First > doc })-1)
}

// Set gives a document a frequency in a list, 0 to take it out. It touches one
// block.
func (l *postingList) Set(doc docID, tf uint32, w maxScoreFunc) {
	all := l.Blocks()
	if n := len(all); tf > 0 && (n == 0 || doc > all[n-1].Last) {
		l.append(doc, tf, w)
		return
	}
	if len(all) == 0 {
		return
	}
	at := find(all, doc)
	var docs, tfs [postingBlockSize + 1]uint32
	n := all[at].Decode(&docs, &tfs)
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
	case n > postingBlockSize:
		total := l.Docs() + change
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
func (l *postingList) append(doc docID, tf uint32, w maxScoreFunc) {
	all := l.Blocks()
	n := len(all)
	if n == 0 || all[n-1].N >= postingBlockSize {
		if n > 0 {
			all[n-1].settle() // no more come
		}
		l.insert(n, postingBlock{First: doc, Last: doc, N: 1, Max: w(doc, tf), Data: appendPosting(nil, 0, tf)})
		return
	}
	b := &all[n-1]
	if b.Packed { // it was full, or of a file
		b.loosen()
	}
	b.Data = appendPosting(b.Data, uint32(doc-b.Last), tf)
	b.Last, b.Max = doc, max(b.Max, w(doc, tf))
	b.N++
	if l.more != nil {
		l.more.docs++
	}
}

// Extend adds postings. It is append for many, as long as they come in order behind
// the last.
func (l *postingList) Extend(docs, tfs []uint32, w maxScoreFunc) {
	for len(docs) > 0 {
		all, n := l.Blocks(), 1
		at := len(all) - 1
		switch {
		case at >= 0 && docID(docs[0]) <= all[at].Last:
			l.Set(docID(docs[0]), tfs[0], w)
		case at >= 0 && all[at].N < postingBlockSize:
			n = all[at].extend(docs, tfs, w)
			if l.more != nil {
				l.more.docs += n
			}
		default:
			if at >= 0 {
				all[at].settle() // no more come
			}
			b := postingBlock{First: docID(docs[0]), Last: docID(docs[0])}
			n = b.extend(docs, tfs, w)
			l.insert(at+1, b)
		}
		docs, tfs = docs[n:], tfs[n:]
	}
}

// extend adds postings to the last block of a list, which has room and ends before
// they begin, or is empty, and returns how many it took: those that come in order and
// have room.
func (b *postingBlock) extend(docs, tfs []uint32, w maxScoreFunc) (n int) {
	if b.Packed { // it is of a file
		b.loosen()
	}
	var scratch [10 * postingBlockSize]byte
	data := scratch[:0]
	for room := postingBlockSize - int(b.N); n < min(room, len(docs)); n++ {
		doc := docID(docs[n])
		if doc <= b.Last && int(b.N)+n > 0 {
			break
		}
		data = appendPosting(data, uint32(doc-b.Last), tfs[n])
		b.Last, b.Max = doc, max(b.Max, w(doc, tfs[n]))
	}
	b.Data = append(b.Data, data...)
	b.N += uint8(n)
	return n
}

// settle brings a block that grew into the form in which it stays.
func (b *postingBlock) settle() {
	if b.Packed {
		return
	}
	var docs, tfs [postingBlockSize + 1]uint32
	n := b.Decode(&docs, &tfs)
	b.pack(b.Data, docs[:n], tfs[:n])
}

// loosen brings a block into the form that can grow.
func (b *postingBlock) loosen() {
	var docs, tfs [postingBlockSize + 1]uint32
	n := b.Decode(&docs, &tfs)
	b.Data, b.Packed = nil, false
	before := docs[0]
	for i, doc := range docs[:n] {
		b.Data = appendPosting(b.Data, doc-before, tfs[i])
		before = doc
	}
}

// Clip gives back room for more postings. Only the last block has any, and the
// slice of the blocks.
func (l *postingList) Clip() {
	all := l.Blocks()
	if n := len(all); n > 0 {
		all[n-1].settle()
	}
	if l.more != nil {
		l.more.list = slices.Clip(slices.Clone(l.more.list))
	}
}

// insert puts a block at an index.
func (l *postingList) insert(at int, b postingBlock) {
	switch {
	case l.more != nil:
		l.more.list = slices.Insert(l.more.list, at, b)
		l.more.docs += int(b.N)
	case l.one[0].N == 0:
		l.one[0] = b
	default:
		l.more = &blocks{list: slices.Insert([]postingBlock{l.one[0]}, at, b), docs: int(l.one[0].N) + int(b.N)}
		l.one[0] = postingBlock{}
	}
}

// remove takes a block out that held one posting.
func (l *postingList) remove(at int) {
	if l.more == nil {
		l.one[0] = postingBlock{}
		return
	}
	l.more.list = slices.Delete(l.more.list, at, at+1)
	l.more.docs--
	if len(l.more.list) == 0 {
		l.more = nil
	}
}

// Raise sees to it that the block of a document is worth at least that much.
func (l *postingList) Raise(doc docID, by float32) {
	all := l.Blocks()
	if len(all) > 0 {
		b := &all[find(all, doc)]
		b.Max = max(b.Max, by)
	}
}

// Revalue works out anew what the blocks are worth.
func (l *postingList) Revalue(w maxScoreFunc) {
	var docs, tfs [postingBlockSize + 1]uint32
	all := l.Blocks()
	for i := range all {
		n := all[i].Decode(&docs, &tfs)
		all[i].Max = 0
		for j := range n {
			all[i].Max = max(all[i].Max, w(docID(docs[j]), tfs[j]))
		}
	}
}

// RemoveAll takes documents out of a list, given in order and as a set, and returns
// how many it had. Blocks that can't have any are not read.
func (l *postingList) RemoveAll(gone []uint32, set []uint64, w maxScoreFunc) (removed int) {
	all := l.Blocks()
	kept := all[:0]
	for _, b := range all {
		at, _ := slices.BinarySearch(gone, uint32(b.First))
		if at == len(gone) || gone[at] > uint32(b.Last) {
			kept = append(kept, b)
			continue
		}
		var docs, tfs [postingBlockSize + 1]uint32
		n, left := b.Decode(&docs, &tfs), 0
		for i, d := range docs[:n] {
			if set[d/64]>>(d%64)&1 == 0 {
				docs[left], tfs[left] = d, tfs[i]
				left++
			}
		}
		removed += n - left
		switch left {
		case n:
			kept = append(kept, b)
		case 0:
		default:
			kept = append(kept, encode(docs[:left], tfs[:left], w))
		}
	}
	if removed == 0 {
		return 0
	}
	if l.more == nil {
		if len(kept) == 0 {
			l.one[0] = postingBlock{}
		}
		return removed
	}
	l.more.list, l.more.docs = kept, l.more.docs-removed
	if len(kept) == 0 {
		l.more = nil
	}
	return removed
}

// newPostingList makes a List of blocks that were read from a file, which hold so many postings.
// The slice stays the caller's when it is only one block.
func newPostingList(part []postingBlock, docs int) postingList {
	if len(part) == 1 {
		return postingList{one: [1]postingBlock{part[0]}}
	}
	return postingList{more: &blocks{list: part, docs: docs}}
}

// Spare returns how many bytes the List takes beside itself.
func (l *postingList) Spare() (bytes int64) {
	const blockBytes = int64(unsafe.Sizeof(postingBlock{}))
	for _, b := range l.Blocks() {
		bytes += int64(cap(b.Data))
	}
	if l.more != nil {
		bytes += blockBytes * int64(cap(l.more.list))
	}
	return bytes
}
