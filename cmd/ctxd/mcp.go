package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type mcpCmd struct {
	connect.AttachFlags
	IncludePrivate bool       `help:"Include private notes and entities. Only for a host whose model runs on this machine."`
	AllowWrite     allowWrite `default:"ask" help:"Whether the host may write memories, notes and entities: ask has it ask you before each write, yes (or nothing behind it) does not, no offers no tool that writes. Default: ask."`
	Tools          string     `default:"core" placeholder:"core|all|NAME,…" help:"Tools to offer: core, eight that do for most hosts; all; or names. Default: core."`
	HTTP           string     `name:"http" placeholder:"ADDRESS" help:"Serve over HTTP, for hosts that start no program: unix:PATH, 127.0.0.1:PORT or [::1]:PORT. Each request needs the token."`
	TokenFile      string     `placeholder:"FILE" help:"With --http: read the token from this file, which only you may read. Default: make one and print it once."`
}

// allowWrite is whether a host may write: yes, ask or no.
type allowWrite string

// IsBool has the flag stand without a value.
func (*allowWrite) IsBool() bool { return true }

// Decode reads the word behind =.
func (w *allowWrite) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		*w = "yes"
		return nil
	}
	*w = allowWrite(ctx.Scan.Pop().String())
	if !slices.Contains([]allowWrite{"yes", "ask", "no"}, *w) {
		return fmt.Errorf("must be yes, ask or no, not %q", string(*w))
	}
	return nil
}

func (mcpCmd) Help() string {
	return "For assistants and agents that use tools over the Model Context Protocol (MCP): " +
		"they search and read your notes, assemble the context of a message, look up entities and recall what you told. " +
		"Of the tools it offers eight, which cost a conversation little and which models choose among well; " +
		"--tools all offers each. " +
		"Before a write the host asks you; one that can't ask is refused, unless you give --allow-write=yes. " +
		"Files of vaults are only written where the setting vault.write allows it. " +
		"The host sends what it gets to its model, which usually runs on another machine. " +
		"Private notes, the entities made from them and links to them are therefore withheld as if they did not " +
		"exist, unless you give --include-private. " +
		"If no daemon answers, one is started; if the daemon goes away, the next request connects again. " +
		"With --http this process listens, at an address that only this machine reaches; the daemon opens no port."
}

func (mcpCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd mcp", "the command to configure in the host"},
		{`{"mcpServers":{"notes":{"command":"ctxd","args":["mcp"]}}}`, "the same in the settings file of most hosts"},
		{"ctxd mcp --no-start", "only if a daemon already runs"},
		{"ctxd mcp --include-private", "for a model on this machine"},
		{"ctxd mcp --tools all --allow-write=yes", "for an assistant that keeps notes for you"},
		{"ctxd mcp --tools core,append_to_note", "the small set and a tool of the large one"},
		{"ctxd mcp --http 127.0.0.1:7420", "for hosts that only speak HTTP; prints the token"},
	}
}

func (c *mcpCmd) Run(a *app) error {
	tools, err := mcp.ChooseTools(c.Tools)
	if err != nil {
		return err
	}
	if c.TokenFile != "" && c.HTTP == "" {
		return fault.Field("token-file", "--token-file is of use with --http alone")
	}
	conf, err := a.Load(nil)
	if err != nil {
		return err
	}
	ask := conf.Records.AskForOutcome
	if !conf.Records.Features.Learns(protocol.SettingMemoryOutcomes) {
		ask = config.AskNobody
	}
	opts := mcp.Options{
		Dial: func(ctx context.Context, as client.Options) (*client.Client, error) {
			return c.dial(ctx, a, as)
		},
		IncludePrivate: c.IncludePrivate,
		AllowWrite:     c.AllowWrite == "yes",
		AskToWrite:     c.AllowWrite == "ask",
		Tools:          tools,
		NoAsking:       ask != config.AskMCP && ask != config.AskAll,
		Version:        term.ProgramVersion(),
		Logger:         slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if c.HTTP != "" {
		return c.serveHTTP(a, opts)
	}
	if a.Err.Terminal && a.Out.Terminal {
		a.Err.Say(term.Styled(term.Faint, "MCP: one JSON-RPC message a line; Ctrl-D stops"))
	}
	return mcp.Serve(a.Ctx, a.In, os.Stdout, opts)
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
