package books

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities/fault"
)

// Folder is where files that are still to be read lie, in the folder of the store.
const Folder = "books"

// spool keeps the bytes of files until they are read: in a folder, or in memory beside a store in memory.
type spool struct {
	dir string // "" for memory

	mu     sync.Mutex // guards memory
	memory map[string][]byte
}

// spoolSuffix ends the names of files of the spool. Those of before it had the id alone.
const spoolSuffix = ".ctxdbook"

func (s *spool) path(id string) string { return filepath.Join(s.dir, id+spoolSuffix) }

// IsFile reports whether a name is that of a file which lies in Folder until it is read.
func IsFile(name string) bool {
	_, ours := strings.CutSuffix(name, spoolSuffix)
	return ours || uuid.Validate(name) == nil
}

// keep keeps the bytes of a book; when it returns they are on disk.
func (s *spool) keep(id string, data []byte) error {
	if s.dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.memory == nil {
			s.memory = make(map[string][]byte)
		}
		s.memory[id] = data
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return unkept(err)
	}
	f, err := os.OpenFile(s.path(id), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return unkept(err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		_ = os.Remove(s.path(id))
		return unkept(err)
	}
	return nil
}

func unkept(err error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Msg: "the file can't be kept in the data folder", Err: err, Retryable: true,
		Hint: "make room on the disk, or mend the rights of the data folder",
	}
}

// get returns the bytes of a book, nil when they are not there.
func (s *spool) get(id string) ([]byte, error) {
	if s.dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.memory[id], nil
	}
	data, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// drop forgets the bytes of a book.
func (s *spool) drop(id string) {
	if s.dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.memory, id)
		return
	}
	_ = os.Remove(s.path(id)) // what is left is removed by the next start
}

// rename gives the file of a book that a former version has kept, under its bare id, its name of today.
func (s *spool) rename(id string) {
	if s.dir == "" {
		return
	}
	if _, err := os.Lstat(s.path(id)); errors.Is(err, fs.ErrNotExist) {
		_ = os.Rename(filepath.Join(s.dir, id), s.path(id))
	}
}

// tidy removes the files of books that keep says nothing waits for.
func (s *spool) tidy(keep func(id string) bool) {
	if s.dir == "" {
		return
	}
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if e.Type().IsRegular() && IsFile(e.Name()) && !keep(strings.TrimSuffix(e.Name(), spoolSuffix)) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

// syncDir has the names in a folder on disk. Where folders can't be opened there is nothing to do.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // Windows
	}
	_ = d.Sync()
	return d.Close()
}

// readFile reads a regular file of no more than most bytes. Errors name the field path and tell no name.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Field("path", "there is no such file").WithHint("give the path of a file on this machine")
	case err != nil:
		return nil, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, fault.Field("path", "it is no regular file").WithHint("give the path of a file")
	case info.Size() > most:
		return nil, tooLarge("path", info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge("path", int64(len(data)), most)
	}
	return data, nil
}

func unreadable(err error) error {
	e := fault.Field("path", "the file can't be read").WithHint("look at its rights; the daemon reads it as its own user")
	e.Err = err
	return e
}

func tooLarge(field string, size, most int64) error {
	return &fault.Error{
		Kind: fault.Limit, Field: field, Msg: "the file is too large",
		Hint: "a book has " + megabytes(most) + " at most, and this file has " + megabytes(size) + "; set books.maxBytes, or split it",
	}
}
