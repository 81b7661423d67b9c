package mcp

// This file carries messages of the Model Context Protocol over a pair of streams, one JSON-RPC message a line.
//
// A [stdioConn] is a transport of the SDK. It answers every line that is no message, so that no line ends the
// connection, bounds a line at 16 MiB and its nesting, keeps an id from being used twice at a time, leaves the reply
// to a withdrawn request out, and at the end of the input waits for the replies that are due (RPC-4 to 6, as far as
// they concern hosts). It knows no tool and no daemon. The SDK calls Read from one goroutine and Write from many;
// Close may be called at any time.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// methodListen is the method of a request that is answered when the host withdraws it: what it asks for comes as
// notifications until then.
const methodListen = "subscriptions/listen"

// maxMessage is the size of the longest message that is read, in bytes.
const maxMessage = 16 << 20

// stdioConn carries messages over a pair of streams, one a line. It stands in for
// the transport of the SDK, which ends with the first malformed message, drops
// pending replies when the input ends, and reads lines of any length.
//
// The SDK calls Read from one goroutine and Write from many.
type stdioConn struct {
	in    *bufio.Reader
	out   io.Writer
	lines chan lineOrError // from the goroutine that reads the input

	closed    chan struct{}
	closeOnce sync.Once

	writeMu sync.Mutex // held while a line is written

	mu        sync.Mutex          // guards everything below
	pending   map[jsonrpc.ID]bool // requests that are not answered yet, and whether the end of the input waits for them
	cancelled map[jsonrpc.ID]bool // pending requests whose reply is not sent
	drained   chan struct{}       // closed when the input has ended and nothing is pending
	ended     bool                // the input has ended
}

// newStdioConn makes a connection over a pair of streams.
func newStdioConn(in io.Reader, out io.Writer) *stdioConn {
	return &stdioConn{
		in: bufio.NewReaderSize(in, 64<<10), out: out, lines: make(chan lineOrError),
		closed: make(chan struct{}), drained: make(chan struct{}),
		pending: make(map[jsonrpc.ID]bool), cancelled: make(map[jsonrpc.ID]bool),
	}
}

// Connect returns the connection itself: it is its own transport.
func (c *stdioConn) Connect(context.Context) (sdk.Connection, error) {
	go c.readLines()
	return c, nil
}

// lineOrError is a line of the input, or why there is none.
type lineOrError struct {
	line []byte
	err  error
}

// readLines reads the input. A read of standard input can't be interrupted, so
// this goroutine may outlive the connection, until the input ends.
func (c *stdioConn) readLines() {
	for {
		line, err := c.line()
		if len(line) > 0 && !c.deliver(lineOrError{line: line}) {
			return
		}
		long := errors.As(err, new(*longLine))
		if err != nil && (!c.deliver(lineOrError{err: err}) || !long) {
			return
		}
	}
}

// deliver passes a line to Read. It returns false when the connection is closed.
func (c *stdioConn) deliver(l lineOrError) bool {
	select {
	case c.lines <- l:
		return true
	case <-c.closed:
		return false
	}
}

// SessionID returns nothing: there is one session a process.
func (c *stdioConn) SessionID() string { return "" }

// Close makes Read return. Lines that were written before stay written.
func (c *stdioConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message. It answers lines that are no message with an error
// and skips them. At the end of the input it waits until the pending replies are
// written.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var l lineOrError
		select {
		case l = <-c.lines:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		msg, err := c.message(l)
		if msg != nil {
			if c.track(msg) {
				return msg, nil
			}
			// The SDK would not answer this request at all.
			err = c.reject(&malformedMessage{
				nil, jsonrpc.CodeInvalidRequest,
				"the id is that of a request which is not answered yet",
			})
		}
		if err != nil {
			return nil, c.end(ctx, err)
		}
	}
}

// message decodes a line. It returns neither a message nor an error for a line that
// it has rejected.
func (c *stdioConn) message(l lineOrError) (jsonrpc.Message, error) {
	var long *longLine
	switch {
	case errors.As(l.err, &long):
		return nil, c.reject(&malformedMessage{
			long.id(), protocol.CodeLimit,
			fmt.Sprintf("the message is longer than %d MiB", maxMessage>>20),
		})
	case len(l.line) == 0:
		return nil, l.err
	}
	msg, bad := decodeMessage(l.line)
	if bad != nil {
		return nil, c.reject(bad)
	}
	return msg, nil
}

// end waits until the replies are written that were pending when the input ended.
func (c *stdioConn) end(ctx context.Context, why error) error {
	c.mu.Lock()
	if !c.ended {
		c.ended = true
		c.closeIfDrained()
	}
	c.mu.Unlock()
	select {
	case <-c.drained:
	case <-c.closed:
	case <-ctx.Done():
	}
	return why
}

// closeIfDrained closes drained when the input has ended and no reply is pending.
// The caller holds mu.
func (c *stdioConn) closeIfDrained() {
	if !c.ended || slices.Contains(slices.Collect(maps.Values(c.pending)), true) {
		return
	}
	select {
	case <-c.drained:
	default:
		close(c.drained)
	}
}

