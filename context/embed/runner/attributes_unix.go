//go:build unix && !linux

package runner

import "syscall"

// runnerAttributes leave it to the end of the socket to tell the runner that we
// ended.
func runnerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
