package kv

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tidwall/buntdb"
)

// loadBatch is how many writes go into the memory store at a time.
const loadBatch = 4096

// batch puts writes into a memory store without a transaction for each.
type batch struct {
	db *buntdb.DB
	tx *buntdb.Tx
	n  int
}

// write copies key and value, each into a string of its own: a part of
// something larger would keep all of it in memory.
func (b *batch) write(key, raw []byte, deleted bool) error {
	if b.tx == nil {
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		b.tx = tx
	}
	if _, _, err := set(b.tx, string(key), string(raw), deleted); err != nil {
		return err
	}
	if b.n++; b.n%loadBatch == 0 {
		return b.close()
	}
	return nil
}

func (b *batch) close() error {
	if b.tx == nil {
		return nil
	}
	err := b.tx.Commit()
	b.tx = nil
	return err
}

// rawPiece is a piece of a snapshot as it lies in the file. The checksum of its
// payload has not been looked at.
type rawPiece struct {
	header  header
	payload *[]byte // one of payloads
	last    bool    // nothing follows in the file
	err     error
}

// piece is a piece of a snapshot to be put into the store.
type piece struct {
	pairs *[]pair // one of pairLists
	n     uint64  // its number
	end   bool    // and no pairs
	keys  uint64  // in all pieces, says the end
	err   error
}

// What pieces are made of is used again for those that follow.
var (
	payloads  = sync.Pool{New: func() any { return new([]byte) }}
	pairLists = sync.Pool{New: func() any { return new([]pair) }}
)

// loadSnapshot reads a snapshot into an empty store. It returns errDamaged
// when the file is not exactly what was written; the store is then empty still.
//
// The file is read, pieces are checked and taken apart, and what they hold is put
// into the store, all at the same time. Keys and values are parts of one string a
// piece: a copy of each would take as long as all the rest. So what is left of a
// piece keeps all of it in memory, however little that is; all together never
// more than the size of the file, and only until the store is opened again.
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

// insertSnapshot puts the pieces of a file into the store, up to its end.
func insertSnapshot(tx *buntdb.Tx, f io.ReaderAt, size int64, id fileID) error {
	// A transaction that has begun with this keeps the former, empty tree for its
	// own undoing instead of a note for each key.
	if err := tx.DeleteAll(); err != nil {
		return err
	}
	read := func(emit func(rawPiece) bool) { readPieces(f, size, id.seed(), emit) }
	keys, n := uint64(0), uint64(0)
	check := func(raw rawPiece) piece { return raw.check(id) }
	for p := range inOrder(read, check) {
		switch {
		case p.err != nil:
			return p.err
		case p.n != n:
			return errDamaged
		case p.end:
			if p.keys != keys {
				return errDamaged
			}
			return nil
		}
		for _, kv := range *p.pairs {
			if _, _, err := tx.Set(kv.key, kv.raw, nil); err != nil {
				return err
			}
		}
		keys, n = keys+uint64(len(*p.pairs)), n+1
		clear(*p.pairs)
		pairLists.Put(p.pairs)
	}
	return errDamaged
}

// readPieces emits the pieces of a file, each with the header of the next in one
// operation.
func readPieces(f io.ReaderAt, size int64, seed uint32, emit func(rawPiece) bool) {
	var next [headerSize]byte
	off := int64(fileHeaderSize)
	err := readAt(f, next[:], off, size)
	for err == nil {
		p := rawPiece{payload: payloads.Get().(*[]byte)}
		if !p.header.parse(next[:], seed) {
			err = errDamaged
			break
		}
		off += headerSize
		end := off + int64(p.header.size)
		if p.last = end == size; end > size {
			err = errDamaged
			break
		}
		want := int(p.header.size)
		if !p.last {
			want += headerSize
		}
		*p.payload = slices.Grow((*p.payload)[:0], want)[:want]
		if err = readAt(f, *p.payload, off, size); err != nil {
			break
		}
		if !p.last {
			copy(next[:], (*p.payload)[p.header.size:])
			*p.payload = (*p.payload)[:p.header.size]
		}
		if !emit(p) || p.last {
			return
		}
		off = end
	}
	emit(rawPiece{err: err})
}

// readAt fills b from a file that has the given size.
func readAt(f io.ReaderAt, b []byte, off, size int64) error {
	if off+int64(len(b)) > size {
		return errDamaged
	}
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// check says what a piece holds, if it is one that was written to the file.
func (r rawPiece) check(id fileID) (p piece) {
	if r.err != nil {
		return piece{err: r.err}
	}
	defer payloads.Put(r.payload)
	h, payload := r.header, *r.payload
	p.n = h.durable
	switch {
	case crc32.Update(id.seed(), crcTable, payload) != h.crc || h.seq != id.seq:
		p.err = errDamaged
	case h.kind == kindChunk:
		p.pairs = pairLists.Get().(*[]pair)
		*p.pairs, p.err = appendPairs((*p.pairs)[:0], string(payload))
	case h.kind == kindEnd && r.last && len(payload) == 8:
		p.end, p.keys = true, binary.LittleEndian.Uint64(payload)
	default:
		p.err = errDamaged
	}
	return p
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