// track notes the request as pending, or a pending one as cancelled. It returns false
// for a request with an id that is pending already.
func (c *stdioConn) track(msg jsonrpc.Message) bool {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.ID.IsValid() {
		_, inUse := c.pending[req.ID]
		c.pending[req.ID] = c.pending[req.ID] || req.Method != methodListen
		return !inUse
	}
	var params struct {
		RequestID any `json:"requestId"`
	}
	if req.Method != "notifications/cancelled" || json.Unmarshal(req.Params, &params) != nil {
		return true
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if err != nil {
		return true
	}
	if _, ok := c.pending[id]; ok {
		c.cancelled[id] = true
	}
	return true
}

// Write sends a message. The reply to a cancelled request is not sent, as the
// protocol asks for.
func (c *stdioConn) Write(_ context.Context, msg jsonrpc.Message) error {
	reply, isReply := msg.(*jsonrpc.Response)
	if isReply {
		defer c.forget(reply.ID)
		if c.isCancelled(reply.ID) {
			return nil
		}
		msg = withCode(reply)
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if isReply && err != nil {
		line, err = errorLine(reply.ID.Raw(), jsonrpc.CodeInternalError,
			"internal error: the answer can't be written as JSON")
	}
	if err != nil {
		return err
	}
	return c.writeLine(line)
}

// withCode gives an error the code that JSON-RPC wants. The SDK leaves it at 0 for
// requests that it rejects before it looks at the params.
func withCode(reply *jsonrpc.Response) *jsonrpc.Response {
	var known *jsonrpc.Error
	if reply.Error == nil || errors.As(reply.Error, &known) && known.Code != 0 {
		return reply
	}
	out := *reply
	code := int64(jsonrpc.CodeInvalidRequest)
	if strings.HasPrefix(reply.Error.Error(), "JSON RPC not handled") {
		code = jsonrpc.CodeMethodNotFound
	}
	out.Error = &jsonrpc.Error{Code: code, Message: reply.Error.Error()}
	return &out
}

func (c *stdioConn) isCancelled(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled[id]
}

func (c *stdioConn) forget(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
	delete(c.cancelled, id)
	c.closeIfDrained()
}

func (c *stdioConn) writeLine(line []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// reject answers a line that is no message.
func (c *stdioConn) reject(bad *malformedMessage) error {
	line, err := errorLine(bad.id, bad.code, bad.text)
	if err != nil {
		return err
	}
	return c.writeLine(line)
}

// errorLine is an error reply. The SDK can't write one without an id, which
// JSON-RPC wants to be null.
func errorLine(id any, code int, text string) ([]byte, error) {
	var reply struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	reply.Version, reply.ID, reply.Error.Code, reply.Error.Message = "2.0", id, code, text
	return json.Marshal(reply)
}

// line returns the next line without blanks around it. A line over maxMessage
// is a *longLine, of which the connection stands behind the end.
func (c *stdioConn) line() ([]byte, error) {
	var long []byte
	for {
		part, err := c.in.ReadSlice('\n')
		switch {
		case len(long)+len(part) > maxMessage:
			return nil, c.skip(append(long, part...), err)
		case err == nil && long == nil:
			return bytes.Clone(bytes.TrimSpace(part)), nil
		}
		long = append(long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(long), err
		}
	}
}

// skip reads to the end of a line that is too long and returns it as a *longLine.
func (c *stdioConn) skip(read []byte, err error) error {
	l := &longLine{head: bytes.Clone(read[:longLineEdge]), tail: bytes.Clone(read[len(read)-longLineEdge:])}
	for errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = c.in.ReadSlice('\n')
		l.tail = append(l.tail, part[max(0, len(part)-longLineEdge):]...)
		l.tail = l.tail[max(0, len(l.tail)-longLineEdge):]
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return l
}

// longLineEdge is how much is kept of the ends of a line that is too long.
const longLineEdge = 256

// longLine is the error of a line that is too long.
type longLine struct{ head, tail []byte }

func (*longLine) Error() string { return "the line is too long" }

// The places where clients write the id of a call: first or last in the object.
var (
	idFirst = text.Pattern(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("[^"\\]{1,128}"|-?\d{1,15})\s*,`)
	idLast  = text.Pattern(`,\s*"id"\s*:\s*("[^"\\]{1,128}"|-?\d{1,15})\s*\}\s*$`)
)

// id returns the id of the call, nil when it can't be told.
func (l *longLine) id() any {
	m := idFirst().FindSubmatch(l.head)
	if m == nil {
		m = idLast().FindSubmatch(l.tail)
	}
	if m == nil {
		return nil
	}
	return json.RawMessage(m[1])
}

// malformedMessage says why a line is no message.
type malformedMessage struct {
	id   any
	code int
	text string
}

// decodeMessage reads a message.
func decodeMessage(line []byte) (jsonrpc.Message, *malformedMessage) {
	if !json.Valid(line) { // this also bounds the nesting, which the SDK does not
		return nil, &malformedMessage{nil, jsonrpc.CodeParseError, "the line is no JSON"}
	}
	if line[0] == '[' {
		return nil, &malformedMessage{nil, jsonrpc.CodeInvalidRequest, "batches are not taken: send one message a line"}
	}
	var envelope struct {
		ID json.RawMessage `json:"id"`
	}
	rejected := &malformedMessage{nil, jsonrpc.CodeInvalidRequest, "the message is no JSON-RPC 2.0 message"}
	if err := json.Unmarshal(line, &envelope); err != nil {
		return nil, rejected
	}
	if len(envelope.ID) > 0 && !usableID().Match(envelope.ID) {
		rejected.text = "the id must be a string or an integer of at most 15 digits"
		return nil, rejected
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		rejected.id = envelope.ID
		if strings.Contains(err.Error(), "nesting depth") { // the SDK has no other sign of it
			rejected.text = "the message is nested too deeply: at most 1,000 lists and objects in each other are read"
		}
		return nil, rejected
	}
	return msg, nil
}

// usableID matches an id that the SDK returns unchanged: it keeps numbers as
// integers. null stands for no id.
var usableID = text.Pattern(`^(?s:".*"|-?\d{1,15}|null)$`)
