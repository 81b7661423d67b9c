package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type stopCmd struct{}

// The daemon drains, then closes its store. A stop that returned earlier would
// let a start that follows it find the data still owned.
const (
	stopWait = 2 * drainTime
	stopStep = 10 * time.Millisecond
)

func (stopCmd) Help() string { return "Returns when the daemon has ended." }

func (stopCmd) Examples() []example {
	return []example{{"ctxd stop", "end the daemon"}, {"ctxd stop && ctxd serve --vault ~/Notes", "start it anew"}}
}

func (stopCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var health protocol.Health
		if err := cl.Call(a.ctx, "admin.health", nil, &health); err != nil {
			return err
		}
		if err := cl.Call(a.ctx, "admin.stop", nil, nil); err != nil {
			return err
		}
		ended := waitForEnd(a.ctx, cl, health.PID)
		if a.JSON {
			return a.out.json(map[string]any{"pid": health.PID, "ended": ended})
		}
		if ended {
			a.out.say(text("the daemon has ended"), styled(faint, fmt.Sprintf("  pid %d", health.PID)))
		} else {
			a.out.say(text("the daemon will end when its calls are done"), styled(faint, fmt.Sprintf("  pid %d", health.PID)))
		}
		return nil
	})
}

// waitForEnd waits until a process is gone and reports whether it is.
func waitForEnd(ctx context.Context, cl *client.Client, pid int) bool {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	select {
	case <-cl.Done():
	case <-ctx.Done():
		return false
	}
	for running(pid) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(stopStep):
		}
	}
	return true
}
