package socket

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// AwaitHangup returns true when the peer has closed its connection for both
// directions, and false when the read deadline of the connection passes. It is
// called after the end of the input, which alone may be half a close: the peer
// then still waits for replies.
func AwaitHangup(raw syscall.RawConn) bool {
	hung := false
	err := raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds, 0)
		hung = err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
		return hung
	})
	return err == nil && hung
}
