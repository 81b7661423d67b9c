package socket

import "golang.org/x/sys/unix"

// peerPID returns the process at the other end of a socket, 0 when the system does not
// tell.
func peerPID(fd int) int {
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return 0
	}
	return pid
}
