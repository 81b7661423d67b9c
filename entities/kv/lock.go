package kv

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Names of the lock and of the file that says who holds it. They are two
// files because on Windows a locked file can't be read by others.
const (
	lockName  = "lock"
	ownerName = "lock.pid"
)

// lockDir takes the lock of a store's directory and notes this process as its
// holder.
func lockDir(fsys FS, dir string) (io.Closer, error) {
	l, err := fsys.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, disk.ErrLocked) {
		holder := "another process"
		if b, err := disk.ReadAll(fsys, filepath.Join(dir, ownerName), 32); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				holder = "process " + strconv.Itoa(pid)
			}
		}
		return nil, conflictf("the store is in use by %s", holder).
			WithHint("talk to the running daemon, or stop it first")
	}
	if err != nil {
		return nil, unavailable(err, "the store's lock can't be taken")
	}
	// It is for people: a full disk must not keep a store from being read.
	owner := filepath.Join(dir, ownerName)
	if f, err := fsys.OpenFile(owner, os.O_CREATE|os.O_TRUNC|os.O_RDWR, disk.FileMode); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
		_ = f.Close()
	}
	return l, nil
}
