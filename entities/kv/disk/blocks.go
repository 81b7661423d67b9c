package disk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"slices"
	"sync"
	"unsafe"
)

// Pair is a key and its stored value.
type Pair struct{ Key, Value string }

// Snapshots are read a block at a time, into segments of memory that stay.
const (
	blockBytes   = 512 << 10
	segmentBytes = 16 << 20
)

// block is some whole pieces of a snapshot, one after the other as they lie in the
// file. The checksums of their payloads have not been looked at.
type block struct {
	bytes  []byte // part of a segment; nobody writes to it any more
	pieces []rawPiece
	last   bool // nothing follows in the file
	err    error
}

// rawPiece is where the payload of a piece lies in its block.
type rawPiece struct {
	header     RecordHeader
	start, end int
}

// content is what the pieces of a block hold.
type content struct {
	pairs *[]Pair // one of pairLists
	first uint64  // number of the first piece
	n     uint64  // how many pieces
	end   bool    // the last one is the end of the snapshot
	keys  uint64  // in all pieces, says the end
	err   error
}

// pairLists are used again for the blocks that follow.
var pairLists = sync.Pool{New: func() any { return new([]Pair) }}

// SnapshotPairs yields what a snapshot holds, some keys and values at a time, in lists
// that are valid until the next. It ends with ErrDamaged when the file is not exactly
// what was written.
func SnapshotPairs(f io.ReaderAt, size int64, id ID) iter.Seq2[[]Pair, error] {
	read := func(emit func(block) bool) { readBlocks(f, size, id.Seed(), emit) }
	check := func(b block) content { return b.check(id) }
	return func(yield func([]Pair, error) bool) {
		keys, n := uint64(0), uint64(0)
		for c := range InOrder(read, check) {
			if c.err != nil {
				yield(nil, c.err)
				return
			}
			if !yield(*c.pairs, nil) {
				return
			}
			keys += uint64(len(*c.pairs))
			clear(*c.pairs)
			pairLists.Put(c.pairs)
			if c.first != n || c.end && c.keys != keys {
				yield(nil, ErrDamaged)
				return
			}
			n += c.n
			if c.end {
				return
			}
		}
		yield(nil, ErrDamaged)
	}
}

// extent is a part of a snapshot as it lies in the file, read into a part of a segment.
type extent struct {
	segment  []byte
	from, to int // in the segment
	off      int64
	err      error
}

// eachExtent emits the extents of a file, which are not read yet.
func eachExtent(size int64, emit func(extent) bool) {
	for off := int64(FileHeaderSize); off < size; {
		segment := make([]byte, min(segmentBytes, size-off))
		adviseHuge(segment)
		for from := 0; from < len(segment); from += blockBytes {
			to := min(from+blockBytes, len(segment))
			if !emit(extent{segment: segment, from: from, to: to, off: off}) {
				return
			}
			off += int64(to - from)
		}
	}
}

// readBlocks emits the blocks of a file. All processors read: most of the time goes
// into getting the memory.
func readBlocks(f io.ReaderAt, size int64, seed uint32, emit func(block) bool) {
	read := func(e extent) extent {
		e.err = readAt(f, e.segment[e.from:e.to], e.off)
		return e
	}
	s := splitter{seed: seed, left: size - FileHeaderSize, emit: emit}
	for e := range InOrder(func(emit func(extent) bool) { eachExtent(size, emit) }, read) {
		if e.err != nil {
			emit(block{err: e.err})
			return
		}
		if !s.take(e) {
			return
		}
	}
	if s.left > 0 {
		emit(block{err: ErrDamaged})
	}
}

// splitter makes blocks of extents.
type splitter struct {
	seed   uint32
	left   int64 // bytes of the file that are in no block yet
	emit   func(block) bool
	rest   []byte // the beginning of a piece at the end of the last extent
	across []byte // the same, of a piece that goes on in another segment; nil for none
}

// take emits the pieces that end in an extent. It returns false when there is nothing
// more to do.
func (s *splitter) take(e extent) bool {
	if e.from == 0 && len(s.rest) > 0 {
		s.across, s.rest = s.rest[:len(s.rest):len(s.rest)], nil
	}
	from := e.from - len(s.rest)
	if s.across != nil {
		n, ok := s.join(e.segment[e.from:e.to])
		from += n
		if !ok || s.across != nil {
			return ok
		}
	}
	next := e.segment[from:e.to]
	pieces, rest, needs := splitBlock(next, s.seed)
	s.rest = rest
	switch {
	case needs < 0:
		return s.damaged()
	case len(pieces) == 0:
		return true // the piece is larger than an extent
	}
	return s.pass(next[:len(next)-len(rest)], pieces)
}

