package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM47_AResponseOverTheSocket: what a search has shown is scored once, also behind a restart, and the events say so.
func TestMEM47_AResponseOverTheSocket(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.addMany", `{"memories":[{"id":"a","statement":"Stretch before the run","tier":"history"},{"id":"b","statement":"The run begins at the lake","tier":"history"}]}`)
	found := d.do("memory.search", `{"query":"run","conversationId":"talk"}`)
	d.want(found, "hits.0.kind", "memories")
	second := at(found, "hits.1.id").(string)
	d.want(d.do("admin.check", `{}`), "ok", true) // which opens the store anew
	out := d.do("memory.outcome", `{"outcome":"worked","conversationId":"talk","related":["2"],"takeaway":"Stretching helped."}`)
	d.want(out, "scored.0.id", second)
	d.want(out, "scored.0.score", 0.7)
	d.want(out, "takeaway.use.score", 0.7)
	d.want(out, "takeaway.tier", "working")
	again := d.do("memory.outcome", `{"outcome":"worked","conversationId":"talk"}`)
	if n := len(at(again, "scored").([]any)); n > 0 {
		t.Errorf("a repeat scores %d memories", n)
	}
	d.do("context.assemble", `{"attachedMemoryIds":["a"],"conversationId":"talk"}`)
	d.want(d.do("memory.outcome", `{"outcome":"failed","conversationId":"talk"}`), "scored.0.id", "a")
	events := d.do("memory.events", `{"id":"a","limit":1}`)
	d.want(events, "events.0.kind", "outcome")
	d.want(events, "events.0.outcome", "failed")
	next, ok := at(events, "nextCursor").(string)
	if second == "a" != ok {
		t.Errorf("next page %q of the events of a, and the search scored %s", next, second)
	}
	for i, fails := 0, `{"ids":["b"],"outcome":"failed"}`; i < 3; i++ {
		d.do("memory.outcome", fails)
	}
	dry := d.do("memory.promote", `{"dryRun":true}`)
	run := d.do("memory.promote", `{}`)
	if fmt.Sprint(dry) != fmt.Sprint(run) {
		t.Errorf("a dry run says %v, and a run %v", dry, run)
	}
	d.want(run, "archived.0", "b")
	d.want(d.do("memory.events", `{"id":"b","limit":1}`), "events.0.after.0.status", "archived")
	d.do("memory.delete", `{"id":"b"}`)
	if list := at(d.do("memory.events", `{"id":"b"}`), "events").([]any); len(list) > 0 {
		t.Errorf("events %v of a memory that is gone", list)
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
	if got := d.remote().answer("memory.promote", `{}`); !strings.Contains(got, fmt.Sprint(protocol.CodeUnavailable)) {
		t.Errorf("a remote connection promotes: %s", got)
	}
}

// TestMEM66_AnAnswerCarriesItsMemories: with the message, and in chat.inspect, as the reader sees it.
func TestMEM66_AnAnswerCarriesItsMemories(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.addMany", `{"memories":[{"id":"a","statement":"The pump is oiled in spring","tier":"history"},{"id":"b","statement":"The pump is blue","tier":"history"}]}`)
	chat := at(d.do("chat.append", `{"messages":[{"role":"user","content":"When is the pump oiled?"},{"role":"assistant","content":"In spring (#1)."}],"memoryIds":["a","b"]}`), "conversationId").(string)
	page := d.do("chat.get", `{"ref":"`+chat+`"}`)
	d.want(page, "messages.1.outcome", "unscored")
	d.want(page, "messages.1.memory.query", "When is the pump oiled?")
	d.want(page, "messages.1.memory.known.1.tier", "history")
	d.want(page, "messages.1.memory.citations.0.id", "a")
	d.want(page, "messages.1.memory.feedback.eligible", true)
	d.want(page, "messages.1.memory.feedback.related.0", "a")
	scored := d.do("memory.outcome", `{"outcome":"worked","conversationId":"`+chat+`"}`)
	d.want(scored, "scored.0.id", "a")
	if n := len(at(scored, "scored").([]any)); n != 1 {
		t.Errorf("%d memories are scored, and the answer names one", n)
	}
	shown := d.do("chat.inspect", `{"conversationId":"`+chat+`"}`)
	d.want(shown, "answer.outcome", "worked")
	d.want(shown, "answer.memory.feedback.eligible", false)
	d.do("memory.patch", `{"id":"b","private":true}`)
	if got := d.remote().answer("chat.get", `{"ref":"`+chat+`"}`); strings.Contains(got, `"b"`) {
		t.Errorf("a remote reader is told of a private memory: %s", got)
	}
	d.do("chat.delete", `{"id":"`+chat+`"}`)
	d.want(d.do("admin.check", `{}`), "ok", true)
}

// TestCHAT47_AModelSaysHowItsAnswerWent: the memories that the answer before was given are scored, once, and what was learned waits
// for the person; nobody else is offered the tool.
func TestCHAT47_AModelSaysHowItsAnswerWent(t *testing.T) {
	d := answered(t, func(r *provider.Request, to *provider.Reply) {
		_, arguments, calls := strings.Cut(r.Last(), "call ")
		switch {
		case r.Messages[len(r.Messages)-1].Role == "tool":
			to.Text("Told: ", r.Last())
		case calls:
			to.Call("record_response", arguments)
		default:
			to.Text("Stretch [#1].")
		}
		to.Text(fmt.Sprint(" offered: ", strings.Contains(r.Body, `"record_response"`)))
	})
	d.do("memory.add", `{"id":"a","statement":"Stretching helps before a run","tier":"working"}`)
	score := func() any { return at(d.do("memory.get", `{"ref":"a"}`), "use.score") }
	before := score()
	send := func(text, more string) map[string]any {
		return d.do("chat.send", fmt.Sprintf(`{"text":%q,"stream":false%s}`, text, more))
	}
	first := send("how do I run?", `,"attachedMemoryIds":["a"]`)
	talk := fmt.Sprintf(`,"memories":0,"conversationId":%q`, at(first, "conversationId")) // no later answer is given the memory
	if !strings.Contains(at(first, "content").(string), "offered: true") || score() != before {
		t.Fatalf("%v, score %v", at(first, "content"), score())
	}
	told := send(`call {"outcome":"worked","takeaway":"Stretching works for me."}`, talk)
	after := score()
	if !strings.Contains(at(told, "content").(string), "Noted") || after == before {
		t.Errorf("%v, score %v after %v", at(told, "content"), after, before)
	}
	d.want(told, "actions.0.type", "remember")
	d.want(told, "actions.0.status", "proposed")
	d.want(told, "actions.0.args.statement", "Stretching works for me.")
	if again := send(`call {"outcome":"failed"}`, talk); score() != after || !strings.Contains(at(again, "content").(string), "Noted") {
		t.Errorf("scored twice: %v after %v, %v", score(), after, at(again, "content"))
	}
	for _, wrong := range []string{`{"outcome":"splendid"}`, `{}`, `{"outcome":"failed","related":["9"]}`, `{"outcome":null}`} {
		if res := send("call "+wrong, talk); score() != after || strings.Contains(at(res, "content").(string), "Noted") {
			t.Errorf("%s: %v", wrong, at(res, "content"))
		}
	}
	if list := string(must1(t)(json.Marshal(d.do("tools.list", `{"write":true}`)))); strings.Contains(list, "record_response") {
		t.Error("tools.list names a tool that needs a conversation")
	}
	if res := string(must1(t)(json.Marshal(d.do("tools.call", `{"name":"record_response","arguments":{"outcome":"worked"}}`)))); !strings.Contains(res, "there is no tool") {
		t.Errorf("tools.call: %s", res)
	}
}

func must1(t *testing.T) func(data []byte, err error) []byte {
	return func(data []byte, err error) []byte {
		t.Helper()
		must(t, err)
		return data
	}
}
