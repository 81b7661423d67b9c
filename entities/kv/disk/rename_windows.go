package disk

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// How long rename tries, and the pause between two tries.
const (
	renameTries = 50
	renamePause = 10 * time.Millisecond
)

// rename moves a file over whatever has the new name. Windows refuses that while somebody has either of them open; virus
// scanners, indexers and programs that read a store do for moments, so it is tried again for half a second.
func rename(from, to string) error {
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		inUse := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !inUse || try == renameTries {
			return err
		}
		<-time.After(renamePause) // the system does not tell when the file is closed
	}
}
