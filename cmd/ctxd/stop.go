package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

type stopCmd struct{}

// The daemon drains, then closes its store. A stop that returned earlier would
// let a start that follows it find the data still owned.
const (
	stopWait = 2 * daemon.EndTime
	stopStep = 10 * time.Millisecond
)

func (stopCmd) Help() string {
	return "Returns when the daemon has ended, within five seconds. " +
		"Calls under way finish; imports and other jobs stop between two transactions, and the output names those that were broken off. " +
		"A daemon that does not serve the call is sent the signal to end."
}

func (stopCmd) Examples() []command.Example {
	return []command.Example{
		{"ctxd stop", "end the daemon"},
		{"ctxd stop && ctxd serve --vault ~/Notes", "start it anew"},
	}
}

func (stopCmd) Run(a *app) error {
	s, err := stopByCall(a)
	if err != nil {
		s, err = stopBySignal(a, err)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(map[string]any{"pid": s.pid, "ended": s.ended, "brokenOff": s.brokenOff})
	}
	if s.ended {
		a.Out.Say(term.Text("the daemon has ended"), term.Styled(term.Faint, fmt.Sprintf("  pid %d", s.pid)))
	} else {
		a.Out.Say(term.Text("the daemon has not ended yet"), term.Styled(term.Faint, fmt.Sprintf("  pid %d", s.pid)))
	}
	if len(s.brokenOff) > 0 {
		a.Out.Say(term.Text("broken off: "+strings.Join(s.brokenOff, ", ")),
			term.Styled(term.Faint, "  what they have done stays; call them again to go on"))
	}
	return nil
}

// stopped says how the daemon was stopped.
type stopped struct {
	pid       int
	ended     bool     // within stopWait
	brokenOff []string // methods of the jobs that it ended, as far as it has said so
}

// stopByCall has the daemon end by admin.stop.
func stopByCall(a *app) (s stopped, err error) {
	ctx, cancel := context.WithTimeout(a.Ctx, connect.AnswerLimit)
	defer cancel()
	link := *a.Link
	link.Ctx = ctx
	err = link.With(func(cl *client.Client) error {
		var health protocol.Health
		if err := cl.Call(ctx, "admin.health", nil, &health); err != nil {
			return err
		}
		var answer protocol.Stopped
		if err := cl.Call(ctx, "admin.stop", nil, &answer); err != nil {
			return err
		}
		s = stopped{pid: health.PID, ended: waitForEnd(a.Ctx, cl, health.PID), brokenOff: answer.BrokenOff}
		return nil
	})
	return s, err
}

// stopBySignal has the daemon end that did not serve a call, for the reason that is
// given: the signal needs no place among its connections.
func stopBySignal(a *app, why error) (stopped, error) {
	path, _, err := a.Reach()
	if err != nil || a.Ctx.Err() != nil || errors.As(why, new(*client.Error)) {
		return stopped{}, why // there is no daemon to be told of, or it has answered
	}
	owner, held := socket.Holder(path)
	if !held || daemon.Terminate(owner.PID) != nil {
		return stopped{}, why
	}
	ctx, cancel := context.WithTimeout(a.Ctx, stopWait)
	defer cancel()
	return stopped{pid: owner.PID, ended: waitForProcess(ctx, owner.PID), brokenOff: []string{}}, nil
}

// waitForEnd waits until a daemon has ended a connection and is gone, and reports
// whether it is.
func waitForEnd(ctx context.Context, cl *client.Client, pid int) bool {
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
