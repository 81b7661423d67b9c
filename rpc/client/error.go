package client

import (
	"fmt"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Error is an error that the daemon answered with. Unwrap gives it as a
// *fault.Error, so that a caller need not care whether a room is in the same
// process.
type Error struct {
	Code    int // see the codes of rpc/protocol
	Message string
	Data    protocol.ErrorData
}

func newError(e *protocol.Error) *Error {
	out := &Error{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		out.Data = *e.Data
	}
	return out
}

// Error returns the message with its code.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// kinds maps the wire codes to faults; any other code is Internal.
var kinds = map[int]fault.Kind{
	protocol.CodeInvalidParams: fault.Invalid, protocol.CodeNotFound: fault.NotFound,
	protocol.CodeConflict: fault.Conflict, protocol.CodeUnavailable: fault.Unavailable,
	protocol.CodeLimit: fault.Limit, protocol.CodeDeadline: fault.Deadline,
	protocol.CodeQuery: fault.Query, protocol.CodeCancelled: fault.Cancelled,
	protocol.CodeMethodNotFound: fault.Invalid, protocol.CodeInvalidRequest: fault.Invalid,
}

// Unwrap returns the same failure as a *fault.Error.
func (e *Error) Unwrap() error {
	return &fault.Error{
		Kind: kinds[e.Code], Reason: e.Data.Reason, Version: e.Data.Version, Msg: e.Message, Ref: e.Data.Ref, Field: e.Data.Field, Hint: e.Data.Hint,
		Retryable: e.Data.Retryable, Line: e.Data.Line, Column: e.Data.Column, Candidates: e.Data.Candidates, Sides: e.Data.Sides,
	}
}
