package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// UnfinishedName is the file that says where a backup is being written. A backup may go to
// any folder, so nothing else would tell a start of what a process that was killed has left
// there.
const UnfinishedName = "unfinished"

// errNotOurs says that a file is not the unfinished backup that was noted.
var errNotOurs = errors.New("the file is not the backup that was being written")

// BackupTemp returns the name of a backup until it is whole.
func BackupTemp(path string, id ID) string { return path + backupTail(id) }

func backupTail(id ID) string { return fmt.Sprintf(".%016x%s%s", id.Salt, BackupSuffix, TempSuffix) }

// unfinished is a backup that is being written.
type unfinished struct {
	Temp string `json:"temp"` // absolute
	ID   ID     `json:"id"`
}

// NoteUnfinished writes durably where a backup will be, before there is anything.
func NoteUnfinished(fsys FS, dir string, of *State) error {
	temp, err := filepath.Abs(of.tempName())
	if err != nil {
		return err
	}
	return WriteNote(fsys, dir, UnfinishedName, unfinished{temp, of.ID})
}

// RemoveUnfinished removes the file that was noted last, if it is there, and forgets the
// note. With an error other than errNotOurs the note is kept. The note need not be gone
// durably: when it comes back after a power cut, there is no such file. Errors do not say
// where the file is.
func RemoveUnfinished(fsys FS, dir string) (removed bool, err error) {
	var u unfinished
	ok, err := ReadNote(fsys, dir, UnfinishedName, &u)
	if err != nil || !ok {
		return false, err
	}
	type result struct {
		removed bool
		err     error
	}
	done := make(chan result, 1)
	go func() {
		removed, err := u.remove(fsys)
		done <- result{removed, err}
	}()
	select {
	case r := <-done:
		removed, err = r.removed, withoutPath(r.err)
	case <-time.After(answerWait):
		return false, errNoAnswer
	}
	if err != nil && !errors.Is(err, errNotOurs) {
		return removed, err
	}
	return removed, errors.Join(err, fsys.Remove(filepath.Join(dir, UnfinishedName)))
}

// answerWait is how long a start waits for the folder of a backup: its disk may be one that
// does not answer.
const answerWait = 5 * time.Second

var errNoAnswer = errors.New("the disk of the backup does not answer")

func withoutPath(err error) error {
	var known *fs.PathError
	if errors.As(err, &known) {
		return known.Err
	}
	return err
}

// remove removes the file, and reports whether there was one. The folder is that of a
// person, so the file must be what the backup wrote: a regular file, no link, with the name
// that has the salt of this backup, and with its header, or with as much of that as was
// written. Anything else stays and is errNotOurs. What is gone is no error, nor is a folder
// that is gone.
func (u *unfinished) remove(fsys FS) (removed bool, err error) {
	folder, base := filepath.Split(u.Temp)
	if !filepath.IsAbs(u.Temp) || !strings.HasSuffix(base, backupTail(u.ID)) {
		return false, errNotOurs
	}
	names, err := fsys.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !slices.Contains(names, base) {
		return false, nil // it is gone, or no regular file
	}
	if err != nil {
		return false, err
	}
	head, err := headOf(fsys, u.Temp)
	if err != nil {
		return false, err
	}
	if !strings.HasPrefix(string(u.ID.Header(BackupMagic)), string(head)) {
		return false, errNotOurs
	}
	if err := fsys.Remove(u.Temp); err != nil {
		return false, err
	}
	return true, fsys.SyncDir(folder)
}

// headOf returns what a file begins with, as many bytes as a header has.
func headOf(fsys FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, FileHeaderSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:n], nil
}
