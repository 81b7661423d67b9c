package lsp

import (
	"context"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Page returns the page for a browser of a prompt: what went in and why, and its graph. It is made by the program that
// serves; one that makes none is a fault.
func (s *Session) Page(message, audience string, of *prompt.Result) (string, error) {
	if s.opts.Page == nil {
		return "", fault.New(fault.Unavailable, "this program makes no pages").WithHint("ctxd inspect context --html writes one")
	}
	return s.opts.Page(message, audience, of)
}

// Job calls a method of the daemon that takes long, with its progress. It is never called twice.
func (s *Session) Job(ctx context.Context, method string, params, result any, progress func(protocol.Progress)) error {
	return s.daemon.Job(ctx, method, params, result, progress)
}
