package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// defaultWithdraw is how long a call waits for its answer after its context ended.
const defaultWithdraw = 2 * time.Second

// Options say who the client is. The zero value works.
type Options struct {
	Name    string // of the program; "ctxd-go" when empty
	Version string
	// Audience is who reads what the connection is answered: protocol.Local or
	// Remote; that of the daemon's default when empty.
	Audience string
	// OnNotify gets the notifications of the daemon, one at a time and in
	// order; $/progress of calls that asked for it goes to them instead. It
	// must not block and must not call the client.
	OnNotify func(method string, params json.RawMessage)
	// Withdraw is how long a call whose context ended waits for the answer that tells
	// what became of it; 0: two seconds.
	Withdraw time.Duration
	// Bare leaves the handshake out; only methods that answer before it can be
	// called then.
	Bare bool
	// AnyVersion connects whatever version of the protocol the daemon speaks, for what
	// every version has, such as admin.stop.
	AnyVersion bool
}

// Client is one connection to the daemon. Dial or New makes one.
type Client struct {
	conn   net.Conn
	opts   Options
	server protocol.InitializeResult

	writeMu sync.Mutex // held while a message is written

	mu      sync.Mutex // guards everything below
	pending map[uint64]*pending
	last    uint64
	err     error // why the connection is over
	done    chan struct{}
}

// pending is a call that waits for its reply.
type pending struct {
	reply    chan message
	progress func(protocol.Progress)
}

// message is anything that the daemon sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

// Dial connects to the daemon at path (the Path of socket.Resolve) and
// initializes the connection. Without a daemon the error is a retryable
// fault.Unavailable.
func Dial(ctx context.Context, path string, opts Options) (*Client, error) {
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return New(ctx, conn, opts)
}

// New makes a client of a connection, which belongs to it from then on.
func New(ctx context.Context, conn net.Conn, opts Options) (*Client, error) {
	if opts.Name == "" {
		opts.Name = "ctxd-go"
	}
	if opts.Withdraw == 0 {
		opts.Withdraw = defaultWithdraw
	}
	c := &Client{conn: conn, opts: opts, pending: map[uint64]*pending{}, done: make(chan struct{})}
	go c.read()
	if opts.Bare {
		return c, nil
	}
	err := c.initialize(ctx)
	if err == nil {
		err = c.Notify(ctx, protocol.NotifyInitialized, protocol.Empty{})
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// initialize introduces the client, and finds out whether the daemon is of its time.
func (c *Client) initialize(ctx context.Context) error {
	params := protocol.InitializeParams{
		ClientInfo:      protocol.PeerInfo{Name: c.opts.Name, Version: c.opts.Version},
		ProtocolVersion: protocol.Version,
		Audience:        c.opts.Audience,
	}
	if c.opts.AnyVersion {
		params.ProtocolVersion = ""
		return c.Call(ctx, "initialize", params, &c.server)
	}
	err := c.Call(ctx, "initialize", params, &c.server)
	if err != nil {
		return c.refused(ctx, err)
	}
	return versionError(c.server.ProtocolVersion, c.server.ServerInfo.Version)
}

// Server returns what the daemon said of itself, the zero value of a bare
// client.
func (c *Client) Server() protocol.InitializeResult { return c.server }

// Done is closed when the connection is over.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection. Calls that wait end with an error.
func (c *Client) Close() error {
	c.fail(fault.New(fault.Cancelled, "the connection was closed"))
	<-c.done
	return nil
}

// Call sends a request and waits for the reply, which is decoded into result
// unless that is nil. An error of the daemon is an *Error, which wraps a
// *fault.Error; a connection that broke is a retryable fault.Unavailable.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.CallProgress(ctx, method, params, result, nil)
}

// CallProgress is Call with reports of how far the daemon has come. progress is
// called on the goroutine that reads: it must not block nor call the client.
func (c *Client) CallProgress(ctx context.Context, method string, params, result any,
	progress func(protocol.Progress),
) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.KindOf(err), err, "the call was cancelled before it was sent")
	}
	p := &pending{reply: make(chan message, 1), progress: progress}
	id, err := c.register(p)
	if err != nil {
		return err
	}
	defer c.forget(id)
	raw, err := paramsOf(params, id, progress != nil)
	if err != nil {
		return err
	}
	if err := c.write(request(method, raw, id, true)); err != nil {
		return err
	}
	m, err := c.await(ctx, p, id)
	switch {
	case err != nil:
		return err
	case m.Error != nil:
		return older(method, newError(m.Error))
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fault.Wrap(fault.Internal, err, "cannot read the daemon's reply to %s", method)
	}
	return nil
}

