package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type mcpCmd struct {
	connect.AttachFlags
	IncludePrivate bool `help:"Include private notes and entities. Only for a host whose model runs on this machine."`
	AllowWrite     bool `help:"Offer tools that write memories, and notes and entities outside vaults, and that propose edits of vault files as diffs. No file is ever written."`
}

func (mcpCmd) Help() string {
	return "For assistants and agents that use tools over the Model Context Protocol (MCP): " +
		"they search and read your notes, assemble the context of a message, look up entities and walk the graph. " +
		"Nothing can be changed without --allow-write, and files of vaults never. " +
		"The host sends what it gets to its model, which usually runs on another machine. " +
		"Private notes, the entities made from them and links to them are therefore withheld as if they did not " +
		"exist, unless you give --include-private. " +
		"If no daemon answers, one is started; if the daemon goes away, the next request connects again."
}

func (mcpCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd mcp", "the command to configure in the host"},
		{`{"mcpServers":{"notes":{"command":"ctxd","args":["mcp"]}}}`, "the same in the settings file of most hosts"},
		{"ctxd mcp --no-start", "only if a daemon already runs"},
		{"ctxd mcp --include-private", "for a model on this machine"},
		{"ctxd mcp --allow-write", "for an assistant that keeps notes for you"},
	}
}

func (c *mcpCmd) Run(a *app) error {
	if a.Err.Terminal && a.Out.Terminal {
		a.Err.Say(term.Styled(term.Faint, "MCP: one JSON-RPC message a line; Ctrl-D stops"))
	}
	conf, err := a.Load(nil)
	if err != nil {
		return err
	}
	ask := conf.Records.AskForOutcome
	if !conf.Records.Features.Learns(protocol.SettingMemoryOutcomes) {
		ask = config.AskNobody
	}
	return mcp.Serve(a.Ctx, a.In, os.Stdout, mcp.Options{
		Dial: func(ctx context.Context, as client.Options) (*client.Client, error) {
			return c.dial(ctx, a, as)
		},
		IncludePrivate: c.IncludePrivate,
		AllowWrite:     c.AllowWrite,
		NoAsking:       ask != config.AskMCP && ask != config.AskAll,
		Version:        term.ProgramVersion(),
		Logger:         slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// dial connects to the daemon, and starts one when none runs.
func (c *mcpCmd) dial(ctx context.Context, a *app, as client.Options) (*client.Client, error) {
	conn, err := a.Attach(ctx, c.Options())
	if err != nil {
		return nil, err
	}
	as.Name, as.Version = mcp.ClientName, term.ProgramVersion()
	return client.New(ctx, conn, as)
}
