package main

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
)

// In a container nobody may look after a daemon that has ended; ctxd stop must
// not wait for that.
func TestProcessThatNobodyWaitsForHasEnded(t *testing.T) {
	cmd := newHome(t).command(t, "version")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if daemon.Running(cmd.Process.Pid) {
		t.Error("it runs, though it has ended")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if daemon.Running(cmd.Process.Pid) {
		t.Error("it runs, though nothing is left of it")
	}
}
