package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID returns the user at the other end: of the process that connected, or
// of the one that called listen.
func peerUID(conn *net.UnixConn) (uid int, known bool, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *unix.Xucred
	if ctl := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); ctl != nil {
		return 0, false, ctl
	}
	if err != nil {
		return 0, false, err
	}
	return int(cred.Uid), true, nil
}
