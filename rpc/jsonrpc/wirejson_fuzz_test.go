package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// check reports whether a Scanner takes data as one JSON value.
func check(data []byte, nesting int) error {
	s := jsonrpc.NewScanner(data, nesting)
	s.Space()
	if err := s.Value(); err != nil {
		return err
	}
	return s.End()
}

// decodeAny decodes text as the field "v" of any type.
func decodeAny(text string) (any, error) {
	var p struct {
		V any `json:"v"`
	}
	var d jsonrpc.Decoder
	_, err := d.Decode([]byte(`{"v":`+text+`}`), &p, 0)
	return p.V, err
}

// FuzzJSON holds the scanner and the decoder against encoding/json.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2.5e-3,-0,"a\u00e9\ud83d\ude00\ud800"]`, `{"a":{"b":[null,true,false]}}`, `01`, `"\x"`, `{"a":1,"a":2}`, "\"\x01\"", `[1,]`, `{"é":"\/"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // refused before the scanner sees it
		}
		err := check([]byte(text), 1000)
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("%q: encoding/json says %v, the scanner %v", text, valid, err)
		}
		if err != nil {
			return
		}
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			return // a number out of range
		}
		got, err := decodeAny(text)
		var e *fault.Error
		if errors.As(err, &e) {
			return // a member given twice
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v %v, want %#v", text, got, err, want)
		}
	})
}

func TestStringsSurviveBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		mine := jsonrpc.AppendString(nil, s)
		var back string
		if err := json.Unmarshal(mine, &back); err != nil || back != s {
			t.Fatalf("%q was written as %s, which is %q (%v)", s, mine, back, err)
		}
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonrpc.Unquote(theirs); got != s {
			t.Fatalf("%s was read as %q, want %q", theirs, got, s)
		}
	})
}
