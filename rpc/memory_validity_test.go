package rpc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// TestMEM93_WhatHoldsNoMoreIsNotCurrent goes over the ways by which memories reach a model or a person.
func TestMEM93_WhatHoldsNoMoreIsNotCurrent(t *testing.T) {
	d := start(t)
	d.do("memory.addMany", `{"memories":[
		{"id":"past","statement":"Nicholas is drinking green tea","validFrom":"2023-09-21T10:00:00Z","validTo":"2023-09-22T00:00:00Z","pinned":true,"kind":"preference"},
		{"id":"now","statement":"Nicholas is drinking coffee","validFrom":"2023-09-23T00:00:00Z","pinned":true,"kind":"preference"},
		{"id":"later","statement":"Nicholas is drinking cocoa","validFrom":"2039-01-01T00:00:00Z","pinned":true,"kind":"preference"},
		{"id":"bounded","statement":"Nicholas is drinking lemonade","validFrom":"2020-01-01T00:00:00Z","validTo":"2039-01-01T00:00:00Z"}]}`)
	found := func(method, params string) string {
		var ids []string
		got := d.do(method, params)
		for _, list := range []string{"hits", "memories"} {
			items, _ := got[list].([]any)
			for _, m := range items {
				ids = append(ids, fmt.Sprint(at(m, "id")))
			}
		}
		return strings.Join(ids, " ")
	}
	const ask = `{"query":"What is Nicholas drinking?"`
	for _, c := range []struct{ method, params, want, not string }{
		{"memory.search", ask + `}`, "now bounded", "past later"},
		{"memory.search", ask + `,"tiers":["memoryBank"]}`, "now bounded", "past later"},
		{"memory.search", ask + `,"validity":"any"}`, "past now later bounded", ""},
		{"memory.search", ask + `,"asOf":"2023-09-21T12:00:00Z"}`, "past", "now later"},
		{"memory.search", ask + `,"asOf":"2023-09-22T00:00:00Z"}`, "past", "now later"}, // both ends are within
		{"memory.search", `{"query":"What did Nicholas drink in 2023?"}`, "past now", "later"},
		{"memory.search", `{"query":"What did Nicholas drink in 2039?"}`, "later", "past"},
		{"memory.list", `{}`, "now bounded", "past later"},
		{"memory.list", `{"pinned":true}`, "now", "past later"},
		{"memory.list", `{"validity":"any"}`, "past now later bounded", ""},
		{"memory.list", `{"status":["active"]}`, "past now later", ""},
		{"memory.profile", `{}`, "now", "past later"},
	} {
		ids := found(c.method, c.params)
		for _, id := range strings.Fields(c.want) {
			if !strings.Contains(ids, id) {
				t.Errorf("%s %s: %s is not among %s", c.method, c.params, id, ids)
			}
		}
		for _, id := range strings.Fields(c.not) {
			if strings.Contains(ids, id) {
				t.Errorf("%s %s: %s is among %s", c.method, c.params, id, ids)
			}
		}
	}
	hits := d.do("memory.search", ask+`,"validity":"any"}`)["hits"].([]any)
	for _, h := range hits {
		if want := map[string]string{"past": "until 2023-09-22", "later": "from 2039-01-01"}[at(h, "id").(string)]; fmt.Sprint(at(h, "holds")) != fmt.Sprint(map[bool]any{true: nil, false: want}[want == ""]) {
			t.Errorf("%v holds %v, want %q", at(h, "id"), at(h, "holds"), want)
		}
	}
	if _, err := d.try("memory.list", `{"validity":"x"}`); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}

	for _, format := range []string{"markdown", "xml"} {
		system := d.do("context.assemble", `{"text":"What is Nicholas drinking now?","memories":10,"audience":"local","format":"`+format+`"}`)["system"].(string)
		if !strings.Contains(system, "coffee") || strings.Contains(system, "cocoa") || strings.Contains(system, "green tea") {
			t.Errorf("%s: %s", format, system)
		}
		system = d.do("context.assemble", `{"text":"And then?","attachedMemoryIds":["past","later"],"audience":"local","format":"`+format+`"}`)["system"].(string)
		if !strings.Contains(system, "until 2023-09-22") || !strings.Contains(system, "from 2039-01-01") {
			t.Errorf("%s, attached: %s", format, system)
		}
	}
	talk := d.do("chat.put", `{"pinnedMemoryIds":["past","now"]}`)["id"].(string)
	res := d.do("context.assemble", `{"text":"hello","conversationId":"`+talk+`","memories":5,"audience":"local"}`)
	if system := res["system"].(string); strings.Contains(system, "green tea") || !strings.Contains(system, "coffee") {
		t.Errorf("pinned in a conversation: %s", system)
	}
	if dropped := fmt.Sprint(at(res, "report.dropped")); !strings.Contains(dropped, "lapsed") {
		t.Errorf("dropped %s", dropped)
	}
	text := d.do("tools.call", `{"name":"search_memory","arguments":{"query":"What is Nicholas drinking?"}}`)["text"].(string)
	if strings.Contains(text, "green tea") {
		t.Error(text)
	}
}

// TestMEM93_TheProfileChangesWithTime: nothing is written, and what ends is gone.
func TestMEM93_TheProfileChangesWithTime(t *testing.T) {
	d := start(t)
	until := time.Now().Add(300 * time.Millisecond)
	d.do("memory.add", `{"id":"m","statement":"I am on holiday","kind":"preference","validTo":"`+until.Format(time.RFC3339Nano)+`"}`)
	if n := len(d.do("memory.profile", `{}`)["memories"].([]any)); n != 1 && time.Now().Before(until) {
		t.Errorf("%d memories before the end", n)
	}
	d.until("the end", func() bool { return len(d.do("memory.profile", `{}`)["memories"].([]any)) == 0 })
}
