package lsp

import (
	"context"
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/entities/fault"
)

// notFound reports whether the daemon has no such record.
func notFound(err error) bool { return err != nil && fault.KindOf(err) == fault.NotFound }

// errModified ends a request whose document has changed.
var errModified = &jsonrpc2.Error{Code: CodeContentModified, Message: "the document has changed"}

// wireError makes the error that an editor gets.
func wireError(ctx context.Context, err error) *jsonrpc2.Error {
	var own *jsonrpc2.Error
	var f *fault.Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil:
		return &jsonrpc2.Error{Code: CodeRequestCancelled, Message: "the request was withdrawn"}
	case errors.As(err, &f):
		text := f.Msg
		if f.Hint != "" {
			text += " (try: " + f.Hint + ")"
		}
		return &jsonrpc2.Error{Code: CodeRequestFailed, Message: text}
	}
	return &jsonrpc2.Error{Code: CodeRequestFailed, Message: err.Error()}
}
