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

// daemon is a connection to the daemon that is made when it is needed, and made
// again after it was lost.
type daemon struct {
	dial func(context.Context) (*client.Client, error)
	lost func(error) // hears of dials that failed; may be nil

	turn   chan struct{}  // holds one token: whoever took it may use client
	client *client.Client // nil until there is one
}

func newDaemon(dial func(context.Context) (*client.Client, error), lost func(error)) *daemon {
	d := &daemon{dial: dial, lost: lost, turn: make(chan struct{}, 1)}
	d.turn <- struct{}{}
	return d
}

// connect returns the connection, a new one if there is none that lives. dead is
// known to be over, nil for none.
func (d *daemon) connect(ctx context.Context, dead *client.Client) (*client.Client, error) {
	select {
	case <-d.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { d.turn <- struct{}{} }()
	if d.client != nil && d.client != dead && !over(d.client) {
		return d.client, nil
	}
	c, err := d.dial(ctx)
	if err != nil {
		d.client = nil
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if d.lost != nil {
			d.lost(err)
		}
		// The cause may name paths of this machine; it is told to people only.
		return nil, fault.Wrap(fault.Unavailable, err, "the ctxd daemon can't be reached").
			WithHint("ask the user to start it with: ctxd serve --vault FOLDER; then call again")
	}
	d.client = c
	return c, nil
}

// over reports whether a connection has ended.
func over(c *client.Client) bool {
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
	if err == nil || ctx.Err() != nil || fault.KindOf(err) != fault.Unavailable || isAnswer(err) && !over(c) {
		return err
	}
	if c, err = d.connect(ctx, c); err != nil {
		return err
	}
	return c.Call(ctx, method, params, result)
}

// isAnswer reports whether an error came from the daemon. One that did not may be
// known before the end of the connection has been read.
func isAnswer(err error) bool {
	var answer *client.Error
	return errors.As(err, &answer)
}

// close ends the connection.
func (d *daemon) close() {
	<-d.turn
	defer func() { d.turn <- struct{}{} }()
	if d.client != nil {
		_ = d.client.Close() // nothing is under way
	}
}
