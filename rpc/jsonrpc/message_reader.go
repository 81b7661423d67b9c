package jsonrpc

// This file and message_*.go cut the bytes of a connection into messages, in either framing, and find the parts of the
// requests in them (RPC-4). They make no call of them: what a method is called, and what its params hold, is nothing
// to them.
//
// A [Reader] gives one message after the other. One that is too large is dropped to its end, and the id of its call
// found all the same (message_idfinder.go). An [Envelope] is a request whose parts are the bytes that came
// (message_envelope.go): nothing is copied, so they are valid for as long as the message is.
//
// A connection has one Reader, which belongs to one goroutine at a time. How much a connection may hold of a message
// is bounded by [ReaderOptions]; what all connections hold is added up by the server, through ReaderOptions.Hold.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// framing is how the messages of a connection are told apart (RPC-4).
type framing uint8

const (
	undecided framing = iota // nothing but blanks has come yet
	byNewline                // one message a line
	byHeader                 // Content-Length: N, a blank line, N bytes
)

// keptBuffer is how many bytes a connection that was busy may keep to read into.
const keptBuffer = 32 << 10

// smallBuffer is how many bytes an idle connection holds to read into.
const smallBuffer = 4 << 10

// errReadTimeout says that a message was not complete in time.
var errReadTimeout = errors.New("a message was not complete in time")

// HeaderError is a header block that says no length, so that nothing after it
// can be understood either.
type HeaderError struct{ msg string }

// Error says what is wrong with the header.
func (e *HeaderError) Error() string { return e.msg }

// TooLargeError is a message over the limit, which has been dropped to its end: a
// client may not listen before it has sent all of a message.
type TooLargeError struct {
	limit int
	head  idFinder
}

// Error says what the limit is.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes", e.limit)
}

// ID returns the id of the message: null when it has none or none is found, nil for a
// notification, which is never answered.
func (e *TooLargeError) ID() []byte { return e.head.id() }

// ReaderOptions bound what a Reader takes.
type ReaderOptions struct {
	MessageBytes int           // of a message at most
	HeaderBytes  int           // of a header block at most
	Timeout      time.Duration // for a message, from its first byte on; 0: none
	Timer        readDeadliner // that keeps the Timeout; nil: none is kept
	Hold         func(n int)   // told by how much the buffer grows and shrinks; may be nil
}

// readDeadliner is the part of a net.Conn that bounds reading.
type readDeadliner interface{ SetReadDeadline(time.Time) error }

// Reader cuts the bytes of a connection into messages. It belongs to one
// goroutine.
type Reader struct {
	src  io.Reader
	opts ReaderOptions

	mode   framing
	buf    []byte // buf[lo:hi] is read and not yet used
	lo, hi int
	timed  bool // a deadline is set
	held   int  // the sum of what Hold was told
}

// NewReader returns a reader of what src gives.
func NewReader(src io.Reader, o ReaderOptions) *Reader { return &Reader{src: src, opts: o} }

// ByNewline reports whether a message is a line. It may be called by any goroutine that
// knows of a message, since the first one decides.
func (f *Reader) ByNewline() bool { return f.mode == byNewline }

// Next returns the bytes of the next message, which are valid until the next
// call, or for as long as anybody wants after a call of Detach. A *LargeError
// leaves the connection usable; anything else ends it: io.EOF between two messages,
// io.ErrUnexpectedEOF inside one, a *HeaderError, ErrTimeout or what the connection
// said.
func (f *Reader) Next() ([]byte, error) {
	if err := f.blanks(); err != nil {
		return nil, err
	}
	if f.mode == undecided {
		f.mode = byHeader
		if c := f.buf[f.lo]; c == '{' || c == '[' {
			f.mode = byNewline
		}
	}
	var frame []byte
	var err error
	if f.mode == byNewline {
		frame, err = f.line()
	} else {
		frame, err = f.body()
	}
	if err == nil {
		f.unsetDeadline()
	}
	return frame, err
}

// blanks passes over what may stand between two messages. Only here may a
// client be silent for as long as it likes.
func (f *Reader) blanks() error {
	for f.Empty() {
		f.unsetDeadline()
		f.lo, f.hi = 0, 0
		if f.buf == nil || cap(f.buf) > keptBuffer {
			f.replace(make([]byte, smallBuffer))
		}
		if err := f.read(); err != nil {
			return err
		}
	}
	return nil
}

// replace goes on with another buffer.
func (f *Reader) replace(buf []byte) {
	f.buf = buf
	now := len(buf)
	if now <= keptBuffer {
		now = 0
	}
	if n := now - f.held; n != 0 && f.opts.Hold != nil {
		f.held = now
		f.opts.Hold(n)
	}
}

