package connect

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached starts a process without a console and in a group of its own: neither
// Ctrl-C nor the end of the console reaches it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// keepDescriptors has nothing to do: a process inherits what it is given.
func keepDescriptors() {}
