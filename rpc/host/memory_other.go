//go:build !linux

package host

// ResidentBytes is not offered here.
func ResidentBytes() uint64 { return 0 }
