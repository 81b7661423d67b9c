package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type showMemory struct {
	Memory   string `arg:"" help:"Id, handle or number of the memory."`
	Versions bool   `help:"Show what it said before, too."`

	connect.Audience
}

func (showMemory) Help() string {
	return "ctxd inspect memory shows how it was used and what it is related to, too. " +
		"A memory that was retracted is found by its id alone."
}

func (showMemory) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory show 42", "by number"},
		{"ctxd memory show prefer_morning_workouts_a3f2 --versions", "by handle, with what it said before"},
		{"ctxd memory show 42 --json | jq -r .statement", "for scripts"},
		{"ctxd memory show 42 --audience remote", "as a model on another machine reads it"},
	}
}

// shownMemory is what --json prints.
type shownMemory struct {
	*record.Memory
	Versions []record.MemoryVersion `json:"versions,omitempty"`
}

func (c *showMemory) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		m, err := connect.FindMemory(a.Ctx, cl, c.Memory)
		if err != nil {
			return err
		}
		out := shownMemory{Memory: m}
		if c.Versions {
			var list protocol.MemoryVersions
			if err := cl.Call(a.Ctx, "memory.versions", protocol.MemoryRef{Ref: m.ID}, &list); err != nil {
				return err
			}
			out.Versions = list.Versions
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		inspect.DrawMemory(a.Out, m)
		inspect.DrawVersions(a.Out, out.Versions)
		return nil
	})
}
