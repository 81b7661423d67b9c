package logfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// Reader reads a log and those before it in its rotation. It is used by one
// goroutine.
type Reader struct {
	path    string
	file    *os.File // the one that is read
	in      *bufio.Reader
	rest    []byte // the beginning of a line that is being written
	watcher *fsnotify.Watcher
}

// lookAgain is how often a log is looked at that nobody said has changed: some
// file systems say nothing.
const lookAgain = time.Second

// OpenReader opens the log at path.
func OpenReader(path string) (*Reader, error) {
	l := &Reader{path: path, in: bufio.NewReaderSize(nil, 64<<10)}
	err := l.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, term.NotFound("log", path).
			WithHint("no daemon has run with this data, or its log file is elsewhere")
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "cannot read the log %q", path).
			WithHint("check its permissions")
	}
	return l, nil
}

// open reads from the beginning of a file next.
func (l *Reader) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // it was read only
	}
	l.file, l.rest = f, nil
	l.in.Reset(f)
	return nil
}

// Close closes the file that is being read.
func (l *Reader) Close() {
	_ = l.file.Close() // it was read only
	if l.watcher != nil {
		_ = l.watcher.Close() // the process ends
	}
}

// drain hands the whole lines that have not been read yet to take.
func (l *Reader) drain(take func(line []byte) error) error {
	for {
		part, err := l.in.ReadBytes('\n')
		l.rest = append(l.rest, part...)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Wrap(fault.Unavailable, err, "cannot read the log")
		}
		if line := bytes.TrimSpace(l.rest); len(line) > 0 {
			if err := take(line); err != nil {
				return err
			}
		}
		l.rest = nil
	}
}

// before returns the files that came before the one that is read, oldest first.
func (l *Reader) before() []string { return slices.DeleteFunc(l.rotated(), l.isOpen) }

// rotated returns the full files, oldest first.
func (l *Reader) rotated() (paths []string) {
	for _, f := range rotated(l.path) {
		paths = append(paths, f.path)
	}
	return paths
}

// fullFile is a file of a log that was full, and when.
type fullFile struct {
	path string
	full time.Time
}

// rotated returns the full files of the log at path, oldest first: their names sort by
// time.
func rotated(path string) (files []fullFile) {
	dir, name := filepath.Split(path)
	ext := filepath.Ext(name)
	entries, err := os.ReadDir(filepath.Clean(dir)) // sorted
	if err != nil {
		return nil // there is a log, so there will be
	}
	for _, e := range entries {
		stamp, ok := strings.CutPrefix(e.Name(), strings.TrimSuffix(name, ext)+"-")
		if at, err := time.Parse(rotatedStamp+ext, stamp); ok && err == nil {
			files = append(files, fullFile{dir + e.Name(), at})
		}
	}
	return files
}

// Files returns the paths of all files of the log at path, traces of crashes included.
func Files(path string) (files []string) {
	dir := filepath.Dir(path)
	for _, name := range []string{path, filepath.Join(dir, crashFile), filepath.Join(dir, oldCrashFile)} {
		if config.Exists(name) {
			files = append(files, name)
		}
	}
	for _, f := range rotated(path) {
		files = append(files, f.path)
	}
	return files
}

// fullName returns the path of a file of the log at path that was full at a time.
func fullName(path string, at time.Time) string {
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + at.UTC().Format(rotatedStamp) + ext
}

// rotatedStamp is how the time stands in the name of a full file.
const rotatedStamp = "2006-01-02T15-04-05.000"

// isOpen reports whether the file at path is the one that is read.
func (l *Reader) isOpen(path string) bool {
	theirs, err := os.Stat(path)
	if err != nil {
		return false
	}
	ours, err := l.file.Stat()
	return err == nil && os.SameFile(ours, theirs)
}

