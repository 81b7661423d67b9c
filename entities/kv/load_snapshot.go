package kv

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
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

// readBlocks emits the blocks of a file.
func readBlocks(f io.ReaderAt, size int64, seed uint32, emit func(block) bool) {
	off, want := int64(fileHeaderSize), blockBytes
	var next []byte // begins with what has been read of a piece; its capacity is what is left of a segment
	for {
		have := len(next)
		want = int(min(int64(want), int64(have)+size-off))
		if left := cap(next); left < want && left-have >= blockBytes/8 {
			want = left
		} else if left < want {
			next = append(newSegmentMemory(max(int64(want), min(segmentBytes, int64(have)+size-off))), next...)
		}
		next = next[:want]
		if err := readAt(f, next[have:], off); err != nil {
			emit(block{err: err})
			return
		}
		off += int64(want - have)
		pieces, rest, needs := splitBlock(next, seed)
		if needs < 0 || off == size && len(rest) > 0 {
			emit(block{err: errDamaged})
			return
		}
		if want = max(len(rest)+blockBytes, needs); len(pieces) == 0 && off < size {
			continue // the first piece is larger than that
		}
		b := block{bytes: next[:len(next)-len(rest)], pieces: pieces, last: off == size}
		next = rest
		if !emit(b) || b.last {
			return
		}
	}
}

// newSegmentMemory returns room for that many bytes of a file.
func newSegmentMemory(size int64) []byte {
	b := make([]byte, size)
	adviseHuge(b)
	return b[:0]
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
