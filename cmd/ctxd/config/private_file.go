package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SecureFile makes a file that only this user can read, or closes the one that
// is there to others, and returns its size. The files that come after it in a
// rotation take over its mode.
func SecureFile(path string) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return 0, err
		}
		return 0, f.Close()
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&^0o600 != 0:
		return info.Size(), os.Chmod(path, 0o600)
	}
	return info.Size(), nil
}

// Exists reports whether there is a file or folder at a path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
