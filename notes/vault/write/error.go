package write

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
)

// Changed is the error for a file that does not hold what the caller has read.
type Changed struct {
	Path string
	Now  []byte // what it holds; nil when it is gone
}

// errBusy is the error for a file that another program has open for writing.
var errBusy = errors.New("open for writing")

func (e *Changed) Error() string { return e.Path + " has changed meanwhile" }

// failed makes a fault of what the system refused.
func failed(p string, err error) error {
	var known *fault.Error
	var changed *Changed
	busy := errors.Is(err, errBusy) || isBusy(err)
	if err == nil || errors.As(err, &known) || errors.As(err, &changed) && !busy {
		return err
	}
	e := &fault.Error{Kind: fault.Unavailable, Ref: p, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC), isFull(err):
		e.Msg, e.Hint, e.Retryable = p+" cannot be written: its disk is full", "make room on the disk of the vault", true
	case busy:
		e.Msg, e.Hint, e.Retryable = p+" cannot be written: another program has it open", "close it there, or try again", true
	case isRefusedName(err):
		e.Kind, e.Field = fault.Invalid, "path"
		e.Msg, e.Hint = "the file system of the vault refuses the path "+p, "choose another name, or another folder"
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		e.Msg, e.Hint = p+" cannot be written: it, its folder or its disk is read-only", "make it writable, or write to another note"
	case errors.Is(err, fs.ErrExist):
		return fault.Clash(fault.Exists, "there is a file %s already", p).WithRef(p).WithHint("choose another name, or change the note of that file")
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Msg, e.Hint = fault.NotFound, "there is no file "+p, "check the path within the vault"
	default:
		e.Msg, e.Hint, e.Retryable = p+" cannot be written", "check the disk and the permissions of the vault", true
	}
	return e
}

// temporary removes a temporary file. One that can't be removed is hidden, and no note.
func temporary(dir *os.Root, name string) { _ = dir.Remove(name) }
