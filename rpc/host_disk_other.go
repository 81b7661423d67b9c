//go:build !linux && !darwin

package rpc

// DiskSpace is not offered here.
func DiskSpace(string) (free, total uint64) { return 0, 0 }
