//go:build unix

package demo

import (
	"os/exec"
	"syscall"
)

// ownGroup has a program run in a group of its own: go run has a child.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends a program and its children.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
