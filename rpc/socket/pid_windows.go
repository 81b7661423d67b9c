package socket

import (
	"net"

	"golang.org/x/sys/windows"
)

// PeerPID returns the process that made the connection, 0 when the system does
// not tell. It may have ended, or have handed the connection on.
func PeerPID(conn net.Conn) int {
	pipe, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	pid := uint32(0)
	if windows.GetNamedPipeClientProcessId(windows.Handle(pipe.Fd()), &pid) != nil {
		return 0
	}
	return int(pid)
}
