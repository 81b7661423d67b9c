//go:build !unix

package vault

import "os"

// openFlags open a file to be read.
const openFlags = os.O_RDONLY
