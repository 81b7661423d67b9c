package lsp

import (
	"context"
	"io"
)

// ClientName is the name under which the daemon knows this client.
const ClientName = "ctxd-lsp"

// Features are what the server can do.
func Features() []Feature {
	return []Feature{
		CompletionFeature(),
		renameFeature(),
		navigationFeature(),
		OutlineFeature(),
		hintsFeature(),
		diagnosticsFeature(commandActions),
		commandsFeature(),
	}
}

// Serve speaks to one editor, with every feature. See ServeFeatures.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	return ServeFeatures(ctx, in, out, opts, Features())
}
