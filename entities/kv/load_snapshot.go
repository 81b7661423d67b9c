package kv

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// loadSnapshot reads a snapshot into an empty store. It returns disk.ErrDamaged
// when the file is not exactly what was written; the store is then empty still.
//
// The file is read, its pieces are checked and split into keys and values, and what they hold is
// put into the store, all at the same time. Keys and values are parts of the memory
// that the file was read into: to copy each would take as long as all the rest, and
// a tenth more memory. So what is left of a segment keeps all of it in memory,
// however little that is; all together never more than the size of the file, and
// only until the store is opened again.
func loadSnapshot(fsys FS, dir string, want disk.ID, db *buntdb.DB) (size int64, err error) {
	f, w, id, ok, err := disk.Open(fsys, filepath.Join(dir, want.Name(disk.SnapshotPrefix)), disk.SnapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if !ok || id != want {
		return 0, disk.ErrDamaged
	}
	tx, err := db.Begin(true)
	if err != nil {
		return 0, err
	}
	err = insertSnapshot(tx, f, w.Size, id)
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return w.Size, tx.Commit()
}

// insertSnapshot puts what a file holds into the store, up to its end.
func insertSnapshot(tx *buntdb.Tx, f io.ReaderAt, size int64, id disk.ID) error {
	// A transaction that has begun with this keeps the former, empty tree for its
	// own undoing instead of a note for each key.
	if err := tx.DeleteAll(); err != nil {
		return err
	}
	for pairs, err := range disk.SnapshotPairs(f, size, id) {
		if err != nil {
			return err
		}
		for _, kv := range pairs {
			if _, _, err := tx.Set(kv.Key, kv.Value, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
