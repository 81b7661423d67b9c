package jsonrpc

import (
	"bytes"
	"errors"
	"io"
)

// ReadFrames cuts what r gives into messages until its end, within the given
// options, and returns them with what ended it. A message that was too large
// stands as nil.
func ReadFrames(r io.Reader, o ReaderOptions) (messages [][]byte, end error) {
	f := NewReader(r, o)
	for {
		msg, err := f.Next()
		var large *TooLargeError
		switch {
		case errors.As(err, &large):
			messages = append(messages, nil)
		case err != nil:
			return messages, err
		default:
			messages = append(messages, bytes.Clone(msg))
		}
		if cap(f.buf) > 2*(o.MessageBytes+o.HeaderBytes)+2*smallBuffer+keptBuffer {
			panic("the buffer outgrew the limits")
		}
	}
}
