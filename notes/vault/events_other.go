//go:build !windows && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package vault

import (
	"errors"
	"syscall"
)

// eventsSupported says whether folders are watched on this system.
const eventsSupported = true

// outOfWatches reports whether the system gives no more watches.
func outOfWatches(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE)
}
