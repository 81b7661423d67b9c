package embed

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/Microsoft/go-winio"
	"github.com/google/uuid"
	"golang.org/x/sys/windows"
)

// runnerSocketName is put before the name of the pipe, which is another each
// time.
const runnerSocketName = `pipe:`

// runnerConnect waits for the runner on a named pipe that only this user may
// open. Go gives a child no descriptors on Windows.
type runnerConnect struct{ listener net.Listener }

func prepareRunner(cmd *exec.Cmd) (*runnerConnect, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("who we are: %w", err)
	}
	name := `\\.\pipe\ctxd-runner-` + uuid.NewString()
	l, err := winio.ListenPipe(name,
		&winio.PipeConfig{SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")"})
	if err != nil {
		return nil, fmt.Errorf("named pipe: %w", err)
	}
	cmd.Args[len(cmd.Args)-1] += name
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &runnerConnect{l}, nil
}

func closeRunnerSide(*exec.Cmd) {}

// accept waits for the runner until the deadline or its end.
func (r *runnerConnect) accept(deadline time.Time, dead <-chan struct{}) (net.Conn, error) {
	defer r.listener.Close()
	type accepted struct {
		conn net.Conn
		err  error
	}
	got := make(chan accepted, 1)
	go func() {
		conn, err := r.listener.Accept()
		got <- accepted{conn, err}
	}()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case a := <-got:
		return a.conn, a.err
	case <-dead:
		return nil, io.EOF
	case <-timer.C:
		return nil, os.ErrDeadlineExceeded
	}
}

func (r *runnerConnect) close() error { return r.listener.Close() }

func killRunner(cmd *exec.Cmd) {
	cmd.Process.Kill() //nolint:errcheck // it is gone
}

// killedFromOutside can't be told from an exit of its own on Windows, but for
// the code that TerminateProcess leaves.
func killedFromOutside(state *os.ProcessState) bool { return state.ExitCode() == 1 }

// DialParent is the runner's end of the connection that it was started with.
func DialParent(name string) (io.ReadWriteCloser, error) {
	path, ok := strings.CutPrefix(name, runnerSocketName)
	if !ok || path == "" {
		return nil, errors.New("no pipe to the daemon: ctxd starts this program")
	}
	wait := 10 * time.Second
	return winio.DialPipe(path, &wait)
}
