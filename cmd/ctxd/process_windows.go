package main

import "os"

// running reports whether a process of that id exists.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // there is nothing to do about a handle that can't be closed
	return true
}
