package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/mcp"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCLI10_WritesAsk: in both revisions the host asks its user, who sees what would be written; what is declined is not
// written, and a host that can't ask is told how writing is allowed.
func TestCLI10_WritesAsk(t *testing.T) {
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		d := start(t)
		d.seed()
		action, asked := "decline", 0
		h := d.openAs(mcp.Options{AskToWrite: true}, &sdk.ClientOptions{
			ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked++
				if !strings.Contains(req.Params.Message, "More of scales") || !strings.Contains(req.Params.Message, "Add to a note") {
					t.Errorf("%s", req.Params.Message)
				}
				return &sdk.ElicitResult{Action: action}, nil
			},
		}, revision)
		const args = `{"note":"kickoff","text":"More of scales"}`
		h.contains("declined", h.fails("append_to_note", args), "did not allow it")
		action = "cancel"
		h.contains("dismissed", h.fails("append_to_note", args), "did not allow it")
		if text := h.call("read_note", `{"note":"kickoff"}`); strings.Contains(text, "More of scales") {
			t.Errorf("%s: written although declined", revision)
		}
		action = "accept"
		h.call("append_to_note", args)
		h.contains("accepted", h.call("read_note", `{"note":"kickoff"}`), "More of scales")
		if asked != 3 {
			t.Errorf("%s: asked %d times", revision, asked)
		}
		h.contains("nothing is asked about wrong arguments", h.fails("append_to_note", `{"text":5}`), "needs the argument note")
		h.contains("nor about what changes nothing", h.call("append_to_note", `{"note":"kickoff","text":"x","dryRun":true}`), "+x")

		mute := d.openAs(mcp.Options{AskToWrite: true}, nil, revision)
		h.contains("mute", mute.fails("append_to_note", args), "Nothing was written", "--allow-write=yes")
	}
}

// TestCLI10_AnAnswerIsOfOneQuestion: that to another write, or one that nobody was asked, allows nothing.
func TestCLI10_AnAnswerIsOfOneQuestion(t *testing.T) {
	d := start(t)
	d.seed()
	opts := mcp.Options{Dial: d.Dial, AskToWrite: true}
	caps := strings.Replace(stateless, `Capabilities":{}`, `Capabilities":{"elicitation":{}}`, 1)
	send := func(text, more string) (resultType, state, answer string) {
		t.Helper()
		var out strings.Builder
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,"name":"append_to_note","arguments":{"note":"alpha","text":%q}%s}}`, caps, text, more)
		must(t, mcp.Serve(t.Context(), strings.NewReader(line), &out, opts))
		var reply struct {
			Result struct{ ResultType, RequestState string }
		}
		must(t, json.Unmarshal([]byte(out.String()), &reply))
		return reply.Result.ResultType, reply.Result.RequestState, out.String()
	}
	kind, state, answer := send("one", "")
	if kind != "input_required" || state == "" || !strings.Contains(answer, `"method":"elicitation/create"`) {
		t.Fatalf("%s", answer)
	}
	for _, more := range []string{
		`,"inputResponses":{"write":{"action":"accept"}}`,
		`,"inputResponses":{"write":{"action":"accept"}},"requestState":""`,
		`,"inputResponses":{"write":{"action":"accept"}},"requestState":"` + state + `"`, // of another process
		`,"inputResponses":{"other":{"action":"accept"}},"requestState":"` + state + `"`,
	} {
		if kind, _, answer := send("two", more); kind != "input_required" {
			t.Errorf("%s: %s", more, answer)
		}
	}
}

// TestCLI10_AppendingTriesAgain: while others write to the note, a few times.
func TestCLI10_AppendingTriesAgain(t *testing.T) {
	calls, conflicts := 0, 2
	reason := fault.Changed
	d := start(t, rpc.Define("notes.patch", protocol.Mutation, func(context.Context, *rpc.Session, protocol.NotePatch) (protocol.NoteSaved, error) {
		calls++
		if calls <= conflicts {
			return protocol.NoteSaved{}, fault.Clash(reason, "the file was changed meanwhile")
		}
		return protocol.NoteSaved{}, nil
	}))
	d.put("notes.put", `{"id":"alpha","title":"Alpha","body":"x"}`)
	h := d.open(mcp.Options{AllowWrite: true})
	h.call("append_to_note", `{"note":"alpha","text":"x"}`)
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
	calls, conflicts = 0, 1000
	h.contains("bounded", h.fails("append_to_note", `{"note":"alpha","text":"x"}`), "changed meanwhile")
	if calls < 2 || calls > 10 {
		t.Errorf("%d calls", calls)
	}
	calls, reason = 0, fault.VaultBacked
	h.fails("append_to_note", `{"note":"alpha","text":"x"}`)
	if calls != 1 {
		t.Errorf("what another try does not help is tried %d times", calls)
	}
}
