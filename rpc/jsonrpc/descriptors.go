package jsonrpc

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// spareDescriptor is a descriptor that is kept for when the process has no other left. A
// connection can't be told from others before it is accepted, and so needs one even to
// be refused. It belongs to one Serve.
type spareDescriptor struct {
	open func() (io.Closer, error)
	held io.Closer // nil while there is none
}

// take opens the descriptor if it is not held, and reports whether it is.
func (d *spareDescriptor) take() bool {
	if d.held == nil {
		held, err := d.open()
		if err != nil {
			return false // it is tried again after the next accept
		}
		d.held = held
	}
	return true
}

// release closes the descriptor, and reports whether there was one.
func (d *spareDescriptor) release() bool {
	if d.held == nil {
		return false
	}
	_ = d.held.Close()
	d.held = nil
	return true
}

func openNull() (io.Closer, error) { return os.Open(os.DevNull) }

// outOfDescriptors reports whether a call failed because the process, or the system, has
// too many files open.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
