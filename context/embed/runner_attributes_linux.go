package embed

import "syscall"

// runnerAttributes have the kernel kill the runner when we end.
func runnerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
