package jsonrpc

import (
	"bytes"
)

// Envelope is a request as it stands in its message.
type Envelope struct {
	ID      []byte // nil for a notification
	Method  []byte // with its quotes; nil when missing
	Params  []byte // nil when missing
	Reply   bool   // it is an answer to somebody
	Invalid string // why it is no request, "" when it is one
	version bool   // "jsonrpc": "2.0" is there
}

// The fields of a request, as bits of the set of those seen.
const (
	sawVersion = 1 << iota
	sawID
	sawMethod
	sawParams
)

// ReadEnvelope walks over one element of a message and finds the fields of a
// request.
func ReadEnvelope(s *Scanner) (e Envelope, err error) {
	if s.Peek() != '{' {
		e.Invalid = "a request must be an object"
		return e, s.Value()
	}
	var seen uint8
	err = s.Object(func(key []byte) error {
		start := s.Pos()
		if err := s.Value(); err != nil {
			return err
		}
		value := s.Since(start)
		if bytes.IndexByte(key, '\\') >= 0 {
			key = AppendString(nil, Unquote(key))
		}
		var bit uint8
		switch string(key) {
		case `"jsonrpc"`:
			bit, e.version = sawVersion, string(value) == `"2.0"`
		case `"id"`:
			bit, e.ID = sawID, value
		case `"method"`:
			bit, e.Method = sawMethod, value
		case `"params"`:
			bit, e.Params = sawParams, value
		case `"result"`, `"error"`:
			e.Reply = true
		}
		if seen&bit != 0 {
			e.Invalid = "a field is given twice: " + string(key)
		}
		seen |= bit
		return nil
	})
	if err == nil && e.Invalid == "" {
		e.Invalid = e.check()
	}
	if e.ID != nil && !validID(e.ID) {
		e.ID = nil
	}
	e.Reply = e.Reply && e.Method == nil
	return e, err
}

func (e *Envelope) check() string {
	switch {
	case e.ID != nil && !validID(e.ID):
		return "an id must be a string, a number or null"
	case !e.version:
		return `the member "jsonrpc" is not "2.0"`
	case e.Method == nil:
		return "the method is missing"
	case e.Method[0] != '"':
		return "the method is not a string"
	}
	if e.Params != nil {
		if c := e.Params[0]; c != '{' && c != '[' && c != 'n' {
			return "the params are neither an object nor a list"
		}
	}
	return ""
}

// validID reports whether a value may be an id: a string, a number or null.
func validID(id []byte) bool {
	c := id[0]
	return c == '"' || c == 'n' || c == '-' || c >= '0' && c <= '9'
}

// sameID reports whether two ids are the same value. Strings may be escaped in
// different ways.
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return a[0] == '"' && b[0] == '"' && Unquote(a) == Unquote(b)
}

// readBatch takes the elements of a list apart. Of a list that is too long only the
// count is of interest.
func readBatch(s *Scanner, limit int) (list []Envelope, err error) {
	err = s.Array(func() error {
		e, err := ReadEnvelope(s)
		if len(list) <= limit {
			list = append(list, e)
		}
		return err
	})
	return list, err
}
