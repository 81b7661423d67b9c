//go:build linux || darwin

package rpc

import "golang.org/x/sys/unix"

// DiskSpace returns the free and the whole size in bytes of the disk that a
// folder lies on, zeros when unknown.
func DiskSpace(dir string) (free, total uint64) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0
	}
	size := uint64(st.Bsize)
	return st.Bavail * size, st.Blocks * size
}
