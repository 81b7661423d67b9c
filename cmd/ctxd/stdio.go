package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

type stdioCmd struct {
	connect.AttachFlags
}

func (stdioCmd) Help() string {
	return "For editors and other programs that start a language server and talk to it over standard input and output. " +
		"Messages pass through unchanged, in either framing, and nothing else is printed to standard output. " +
		"If no daemon answers, one is started; it serves all programs of the user. " +
		"When standard input ends, the outstanding replies are still written."
}

func (stdioCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd stdio", "the command to configure in an editor"},
		{"ctxd stdio --no-start", "only if a daemon already runs"},
		{"ctxd stdio < requests.jsonl", "one JSON-RPC message a line; prints the replies and ends"},
	}
}

func (c *stdioCmd) Run(a *app) error {
	conn, err := a.Attach(a.Ctx, c.Options())
	if err != nil {
		return err
	}
	if a.Err.Terminal && a.Out.Terminal {
		a.Err.Say(term.Styled(term.Faint, "connected: one JSON-RPC message a line; Ctrl-D stops"))
	}
	b := &bridge{conn: conn, in: a.In, out: os.Stdout, patience: quietEnd}
	return b.run(a.Ctx)
}

// bridge carries bytes between a connection and a pair of streams.
type bridge struct {
	conn net.Conn
	in   io.Reader
	out  io.Writer

	patience time.Duration // quietEnd, but in tests
	quiet    atomic.Bool   // the replies are over when none has come for so long
}

const (
	bridgeBuffer = 64 << 10
	// quietEnd is how long replies may stay away after the end of the input
	// where a connection can't be closed by halves: nobody says then that they
	// are all there.
	quietEnd = 2 * time.Second
)

// pumped says why no more bytes are carried. Without errors the source ended.
type pumped struct{ read, write error }

// run returns when the input has ended and the replies to it are written, or
// when the connection is over. The connection belongs to it. The input may
// still be read from when it returns.
func (b *bridge) run(ctx context.Context) error {
	hangUp := func() { _ = b.conn.Close() } // what was due has been written
	defer context.AfterFunc(ctx, hangUp)()
	defer hangUp()
	var sent tail
	up, down := make(chan pumped, 1), make(chan pumped, 1)
	go func() { up <- pump(b.conn, io.TeeReader(b.in, &sent), nil) }()
	go func() { down <- pump(b.out, b.conn, b.beforeRead) }()
	ended := false
	for {
		select {
		case p := <-up:
			up = nil
			if p.read != nil {
				return fault.Wrap(fault.Unavailable, p.read, "cannot read standard input")
			}
			ended = p.write == nil
			if ended {
				b.closeInput()
			}
		case p := <-down:
			switch {
			case ctx.Err() != nil:
				return fault.Wrap(fault.Cancelled, ctx.Err(), "interrupted")
			case p.write != nil:
				return fault.Wrap(fault.Unavailable, p.write, "cannot write standard output")
			case ended && p.read == nil, sent.isExit():
				return nil
			}
			return connect.ConnectionGone(ctx, b.conn.RemoteAddr().String())
		}
	}
}

// pump copies what comes as it comes. before is called before each read.
func pump(to io.Writer, from io.Reader, before func()) (p pumped) {
	buf := make([]byte, bridgeBuffer)
	for {
		if before != nil {
			before()
		}
		n, err := from.Read(buf)
		if n > 0 {
			_, p.write = to.Write(buf[:n])
			if p.write != nil {
				return p
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
			return p
		case err != nil:
			p.read = err
			return p
		}
	}
}

// closeInput tells the daemon that nothing more comes.
func (b *bridge) closeInput() {
	if half, ok := b.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	b.quiet.Store(true)
	b.beforeRead()
}

func (b *bridge) beforeRead() {
	if b.quiet.Load() {
		_ = b.conn.SetReadDeadline(time.Now().Add(b.patience)) // a connection that takes none is at its end
	}
}

// tail keeps the end of what is written to it: enough for a short message. It
// may be read while it is written to.
type tail struct {
	mu    sync.Mutex // guards bytes
	bytes []byte
}

const tailSize = 256

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p[max(0, len(p)-tailSize):]...)
	t.bytes = append(t.bytes[:0], t.bytes[max(0, len(t.bytes)-tailSize):]...)
	return len(p), nil
}

var exitMessage = text.Pattern(`"method"\s*:\s*"exit"`)

// isExit reports whether the client has said that it ends the connection.
func (t *tail) isExit() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return exitMessage().Match(t.bytes)
}
