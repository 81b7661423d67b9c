package books

import (
	"os/exec"
	"syscall"
)

// hideWindow has a process show no console: the daemon, which starts it, has none that it could share.
func hideWindow(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true} }
