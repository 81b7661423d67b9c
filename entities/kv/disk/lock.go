package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Names of the lock and of the file that says who holds it. They are two
// files because on Windows a locked file can't be read by others.
const (
	LockName  = "lock"
	OwnerName = "lock.pid"
)

// LockDir takes the lock of the folder of a store and notes this process as its holder. An
// error is of kind Conflict when another process has it, and Unavailable otherwise.
func LockDir(fsys FS, dir string) (io.Closer, error) {
	l, err := fsys.Lock(filepath.Join(dir, LockName))
	if errors.Is(err, ErrLocked) {
		holder := "another process"
		if b, err := ReadAll(fsys, filepath.Join(dir, OwnerName), 32); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				holder = "process " + strconv.Itoa(pid)
			}
		}
		return nil, fault.Clash(fault.Busy, "the store is in use by %s", holder).
			WithHint("talk to the running daemon, or stop it first")
	}
	if err != nil {
		return nil, Unavailable(err, "the store's lock can't be taken")
	}
	// It is for people: a full disk must not keep a store from being read.
	owner := filepath.Join(dir, OwnerName)
	if f, err := fsys.OpenFile(owner, os.O_CREATE|os.O_TRUNC|os.O_RDWR, FileMode); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
		_ = f.Close()
	}
	return l, nil
}
