//go:build !linux && !darwin

package host

// DiskRoom is not offered here.
func DiskRoom(string) (free, total uint64) { return 0, 0 }
