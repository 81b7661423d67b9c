//go:build !linux && !darwin

package rpc

// diskRoom is not offered here.
func diskRoom(string) (free, total uint64) { return 0, 0 }
