package socket

import (
	"context"

	"golang.org/x/sys/windows"
)

// watchProcess returns a function that waits until the process has ended (true)
// or the context has (false). It holds a handle of the process, so that another
// one of the same number does not pass for it.
func watchProcess(pid int) (wait func(context.Context) bool, err error) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return nil, err
	}
	alive := func() bool {
		event, err := windows.WaitForSingleObject(handle, 0)
		return err == nil && event == uint32(windows.WAIT_TIMEOUT)
	}
	return func(ctx context.Context) bool {
		defer windows.CloseHandle(handle)
		return pollUntil(ctx, alive, processRound)
	}, nil
}
