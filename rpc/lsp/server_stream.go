package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// Bounds of a message. A document of 10 MB and its escapes fit.
const (
	maxMessage = 64 << 20
	maxHeaders = 8 << 10
	maxNesting = 256
)

// stream carries the messages of an editor. It stands in for the library's own, which ends
// with the first malformed message.
type stream struct {
	in      *jsonrpc.Reader
	drained func() // waits until every request that was read is answered
	log     *slog.Logger

	writing sync.Mutex // held while a message is written
	out     io.Writer
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer, log *slog.Logger) *stream {
	return &stream{
		in:  jsonrpc.NewReader(in, jsonrpc.ReaderOptions{MessageBytes: maxMessage, HeaderBytes: maxHeaders}),
		out: out, log: log,
	}
}

// ReadObject gives the library the next message. What is none is answered here. At the end
// of the input what was asked is still answered.
func (s *stream) ReadObject(v any) error {
	for {
		frame, err := s.in.Next()
		var large *jsonrpc.TooLargeError
		switch {
		case errors.As(err, &large):
			if id := large.ID(); id != nil {
				s.refuse(id, jsonrpc2.CodeInvalidRequest, large.Error())
			}
			continue
		case err != nil:
			var header *jsonrpc.HeaderError
			if errors.As(err, &header) {
				s.refuse(nil, jsonrpc2.CodeParseError, header.Error())
			}
			s.drained()
			return io.EOF
		}
		if s.decode(frame, v) {
			return nil
		}
	}
}

// decode has the library read a message. It reports false for one that it has answered.
func (s *stream) decode(frame []byte, v any) bool {
	scan := jsonrpc.NewScanner(frame, maxNesting)
	scan.Space()
	if scan.Peek() == '[' {
		s.refuse(nil, jsonrpc2.CodeInvalidRequest, "the protocol has no batches")
		return false
	}
	e, err := jsonrpc.ReadEnvelope(&scan)
	if err == nil {
		err = scan.End()
	}
	switch {
	case err != nil:
		s.refuse(nil, jsonrpc2.CodeParseError, err.Error())
	case e.Invalid == "" && len(e.ID) > 0 && e.ID[0] == '-': // the library reads it as a large number
		s.refuse(e.ID, jsonrpc2.CodeInvalidRequest, "an id is a string or a number that is not below zero")
	case e.Invalid != "" && !e.Reply:
		s.refuse(e.ID, jsonrpc2.CodeInvalidRequest, e.Invalid)
	default:
		err := v.(json.Unmarshaler).UnmarshalJSON(frame)
		switch {
		case err == nil:
			return true
		case e.Reply:
			s.log.Info("a reply of the editor was not understood", "error", err)
		default:
			// An id that JSON-RPC allows and the library does not: a fraction.
			s.refuse(e.ID, jsonrpc2.CodeInvalidRequest, err.Error())
		}
	}
	return false
}

// refuse answers a message that is not given to the library. Nobody reads on where that
// can't be written.
func (s *stream) refuse(id []byte, code int64, why string) {
	if id == nil {
		id = []byte("null")
	}
	s.log.Info("a message of the editor was refused", "code", code, "reason", why)
	_ = s.WriteObject(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc2.Error  `json:"error"`
	}{"2.0", id, jsonrpc2.Error{Code: code, Message: why}})
}

// WriteObject writes a message, in the framing that the editor uses.
func (s *stream) WriteObject(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	body := buf.Bytes() // with a line feed
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.in.ByNewline() {
		_, err := s.out.Write(body)
		return err
	}
	body = body[:len(body)-1]
	_, err := s.out.Write(append(fmt.Appendf(make([]byte, 0, len(body)+32), "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}

// Close is called by the library when the session is over; the streams are not ours.
func (s *stream) Close() error { return nil }
