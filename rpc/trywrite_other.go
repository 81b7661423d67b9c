//go:build !unix

package rpc

import "syscall"

// tryWrite leaves all writing to the queue.
func tryWrite(syscall.RawConn, []byte) int { return 0 }
