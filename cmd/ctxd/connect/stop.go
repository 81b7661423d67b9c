package connect

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// The daemon drains, then closes its store. A stop that returned earlier would
// let a start that follows it find the data still owned.
const (
	stopWait = 2 * daemon.EndTime
	stopStep = 10 * time.Millisecond
)

// Stop has the daemon end and waits until it has. One that does not serve the call is
// sent the signal to end.
func (l *Link) Stop() (Stopped, error) {
	s, err := l.stopByCall()
	if err != nil {
		s, err = l.stopBySignal(err)
	}
	return s, err
}

// Stopped says how the daemon was stopped.
type Stopped struct {
	PID       int
	Ended     bool     // within stopWait
	BrokenOff []string // methods of the jobs that it ended, as far as it has said so
}

// stopByCall has the daemon end by admin.stop.
func (l *Link) stopByCall() (s Stopped, err error) {
	ctx, cancel := context.WithTimeout(l.Ctx, AnswerLimit)
	defer cancel()
	link := *l
	link.Ctx = ctx
	cl, err := link.DialWith(client.Options{AnyVersion: true})
	if err != nil {
		return s, err
	}
	defer func() { _ = cl.Close() }() // the daemon has ended, or has been told to
	var health protocol.Health
	if err := cl.Call(ctx, "admin.health", nil, &health); err != nil {
		return s, err
	}
	var answer protocol.Stopped
	if err := cl.Call(ctx, "admin.stop", nil, &answer); err != nil {
		return s, err
	}
	return Stopped{PID: health.PID, Ended: WaitForEnd(l.Ctx, cl, health.PID), BrokenOff: answer.BrokenOff}, nil
}

// stopBySignal has the daemon end that did not serve a call, for the reason that is
// given: the signal needs no place among its connections.
func (l *Link) stopBySignal(why error) (Stopped, error) {
	path, _, err := l.Reach()
	if err != nil || l.Ctx.Err() != nil || errors.As(why, new(*client.Error)) {
		return Stopped{}, why // there is no daemon to be told of, or it has answered
	}
	owner, held := socket.Holder(path)
	if !held || daemon.Terminate(owner.PID) != nil {
		return Stopped{}, why
	}
	ctx, cancel := context.WithTimeout(l.Ctx, stopWait)
	defer cancel()
	return Stopped{PID: owner.PID, Ended: waitForProcess(ctx, owner.PID), BrokenOff: []string{}}, nil
}

// WaitForEnd waits until a daemon has ended a connection and is gone, and reports
// whether it is.
func WaitForEnd(ctx context.Context, cl *client.Client, pid int) bool {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	select {
	case <-cl.Done():
	case <-ctx.Done():
		return false
	}
	return waitForProcess(ctx, pid)
}

// waitForProcess waits until a process is gone and reports whether it is.
func waitForProcess(ctx context.Context, pid int) bool {
	for daemon.Running(pid) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(stopStep):
		}
	}
	return true
}