// Newest hands the last n records that are wanted to take, or all of them for
// 0. It reads the file to its end.
func (l *Reader) Newest(n int, f Filter, take func(*Record) error) error {
	older := l.before()
	if n == 0 {
		for _, path := range older {
			if err := readLog(path, f.pass(take)); err != nil {
				return err
			}
		}
		return l.toEnd(f.pass(take))
	}
	last := lastRecords{max: n}
	if err := l.toEnd(f.pass(last.add)); err != nil {
		return err
	}
	records := last.records()
	for i := len(older) - 1; i >= 0 && len(records) < n; i-- {
		last := lastRecords{max: n - len(records)}
		if err := readLog(older[i], f.pass(last.add)); err != nil {
			return err
		}
		records = append(last.records(), records...)
	}
	for _, r := range records {
		if err := take(r); err != nil {
			return err
		}
	}
	return nil
}

// toEnd is drain that takes the beginning of a line, too, unless the rest of it
// is waited for.
func (l *Reader) toEnd(take func(line []byte) error) error {
	if err := l.drain(take); err != nil || l.watcher != nil || len(l.rest) == 0 {
		return err
	}
	return take(l.rest)
}

// readLog hands the lines of a file to take. One that has been removed since it
// was seen has none.
func readLog(path string, take func(line []byte) error) error {
	l, err := OpenReader(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || fault.KindOf(err) == fault.NotFound {
			return nil
		}
		return err
	}
	defer l.Close()
	return l.toEnd(take)
}

// lastRecords keeps the last records that are added.
type lastRecords struct {
	max  int
	list []*Record
}

func (l *lastRecords) add(r *Record) error {
	l.list = append(l.list, r)
	if len(l.list) >= 2*l.max {
		l.list = l.records()
	}
	return nil
}

func (l *lastRecords) records() []*Record {
	return slices.Clone(l.list[max(0, len(l.list)-l.max):])
}

// Watch begins to notice changes, before anything is read.
func (l *Reader) Watch() (err error) {
	l.watcher, err = fsnotify.NewWatcher()
	if err == nil {
		err = l.watcher.Add(filepath.Dir(l.path))
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot watch the log for changes").
			WithHint("run ctxd inspect log without --follow")
	}
	return nil
}

// Follow hands what is logged from now on to take, until ctx ends. caughtUp
// is called when all that the file holds has been read.
func (l *Reader) Follow(ctx context.Context, f Filter, take func(*Record) error, caughtUp func() error) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		if err := l.catchUp(f.pass(take)); err != nil {
			return err
		}
		if err := caughtUp(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.watcher.Events:
		case <-l.watcher.Errors: // some changes were missed; they are found by looking
		case <-again.C:
		}
	}
}

// catchUp reads what there is, in this file and in those that came after it.
func (l *Reader) catchUp(take func(line []byte) error) error {
	for {
		next, err := l.next()
		if err != nil {
			return err
		}
		// A file that is not the last one is complete: its end is read after the
		// next one was seen.
		if err := l.drain(take); err != nil || next == "" {
			return err
		}
		if err := l.open(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Unavailable, err, "cannot read the log").WithHint("check its permissions")
		}
	}
}

// next returns the file that came after the one that is read, "" when there is
// none yet. A file that was emptied is read from its beginning.
func (l *Reader) next() (string, error) {
	ours, err := l.file.Stat()
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot read the log")
	}
	if l.isOpen(l.path) {
		return "", l.checkEmptied(ours.Size())
	}
	files := l.rotated()
	switch at := slices.IndexFunc(files, l.isOpen); {
	case at >= 0 && at < len(files)-1:
		return files[at+1], nil
	case config.Exists(l.path):
		return l.path, nil
	}
	return "", nil
}

// checkEmptied starts over when a file is shorter than what has been read.
func (l *Reader) checkEmptied(size int64) error {
	at, err := l.file.Seek(0, io.SeekCurrent)
	if err == nil && size < at {
		_, err = l.file.Seek(0, io.SeekStart)
		l.in.Reset(l.file)
		l.rest = nil
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "cannot read the log")
	}
	return nil
}
