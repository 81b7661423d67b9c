//go:build !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package watch

import (
	"errors"
	"syscall"
)

// eventful says whether the system tells of changes at a reasonable price.
const eventful = true

// exhausted reports whether no more folders can be listened to.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE)
}
