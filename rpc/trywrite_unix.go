//go:build unix

package rpc

import "syscall"

// tryWrite writes as much of b as the socket takes at once and returns how much
// that was. An error shows again at the next write, which waits.
func tryWrite(raw syscall.RawConn, b []byte) (n int) {
	if raw == nil {
		return 0
	}
	_ = raw.Write(func(fd uintptr) bool {
		for {
			var err error
			n, err = syscall.Write(int(fd), b)
			if err != syscall.EINTR {
				return true
			}
		}
	})
	return max(n, 0)
}
