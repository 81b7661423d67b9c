package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// stateless is what a request of revision 2026-07-28 says of its client, instead of initialize.
const stateless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// TestCLI10_RequestsNeedNoHandshake: in revision 2026-07-28 each request stands alone, and lists say how long they may
// be kept. Records may not be kept, since each may be made private at any time.
func TestCLI10_RequestsNeedNoHandshake(t *testing.T) {
	d := start(t)
	d.seed()
	for method, want := range map[string][]string{
		"server/discover":                       {`"2026-07-28"`, `"2024-11-05"`, `"ttlMs":60000`, `"cacheScope":"private"`},
		"tools/list":                            {`"name":"recall"`, `"ttlMs":60000`, `"cacheScope":"private"`},
		"prompts/list":                          {`"ask_notes"`, `"ttlMs":60000`, `"cacheScope":"private"`},
		"resources/templates/list":              {`ctxd://note/{id}`, `"ttlMs":60000`, `"cacheScope":"private"`},
		"resources/list":                        {`ctxd://note/alpha`, `"ttlMs":0`, `"cacheScope":"private"`},
		`resources/read "ctxd://note/alpha"`:    {`Text of Alpha`, `"ttlMs":0`, `"cacheScope":"private"`},
		`tools/call read_note {"note":"alpha"}`: {`Text of Alpha`, `"resultType":"complete"`},
	} {
		method, rest, _ := strings.Cut(method, " ")
		params := stateless
		switch method {
		case "resources/read":
			params += `,"uri":` + rest
		case "tools/call":
			name, args, _ := strings.Cut(rest, " ")
			params += fmt.Sprintf(`,"name":%q,"arguments":%s`, name, args)
		}
		var out strings.Builder
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
		must(t, mcp.Serve(t.Context(), strings.NewReader(line), &out, mcp.Options{Dial: d.Dial}))
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %s in %.2000s", method, part, out.String())
			}
		}
	}
}

// TestCLI10_OlderHostsAreAnsweredInTheirRevision: what a host asks for in initialize, or the newest that has initialize.
func TestCLI10_OlderHostsAreAnsweredInTheirRevision(t *testing.T) {
	d := start(t)
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		var out strings.Builder
		line := strings.Replace(hello, "2025-06-18", asked, 1)
		must(t, mcp.Serve(t.Context(), strings.NewReader(line), &out, mcp.Options{Dial: d.Dial}))
		if !strings.Contains(out.String(), `"protocolVersion":"`+want+`"`) {
			t.Errorf("%s: %s", asked, out.String())
		}
	}
}

// TestCLI10_AHostListens: subscriptions/listen tells of changes until it is withdrawn, and the end of the input does
// not wait for it.
func TestCLI10_AHostListens(t *testing.T) {
	d := start(t)
	d.seed()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.Serve(t.Context(), in, out, mcp.Options{Dial: d.Dial})
		out.Close()
	}()
	replies := bufio.NewScanner(fromServer)
	next := func(want ...string) {
		t.Helper()
		if !replies.Scan() {
			t.Fatalf("no message: %v", replies.Err())
		}
		for _, part := range want {
			if !strings.Contains(replies.Text(), part) {
				t.Errorf("no %s in %s", part, replies.Text())
			}
		}
		if !json.Valid(replies.Bytes()) {
			t.Errorf("no JSON: %s", replies.Text())
		}
	}
	listen := func(id, uri string) {
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%q,"method":"subscriptions/listen","params":{%s,"notifications":{"resourceSubscriptions":[%q]}}}`+"\n", id, stateless, uri)
	}
	listen("a", "ctxd://note/alpha")
	next("notifications/subscriptions/acknowledged", "ctxd://note/alpha")
	d.put("notes.patch", `{"id":"alpha","body":"changed"}`)
	next("notifications/resources/updated", "ctxd://note/alpha", `"io.modelcontextprotocol/subscriptionId":"a"`)
	listen("bad", "file:///etc/passwd")
	next(`"id":"bad"`, "Resource not found")
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	listen("b", "ctxd://entity/bob")
	next("notifications/subscriptions/acknowledged", "ctxd://entity/bob")
	d.put("entities.patch", `{"id":"bob","fields":{"role":"x"}}`)
	next("notifications/resources/updated", "ctxd://entity/bob")
	toServer.Close() // b is not answered yet, and may not keep the program alive
	for replies.Scan() {
		if !strings.Contains(replies.Text(), `"id":"b"`) {
			t.Errorf("%s", replies.Text())
		}
	}
	must(t, <-done)
}