// join goes on with a piece that began in another segment and emits it once it is
// whole. It returns how many of the bytes belong to it.
func (s *splitter) join(b []byte) (n int, ok bool) {
	for {
		pieces, _, needs := splitBlock(s.across, s.seed)
		switch {
		case needs < 0:
			return n, s.damaged()
		case len(pieces) > 0:
			whole := s.across
			s.across = nil
			return n, s.pass(whole, pieces)
		case n == len(b):
			return n, true
		}
		missing := max(needs, RecordHeaderSize) - len(s.across)
		more := b[n:min(n+missing, len(b))]
		s.across = append(slices.Grow(s.across, missing), more...)
		n += len(more)
	}
}

// pass emits whole pieces.
func (s *splitter) pass(b []byte, pieces []rawPiece) bool {
	s.left -= int64(len(b))
	return s.emit(block{bytes: b, pieces: pieces, last: s.left == 0}) && s.left > 0
}

func (s *splitter) damaged() bool {
	s.emit(block{err: ErrDamaged})
	return false
}

// splitBlock finds the whole pieces that b begins with. It returns the rest of b and
// how many bytes the piece has that the rest begins, as far as that is known, or a
// number below 0 when there is no piece.
func splitBlock(b []byte, seed uint32) (pieces []rawPiece, rest []byte, needs int) {
	at := 0
	for len(b)-at >= RecordHeaderSize {
		p := rawPiece{start: at + RecordHeaderSize}
		if !p.header.parse(b[at:], seed) {
			return nil, nil, -1
		}
		p.end = p.start + int(p.header.size)
		if p.end > len(b) {
			return pieces, b[at:], p.end - at
		}
		pieces, at = append(pieces, p), p.end
	}
	return pieces, b[at:], 0
}

// readAt fills b.
func readAt(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// check says what a block holds, if that is what was written to the file.
func (b block) check(id ID) (c content) {
	if b.err != nil {
		return content{err: b.err}
	}
	seed, buf := id.Seed(), b.bytes
	for i, p := range b.pieces {
		h, number := p.header, b.pieces[0].header.Durable+uint64(i)
		if crc32.Update(seed, Checksums, buf[p.start:p.end]) != h.crc || h.Seq != id.Seq || h.Durable != number {
			return content{err: ErrDamaged}
		}
	}
	c = content{pairs: pairLists.Get().(*[]Pair), n: uint64(len(b.pieces))}
	*c.pairs = (*c.pairs)[:0]
	if len(b.pieces) == 0 {
		return c
	}
	c.first = b.pieces[0].header.Durable
	text := unsafe.String(unsafe.SliceData(buf), len(buf)) //nolint:gosec // nobody writes to it any more; a copy takes as long as all the rest
	for i, p := range b.pieces {
		payload := text[p.start:p.end]
		switch {
		case p.header.Kind == KindChunk:
			*c.pairs, c.err = appendPairs(*c.pairs, payload)
		case p.header.Kind == KindEnd && b.last && i == len(b.pieces)-1 && len(payload) == 8:
			c.end, c.keys = true, binary.LittleEndian.Uint64(buf[p.start:])
		default:
			c.err = ErrDamaged
		}
		if c.err != nil {
			return content{err: c.err}
		}
	}
	return c
}

// appendPairs appends what a payload that only puts has put. Keys and values are
// parts of it.
func appendPairs(list []Pair, payload string) ([]Pair, error) {
	for len(payload) > 0 {
		if payload[0] != opPut {
			return list, ErrDamaged
		}
		key, rest, ok := cutField(payload[1:])
		if !ok || key == "" {
			return list, ErrDamaged
		}
		raw, rest, ok := cutField(rest)
		if !ok {
			return list, ErrDamaged
		}
		list, payload = append(list, Pair{key, raw}), rest
	}
	return list, nil
}

// cutField returns the text that s begins with, after its length, and the rest.
func cutField(s string) (field, rest string, ok bool) {
	n := uint64(0)
	for i := 0; i < min(len(s), binary.MaxVarintLen64); i++ {
		c := s[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c >= 0x80 {
			continue
		}
		s = s[i+1:]
		if n > uint64(len(s)) {
			return "", "", false
		}
		return s[:n], s[n:], true
	}
	return "", "", false
}
