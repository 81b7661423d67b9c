//go:build unix

package rpc

import "syscall"

// tryWriter writes to a socket without waiting for it. It is used by one goroutine at
// a time, and keeps what a write needs, which would be made anew for each reply. A
// nil one takes nothing.
type tryWriter struct {
	raw   syscall.RawConn
	write func(fd uintptr) bool // writes b
	b     []byte
	n     int // of b that were written
}

func newTryWriter(raw syscall.RawConn) *tryWriter {
	w := &tryWriter{raw: raw}
	w.write = func(fd uintptr) bool {
		for {
			var err error
			if w.n, err = syscall.Write(int(fd), w.b); err != syscall.EINTR {
				return true
			}
		}
	}
	return w
}

// try writes as much of b as the socket takes at once and returns how much that was.
// An error shows again at the next write, which waits.
func (w *tryWriter) try(b []byte) int {
	if w == nil {
		return 0
	}
	w.b, w.n = b, 0
	_ = w.raw.Write(w.write)
	w.b = nil
	return max(w.n, 0)
}
