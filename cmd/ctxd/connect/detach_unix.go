//go:build !windows

package connect

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// detached starts a process in a session of its own: neither Ctrl-C nor the end
// of the terminal reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors makes files that this process was started with stay with it.
// A daemon that held the end of somebody's pipe would have them wait for ever.
func keepDescriptors() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // they can't be told
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
