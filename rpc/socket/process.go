package socket

import (
	"context"
	"errors"
	"math"
	"time"
)

// processRound is how often a process is looked at where the system does not
// tell when it ends.
const processRound = 2 * time.Second

var errNoProcess = errors.New("there is no such process")

// WatchProcess returns a function that waits until a process has ended (true) or the
// context has (false), and is called once. The error says that the process can't be
// seen, as when it is in another container.
func WatchProcess(pid int) (wait func(context.Context) bool, err error) {
	if pid <= 0 || pid > math.MaxInt32 { // other numbers stand for groups of processes
		return nil, errNoProcess
	}
	return watchProcess(pid)
}

// pollUntil looks at a process every round until it has ended (true) or ctx has
// (false).
func pollUntil(ctx context.Context, alive func() bool, round time.Duration) (ended bool) {
	ticker := time.NewTicker(round)
	defer ticker.Stop()
	for alive() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
