//go:build unix

package vectors

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first bytes of a file for reading.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size == 0 || int64(int(size)) != size {
		return nil, nil // it is read by calls
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmapFile(b []byte) error { return unix.Munmap(b) }
