package jsonrpc_test

import (
	"bytes"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
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
	limits := jsonrpc.ReaderOptions{MessageBytes: 256, HeaderBytes: 128}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, end := jsonrpc.ReadFrames(bytes.NewReader(data), limits)
		slow, slowEnd := jsonrpc.ReadFrames(iotest.OneByteReader(bytes.NewReader(data)), limits)
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
