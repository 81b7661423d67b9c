//go:build !linux && !darwin

package write

import "os"

// swap puts a file in the place of another: the system can't have them change places.
func swap(dir *os.Root, temp, name string) (exchanges bool, err error) {
	return false, dir.Rename(temp, name)
}

// renameNew gives a file another path that none has.
func renameNew(root *os.Root, from, to string) error { return renameIfFree(root, from, to) }

// isOpenForWriting: the system does not tell.
func isOpenForWriting(*os.Root, string) bool { return false }
