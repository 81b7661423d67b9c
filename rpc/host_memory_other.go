//go:build !linux

package rpc

// ResidentBytes is not offered here.
func residentBytes() uint64 { return 0 }
