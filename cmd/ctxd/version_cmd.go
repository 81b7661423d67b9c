package main

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type versionCmd struct{}

func (versionCmd) Examples() []command.Example {
	return []command.Example{{"ctxd version --json", "for scripts"}}
}

func (versionCmd) Run(a *app) error {
	if a.JSON {
		return a.Out.JSON(map[string]string{
			"version": command.Version(), "commit": command.Commit(), "protocol": protocol.Version,
			"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
	a.Out.Say(term.Text("ctxd "+command.Version()), term.Styled(term.Faint, "  "+strings.Join(command.NonEmpty(
		"commit "+cmp.Or(command.Commit(), "unknown"), "protocol "+protocol.Version, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " · ")))
	return nil
}
