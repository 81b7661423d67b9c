package write

import (
	"os"

	"golang.org/x/sys/unix"
)

// swap has two files of a folder change places, or, where the file system can't do that, puts the first in the place of the
// second.
func swap(dir *os.Root, temp, name string) (exchanges bool, err error) {
	err = withFolders(dir, temp, name, func(a int, from string, b int, to string) error {
		return unix.RenameatxNp(a, from, b, to, unix.RENAME_SWAP)
	})
	if unsupported(err) {
		return false, dir.Rename(temp, name)
	}
	return true, err
}

// renameNew gives a file another path that none has.
func renameNew(root *os.Root, from, to string) error {
	err := withFolders(root, from, to, func(a int, from string, b int, to string) error {
		return unix.RenameatxNp(a, from, b, to, unix.RENAME_EXCL)
	})
	if unsupported(err) {
		return renameIfFree(root, from, to)
	}
	return err
}

// isOpenForWriting: the system does not tell.
func isOpenForWriting(*os.Root, string) bool { return false }
