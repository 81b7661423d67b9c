//go:build unix && !linux

package embed

import "syscall"

// runnerAttributes leave it to the end of the socket to tell the runner that we
// ended.
func runnerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
