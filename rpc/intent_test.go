package rpc_test

import (
	"fmt"
	"testing"
)

// TestMEM78_WhatIsOrderedIsRouted: each order comes with its place in UTF-16 and its proposal, or with why there is none,
// and nothing is changed.
func TestMEM78_WhatIsOrderedIsRouted(t *testing.T) {
	d := answered(t, proposes)
	d.do("notes.put", `{"id":"pack","title":"Packing list","body":"Socks"}`)
	d.do("memory.add", `{"id":"rome","statement":"I live in Rome"}`)
	conversation := at(d.do("chat.put", `{"title":"Trip"}`), "id").(string)
	seq := fmt.Sprint(at(d.do("admin.stats", `{}`), "records"))
	out := d.do("intent.route", `{"text":"🎒 Hello!\n/remember I like tea; /forget #1\n/pin [[Packing list]]\nRemember that I run.\n/forget #9","conversationId":"`+conversation+`"}`)
	d.want(out, "rest", true)
	d.want(out, "intents.0.kind", "remember")
	d.want(out, "intents.0.range", "[10 30]")
	d.want(out, "intents.0.confidence", 1)
	d.want(out, "intents.0.proposal.type", "remember")
	d.want(out, "intents.0.proposal.reason", "/remember I like tea")
	d.want(out, "intents.0.proposal.args", map[string]any{"statement": "I like tea", "kind": "fact", "conversationId": conversation})
	d.want(out, "intents.1.proposal.args", map[string]any{"memoryId": "rome", "statement": "I live in Rome"})
	d.want(out, "intents.1.proposal.version", 1)
	d.want(out, "intents.2.proposal.args", map[string]any{"conversationId": conversation, "noteId": "pack", "label": "Packing list"})
	d.want(out, "intents.3.language", "en")
	d.want(out, "intents.3.confidence", 0.9)
	d.want(out, "intents.4.problem.code", 1001)
	d.want(d.do("intent.route", `{"text":"/pin pack"}`), "intents.0.problem.data.field", "conversationId")
	d.want(d.do("intent.route", `{"text":"What is for dinner?"}`), "intents", "[]")
	if got := fmt.Sprint(at(d.do("admin.stats", `{}`), "records")); got != seq {
		t.Errorf("records: %s, before %s", got, seq)
	}
}
