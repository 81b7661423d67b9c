package main

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

type stopCmd struct{}

func (stopCmd) Help() string {
	return "Returns when the daemon has stopped, within five seconds. Calls in progress finish. " +
		"Imports and other jobs stop between two transactions, and the output names those that were interrupted. " +
		"If the daemon does not answer, it is sent a signal to stop."
}

func (stopCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd stop", "stop the daemon"},
		{"ctxd stop && ctxd serve --vault ~/Notes", "restart it"},
	}
}

func (stopCmd) Run(a *app) error {
	s, err := a.Stop()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(map[string]any{"pid": s.PID, "ended": s.Ended, "brokenOff": s.BrokenOff})
	}
	if s.Ended {
		a.Out.Say(term.Text("the daemon has stopped"), term.Styled(term.Faint, fmt.Sprintf("  pid %d", s.PID)))
	} else {
		a.Out.Say(term.Text("the daemon has not stopped yet"), term.Styled(term.Faint, fmt.Sprintf("  pid %d", s.PID)))
	}
	if len(s.BrokenOff) > 0 {
		a.Out.Say(term.Text("interrupted: "+strings.Join(s.BrokenOff, ", ")),
			term.Styled(term.Faint, "  what they have done stays; call them again to continue"))
	}
	return nil
}
