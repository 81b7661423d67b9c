package write

import "golang.org/x/sys/unix"

// noAttribute is the error for an attribute that a file does not have.
const noAttribute = unix.ENOATTR
