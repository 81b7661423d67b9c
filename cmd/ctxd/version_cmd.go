package main

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type versionCmd struct {
	Check string `placeholder:"PROTOCOL" help:"Check whether a client that speaks this version of the protocol, as MAJOR.MINOR, can use this ctxd and the daemon that runs. Exits with 1 if not, and says which is older."`
}

func (versionCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd version --json", "for scripts"},
		{"ctxd version --check " + protocol.Version, "for programs that use ctxd: exit status 0 if it fits"},
	}
}

func (c versionCmd) Run(a *app) error {
	if c.Check != "" {
		return c.check(a)
	}
	if a.JSON {
		return a.Out.JSON(map[string]string{
			"version": term.ProgramVersion(), "commit": term.ProgramCommit(), "protocol": protocol.Version,
			"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
	a.Out.Say(term.Text("ctxd "+term.ProgramVersion()), term.Styled(term.Faint, "  "+strings.Join(term.NonEmpty(
		"commit "+cmp.Or(term.ProgramCommit(), "unknown"), "protocol "+protocol.Version, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " · ")))
	return nil
}

// check compares the version of a client with those of this program and of the running
// daemon, which may be of another time.
func (c versionCmd) check(a *app) error {
	fit, err := protocol.FitOf(c.Check, protocol.Version)
	if err != nil {
		return term.Misuse("--check: "+fault.Message(err), "ctxd version --check "+protocol.Version)
	}
	if err := c.unfit(fit, "this ctxd", term.ProgramVersion(), protocol.Version, "update ctxd"); err != nil {
		return err
	}
	daemon, err := runningVersion(a)
	if err != nil {
		return err
	}
	if daemon != nil {
		fit, err := protocol.FitOf(c.Check, daemon.Protocol)
		if err != nil {
			return err
		}
		if err := c.unfit(fit, "the daemon that runs", daemon.Version, daemon.Protocol, "restart it with this ctxd: ctxd stop, then ctxd serve"); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Out.JSON(checkedVersion{
			Wanted: c.Check, Program: ranVersion{term.ProgramVersion(), protocol.Version}, Daemon: daemon,
		})
	}
	running := "no daemon runs"
	if daemon != nil {
		running = "the daemon that runs speaks " + daemon.Protocol
	}
	a.Out.Say(term.Text("protocol "+c.Check+" is served"), term.Styled(term.Faint,
		"  this ctxd speaks "+protocol.Version+" · "+running))
	return nil
}

// checkedVersion is the JSON of a check that has succeeded.
type checkedVersion struct {
	Wanted  string      `json:"wanted"`
	Program ranVersion  `json:"program"`
	Daemon  *ranVersion `json:"daemon"` // null when none runs
}

type ranVersion struct {
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
}

// unfit returns the error of a program or daemon that does not serve the client in full.
func (c versionCmd) unfit(fit protocol.Fit, who, version, speaks, update string) error {
	known := who + " (version " + version + ")"
	switch fit {
	case protocol.DaemonOld, protocol.DaemonLacks:
		return fault.New(fault.Unavailable, "%s is older than the client: it speaks protocol %s, the client %s", known, speaks, c.Check).
			WithHint("%s", update)
	case protocol.ClientOld:
		return fault.New(fault.Unavailable, "the client is older than %s: it speaks protocol %s, %s %s", known, c.Check, who, speaks).
			WithHint("update the client")
	}
	return nil
}

// runningVersion asks the running daemon for its versions. It returns nil when none runs.
func runningVersion(a *app) (*ranVersion, error) {
	ctx, cancel := context.WithTimeout(a.Ctx, connect.AnswerLimit)
	defer cancel()
	link := *a.Link
	link.Ctx = ctx
	cl, err := link.DialWith(client.Options{AnyVersion: true})
	if err != nil {
		if connect.Absent(err) {
			err = nil
		}
		return nil, err
	}
	defer func() { _ = cl.Close() }() // the answer is here
	of := cl.Server()
	if of.ProtocolVersion == "" {
		return nil, errors.New("the daemon that runs does not say which protocol it speaks")
	}
	return &ranVersion{of.ServerInfo.Version, of.ProtocolVersion}, nil
}
