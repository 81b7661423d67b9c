package write

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap has two files of a folder change places, or, where the file system can't do that, puts the first in the place of the
// second.
func swap(dir *os.Root, temp, name string) (exchanges bool, err error) {
	err = withFolders(dir, temp, name, func(a int, from string, b int, to string) error {
		return unix.Renameat2(a, from, b, to, unix.RENAME_EXCHANGE)
	})
	if unsupported(err) {
		return false, dir.Rename(temp, name)
	}
	return true, err
}

// renameNew gives a file another path that none has.
func renameNew(root *os.Root, from, to string) error {
	err := withFolders(root, from, to, func(a int, from string, b int, to string) error {
		return unix.Renameat2(a, from, b, to, unix.RENAME_NOREPLACE)
	})
	if unsupported(err) {
		return renameIfFree(root, from, to)
	}
	return err
}

// isOpenForWriting reports whether a program has a file open for writing: a lease is not granted then. Who does not own the
// file, and file systems without leases, can't tell.
func isOpenForWriting(dir *os.Root, name string) bool {
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() // ends the lease
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
}
