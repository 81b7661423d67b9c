package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds the data of an event in bytes.
const maxEvent = 1 << 20

var errLongEvent = errors.New("an event is too long")

// events reads server-sent events as the HTML standard describes them: lines end with LF, CRLF or
// CR; comments and fields other than data are passed over (what an event is stands in its data
// in both protocols). Unlike the standard, data before the end of the stream is an event
// also without an empty line behind it: some servers leave that out after their last one.
type events struct {
	from    *bufio.Reader
	line    []byte
	data    []byte
	afterCR bool // a LF that comes next belongs to the line before
	ended   error
}

func newEvents(from *bufio.Reader) *events { return &events{from: from} }

// next returns the data of the next event, which is never empty. It is valid until the next
// call. The errors are io.EOF, errLongEvent and those of the reader.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	for e.ended == nil {
		e.ended = e.readLine()
		if e.ended != nil && !errors.Is(e.ended, io.EOF) {
			return nil, e.ended
		}
		if e.ended == nil && len(e.line) == 0 {
			if len(e.data) > 0 {
				return e.data, nil
			}
			e.skipEmpty()
			continue
		}
		name, value, _ := bytes.Cut(e.line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if len(e.data)+len(value) >= maxEvent {
			e.ended = errLongEvent
			return nil, e.ended
		}
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
	if errors.Is(e.ended, io.EOF) && len(e.data) > 0 {
		return e.data, nil
	}
	return nil, e.ended
}

// skipEmpty passes over the empty lines that have arrived: a flood of them would be slow, one by one.
func (e *events) skipEmpty() {
	chunk, _ := e.from.Peek(e.from.Buffered()) // it is there
	end := 0
	for end < len(chunk) && (chunk[end] == '\n' || chunk[end] == '\r') {
		end++
	}
	if end > 0 {
		e.afterCR = chunk[end-1] == '\r'
		_, _ = e.from.Discard(end)
	}
}

// readLine reads a line without its end into e.line. At the end of the stream it is what
// is left, with io.EOF.
func (e *events) readLine() error {
	e.line = e.line[:0]
	for {
		if _, err := e.from.Peek(1); err != nil {
			return err
		}
		chunk, _ := e.from.Peek(e.from.Buffered()) // it is there
		if e.afterCR {
			e.afterCR = false
			if chunk[0] == '\n' {
				_, _ = e.from.Discard(1) // it is buffered
				continue
			}
		}
		end := 0
		for end < len(chunk) && chunk[end] != '\n' && chunk[end] != '\r' {
			end++
		}
		if len(e.line)+end > maxEvent {
			return errLongEvent
		}
		e.line = append(e.line, chunk[:end]...)
		if end == len(chunk) {
			_, _ = e.from.Discard(end)
			continue
		}
		e.afterCR = chunk[end] == '\r'
		_, _ = e.from.Discard(end + 1)
		return nil
	}
}
