package daemon

import (
	"errors"
	"os"
)

// Running reports whether a process of that id exists.
func Running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // there is nothing to do about a handle that can't be closed
	return true
}

// Terminate would ask a process to end, which there is no way to do here.
func Terminate(int) error { return errors.ErrUnsupported }
