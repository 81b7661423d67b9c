package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

const hello = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// transcript gives lines to a server, ends the input, and returns the replies
// by id; those without one are under "null".
func (d *daemon) transcript(lines string) map[string]string {
	d.t.Helper()
	var out strings.Builder
	must(d.t, mcp.Serve(d.t.Context(), strings.NewReader(hello+lines), &out, mcp.Options{Dial: d.Dial}))
	replies := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		var m struct{ ID json.RawMessage }
		must(d.t, json.Unmarshal([]byte(line), &m))
		replies[string(m.ID)] += line
	}
	return replies
}

// TestRPC5_NoMessageEndsTheConnection: each bad line is answered, and the good
// one behind it too.
func TestRPC5_NoMessageEndsTheConnection(t *testing.T) {
	d := start(t)
	d.seed()
	long := strings.Repeat("x", 17<<20)
	for name, tc := range map[string]struct{ line, id, want string }{
		"no JSON":            {`{"jsonrpc":"2.0","id":1,`, "null", `"code":-32700`},
		"no JSON at all":     {"hello", "null", `"code":-32700`},
		"deep nesting":       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}", "null", `"code":-32700`},
		"a batch":            {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", `"code":-32600`},
		"a number":           {"5", "null", `"code":-32600`},
		"another version":    {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", `"code":-32600`},
		"no method":          {`{"jsonrpc":"2.0"}`, "null", `"code":-32600`},
		"an object as id":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", `"code":-32600`},
		"a fraction as id":   {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", `"code":-32600`},
		"a huge id":          {`{"jsonrpc":"2.0","id":12345678901234567,"method":"ping"}`, "null", `"code":-32600`},
		"an odd text as id":  {`{"jsonrpc":"2.0","id":"\u0007\"\n","method":"ping"}`, `"\u0007\"\n"`, `"result":{}`},
		"unknown method":     {`{"jsonrpc":"2.0","id":7,"method":"nope"}`, "7", `"code":-32601`},
		"too long, id first": {`{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":"` + long + `"}}`, `"a"`, `"code":1004`},
		"too long, id last":  {`{"method":"ping","params":{"x":"` + long + `","id":3},"jsonrpc":"2.0","id":9}`, "9", `"code":1004`},
		"too long, id lost":  {`{"jsonrpc":"2.0","method":"ping","params":{"x":"` + long + `","id":3}}`, "null", `"code":1004`},
		"odd address":        {`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x\u0001\u0007"}}`, "7", `"code":-32602,"message":"Resource not found"`},
		"no JSON as answer":  {`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ctxd://note/\u0007"}}`, "7", `"code":-32603`},
		"params of a kind":   {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, "7", `"error"`},
		"blank lines":        {"\n \r\n", "", ""},
	} {
		replies := d.transcript(tc.line + "\n" + `{"jsonrpc":"2.0","id":"after","method":"tools/call","params":{"name":"read_note","arguments":{"note":"alpha"}}}`)
		if got := replies[tc.id]; tc.id != "" && !strings.Contains(got, tc.want) {
			t.Errorf("%s: %.200s", name, got)
		}
		if !strings.Contains(replies[`"after"`], "Text of Alpha") {
			t.Errorf("%s: the call behind it: %.300q", name, replies)
		}
	}
}

// TestRPC7_HalfCloseDrainsReplies: what was asked for before the end of the
// input is answered, although it takes longer.
func TestRPC7_HalfCloseDrainsReplies(t *testing.T) {
	release := make(chan struct{})
	d := start(t, rpc.Define("types.list", protocol.Read, func(ctx context.Context, _ *rpc.Session, _ protocol.Empty) (protocol.TypeList, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return protocol.TypeList{}, ctx.Err()
	}))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(t.Context(), in, out, mcp.Options{Dial: d.Dial})
		out.Close()
	}()
	replies := bufio.NewScanner(fromServer)
	next := func() string {
		if !replies.Scan() {
			t.Fatalf("no reply: %v", replies.Err())
		}
		return replies.Text()
	}
	go func() {
		fmt.Fprint(toServer, hello)
		for _, i := range []int{0, 1, 2, 0} { // the last has an id that is in use
			fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_types"}}`+"\n", i)
		}
		fmt.Fprint(toServer, `{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without a line feed
		toServer.Close()
	}()
	early := next() + next() + next()
	for _, want := range []string{`"serverInfo"`, `"id":null,"error":{"code":-32600`, `"last"`} {
		if !strings.Contains(early, want) {
			t.Errorf("no %s: %s", want, early)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("the server has ended before it answered: %v", err)
	default:
	}
	close(release)
	for range 3 {
		if reply := next(); !strings.Contains(reply, "No type is declared") {
			t.Errorf("%s", reply)
		}
	}
	must(t, <-done)
}

func TestAnInterruptEndsTheServer(t *testing.T) {
	d := start(t)
	in, toServer := io.Pipe()
	defer toServer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.Serve(ctx, in, io.Discard, mcp.Options{Dial: d.Dial}) }()
	fmt.Fprint(toServer, hello)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
