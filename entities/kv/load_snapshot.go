package kv

import (
	"errors"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// loadSnapshot reads a snapshot into an empty store, see disk.LoadSnapshot; on an error the
// store is empty still.
func loadSnapshot(fsys FS, dir string, want disk.ID, db *buntdb.DB) (size int64, err error) {
	tx, err := db.Begin(true)
	if err != nil {
		return 0, err
	}
	// A transaction that has begun with this keeps the former, empty tree for its
	// own undoing instead of a note for each key.
	err = tx.DeleteAll()
	if err == nil {
		size, err = disk.LoadSnapshot(fsys, dir, want, func(key, value string) error {
			_, _, err := tx.Set(key, value, nil)
			return err
		})
	}
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return size, tx.Commit()
}
