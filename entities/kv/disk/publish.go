package disk

import (
	"errors"
	"io/fs"
)

// Publish gives files in dir that WriteTemp has made their names, one after the other, and makes
// the names durable. undone says that after an error none of them is there; otherwise that is
// not known.
func Publish(fsys FS, dir string, made []State) (undone bool, err error) {
	done := 0
	for ; done < len(made) && err == nil; done++ {
		err = fsys.Rename(made[done].tempName(), made[done].Name)
	}
	if err == nil {
		return false, fsys.SyncDir(dir) // to remove the names would need the flush that has just failed
	}
	var undo error
	for _, of := range made[:done] {
		if e := fsys.Remove(of.Name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			undo = errors.Join(undo, e)
		}
	}
	RemoveTemps(fsys, made)
	undo = errors.Join(undo, fsys.SyncDir(dir))
	return undo == nil, errors.Join(err, undo)
}

// RemoveTemps removes files that WriteTemp has made and that are not to get their names.
func RemoveTemps(fsys FS, made []State) {
	for i := range made {
		_ = fsys.Remove(made[i].tempName())
	}
}
