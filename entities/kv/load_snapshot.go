package kv

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/tidwall/buntdb"
)

// Writes go into the memory store so many at a time, while the next are gathered.
const (
	loadBatch    = 1024
	batchesAhead = 4
)

// batch puts writes into a memory store without a transaction for each. What was
// written is there after close, which has to be called also after an error.
type batch struct {
	db   *buntdb.DB
	list []put
	todo chan []put // to the goroutine that inserts, nil while there is none
	done chan error // what that has ended with
}

// put is a write on its way into the memory store.
type put struct {
	pair
	deleted bool
}

// write copies key and value, each into a string of its own: a part of something
// larger would keep all of it in memory, and a journal is full of values that
// others replace.
func (b *batch) write(key, raw []byte, deleted bool) error {
	if b.db == nil {
		return nil // somebody is only looking
	}
	b.list = append(b.list, put{pair{string(key), string(raw)}, deleted})
	if len(b.list) < loadBatch {
		return nil
	}
	if b.todo == nil {
		b.todo, b.done = make(chan []put, batchesAhead), make(chan error, 1)
		go b.insert(b.todo, b.done)
	}
	b.todo <- b.list
	b.list = make([]put, 0, loadBatch)
	return nil
}

// insert puts lists into the store until there are no more, and sends the first
// error.
func (b *batch) insert(todo <-chan []put, done chan<- error) {
	var err error
	for list := range todo {
		if err == nil {
			err = b.db.Update(func(tx *buntdb.Tx) error {
				for i := range list {
					if _, _, err := set(tx, list[i].key, list[i].raw, list[i].deleted); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	done <- err
}

func (b *batch) close() error {
	todo, done := b.todo, b.done
	if todo == nil {
		if len(b.list) == 0 {
			return nil
		}
		todo, done = make(chan []put, 1), make(chan error, 1)
	}
	todo <- b.list
	close(todo)
	if b.todo == nil {
		b.insert(todo, done)
	}
	b.list, b.todo, b.done = nil, nil, nil
	return <-done
}

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
	header     header
	start, end int
}

// content is what the pieces of a block hold.
type content struct {
	pairs *[]pair // one of pairLists
	first uint64  // number of the first piece
	n     uint64  // how many pieces
	end   bool    // the last one is the end of the snapshot
	keys  uint64  // in all pieces, says the end
	err   error
}

// pairLists are used again for the blocks that follow.
var pairLists = sync.Pool{New: func() any { return new([]pair) }}

// loadSnapshot reads a snapshot into an empty store. It returns errDamaged
// when the file is not exactly what was written; the store is then empty still.
//
// The file is read, its pieces are checked and taken apart, and what they hold is
// put into the store, all at the same time. Keys and values are parts of the memory
// that the file was read into: to copy each would take as long as all the rest, and
// a tenth more memory. So what is left of a segment keeps all of it in memory,
// however little that is; all together never more than the size of the file, and
// only until the store is opened again.
func loadSnapshot(fsys FS, dir string, want fileID, db *buntdb.DB) (size int64, err error) {
	f, w, id, ok, err := openWindow(fsys, filepath.Join(dir, want.name(snapshotPrefix)), snapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if !ok || id != want {
		return 0, errDamaged
	}
	tx, err := db.Begin(true)
	if err != nil {
		return 0, err
	}
	if err = insertSnapshot(tx, f, w.size, id); err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return w.size, tx.Commit()
}

// insertSnapshot puts what a file holds into the store, up to its end.
func insertSnapshot(tx *buntdb.Tx, f io.ReaderAt, size int64, id fileID) error {
	// A transaction that has begun with this keeps the former, empty tree for its
	// own undoing instead of a note for each key.
	if err := tx.DeleteAll(); err != nil {
		return err
	}
	read := func(emit func(block) bool) { readBlocks(f, size, id.seed(), emit) }
	check := func(b block) content { return b.check(id) }
	keys, n := uint64(0), uint64(0)
	for c := range inOrder(read, check) {
		if c.err != nil {
			return c.err
		}
		for _, kv := range *c.pairs {
			if _, _, err := tx.Set(kv.key, kv.raw, nil); err != nil {
				return err
			}
		}
		keys += uint64(len(*c.pairs))
		clear(*c.pairs)
		pairLists.Put(c.pairs)
		if c.first != n || c.end && c.keys != keys {
			return errDamaged
		}
		if n += c.n; c.end {
			return nil
		}
	}
	return errDamaged
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
	for off := int64(fileHeaderSize); off < size; {
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
	s := splitter{seed: seed, left: size - fileHeaderSize, emit: emit}
	for e := range inOrder(func(emit func(extent) bool) { eachExtent(size, emit) }, read) {
		if e.err != nil {
			emit(block{err: e.err})
			return
		}
		if !s.take(e) {
			return
		}
	}
	if s.left > 0 {
		emit(block{err: errDamaged})
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
		if from += n; !ok || s.across != nil {
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
		missing := max(needs, headerSize) - len(s.across)
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
	s.emit(block{err: errDamaged})
	return false
}

// splitBlock finds the whole pieces that b begins with. It returns the rest of b and
// how many bytes the piece has that the rest begins, as far as that is known, or a
// number below 0 when there is no piece.
func splitBlock(b []byte, seed uint32) (pieces []rawPiece, rest []byte, needs int) {
	at := 0
	for len(b)-at >= headerSize {
		p := rawPiece{start: at + headerSize}
		if !p.header.parse(b[at:], seed) {
			return nil, nil, -1
		}
		if p.end = p.start + int(p.header.size); p.end > len(b) {
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
func (b block) check(id fileID) (c content) {
	if b.err != nil {
		return content{err: b.err}
	}
	seed, buf := id.seed(), b.bytes
	for i, p := range b.pieces {
		h, number := p.header, b.pieces[0].header.durable+uint64(i)
		if crc32.Update(seed, crcTable, buf[p.start:p.end]) != h.crc || h.seq != id.seq || h.durable != number {
			return content{err: errDamaged}
		}
	}
	c = content{pairs: pairLists.Get().(*[]pair), n: uint64(len(b.pieces))}
	*c.pairs = (*c.pairs)[:0]
	if len(b.pieces) == 0 {
		return c
	}
	c.first = b.pieces[0].header.durable
	text := unsafe.String(unsafe.SliceData(buf), len(buf)) //nolint:gosec // nobody writes to it any more; a copy takes as long as all the rest
	for i, p := range b.pieces {
		payload := text[p.start:p.end]
		switch {
		case p.header.kind == kindChunk:
			*c.pairs, c.err = appendPairs(*c.pairs, payload)
		case p.header.kind == kindEnd && b.last && i == len(b.pieces)-1 && len(payload) == 8:
			c.end, c.keys = true, binary.LittleEndian.Uint64(buf[p.start:])
		default:
			c.err = errDamaged
		}
		if c.err != nil {
			return content{err: c.err}
		}
	}
	return c
}

// appendPairs appends what a payload that only puts has put. Keys and values are
// parts of it.
func appendPairs(list []pair, payload string) ([]pair, error) {
	for len(payload) > 0 {
		if payload[0] != opPut {
			return list, errDamaged
		}
		key, rest, ok := cutField(payload[1:])
		if !ok || key == "" {
			return list, errDamaged
		}
		raw, rest, ok := cutField(rest)
		if !ok {
			return list, errDamaged
		}
		list, payload = append(list, pair{key, raw}), rest
	}
	return list, nil
}

// cutField returns the text that s begins with, after its length, and the rest.
func cutField(s string) (field, rest string, ok bool) {
	n := uint64(0)
	for i := 0; i < min(len(s), binary.MaxVarintLen64); i++ {
		c := s[i]
		if n |= uint64(c&0x7f) << (7 * i); c >= 0x80 {
			continue
		}
		if s = s[i+1:]; n > uint64(len(s)) {
			return "", "", false
		}
		return s[:n], s[n:], true
	}
	return "", "", false
}
