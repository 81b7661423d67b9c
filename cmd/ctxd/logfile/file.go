package logfile

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
)

// file is a log in a file of this user's alone, with a new file begun when
// it has grown. Until it is opened it keeps what is written to it. It may be
// used concurrently.
type file struct {
	path string
	max  int64 // bytes of a file

	mu   sync.Mutex // guards what follows
	held []byte     // what was written before it was open
	open bool
	size int64
	to   *lumberjack.Logger
}

// heldLimit is how much is kept of a log before its file is open.
const heldLimit = 1 << 20

// newFile returns a log that is not open yet.
func newFile(path string, opts options) *file {
	if opts.MaxSize <= 0 {
		opts.MaxSize = config.DefaultLogSize
	}
	if opts.Keep <= 0 {
		opts.Keep = config.DefaultLogKeep
	}
	// The library counts in MiB and makes folders that others can read, so it is
	// told when to rotate.
	return &file{
		path: path, max: opts.MaxSize,
		to: &lumberjack.Logger{Filename: path, MaxBackups: opts.Keep, MaxSize: math.MaxInt32},
	}
}

// Write appends one record.
func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open {
		return f.append(p)
	}
	if len(f.held)+len(p) <= heldLimit {
		f.held = append(f.held, p...)
	}
	return len(p), nil
}

// append writes to the file, or to the next one when it is full. The caller
// holds mu.
func (f *file) append(p []byte) (int, error) {
	if f.size > 0 && f.size+int64(len(p)) > f.max && f.makeWay(time.Now()) {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return 0, err
		}
		if err := f.to.Rotate(); err != nil {
			return 0, err
		}
		f.size = 0
	}
	n, err := f.to.Write(p)
	f.size += int64(n)
	return n, err
}

// makeWay reports whether a file that is full now can get its name, which is the
// millisecond. Full files must not replace each other, and their names must sort by
// time: the least is removed, and read, first. Those that have a later one, because the
// clock was set back, get names of the time before this.
func (f *file) makeWay(now time.Time) bool {
	now = now.UTC().Truncate(time.Millisecond)
	files := rotated(f.path)
	at := now
	for i := len(files) - 1; i >= 0 && !files[i].full.Before(now); i-- {
		if files[i].full.Equal(now) {
			return false
		}
		name := ""
		for name == "" || config.Exists(name) {
			at = at.Add(-time.Millisecond)
			name = fullName(f.path, at)
		}
		_ = os.Rename(files[i].path, name) // it may be gone, as the oldest ones go
	}
	return true
}

// start makes the file and writes what has been held back. A folder that is
// made for it, and the file, are this user's alone.
func (f *file) start() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.size, err = config.SecureFile(f.path)
	if err != nil {
		return err
	}
	f.open = true
	_, _ = f.append(f.held) // the disk may be full, and the daemon is there for what can be read
	f.held = nil
	return nil
}

// Close ends the file.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = false
	return f.to.Close()
}

// The traces of crashes lie beside the log: of this daemon, and of the last one
// that crashed before it.
const (
	crashFile    = "crash.log"
	oldCrashFile = "crash-before.log"
)

// keepCrash has the runtime write the trace of a crash, which holds no content,
// to a file beside the log. It reports whether the daemon before this one left
// such a trace.
func (f *file) keepCrash() (crashed bool, err error) {
	dir := filepath.Dir(f.path)
	path := filepath.Join(dir, crashFile)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		crashed = os.Rename(path, filepath.Join(dir, oldCrashFile)) == nil
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return crashed, err
	}
	return crashed, errors.Join(debug.SetCrashOutput(out, debug.CrashOptions{}), out.Close())
}
