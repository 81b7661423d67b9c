package disk

import (
	"errors"
	"io/fs"
	"runtime"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
)

// Unavailable wraps an error of the file system, with what a user can mend in its words.
func Unavailable(err error, msg string) *fault.Error {
	if why := ExplainError(err); why != "" {
		msg += ": " + why
	}
	return fault.Wrap(fault.Unavailable, err, "%s", msg)
}

// ExplainError puts what a user can mend into words, such as "the disk is full"; "" for
// anything else. The text of an error itself is for the log: it holds paths.
func ExplainError(err error) string {
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
