//go:build !unix

package watch

import "os"

// openFlags open a file to be read.
const openFlags = os.O_RDONLY
