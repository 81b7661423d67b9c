package client

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// VersionError says that this program and the daemon speak versions of the protocol that
// can't be used together. It wraps an *Error, since it is what the daemon's answer means.
type VersionError struct {
	Client  string // the version of the protocol that this program speaks
	Daemon  string // that of the daemon
	Program string // the version of the daemon itself, "" when it did not say
	Fit     protocol.Fit
}

// Error says which of the two is older.
func (e *VersionError) Error() string {
	daemon := "the daemon"
	if e.Program != "" {
		daemon += " (version " + e.Program + ")"
	}
	if e.Fit == protocol.ClientOld {
		return "this program is older than " + daemon + ": it speaks protocol " + e.Client + ", the daemon " + e.Daemon
	}
	return daemon + " is older than this program: it speaks protocol " + e.Daemon + ", this program " + e.Client
}

// Hint says what to do about it.
func (e *VersionError) Hint() string {
	if e.Fit == protocol.ClientOld {
		return "update this program"
	}
	return restart
}

// restart is the hint about a daemon that is older than its client. One that was started
// before the program was updated goes on as it was.
const restart = "restart the daemon with a newer ctxd: ctxd stop, then ctxd serve"

// Unwrap gives the error as one of the daemon.
func (e *VersionError) Unwrap() error {
	return &Error{
		Code: protocol.CodeUnavailable, Message: e.Error(),
		Data: protocol.ErrorData{Kind: fault.Unavailable.String(), Hint: e.Hint()},
	}
}

// versionError returns an error when this program can't use a daemon that speaks a version
// of the protocol. One that names none is taken as it is.
func versionError(daemon, program string) error {
	if daemon == "" {
		return nil
	}
	fit, err := protocol.FitOf(protocol.Version, daemon)
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "the daemon names no version of its protocol")
	case fit.Together():
		return nil
	}
	return &VersionError{Client: protocol.Version, Daemon: daemon, Program: program, Fit: fit}
}

// refused finds out why the daemon refused the handshake: it describes its protocol before
// one. The error that it gave stays where that tells nothing.
func (c *Client) refused(ctx context.Context, refusal error) error {
	var e *Error
	if !errors.As(refusal, &e) || e.Code != protocol.CodeUnavailable || e.Data.Retryable {
		return refusal
	}
	var doc struct{ Info struct{ Version string } }
	if err := c.Call(ctx, "rpc.discover", protocol.Empty{}, &doc); err != nil {
		return refusal
	}
	var health struct{ Version string }
	if err := c.Call(ctx, "admin.health", protocol.Empty{}, &health); err != nil {
		health.Version = "" // it is not needed
	}
	var other *VersionError
	if err := versionError(doc.Info.Version, health.Version); errors.As(err, &other) {
		return other
	}
	return refusal
}

// older adds to an error what it comes from when the daemon does not know a method of this
// program's contract: it was built from an older one.
func older(method string, e *Error) *Error {
	if e.Code == protocol.CodeMethodNotFound && slices.Contains(protocol.Names(), method) {
		e.Message += "; the daemon is older than this program"
		e.Data.Hint = restart
	}
	return e
}
