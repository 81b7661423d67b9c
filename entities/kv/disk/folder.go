package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Hints for what a disk refuses.
const (
	// HintFolder is for a folder that no store can be in.
	HintFolder = "choose another folder"
	HintRetry  = "free some disk space if it is full, and try again"
	HintRead   = "see that the disk works and that its folder and files are yours to read"
)

// Unreadable keeps errors that already say what to do, and says of others that the store
// can't be read.
func Unreadable(err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return Unavailable(err, "the store can't be read").WithHint(HintRead)
}

// Exists reports whether a store, or what is left of one, lies in a folder, which
// need not be there itself.
func Exists(fsys FS, dir string) (bool, error) {
	inv, err := TakeInventory(fsys, dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, Unreadable(err)
	}
	return inv.Store(), nil
}

// CheckFolder refuses a folder that is in use for something else: a store would
// take it away from whoever shares it. Names in beside may be there.
func CheckFolder(fsys FS, dir string, beside []string) error {
	inv, err := TakeInventory(fsys, dir)
	if err != nil {
		return Unreadable(err)
	}
	if inv.Ours() {
		return nil
	}
	slices.Sort(inv.Others)
	for _, name := range inv.Others {
		if !strings.HasPrefix(name, ".") && !slices.Contains(beside, name) {
			return fault.New(fault.Invalid, "the folder %q holds files of something else, such as %q", dir, name).
				WithHint("choose an empty folder, or one that does not exist yet")
		}
	}
	return nil
}

// Files returns the names of the files of a store in a folder, copies of former states
// included, and of what else is there. It returns no files when no store was ever there,
// and nothing when there is no folder.
func Files(fsys FS, dir string) (files, others []string, err error) {
	inv, err := TakeInventory(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, Unreadable(err)
	case !inv.Ours():
		return nil, append(inv.All, inv.Others...), nil
	}
	return inv.All, inv.Others, nil
}

// Remove deletes the files of the store in a folder, those that Files returns. Others
// stay, and so does the folder. An error is of kind Conflict when a process has the store
// open.
func Remove(fsys FS, dir string) error {
	files, _, err := Files(fsys, dir)
	if err != nil || len(files) == 0 {
		return err
	}
	lock, err := LockDir(fsys, dir)
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
	locks := []string{OwnerName, LockName}
	err = remove(slices.DeleteFunc(files, func(name string) bool { return slices.Contains(locks, name) }))
	if err == nil {
		_ = remove(locks) // before others can take the lock, where the system lets us
	}
	err = errors.Join(err, lock.Close())
	if err == nil {
		err = remove(locks)
	}
	if err != nil {
		return Unavailable(err, "the store could not be deleted as a whole").WithHint(HintRetry)
	}
	return nil
}
