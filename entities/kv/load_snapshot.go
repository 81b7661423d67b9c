package kv

import (
	"encoding/binary"
	"errors"
	"path/filepath"

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

// loadSnapshot reads a snapshot into an empty store. It returns errDamaged
// when the file is not exactly what was written.
func loadSnapshot(fsys FS, dir string, want fileID, db *buntdb.DB) (size int64, err error) {
	f, w, id, ok, err := openWindow(fsys, filepath.Join(dir, want.name(snapshotPrefix)), snapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if !ok || id != want {
		return 0, errDamaged
	}
	in := batch{db: db}
	defer func() { err = errors.Join(err, in.close()) }()
	seed, keys := id.seed(), uint64(0)
	for off, chunk := int64(fileHeaderSize), uint64(0); ; chunk++ {
		h, payload, next, v, err := w.record(off, seed)
		if err != nil {
			return 0, err
		}
		if v != good || h.seq != id.seq || h.durable != chunk {
			return 0, errDamaged
		}
		if h.kind == kindEnd {
			if next != w.size || len(payload) != 8 || binary.LittleEndian.Uint64(payload) != keys {
				return 0, errDamaged
			}
			return w.size, nil
		}
		if h.kind != kindChunk {
			return 0, errDamaged
		}
		err = eachOp(payload, func(key, raw []byte, deleted bool) error {
			keys++
			return in.write(key, raw, deleted)
		})
		if errors.Is(err, errPayload) {
			err = errDamaged
		}
		if err != nil {
			return 0, err
		}
		off = next
	}
}
