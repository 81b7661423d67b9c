//go:build !windows

package disk

import "os"

// rename moves a file over whatever has the new name.
func rename(from, to string) error { return os.Rename(from, to) }
