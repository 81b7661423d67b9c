package rpc

import (
	"bytes"
	"errors"
	"io"
)

// ReadFrames cuts what r gives into messages until its end, with the given
// limits, and returns them with what ended it. A message that was too large
// stands as nil.
func ReadFrames(r io.Reader, l Limits) (messages [][]byte, end error) {
	l = l.withDefaults()
	f := &frames{src: r, message: l.MessageBytes, header: l.HeaderBytes}
	for {
		msg, err := f.next()
		var large *largeError
		switch {
		case errors.As(err, &large):
			messages = append(messages, nil)
		case err != nil:
			return messages, err
		default:
			messages = append(messages, bytes.Clone(msg))
		}
		if cap(f.buf) > 2*(l.MessageBytes+l.HeaderBytes)+2*smallBuffer+keptBuffer {
			panic("the buffer outgrew the limits")
		}
	}
}

// CheckJSON reports whether the scanner takes text as one JSON value.
func CheckJSON(text []byte, nesting int) error {
	s := scanner{data: text, limit: nesting}
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}

// Unquote and AppendText are the two ways of a JSON string.
var (
	Unquote    = unquote
	AppendText = appendText
	ValidText  = validText
)

// DecodeAny decodes text as the params member "v" of any type.
func DecodeAny(text string) (any, error) {
	var p struct {
		V any `json:"v"`
	}
	_, err := decodeParams([]byte(`{"v":`+text+`}`), &p, 0)
	return p.V, err
}

// Encode returns the JSON of a result.
func Encode(v any) (string, error) {
	e, err := encode(v)
	if err != nil {
		return "", err
	}
	defer e.release()
	return string(e.bytes()), nil
}
