package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// Modes of everything that a store writes.
const (
	FileMode fs.FileMode = 0o600
	DirMode  fs.FileMode = 0o700
)

// FS is the part of a file system that a store needs. Every byte that a store
// reads or writes passes through it, so that a test can fail, tear or lose any
// operation. Names are full paths made with path/filepath. An FS must be safe
// for concurrent use.
//
// The durability contract is that of POSIX: what was written survives a power
// cut only after File.Sync, and a created, renamed or removed name only after
// SyncDir of its directory.
type FS interface {
	// MkdirAll creates dir and its parents with the given mode.
	MkdirAll(dir string, perm fs.FileMode) error
	// Chmod sets the mode of a file or directory.
	Chmod(name string, perm fs.FileMode) error
	// ReadDir returns the base names of the files in dir, in any order, and those
	// of its folders with a slash at the end.
	ReadDir(dir string) ([]string, error)
	// OpenFile opens a file with the flags of os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Rename moves a file over whatever has the new name.
	Rename(from, to string) error
	// Remove deletes a file.
	Remove(name string) error
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of the named file, creating it when
	// needed, without waiting. It returns ErrLocked when another opener, in
	// this process or not, holds it. Closing the result releases the lock; so
	// does the end of the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file of an FS.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
}

// ErrLocked is what FS.Lock returns for a lock that somebody else holds.
var ErrLocked = errors.New("the lock is held")

// OS returns the operating system's file system, the one used when
// Options.FS is nil.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (osFS) Chmod(name string, perm fs.FileMode) error   { return os.Chmod(name, perm) }
func (osFS) Rename(from, to string) error                { return rename(from, to) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }

func (osFS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			names = append(names, e.Name())
		case e.IsDir():
			names = append(names, e.Name()+"/")
		}
	}
	return names, nil
}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory can't be opened for it; NTFS journals names
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

func (osFS) Lock(name string) (io.Closer, error) {
	l := flock.New(name, flock.SetPermissions(FileMode))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrLocked
	}
	return l, nil
}

type osFile struct{ *os.File }

// Linked reports whether the name still leads to the file.
func (f osFile) Linked(name string) bool {
	found, err := os.Stat(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // it can't be told
	}
	own, err := f.Stat()
	return err != nil || os.SameFile(found, own)
}

// Linked reports whether a name still leads to an open file. Of a file that can't tell, it
// is said to.
func Linked(f File, name string) bool {
	l, ok := f.(interface{ Linked(name string) bool })
	return !ok || l.Linked(name)
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadAll returns what a small file holds; larger ones than limit are an
// error.
func ReadAll(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, errors.New("file too large")
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); err != nil && (!errors.Is(err, io.EOF) || int64(n) != size) {
		return nil, err
	}
	return b, nil
}

// Replace writes a small file so that after a crash either the old or the
// new content is there.
func Replace(fsys FS, dir, base string, content []byte) error {
	tmp := filepath.Join(dir, base+TempSuffix)
	f, err := fsys.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, FileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	if err := fsys.Rename(tmp, filepath.Join(dir, base)); err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	return fsys.SyncDir(dir)
}

// Openable reports whether what has the name, if anything, can be opened without
// waiting: opening a named pipe would wait for somebody to write to it.
func Openable(fsys FS, path string) bool {
	if _, ok := fsys.(osFS); !ok {
		return true
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}
