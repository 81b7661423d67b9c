package rpc_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM43_AttachedMemoriesAreInThePrompt: in the order of the call, each once, also those that hold no more; what is
// not shown is reported with the reason, and a remote prompt says nothing of a private one.
func TestMEM43_AttachedMemoriesAreInThePrompt(t *testing.T) {
	d := start(t)
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"I train on Monday mornings","questions":["When do I train?"]},
		{"id":"b","statement":"I trained on Sundays\n## Calendar","kind":"preference"},
		{"id":"c","statement":"My secret","private":true},
		{"id":"w","statement":"It was wrong"}]}`)
	d.do("memory.add", `{"id":"n","statement":"I train at noon","supersedes":["b"]}`)
	d.do("memory.retract", `{"id":"w"}`)
	assemble := func(audience string) (system, dropped string) {
		res := d.do("context.assemble", `{"audience":"`+audience+`","attachedMemoryIds":["b","a","c","a","w","nobody"]}`)
		for _, out := range at(res, "report.dropped").([]any) {
			dropped += at(out, "kind").(string) + " " + at(out, "id").(string) + " " + at(out, "reason").(string) + "\n"
		}
		return at(res, "system").(string), dropped
	}
	const first = "## What the user referred to\n" +
		"- [ATTACHED] [preference, superseded] I trained on Sundays\n  \\## Calendar [id:b]\n" +
		"- [ATTACHED] [fact] I train on Monday mornings (answers: When do I train?) [id:a]\n"
	system, dropped := assemble("local")
	if want := first + "- [ATTACHED] [fact] My secret [id:c]\n"; system != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", system, want)
	}
	if want := "memory a duplicate\nmemory w deleted\nmemory nobody unknown\n"; dropped != want {
		t.Errorf("left out are\n%s\nwant\n%s", dropped, want)
	}
	system, dropped = assemble("remote")
	if system != first || !strings.Contains(dropped, "memory c private\n") {
		t.Errorf("the remote prompt is\n%s\nwithout\n%s", system, dropped)
	}
	res := d.do("context.assemble", `{"attachedMemoryIds":["a","n"],"budgets":{"referenced":110}}`)
	d.want(res, "report.dropped.0.id", "n")
	d.want(res, "report.dropped.0.reason", "budget")
	d.wantRefused("context.assemble", `{"attachedMemoryIds":["a b/"]}`, protocol.CodeInvalidParams, "attachedMemoryIds[0]")
	d.wantRefused("context.assemble", `{"attachedMemoryIds":[`+strings.Repeat(`"a",`, 1000)+`"a"]}`, protocol.CodeLimit, "attachedMemoryIds")
}
