//go:build unix

package socket

import "syscall"

// TryWriter writes to a socket without waiting for it. It is used by one goroutine at
// a time, and keeps what a write needs, which would be made anew for each reply. A
// nil one takes nothing.
type TryWriter struct {
	raw   syscall.RawConn
	write func(fd uintptr) bool // writes b
	b     []byte
	n     int // of b that were written
}

// NewTryWriter returns a writer to a socket.
func NewTryWriter(raw syscall.RawConn) *TryWriter {
	w := &TryWriter{raw: raw}
	w.write = func(fd uintptr) bool {
		for {
			var err error
			w.n, err = syscall.Write(int(fd), w.b)
			if err != syscall.EINTR {
				return true
			}
		}
	}
	return w
}

// Try writes as much of b as the socket takes at once and returns how much that was.
// An error shows again at the next write, which waits.
func (w *TryWriter) Try(b []byte) int {
	if w == nil {
		return 0
	}
	w.b, w.n = b, 0
	_ = w.raw.Write(w.write)
	w.b = nil
	return max(w.n, 0)
}
