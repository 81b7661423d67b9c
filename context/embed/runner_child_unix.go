//go:build unix

package embed

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runnerSocketName is what the runner is told: the first descriptor behind the
// standard ones.
const runnerSocketName = "fd:3"

// runnerConnect is our end of the socket pair.
type runnerConnect struct{ ours *os.File }

// prepareRunner gives a command one end of a pair of sockets, and a process
// group of its own.
func prepareRunner(cmd *exec.Cmd) (*runnerConnect, error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("pair of sockets: %w", err)
	}
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(pair[1]), "runner")}
	cmd.SysProcAttr = runnerAttributes()
	return &runnerConnect{os.NewFile(uintptr(pair[0]), "runner")}, nil
}

// closeRunnerSide closes our copy of the child's end once the child has it.
func closeRunnerSide(cmd *exec.Cmd) {
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
}

func (r *runnerConnect) accept(time.Time, <-chan struct{}) (net.Conn, error) {
	defer r.ours.Close()
	return net.FileConn(r.ours)
}

func (r *runnerConnect) close() error { return r.ours.Close() }

// killRunner kills the process and those that it started.
func killRunner(cmd *exec.Cmd) {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		cmd.Process.Kill() //nolint:errcheck // it is gone
	}
}

// killedFromOutside tells SIGKILL, SIGTERM and the like, which say nothing of
// what the process did.
func killedFromOutside(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}

// DialParent is the runner's end of the connection that it was started with.
func DialParent(name string) (io.ReadWriteCloser, error) {
	number, ok := strings.CutPrefix(name, "fd:")
	fd, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q is no socket: fd:NUMBER is one", name)
	}
	f := os.NewFile(uintptr(fd), "daemon")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is no socket: ctxd starts this program", fd)
	}
	return conn, nil
}
