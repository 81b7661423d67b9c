package lsp

import (
	"context"
	"io"

	"github.com/ctxd/ctxd/rpc/lsp/commands"
	"github.com/ctxd/ctxd/rpc/lsp/complete"
	"github.com/ctxd/ctxd/rpc/lsp/diagnose"
	"github.com/ctxd/ctxd/rpc/lsp/hints"
	"github.com/ctxd/ctxd/rpc/lsp/navigate"
	"github.com/ctxd/ctxd/rpc/lsp/outline"
	"github.com/ctxd/ctxd/rpc/lsp/rename"
	"github.com/ctxd/ctxd/rpc/lsp/server"
)

// ClientName is the name under which the daemon knows this client.
const ClientName = "ctxd-lsp"

// Features are what the server can do.
func Features() []server.Feature {
	return []server.Feature{
		complete.Feature(),
		rename.Feature(),
		navigate.Feature(),
		outline.Feature(),
		hints.Feature(),
		diagnose.Feature(commands.Actions),
		commands.Feature(),
	}
}

// Serve speaks to one editor, with every feature. See server.Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts server.Options) error {
	return server.Serve(ctx, in, out, opts, Features())
}
