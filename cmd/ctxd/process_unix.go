//go:build !windows

package main

import "syscall"

// running reports whether a process of that id exists.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
