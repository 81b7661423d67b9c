package disk

import (
	"bytes"
	"encoding/json"
	"sync"
)

// Codec turns records of type T into the string that is stored and back.
// Decode may keep parts of the string: it is immutable and stays in memory as
// long as the record does. Both are called concurrently and must not block.
type Codec[T any] struct {
	Encode func(*T) (string, error)
	Decode func(string) (*T, error)

	// Carry gives a record that was read back what was worked out beside the one that was put, and is not stored. It is
	// called in the turn of the writer, and must be short. nil: there is nothing.
	Carry func(put, stored *T)
}

// JSONCodec is the default codec.
func JSONCodec[T any]() Codec[T] {
	return Codec[T]{
		Encode: func(v *T) (string, error) {
			buf := buffers.Get().(*bytes.Buffer)
			defer func() {
				if buf.Cap() <= 1<<20 {
					buf.Reset()
					buffers.Put(buf)
				}
			}()
			// Notes are full of <, > and &; escaping them as HTML would
			// only make the store larger.
			enc := json.NewEncoder(buf)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				return "", err
			}
			return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
		},
		Decode: func(s string) (*T, error) {
			v := new(T)
			if err := json.Unmarshal([]byte(s), v); err != nil {
				return nil, err
			}
			return v, nil
		},
	}
}

// JSONTextCodec is JSON for texts that mostly are plain ASCII, such as ids: these take no
// detour.
func JSONTextCodec() Codec[string] {
	codec := JSONCodec[string]()
	return Codec[string]{
		Encode: func(s *string) (string, error) {
			if isPlain(*s) {
				return `"` + *s + `"`, nil
			}
			return codec.Encode(s)
		},
		Decode: func(raw string) (*string, error) {
			if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && isPlain(raw[1:n-1]) {
				s := raw[1 : n-1]
				return &s, nil
			}
			return codec.Decode(raw)
		},
	}
}

// isPlain reports whether JSON has a text as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
