package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
)

type mcpCmd struct {
	connect.AttachFlags
	IncludePrivate bool `help:"Show private notes and entities too. Only for a host whose model runs on this machine."`
	AllowWrite     bool `help:"Offer tools that write notes and entities of no vault, and that propose edits of files as diffs. No file is ever written."`
}

func (mcpCmd) Help() string {
	return "For assistants and agents that take tools over the Model Context Protocol: they search and read your notes, gather the context of a message, " +
		"look up entities and walk the graph. Nothing is changed without --allow-write, and no file of a vault with it. " +
		"What a host gets, it sends to its model, which is mostly not on this machine: private notes, the entities made from them and links to them are withheld, " +
		"as if they did not exist, unless you say --include-private. " +
		"A daemon is started when none answers; after it has gone, the next request attaches anew."
}

func (mcpCmd) Examples() []command.Example {
	return []command.Example{
		{"ctxd mcp", "what to set as the command of a server in the host"},
		{`{"mcpServers":{"notes":{"command":"ctxd","args":["mcp"]}}}`, "the same, as most hosts have it in their settings"},
		{"ctxd mcp --no-start", "only while a daemon runs"},
		{"ctxd mcp --include-private", "for a model on this machine"},
		{"ctxd mcp --allow-write", "for an assistant that keeps notes for you"},
	}
}

func (c *mcpCmd) Run(a *app) error {
	if a.Err.Terminal && a.Out.Terminal {
		a.Err.Say(term.Styled(term.Faint, "MCP: one JSON-RPC message a line; Ctrl-D ends it"))
	}
	return mcp.Serve(a.Ctx, a.In, os.Stdout, mcp.Options{
		Dial: func(ctx context.Context, as client.Options) (*client.Client, error) {
			return c.dial(ctx, a, as)
		},
		IncludePrivate: c.IncludePrivate,
		AllowWrite:     c.AllowWrite,
		Version:        command.Version(),
		Logger:         slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// dial connects to the daemon, and starts one when none runs.
func (c *mcpCmd) dial(ctx context.Context, a *app, as client.Options) (*client.Client, error) {
	conn, err := a.Attach(ctx, c.Options())
	if err != nil {
		return nil, err
	}
	as.Name, as.Version = "ctxd-mcp", command.Version()
	return client.New(ctx, conn, as)
}
