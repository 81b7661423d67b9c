//go:build unix

package vault

import (
	"os"
	"syscall"
)

// openFlags open a file to be read. Without O_NONBLOCK, a pipe put in the place
// of a file at the last moment would be waited for.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
