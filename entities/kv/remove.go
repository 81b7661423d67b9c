package kv

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Files returns the names of the files of a store in a folder, copies of former states
// included, and of what else is there. It returns no files when no store was ever there,
// and nothing when there is no folder. fsys may be nil.
func Files(fsys FS, dir string) (files, others []string, err error) {
	inv, err := disk.TakeInventory(orOS(fsys), dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, unreadable(err)
	case !inv.Ours():
		return nil, append(inv.All, inv.Others...), nil
	}
	return inv.All, inv.Others, nil
}

// Remove deletes the files of the store in a folder, those that Files returns. Others
// stay, and so does the folder. An error is of kind Conflict when a process has the store
// open. fsys may be nil.
func Remove(fsys FS, dir string) error {
	fsys = orOS(fsys)
	files, _, err := Files(fsys, dir)
	if err != nil || len(files) == 0 {
		return err
	}
	lock, err := disk.LockDir(fsys, dir)
	if err != nil {
		return err
	}
	remove := func(names []string) (err error) {
		for _, name := range names {
			if e := fsys.Remove(filepath.Join(dir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		return err
	}
	locks := []string{disk.OwnerName, disk.LockName}
	err = remove(slices.DeleteFunc(files, func(name string) bool { return slices.Contains(locks, name) }))
	if err == nil {
		_ = remove(locks) // before others can take the lock, where the system lets us
	}
	err = errors.Join(err, lock.Close())
	if err == nil {
		err = remove(locks)
	}
	if err != nil {
		return unavailable(err, "the store could not be deleted as a whole").WithHint(hintRetry)
	}
	return nil
}

func orOS(fsys FS) FS {
	if fsys == nil {
		return disk.OS()
	}
	return fsys
}
