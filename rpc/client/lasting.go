package client

// A [ReconnectingConn] is a connection to the daemon that outlives it, for programs that run for longer than one: ctxd
// mcp and ctxd lsp.
//
// It dials when a call needs it, and again after the connection was lost. Call, for methods that read, repeats a call
// that the loss of the connection broke off; Once, for methods that change records, does not, since nobody knows then
// what became of the change. Errors are those of the daemon, or a fault.Unavailable with the hint of the
// ReconnectOptions where there is no daemon. Any number of goroutines may call it.

import (
	"context"
	"errors"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// ReconnectOptions say how to connect.
type ReconnectOptions struct {
	// Dial makes a connection. It is called for the first call, and again after the
	// connection was lost.
	Dial   func(context.Context) (*Client, error)
	Failed func(error) // is called with the error of each failed dial; may be nil
	Hint   string      // of the error of a call that found no daemon
}

// ReconnectingConn is a connection to the daemon that outlives it. New makes one.
type ReconnectingConn struct {
	opts ReconnectOptions

	lock   chan struct{} // holds one token: who takes it may read and set client
	client *Client       // nil until the first dial succeeds
}

// NewReconnectingConn makes a connection, which is dialled when a call needs it.
func NewReconnectingConn(o ReconnectOptions) *ReconnectingConn {
	d := &ReconnectingConn{opts: o, lock: make(chan struct{}, 1)}
	d.lock <- struct{}{}
	return d
}

// connect returns the connection, a new one if there is none or it has ended. dead
// is a connection that the caller knows has ended, nil for none.
func (d *ReconnectingConn) connect(ctx context.Context, dead *Client) (*Client, error) {
	select {
	case <-d.lock:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { d.lock <- struct{}{} }()
	if d.client != nil && d.client != dead && !hasEnded(d.client) {
		return d.client, nil
	}
	c, err := d.opts.Dial(ctx)
	if err != nil {
		d.client = nil
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if d.opts.Failed != nil {
			d.opts.Failed(err)
		}
		// The cause may name paths of this machine, so it goes to the log only.
		var other *VersionError
		if errors.As(err, &other) {
			return nil, fault.Wrap(fault.Unavailable, err, "%s", other.Error()).WithHint("tell the user: %s", other.Hint())
		}
		return nil, fault.Wrap(fault.Unavailable, err, "cannot connect to the ctxd daemon").
			WithHint("%s", d.opts.Hint)
	}
	d.client = c
	return c, nil
}

// hasEnded reports whether a connection has ended.
func hasEnded(c *Client) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// Call calls a method that reads. One that fails because the connection was
// lost is called once more on a new one.
func (d *ReconnectingConn) Call(ctx context.Context, method string, params, result any) error {
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

// Once calls a method that changes records: not again when the connection breaks, for
// then it is not known what became of the change.
func (d *ReconnectingConn) Once(ctx context.Context, method string, params, result any) error {
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

// Job calls a method that takes long, with its progress. Like Once it is not repeated.
func (d *ReconnectingConn) Job(ctx context.Context, method string, params, result any, progress func(protocol.Progress)) error {
	c, err := d.connect(ctx, nil)
	if err != nil {
		return err
	}
	return c.CallProgress(ctx, method, params, result, progress)
}

// Connected connects if there is no connection. It calls nothing.
func (d *ReconnectingConn) Connected(ctx context.Context) error {
	_, err := d.connect(ctx, nil)
	return err
}

// isAnswer reports whether an error came from the daemon. Another error may be known
// before the client has read the end of the connection.
func isAnswer(err error) bool {
	var answer *Error
	return errors.As(err, &answer)
}

// Close closes the connection.
func (d *ReconnectingConn) Close() {
	<-d.lock
	defer func() { d.lock <- struct{}{} }()
	if d.client != nil {
		_ = d.client.Close() // nothing is under way
	}
}
