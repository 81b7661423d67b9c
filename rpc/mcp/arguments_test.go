package mcp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// wrongWholes are arguments that no tool can take as a whole, or that only look like some.
func wrongWholes() map[string]string {
	return map[string]string{
		"null": `null`, "a text": `"x"`, "a number": `7`, "a list": `[]`, "a list of null": `[null]`, "true": `true`,
		"an empty name": `{"":null}`, "names of other cases": `{"NOTE":{},"Note":[],"note":5}`, "a huge number": `{"limit":1e999}`,
		"a number beyond its type": `{"limit":9223372036854775807,"depth":-9223372036854775809}`,
		"nested lists":             `{"note":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`,
		"nested objects":           strings.Repeat(`{"fields":`, 900) + `1` + strings.Repeat("}", 900),
		"deep lists":               `{"note":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`,
		"deep objects":             strings.Repeat(`{"fields":`, 5_000) + `1` + strings.Repeat("}", 5_000),
		"no UTF-8":                 "{\"query\":\"\xff\xfe\",\"note\":\"\xc3\x28\"}",
		"half a pair":              `{"query":"\ud800","note":"\udfff","statement":"\ud83d"}`,
		"10 MB":                    `{"query":"` + strings.Repeat("x", 10<<20) + `"}`,
	}
}

// TestCLI10_WrongArgumentsAreAnswered: whatever shape the arguments of a tool have, the call is answered with what is
// wrong, and the connection stays.
func TestCLI10_WrongArgumentsAreAnswered(t *testing.T) {
	d := start(t)
	d.seed()
	tools := d.open(mcp.Options{AllowWrite: true}).toolNames()
	opts := mcp.Options{Dial: d.Dial, AllowWrite: true, Logger: slog.New(panicsFail{slog.DiscardHandler, t})}
	for shape, args := range wrongWholes() {
		var lines, out strings.Builder
		asked := 0
		for _, tool := range tools {
			if len(args) > 1<<20 && tool != "search_notes" && tool != "write_note" && tool != "query" {
				continue // one of each sort is enough of these
			}
			asked++
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", tool, tool, args)
		}
		must(t, mcp.Serve(t.Context(), strings.NewReader(hello+lines.String()), &out, opts))
		answered := 0
		for line := range strings.Lines(out.String()) {
			var reply struct {
				ID     string
				Error  json.RawMessage
				Result *sdk.CallToolResult
			}
			must(t, json.Unmarshal([]byte(line), &reply))
			if reply.ID == "init" {
				continue
			}
			answered++
			tooDeep := strings.HasPrefix(shape, "deep") && strings.Contains(line, "nested too deeply")
			if reply.Error != nil && !tooDeep || strings.Contains(line, "internal error") {
				t.Errorf("%s of %s: %.300s", shape, reply.ID, line)
			}
			if reply.Result != nil && len(textOf(reply.Result)) < 10 {
				t.Errorf("%s of %s says nothing: %s", shape, reply.ID, line)
			}
		}
		if answered != asked {
			t.Errorf("%s: %d of %d calls are answered", shape, answered, asked)
		}
	}
}

// TestCLI10_WrongParamsAreAnswered: so are params of every method.
func TestCLI10_WrongParamsAreAnswered(t *testing.T) {
	d := start(t)
	d.seed()
	opts := mcp.Options{Dial: d.Dial, AllowWrite: true, Logger: slog.New(panicsFail{slog.DiscardHandler, t})}
	shapes := []string{
		`null`, `{}`, `[]`, `[null]`, `"x"`, `7`, `{"name":null,"arguments":null}`, `{"name":5,"arguments":"x"}`, `{"uri":null}`, `{"uri":[]}`,
		`{"cursor":null}`, `{"cursor":{}}`, `{"_meta":null}`, `{"_meta":{"progressToken":null}}`, `{"_meta":{"progressToken":[]},"name":"recall"}`,
		`{"ref":null,"argument":null}`, `{"ref":{"type":null},"argument":{"name":null,"value":null}}`, `{"name":"ask_notes","arguments":{"message":null}}`,
		`{"notifications":null}`, `{"inputResponses":{"write":null},"name":"recall","arguments":{"query":"x"}}`,
		`{"inputResponses":{"write":{"action":5}},"requestState":7,"name":"remember","arguments":{"statement":"x"}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":5,"io.modelcontextprotocol/clientCapabilities":null}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":null}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"resourceSubscriptions":[null]}}`,
	}
	for _, method := range []string{
		"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
		"server/discover", "subscriptions/listen",
	} {
		var lines, out strings.Builder
		for i, params := range shapes {
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", i, method, params)
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`+"\n", params)
		}
		fmt.Fprintln(&lines, `{"jsonrpc":"2.0","id":"last","method":"ping"}`)
		must(t, mcp.Serve(t.Context(), strings.NewReader(hello+lines.String()), &out, opts))
		if !strings.Contains(out.String(), `"id":"last","result"`) {
			t.Errorf("%s: %.2000s", method, out.String())
		}
	}
}

// FuzzCLI10_Arguments: arguments of tools, as a host may send them.
func FuzzCLI10_Arguments(f *testing.F) {
	for shape, args := range wrongWholes() {
		if shape != "10 MB" {
			f.Add("read_note", args)
		}
	}
	for _, args := range []string{`{"note":"alpha"}`, `{"query":"x","limit":"5"}`, `{"statement":"x","supersedes":["#1"]}`, `{"record":"bob","kinds":"note"}`} {
		f.Add("search_notes", args)
		f.Add("recall", args)
		f.Add("remember", args)
		f.Add("explore_graph", args)
	}
	f.Fuzz(func(t *testing.T, tool, args string) {
		name, err := json.Marshal(tool)
		if err != nil || !json.Valid([]byte(args)) || strings.ContainsAny(args, "\r\n") {
			return
		}
		d := start(t)
		opts := mcp.Options{Dial: d.Dial, AllowWrite: true, Logger: slog.New(panicsFail{slog.DiscardHandler, t})}
		var out strings.Builder
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, name, args)
		must(t, mcp.Serve(t.Context(), strings.NewReader(hello+line), &out, opts))
		if _, answer, ok := strings.Cut(out.String(), "\n"); !ok || answer == "" || strings.Contains(answer, "internal error") {
			t.Errorf("%q", answer)
		}
	})
}
