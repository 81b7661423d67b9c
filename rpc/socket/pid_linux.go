package socket

import "golang.org/x/sys/unix"

// peerPID returns the process at the other end of a socket, 0 when the system does not
// tell.
func peerPID(fd int) int {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}
