package books

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// arrived is a file that has come in. It lies in the spool under a name of its own until a book has it.
type arrived struct {
	file *os.File // nil: it is in memory
	data []byte
	name string
	size int64
	hash string // SHA-256 in hexadecimal
}

// ReadAt reads of it wherever it lies.
func (a *arrived) ReadAt(p []byte, at int64) (int, error) {
	if a.file != nil {
		return a.file.ReadAt(p, at)
	}
	return bytes.NewReader(a.data).ReadAt(p, at)
}

// drop forgets a file that no book has.
func (a *arrived) drop() {
	if a.file != nil {
		_ = a.file.Close()
		_ = os.Remove(a.name) // what is left is removed by the next start
		a.file = nil
	}
}

// take takes a file in, as it is read.
func (s *spool) take(from io.Reader) (*arrived, error) {
	a, sum := &arrived{}, sha256.New()
	var err error
	if s.dir == "" {
		a.data, err = io.ReadAll(io.TeeReader(from, sum))
		a.size = int64(len(a.data))
	} else {
		a.name = s.path(uuid.NewString())
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, unkept(err)
		}
		if a.file, err = os.OpenFile(a.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return nil, unkept(err)
		}
		a.size, err = io.Copy(io.MultiWriter(disk{a.file}, sum), from)
	}
	if err != nil {
		a.drop()
		return nil, err
	}
	a.hash = hex.EncodeToString(sum.Sum(nil))
	return a, nil
}

// disk tells an error of writing from one of reading.
type disk struct{ *os.File }

func (d disk) Write(p []byte) (int, error) {
	n, err := d.File.Write(p)
	if err != nil {
		return n, unkept(err)
	}
	return n, nil
}

// keep keeps a file for a book; when it returns it is on disk.
func (s *spool) keep(id string, a *arrived) error {
	if s.dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.memory == nil {
			s.memory = make(map[string][]byte)
		}
		s.memory[id] = a.data
		return nil
	}
	err := errors.Join(a.file.Sync(), a.file.Close())
	if a.file = nil; err == nil {
		err = os.Rename(a.name, s.path(id))
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		_ = os.Remove(a.name)
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

// open opens the file of a book, nil when it is not there, and tells its size.
func (s *spool) open(id string) (io.ReadCloser, int64, error) {
	if s.dir == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		data, found := s.memory[id]
		if !found {
			return nil, 0, nil
		}
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
	}
	f, err := os.Open(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
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

// openFile opens a regular file of no more than most bytes. Errors name the field path and tell no name.
func openFile(path string, most int64) (*os.File, error) {
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
	return f, nil
}

// bounded is a file of no more than most bytes, which may grow while it is read.
type bounded struct {
	from       io.Reader
	read, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.most:
		return 0, tooLarge("path", b.read, b.most)
	case err != nil && !errors.Is(err, io.EOF):
		return n, unreadable(err)
	}
	return n, err
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
