package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/lsp"
)

type lspCmd struct {
	connect.AttachFlags
	Stdio bool `help:"Use standard input and output, as is done without this flag too: some editors give it."`
}

func (lspCmd) Help() string {
	return "For editors that speak the Language Server Protocol (LSP): it completes links, tags, fields and mentions, " +
		"shows what they lead to, and finds what leads to a note. " +
		"What is typed counts before it is saved. Nothing is ever written into your files by ctxd. " +
		"The vault of a note is found by .ctxd, .obsidian, .logseq or .git above it; one that the daemon does not have is imported " +
		"and followed after a question, which is asked once a folder, see the setting ctxd.import. " +
		"If no daemon answers, one is started; if the daemon goes away, the next request connects again."
}

func (lspCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd lsp", "the command to configure in the editor, for Markdown files"},
		{"ctxd lsp --no-start", "only if a daemon already runs"},
	}
}

func (c *lspCmd) Run(a *app) error {
	if a.Err.Terminal && a.Out.Terminal {
		a.Err.Say(term.Styled(term.Faint, "LSP: one JSON-RPC message a line, or with Content-Length; Ctrl-D stops"))
	}
	declined := ""
	if conf, err := a.Load(c.Options().Given); err == nil { // else the first call of the daemon says what is wrong with it
		declined = conf.DeclinedPath()
	}
	err := lsp.Serve(a.Ctx, a.In, os.Stdout, lsp.Options{
		Dial:     func(ctx context.Context, as client.Options) (*client.Client, error) { return c.dial(ctx, a, as) },
		Page:     inspect.ContextPage,
		Declined: declined,
		Version:  term.ProgramVersion(),
		Logger:   slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Cancelled, err, "interrupted")
	}
	return err
}

// dial connects to the daemon, and starts one when none runs.
func (c *lspCmd) dial(ctx context.Context, a *app, as client.Options) (*client.Client, error) {
	conn, err := a.Attach(ctx, c.Options())
	if err != nil {
		return nil, err
	}
	as.Name, as.Version = lsp.ClientName, term.ProgramVersion()
	return client.New(ctx, conn, as)
}