// Empty reports whether nothing of a further message has come yet.
func (f *Reader) Empty() bool {
	for ; f.lo < f.hi; f.lo++ {
		switch f.buf[f.lo] {
		case ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return true
}

// read reads once into the free room of the buffer.
func (f *Reader) read() error {
	n, err := f.src.Read(f.buf[f.hi:])
	f.hi += n
	if n > 0 {
		return nil // an error comes again
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	var timeout net.Error
	if f.timed && errors.As(err, &timeout) && timeout.Timeout() {
		return errReadTimeout
	}
	return err
}

// more reads on inside a message, of which want bytes are known to come (0:
// unknown). The buffer grows with what has come, not with what was announced.
func (f *Reader) more(want int) error {
	f.setDeadline()
	if f.hi == len(f.buf) {
		if f.lo > 0 && f.hi-f.lo <= len(f.buf)/2 {
			f.hi = copy(f.buf, f.buf[f.lo:f.hi])
			f.lo = 0
		} else {
			size := min(2*(f.hi-f.lo), f.opts.MessageBytes)
			if want > 0 && want < 2*size {
				size = want
			}
			grown := make([]byte, max(size, f.hi-f.lo)+smallBuffer)
			f.hi = copy(grown, f.buf[f.lo:f.hi])
			f.lo = 0
			f.replace(grown)
		}
	}
	err := f.read()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *Reader) setDeadline() {
	if !f.timed && f.opts.Timer != nil && f.opts.Timeout > 0 {
		f.timed = f.opts.Timer.SetReadDeadline(time.Now().Add(f.opts.Timeout)) == nil
	}
}

func (f *Reader) unsetDeadline() {
	if f.timed {
		_ = f.opts.Timer.SetReadDeadline(time.Time{})
		f.timed = false
	}
}

// take returns n bytes at lo.
func (f *Reader) take(n int) []byte {
	frame := f.buf[f.lo : f.lo+n : f.lo+n]
	f.lo += n
	return frame
}

// Detach leaves the buffer with the message in it to whoever has that, and goes
// on with another.
func (f *Reader) Detach() {
	rest := f.buf[f.lo:f.hi]
	f.replace(make([]byte, max(smallBuffer, len(rest))))
	f.lo, f.hi = 0, copy(f.buf, rest)
}

// line returns the message up to the next line break. The last one of a
// connection needs none.
func (f *Reader) line() ([]byte, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(f.buf[f.lo+seen:f.hi], '\n'); i >= 0 {
			if n := seen + i; n <= f.opts.MessageBytes {
				return f.take(n), nil
			}
			return nil, f.drop(-1)
		}
		seen = f.hi - f.lo
		if seen > f.opts.MessageBytes {
			return nil, f.drop(-1)
		}
		err := f.more(0)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return f.take(f.hi - f.lo), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// drop passes over n bytes of a message that is over the limit, or, when n is
// negative, over all up to the next line break or the end.
func (f *Reader) drop(n int64) error {
	large := &TooLargeError{limit: f.opts.MessageBytes}
	for {
		chunk := f.buf[f.lo:f.hi]
		whole := false
		if n >= 0 {
			chunk = chunk[:min(n, int64(len(chunk)))]
			n -= int64(len(chunk))
			whole = n == 0
		} else if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			chunk, whole = chunk[:i], true
		}
		large.head.write(chunk)
		f.lo += len(chunk)
		if whole {
			f.unsetDeadline()
			return large
		}
		f.lo, f.hi = 0, 0
		if err := f.more(0); err != nil {
			if n < 0 && errors.Is(err, io.ErrUnexpectedEOF) {
				return large
			}
			return err
		}
	}
}

// body reads a header block and returns the message it announces.
func (f *Reader) body() ([]byte, error) {
	n, err := f.headers()
	if err != nil {
		return nil, err
	}
	if n > int64(f.opts.MessageBytes) {
		return nil, f.drop(n)
	}
	for int64(f.hi-f.lo) < n {
		if err := f.more(int(n)); err != nil {
			return nil, err
		}
	}
	return f.take(int(n)), nil
}

// headers reads a header block and returns the length that it announces.
func (f *Reader) headers() (int64, error) {
	length, used := int64(-1), 0
	for {
		line, err := f.headerLine(f.opts.HeaderBytes - used)
		if err != nil {
			return 0, err
		}
		used += len(line) + 1
		text := strings.TrimSuffix(string(line), "\r")
		if text == "" {
			if length < 0 {
				return 0, &HeaderError{"the header has no Content-Length"}
			}
			return length, nil
		}
		if err := header(text, &length); err != nil {
			return 0, err
		}
	}
}

// headerLine returns the next line without its line feed.
func (f *Reader) headerLine(room int) ([]byte, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(f.buf[f.lo+seen:f.hi], '\n'); i >= 0 && seen+i < room {
			line := f.buf[f.lo : f.lo+seen+i]
			f.lo += seen + i + 1
			return line, nil
		}
		seen = f.hi - f.lo
		if seen >= room {
			return nil, &HeaderError{fmt.Sprintf("the header is longer than %d bytes", f.opts.HeaderBytes)}
		}
		if err := f.more(0); err != nil {
			return nil, err
		}
	}
}

// header takes one line of a header block. Names that are not known are
// allowed and mean nothing.
func header(line string, length *int64) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return &HeaderError{"the header is malformed: a line is not of the form Name: value"}
	}
	value = strings.Trim(value, " \t")
	switch {
	case strings.EqualFold(name, "Content-Length"):
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil {
			return &HeaderError{"the header is malformed: Content-Length is not a number of bytes"}
		}
		if *length >= 0 && *length != int64(n) {
			return &HeaderError{"the header is malformed: Content-Length is given twice"}
		}
		*length = int64(n)
	case strings.EqualFold(name, "Content-Type"):
		// The only charset; an old name of it is still sent.
		_, charset, found := strings.Cut(strings.ToLower(value), "charset=")
		charset = strings.Trim(strings.TrimSpace(charset), `"`)
		if found && charset != "utf-8" && charset != "utf8" {
			return &HeaderError{"the charset of the message is not utf-8"}
		}
	}
	return nil
}
