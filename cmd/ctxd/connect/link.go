package connect

import (
	"context"
	"errors"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
)

// Link is the way from a command to the daemon. It is made for one command.
type Link struct {
	*config.Flags
	Ctx  context.Context // of the command; it ends with the first interrupt
	Warn func(error)     // says what of the configuration can't be used; nil says nothing
}

// socketPath returns the socket of the daemon. That something else of the configuration
// can't be used is a warning: a command that speaks to a running daemon needs no more.
func (l *Link) socketPath() (string, error) {
	path, problem, err := l.Reach()
	if problem != nil && l.Warn != nil {
		l.Warn(problem)
	}
	return path, err
}

// Dial connects to the running daemon.
func (l *Link) Dial() (*client.Client, error) { return l.DialWith(client.Options{}) }

// DialWith is dial with options, but for the name and version.
func (l *Link) DialWith(opts client.Options) (*client.Client, error) {
	path, err := l.socketPath()
	if err != nil {
		return nil, err
	}
	return l.DialTo(path, opts)
}

// DialTo is dialWith for the daemon on another socket.
func (l *Link) DialTo(path string, opts client.Options) (*client.Client, error) {
	opts.Name, opts.Version = "ctxd-cli", term.ProgramVersion()
	c, err := client.Dial(l.Ctx, path, opts)
	if err != nil && l.Ctx.Err() == nil && !errors.As(err, new(*client.Error)) {
		return nil, &term.Unreachable{Socket: path, Err: err}
	}
	return c, err
}

// ConnectionGone is the error of a connection that the daemon has ended.
func (l *Link) ConnectionGone() error {
	path, err := l.socketPath()
	if err != nil {
		return err
	}
	return ConnectionGone(l.Ctx, path)
}

// Lost returns the error of a view that lives on one connection: when that has
// ended, says so, whatever the call that noticed it says.
func (l *Link) Lost(cl *client.Client, err error) error {
	select {
	case <-cl.Done():
		return l.ConnectionGone()
	default:
		return err
	}
}

// With calls the daemon on a connection of its own, for a local reader.
func (l *Link) With(fn func(c *client.Client) error) error { return l.WithFor(Audience{}, fn) }

// WithFor is With for the reader of a command.
func (l *Link) WithFor(who Audience, fn func(c *client.Client) error) error {
	c, err := l.DialWith(who.Options())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the answer is here
	return who.Explain(fn(c))
}

// ConnectionGone is the error of a connection to the socket at path that ended
// before the client wanted it to. A daemon that is being killed may still take
// connections, and answers none.
func ConnectionGone(ctx context.Context, path string) error {
	if HealthOf(ctx, path) != nil {
		return fault.New(fault.Unavailable, "the daemon has closed the connection").WithHint("ctxd inspect log shows why")
	}
	return &term.Unreachable{
		Socket: path,
		Err: fault.New(fault.Unavailable, "the daemon has stopped, and closed the connection to").
			WithHint("ctxd serve"),
	}
}
