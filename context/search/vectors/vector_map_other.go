//go:build !unix

package vectors

import "os"

// mapFile maps nothing: a file that is mapped could not be renamed or cut, and
// the few rows that a search reads are in the cache of the system.
func mapFile(*os.File, int64) ([]byte, error) { return nil, nil }

func unmapFile([]byte) error { return nil }
