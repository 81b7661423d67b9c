//go:build !windows

package socket

import (
	"os"

	"github.com/gofrs/flock"
)

// Holder returns the process that has the endpoint at path, whether it answers or not;
// held is false when none has. The lock says that there is one, its file which.
func Holder(path string) (o Owner, held bool) {
	lockPath := path + lockSuffix
	lock := flock.New(lockPath, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if err != nil {
		return Owner{}, false
	}
	if free {
		_ = lock.Unlock()
		return Owner{}, false
	}
	_ = lock.Close()
	o = readOwner(lockPath)
	return o, o.lives()
}
