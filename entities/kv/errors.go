package kv

import (
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	hintRetry   = "free some disk space if it is full, and try again"
	hintRead    = "see that the disk works and that its folder and files are yours to read"
	hintRestart = "check the disk, then restart the daemon: it reads back what is safely stored"
)

func conflictf(format string, args ...any) *fault.Error {
	return fault.New(fault.Conflict, format, args...)
}

func unavailable(err error, msg string) *fault.Error {
	if why := DiskSays(err); why != "" {
		msg += ": " + why
	}
	return fault.Wrap(fault.Unavailable, err, "%s", msg)
}

// DiskSays puts what a user can mend into words, such as "the disk is full"; "" for
// anything else. The text of an error itself is for the log: it holds paths.
func DiskSays(err error) string {
	const windowsDiskFull = syscall.Errno(112)
	switch {
	case errors.Is(err, syscall.ENOSPC), runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull):
		return "the disk is full"
	case errors.Is(err, syscall.EDQUOT):
		return "the quota of this user is used up"
	case errors.Is(err, syscall.EROFS):
		return "the disk is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "its folder or file may not be used by this user"
	}
	return ""
}

func errClosed() error {
	return fault.New(fault.Unavailable, "the store is closed")
}

// logger returns l, or one that writes nothing.
func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
