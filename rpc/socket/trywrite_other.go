//go:build !unix

package socket

import "syscall"

// TryWriter leaves all writing to the queue.
type TryWriter struct{}

// NewTryWriter returns nil.
func NewTryWriter(syscall.RawConn) *TryWriter { return nil }

// Try takes nothing.
func (*TryWriter) Try([]byte) int { return 0 }
