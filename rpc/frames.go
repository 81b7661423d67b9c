package rpc

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
	undecided   framing    = iota // nothing but blanks has come yet
	byNewline                     // one message a line
	byHeader                      // Content-Length: N, a blank line, N bytes
	smallBuffer = 4 << 10         // what an idle connection holds
	keptBuffer  = 32 << 10        // what one that was busy may keep
)

var errFrameTimeout = errors.New("a message was not complete in time")

// headerError is a header block that says no length, so that nothing after it
// can be understood either.
type headerError struct{ msg string }

func (e *headerError) Error() string { return e.msg }

// largeError is a message over the limit, which has been dropped to its end: a
// client may not listen before it has sent all of a message.
type largeError struct {
	limit int
	gist  gist
}

func (e *largeError) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes", e.limit)
}

// frames cuts the bytes of a connection into messages. It belongs to one
// goroutine.
type frames struct {
	src     io.Reader
	timer   deadliner // nil: no deadline is kept
	message int       // bytes of a message at most
	header  int       // bytes of a header block at most
	timeout time.Duration

	mode   framing
	buf    []byte // buf[lo:hi] is read and not yet used
	lo, hi int
	timed  bool // a deadline is set

	hold func(n int) // told by how much the buffer grows and shrinks; may be nil
	held int         // the sum of that
}

// deadliner is the part of a net.Conn that bounds reading.
type deadliner interface{ SetReadDeadline(time.Time) error }

func newFrames(conn net.Conn, l Limits) *frames {
	return &frames{src: conn, timer: conn, message: l.MessageBytes, header: l.HeaderBytes, timeout: l.FrameTimeout}
}

// next returns the bytes of the next message, which are valid until the next
// call, or for as long as anybody wants after a call of detach. A *largeError leaves the connection usable; anything else ends it: io.EOF
// between two messages, io.ErrUnexpectedEOF inside one, a *headerError,
// errFrameTimeout or what the connection said.
func (f *frames) next() ([]byte, error) {
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
func (f *frames) blanks() error {
	for f.empty() {
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
func (f *frames) replace(buf []byte) {
	f.buf = buf
	now := len(buf)
	if now <= keptBuffer {
		now = 0
	}
	if n := now - f.held; n != 0 && f.hold != nil {
		f.held = now
		f.hold(n)
	}
}

// empty reports whether nothing of a further message has come yet.
func (f *frames) empty() bool {
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
func (f *frames) read() error {
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
		return errFrameTimeout
	}
	return err
}

// more reads on inside a message, of which want bytes are known to come (0:
// unknown). The buffer grows with what has come, not with what was announced.
func (f *frames) more(want int) error {
	f.setDeadline()
	if f.hi == len(f.buf) {
		if f.lo > 0 && f.hi-f.lo <= len(f.buf)/2 {
			f.hi = copy(f.buf, f.buf[f.lo:f.hi])
			f.lo = 0
		} else {
			size := min(2*(f.hi-f.lo), f.message)
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

func (f *frames) setDeadline() {
	if !f.timed && f.timer != nil && f.timeout > 0 {
		f.timed = f.timer.SetReadDeadline(time.Now().Add(f.timeout)) == nil
	}
}

func (f *frames) unsetDeadline() {
	if f.timed {
		_ = f.timer.SetReadDeadline(time.Time{})
		f.timed = false
	}
}

// take returns n bytes at lo.
func (f *frames) take(n int) []byte {
	frame := f.buf[f.lo : f.lo+n : f.lo+n]
	f.lo += n
	return frame
}

// detach leaves the buffer with the message in it to whoever has that, and goes
// on with another.
func (f *frames) detach() {
	rest := f.buf[f.lo:f.hi]
	f.replace(make([]byte, max(smallBuffer, len(rest))))
	f.lo, f.hi = 0, copy(f.buf, rest)
}

// line returns the message up to the next line break. The last one of a
// connection needs none.
func (f *frames) line() ([]byte, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(f.buf[f.lo+seen:f.hi], '\n'); i >= 0 {
			if n := seen + i; n <= f.message {
				return f.take(n), nil
			}
			return nil, f.drop(-1)
		}
		if seen = f.hi - f.lo; seen > f.message {
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
func (f *frames) drop(n int64) error {
	large := &largeError{limit: f.message}
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
		large.gist.write(chunk)
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
func (f *frames) body() ([]byte, error) {
	n, err := f.headers()
	if err != nil {
		return nil, err
	}
	if n > int64(f.message) {
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
func (f *frames) headers() (int64, error) {
	length, used := int64(-1), 0
	for {
		line, err := f.headerLine(f.header - used)
		if err != nil {
			return 0, err
		}
		used += len(line) + 1
		text := strings.TrimSuffix(string(line), "\r")
		if text == "" {
			if length < 0 {
				return 0, &headerError{"the header has no Content-Length"}
			}
			return length, nil
		}
		if err := header(text, &length); err != nil {
			return 0, err
		}
	}
}

// headerLine returns the next line without its line feed.
func (f *frames) headerLine(room int) ([]byte, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(f.buf[f.lo+seen:f.hi], '\n'); i >= 0 && seen+i < room {
			line := f.buf[f.lo : f.lo+seen+i]
			f.lo += seen + i + 1
			return line, nil
		}
		if seen = f.hi - f.lo; seen >= room {
			return nil, &headerError{fmt.Sprintf("the header is longer than %d bytes", f.header)}
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
		return &headerError{"the header is malformed: a line is not of the form Name: value"}
	}
	value = strings.Trim(value, " \t")
	switch {
	case strings.EqualFold(name, "Content-Length"):
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil {
			return &headerError{"the header is malformed: Content-Length is not a number of bytes"}
		}
		if *length >= 0 && *length != int64(n) {
			return &headerError{"the header is malformed: Content-Length stands in it twice"}
		}
		*length = int64(n)
	case strings.EqualFold(name, "Content-Type"):
		// The only charset; an old name of it is still sent.
		_, charset, found := strings.Cut(strings.ToLower(value), "charset=")
		charset = strings.Trim(strings.TrimSpace(charset), `"`)
		if found && charset != "utf-8" && charset != "utf8" {
			return &headerError{"the charset of the message is not utf-8"}
		}
	}
	return nil
}
