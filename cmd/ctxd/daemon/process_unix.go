//go:build !windows

package daemon

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// Running reports whether a process of that id runs.
func Running(pid int) bool { return syscall.Kill(pid, 0) == nil && !ended(pid) }

// Terminate asks a process to end, as admin.stop does.
func Terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// ended reports whether a process has ended and only its parent has not looked
// yet. In a container that is often nobody; where there is no /proc, nobody says.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name of the program, which may hold anything.
	state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	return bytes.HasPrefix(state, []byte("Z"))
}
