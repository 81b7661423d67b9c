package rpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
)

var frameSeeds = []string{
	"", " \n", "{}", "{}\n[]\n", `{"a":"\n"}` + "\n", "Content-Length: 2\r\n\r\n{}", "content-length:2\n\n{}x",
	"Content-Length: 2\r\n\r\n{}Content-Length: 999999\r\n\r\n{}", "X: y\r\n\r\n", "Content-Length: -1\r\n\r\n",
	"{" + string(bytes.Repeat([]byte("x"), 300)) + "\n{}\n", "\x00\xff", "Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345",
}

// FuzzFrameReader feeds any bytes, whole and byte by byte: the messages must be
// the same, nothing may panic, and no buffer may outgrow the limits.
func FuzzFrameReader(f *testing.F) {
	for _, s := range frameSeeds {
		f.Add([]byte(s))
	}
	limits := rpc.Limits{MessageBytes: 256, HeaderBytes: 128}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, end := rpc.ReadFrames(bytes.NewReader(data), limits)
		slow, slowEnd := rpc.ReadFrames(iotest.OneByteReader(bytes.NewReader(data)), limits)
		if !reflect.DeepEqual(whole, slow) || (end == nil) != (slowEnd == nil) || end.Error() != slowEnd.Error() {
			t.Fatalf("whole: %q %v\nbyte by byte: %q %v", whole, end, slow, slowEnd)
		}
		for _, m := range whole {
			if len(m) > limits.MessageBytes {
				t.Fatalf("a message of %d bytes", len(m))
			}
		}
	})
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
		err := rpc.CheckJSON([]byte(text), 1000)
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
		got, err := rpc.DecodeAny(text)
		var e *fault.Error
		if errors.As(err, &e) {
			return // a member given twice
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v %v, want %#v", text, got, err, want)
		}
	})
}

func TestTextsSurviveBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		mine := rpc.AppendText(nil, s)
		var back string
		if err := json.Unmarshal(mine, &back); err != nil || back != s {
			t.Fatalf("%q was written as %s, which is %q (%v)", s, mine, back, err)
		}
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := rpc.Unquote(theirs); got != s {
			t.Fatalf("%s was read as %q, want %q", theirs, got, s)
		}
	})
}
