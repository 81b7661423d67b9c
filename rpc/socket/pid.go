//go:build !windows

package socket

import "net"

// PeerPID returns the process that made the connection, 0 when the system does
// not tell. It may have ended, or have handed the connection on.
func PeerPID(conn net.Conn) int {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) { pid = peerPID(int(fd)) })
	return pid
}
