package demo

import (
	"os/exec"
	"strconv"
)

// ownGroup does nothing: a tree of processes is ended by its root.
func ownGroup(*exec.Cmd) {}

// endGroup ends a program and its children.
func endGroup(cmd *exec.Cmd) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() //nolint:gosec // the process is ours
}
