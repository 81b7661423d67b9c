package socket

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// watchProcess returns a function that waits until the process has ended (true)
// or the context has (false). It holds a descriptor of the process, so that
// another one of the same number does not pass for it. Without a descriptor to
// spare, or on a kernel that has none, it looks for the process now and then.
func watchProcess(pid int) (wait func(context.Context) bool, err error) {
	fd, err := unix.PidfdOpen(pid, unix.O_NONBLOCK)
	if err != nil {
		return pollProcess(pid)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	if errors.Is(file.SetReadDeadline(time.Time{}), os.ErrNoDeadline) {
		_ = file.Close()
		return pollProcess(pid)
	}
	return func(ctx context.Context) bool { return awaitProcess(ctx, file) }, nil
}

// awaitProcess waits for a descriptor of a process, which it closes. No thread
// is held meanwhile: the descriptor becomes readable when the process ends.
func awaitProcess(ctx context.Context, file *os.File) (ended bool) {
	defer file.Close()
	past := time.Unix(1, 0)
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(past) })()
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		ended = err == nil && n > 0
		return ended
	})
	return err == nil && ended
}
