//go:build unix

package socket

import (
	"context"
	"errors"
	"syscall"
)

// pollProcess watches a process by looking for it. A process that takes the
// same number in between passes for it.
func pollProcess(pid int) (wait func(context.Context) bool, err error) {
	alive := func() bool {
		err := syscall.Kill(pid, 0)
		return err == nil || errors.Is(err, syscall.EPERM)
	}
	if !alive() {
		return nil, syscall.ESRCH
	}
	return func(ctx context.Context) bool { return pollUntil(ctx, alive, processRound) }, nil
}
