package mcp

import (
	"context"
	"errors"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
)

// maxCalls is how many calls of a host are worked on at once; the daemon takes
// no more than 64 of a connection.
const maxCalls = 16

// daemon is a connection to the daemon. It dials when a call needs it, and again
// after the connection was lost.
type daemon struct {
	dial       func(context.Context) (*client.Client, error)
	dialFailed func(error) // is called with the error of each failed dial; may be nil

	lock   chan struct{}  // holds one token: who takes it may read and set client
	client *client.Client // nil until the first dial succeeds
}

func newDaemon(dial func(context.Context) (*client.Client, error), dialFailed func(error)) *daemon {
	d := &daemon{dial: dial, dialFailed: dialFailed, lock: make(chan struct{}, 1)}
	d.lock <- struct{}{}
	return d
}

// connect returns the connection, a new one if there is none or it has ended. dead
// is a connection that the caller knows has ended, nil for none.
func (d *daemon) connect(ctx context.Context, dead *client.Client) (*client.Client, error) {
	select {
	case <-d.lock:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { d.lock <- struct{}{} }()
	if d.client != nil && d.client != dead && !hasEnded(d.client) {
		return d.client, nil
	}
	c, err := d.dial(ctx)
	if err != nil {
		d.client = nil
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if d.dialFailed != nil {
			d.dialFailed(err)
		}
		// The cause may name paths of this machine, so it goes to the log only.
		var other *client.VersionError
		if errors.As(err, &other) {
			return nil, fault.Wrap(fault.Unavailable, err, "%s", other.Error()).WithHint("tell the user: %s", other.Hint())
		}
		return nil, fault.Wrap(fault.Unavailable, err, "cannot connect to the ctxd daemon").
			WithHint("ask the user to start it with: ctxd serve --vault FOLDER; then call again")
	}
	d.client = c
	return c, nil
}

// hasEnded reports whether a connection has ended.
func hasEnded(c *client.Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// call calls a method that reads. One that fails because the connection was
// lost is called once more on a new one.
func (d *daemon) call(ctx context.Context, method string, params, result any) error {
	c, err := d.connect(ctx, nil)
	if err != nil {
		return err
	}
	err = c.Call(ctx, method, params, result)
	if err == nil || ctx.Err() != nil || fault.KindOf(err) != fault.Unavailable || isAnswer(err) && !hasEnded(c) {
		return err
	}
	c, err = d.connect(ctx, c)
	if err != nil {
		return err
	}
	return c.Call(ctx, method, params, result)
}

// once calls a method that changes records: not again when the connection breaks, for
// then it is not known what became of the change.
func (d *daemon) once(ctx context.Context, method string, params, result any) error {
	c, err := d.connect(ctx, nil)
	if err != nil {
		return err
	}
	err = c.Call(ctx, method, params, result)
	if err == nil || ctx.Err() != nil || fault.KindOf(err) != fault.Unavailable || isAnswer(err) {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the connection to the daemon was lost; the change may have been made").
		WithHint("read the record before you call again")
}

// isAnswer reports whether an error came from the daemon. Another error may be known
// before the client has read the end of the connection.
func isAnswer(err error) bool {
	var answer *client.Error
	return errors.As(err, &answer)
}

// close closes the connection.
func (d *daemon) close() {
	<-d.lock
	defer func() { d.lock <- struct{}{} }()
	if d.client != nil {
		_ = d.client.Close() // nothing is under way
	}
}
