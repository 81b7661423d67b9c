//go:build unix && !linux

package socket

import "context"

// watchProcess returns a function that waits until the process has ended (true)
// or the context has (false).
func watchProcess(pid int) (wait func(context.Context) bool, err error) { return pollProcess(pid) }
