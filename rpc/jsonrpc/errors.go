package jsonrpc

import (
	"fmt"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// NewError makes an error of the protocol itself, which no fault of a room stands
// for.
func NewError(code int, hint, format string, args ...any) *protocol.Error {
	return &protocol.Error{
		Code: code, Message: fmt.Sprintf(format, args...),
		Data: &protocol.ErrorData{Kind: kindOf(code), Hint: hint},
	}
}

func kindOf(code int) string {
	for _, c := range protocol.Codes {
		if c.Code == code {
			return c.Kind
		}
	}
	return fault.Internal.String()
}

// LimitError makes the error of what is over a limit.
func LimitError(retryable bool, hint, format string, args ...any) *protocol.Error {
	e := NewError(protocol.CodeLimit, hint, format, args...)
	e.Data.Retryable = retryable
	return e
}

// Cancelled makes the error of a call that was withdrawn.
func Cancelled() *protocol.Error {
	return NewError(protocol.CodeCancelled, "", "the call was cancelled")
}
