package jsonrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// TestREL6_LongValuesAreKnownBeforeTheyAreWritten: Size tells the room that a value takes,
// so that the buffer is made once.
func TestREL6_LongValuesAreKnownBeforeTheyAreWritten(t *testing.T) {
	type head struct {
		Name  string         `json:"name"`
		Tags  []string       `json:"tags,omitempty"`
		Other map[string]any `json:"other"`
		Next  *head          `json:"next"`
	}
	const long = 1 << 20
	enc := new(jsonrpc.Encoder)
	many := make([]head, 4000)
	for i := range many {
		many[i] = head{Name: "A name that is not long", Tags: []string{"a", "b"}, Other: map[string]any{"n": 1.5, "": nil}}
	}
	for name, v := range map[string]any{
		"plain":    strings.Repeat("meadow ", long/7),
		"lines":    head{Name: strings.Repeat("a\n", long/2)},
		"control":  []any{strings.Repeat("\x01", long)},
		"quotes":   map[string]string{strings.Repeat(`"`, long): ""},
		"no UTF-8": &head{Next: &head{Name: strings.Repeat("\xff", long)}},
		"others":   strings.Repeat("日本語", long/9),
		"many":     many,
		"bytes":    make([]byte, long),
	} {
		_, err := enc.EncodeShort(v)
		if !errors.Is(err, jsonrpc.ErrLongValue) {
			t.Errorf("%s: the error of EncodeShort is %v", name, err)
		}
		size := enc.Size(v)
		got, err := enc.EncodeInto(v, size)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Bytes()); n > size || n < size/4 {
			t.Errorf("%s: %d bytes, %d were expected", name, n, size)
		}
		if n := cap(got.Bytes()); n != size {
			t.Errorf("%s: the buffer of %d bytes has grown to %d", name, size, n)
		}
	}
	for _, v := range []any{nil, "short", many[:10], strings.Repeat("x", jsonrpc.ShortValueSize-2)} {
		short, err := enc.EncodeShort(v)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := enc.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if string(short.Bytes()) != string(whole.Bytes()) {
			t.Errorf("EncodeShort writes %.200s, Encode %.200s", short.Bytes(), whole.Bytes())
		}
	}
}
