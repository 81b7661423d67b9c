package rpc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// codes maps the kinds of faults to the wire. This is the only place that does.
var codes = map[fault.Kind]int{
	fault.Internal: protocol.CodeInternal, fault.Invalid: protocol.CodeInvalidParams,
	fault.NotFound: protocol.CodeNotFound, fault.Conflict: protocol.CodeConflict,
	fault.Unavailable: protocol.CodeUnavailable, fault.Limit: protocol.CodeLimit,
	fault.Deadline: protocol.CodeDeadline, fault.Query: protocol.CodeQuery, fault.Cancelled: protocol.CodeCancelled,
}

// A wireError is an error of the protocol itself, which no fault stands for.
type wireError protocol.Error

func (e *wireError) Error() string { return e.Message }

// rejected makes an error that toWire shows with a code of the protocol.
func rejected(e *protocol.Error) error { return (*wireError)(e) }

// toWire maps an error to what the client sees. A fault is shown as it is; any
// other error is a defect of ours, of which the log has what it is under the id
// that the client is told.
func toWire(ctx context.Context, log *slog.Logger, method string, err error) *protocol.Error {
	var own *wireError
	if errors.As(err, &own) {
		return (*protocol.Error)(own)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return &protocol.Error{Code: codes[f.Kind], Message: shorten(f.Msg), Data: &protocol.ErrorData{
			Kind: f.Kind.String(), Ref: shorten(f.Ref), Field: shorten(f.Field), Hint: shorten(f.Hint),
			Retryable: f.Retryable, Reason: f.Reason, Version: f.Version,
			Line: f.Line, Column: f.Column, Candidates: f.Candidates, Sides: f.Sides,
		}}
	}
	switch fault.KindOf(err) {
	case fault.Cancelled:
		return jsonrpc.Cancelled()
	case fault.Deadline:
		e := jsonrpc.NewError(protocol.CodeDeadline, "ask for less, or try again later", "the call took too long")
		e.Data.Retryable = true
		return e
	}
	return incident(ctx, log, method, slog.String("error", outline(err)))
}

// errorText is how many bytes a string of an error has at most.
const errorText = 1 << 10

// shorten bounds a string of an error: it may tell back what a client gave, which
// may have been megabytes.
func shorten(s string) string {
	if len(s) <= errorText {
		return s
	}
	return strings.ToValidUTF8(s[:errorText], "") + "…"
}

// outline says what an error is made of: the types of its chain, what was being
// done, and what the operating system said. Its messages are left out: those of
// other people's packages quote paths and what a user wrote.
func outline(err error) string {
	what := fmt.Sprintf("%T", err)
	switch e := err.(type) { //nolint:errorlint // one link of the chain at a time
	case *fault.Error:
		what += " " + e.Kind.String()
		if e.Op != "" {
			what += " in " + e.Op
		}
	case syscall.Errno:
		what += " " + e.Error()
	}
	for _, cause := range causes(err) {
		what += " <- " + outline(cause)
	}
	return what
}

func causes(err error) []error {
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	}
	return nil
}

// incident logs a defect and makes the error that names it.
func incident(ctx context.Context, log *slog.Logger, method string, detail ...slog.Attr) *protocol.Error {
	var id [6]byte
	_, _ = rand.Read(id[:]) // never fails
	ref := "incident-" + hex.EncodeToString(id[:])
	log.LogAttrs(ctx, slog.LevelError, "internal error",
		append([]slog.Attr{slog.String("incident", ref), slog.String("method", method)}, detail...)...)
	e := jsonrpc.NewError(protocol.CodeInternal,
		"report it with the incident id; the log of the daemon has the details under it", "internal error (%s)", ref)
	e.Data.Ref = ref
	return e
}

// panicked makes an incident of a recovered panic. What was thrown is logged
// only when it is the runtime's: another message may hold what a user wrote.
func panicked(ctx context.Context, log *slog.Logger, method string, thrown any) *protocol.Error {
	what := fmt.Sprintf("%T", thrown)
	if e, ok := thrown.(runtime.Error); ok {
		what = e.Error()
	}
	return incident(ctx, log, method, slog.String("panic", what), slog.String("stack", string(debug.Stack())))
}