// await returns the reply of a call.
func (c *Client) await(ctx context.Context, p *pending, id uint64) (message, error) {
	select {
	case m := <-p.reply:
		return m, nil
	case <-c.done:
		return c.late(p)
	case <-ctx.Done():
	}
	cancel := strconv.AppendUint([]byte(`{"id":`), id, 10)
	if err := c.write(request(protocol.NotifyCancel, append(cancel, '}'), 0, false)); err != nil {
		return message{}, err
	}
	timer := time.NewTimer(c.opts.Withdraw)
	defer timer.Stop()
	select {
	case m := <-p.reply:
		if m.Error == nil || m.Error.Code != protocol.CodeCancelled {
			return m, nil
		}
	case <-c.done:
		return c.late(p)
	case <-timer.C:
	}
	return message{}, fault.Wrap(fault.KindOf(ctx.Err()), ctx.Err(), "the call was cancelled")
}

// late returns a reply that came before the connection was over.
func (c *Client) late(p *pending) (message, error) {
	select {
	case m := <-p.reply:
		return m, nil
	default:
		return message{}, c.broken()
	}
}

// Notify sends a notification: nobody says whether it was taken.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.KindOf(err), err, "the notification was cancelled")
	}
	raw, err := paramsOf(params, 0, false)
	if err != nil {
		return err
	}
	return c.write(request(method, raw, 0, false))
}

// paramsOf encodes params and adds the progress token, which is the id of the
// call.
func paramsOf(params any, id uint64, token bool) ([]byte, error) {
	if params == nil {
		params = protocol.Empty{}
	}
	raw, err := marshal(params)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "cannot encode the params as JSON")
	}
	if token && len(raw) >= 2 && raw[0] == '{' {
		member := strconv.AppendUint([]byte(`{"`+protocol.ProgressToken+`":`), id, 10)
		if raw[1] != '}' {
			member = append(member, ',')
		}
		raw = append(member, raw[1:]...)
	}
	return raw, nil
}

// marshal encodes v on one line, without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// request builds a message with its line feed.
func request(method string, params []byte, id uint64, wantsReply bool) []byte {
	b := make([]byte, 0, len(params)+len(method)+64)
	b = append(b, `{"jsonrpc":"2.0",`...)
	if wantsReply {
		b = append(b, `"id":`...)
		b = strconv.AppendUint(b, id, 10)
		b = append(b, ',')
	}
	name, _ := json.Marshal(method) // a text can't fail
	b = append(b, `"method":`...)
	b = append(b, name...)
	b = append(b, `,"params":`...)
	b = append(b, params...)
	return append(b, "}\n"...)
}

func (c *Client) write(msg []byte) error {
	c.writeMu.Lock()
	_, err := c.conn.Write(msg)
	c.writeMu.Unlock()
	if err == nil {
		return nil
	}
	// What the daemon said last may say why; the reader finds it.
	c.mu.Lock()
	over := c.err
	c.mu.Unlock()
	if over != nil {
		return over
	}
	return lost(err)
}

func lost(err error) error {
	e := fault.Wrap(fault.Unavailable, err, "the connection to the daemon is lost").
		WithHint("check whether it runs: ctxd inspect status")
	e.Retryable = true
	return e
}

func (c *Client) register(p *pending) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.last++
	c.pending[c.last] = p
	return c.last, nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

func (c *Client) broken() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	_ = c.conn.Close()
}

// read takes messages until the connection is over.
func (c *Client) read() {
	defer close(c.done)
	in := bufio.NewReaderSize(c.conn, 16<<10)
	for {
		line, err := readLine(in)
		if len(line) > 0 {
			var m message
			if bad := json.Unmarshal(line, &m); bad != nil {
				err = bad
			} else {
				c.take(m)
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			c.fail(lost(err))
			return
		}
	}
}

// readLine returns the next line as bytes of its own.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	return bytes.TrimSpace(line), err
}

func (c *Client) take(m message) {
	if m.Method != "" {
		c.notified(m)
		return
	}
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		// An error without an id is about bytes that we sent, and the call that
		// they were of can't be told: the connection is of no use any more.
		if m.Error != nil {
			c.fail(newError(m.Error))
		}
		return
	}
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if p != nil {
		p.reply <- m
	}
}

func (c *Client) notified(m message) {
	if m.Method == protocol.NotifyProgress {
		var params struct {
			Token uint64            `json:"token"`
			Value protocol.Progress `json:"value"`
		}
		if json.Unmarshal(m.Params, &params) == nil {
			c.mu.Lock()
			p := c.pending[params.Token]
			c.mu.Unlock()
			if p != nil && p.progress != nil {
				p.progress(params.Value)
				return
			}
		}
	}
	if c.opts.OnNotify != nil {
		c.opts.OnNotify(m.Method, m.Params)
	}
}
