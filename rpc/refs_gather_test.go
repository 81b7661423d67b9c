package rpc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestREF10_GatherIsTheMemoryPartOfAPrompt: what it gives is byte for byte what stands in a prompt for the same message,
// and its items are what stands there, each with the record, why it is there and how it was named.
func TestREF10_GatherIsTheMemoryPartOfAPrompt(t *testing.T) {
	d := start(t)
	handle := d.life()
	d.do("memory.add", `{"id":"pin","statement":"Answer briefly","pinned":true}`)
	d.do("memory.add", `{"id":"who","statement":"I am a nurse","kind":"identity","tier":"memoryBank"}`)
	d.do("notes.put", `{"id":"n1","title":"Plan","body":"running"}`)
	text := `"@Alice Novak @running @conv_` + handle + `_msg_2 of [[Plan]] and [[No such]], when do I run on Mondays? @my_secret"`
	for _, format := range []string{"markdown", "xml"} {
		for _, audience := range []string{"local", "remote"} {
			rest := `,"format":"` + format + `","audience":"` + audience + `","attachedMemoryIds":["nap","nobody"]}`
			whole := d.do("context.assemble", `{"text":`+text+`,"memories":10`+rest)
			got := d.do("refs.gather", `{"text":`+text+rest)
			system := at(whole, "system").(string)
			mark := map[string]string{"markdown": "## What the user referred to\n", "xml": "<referenced>\n"}[format]
			_, memories, _ := strings.Cut(system, mark)
			if at(got, "text") != mark+memories {
				t.Errorf("%s, %s: gathered is\n%s\nthe prompt has\n%s", format, audience, at(got, "text"), mark+memories)
			}
		}
	}
	got := d.do("refs.gather", `{"text":`+text+`,"attachedMemoryIds":["nap","nobody"]}`)
	var items []string
	for _, item := range at(got, "items").([]any) {
		of := item.(map[string]any)
		var id string
		if m, ok := of["memory"].(map[string]any); ok {
			id = m["id"].(string)
		} else {
			id = at(item, "message.role").(string) + ": " + at(item, "message.content").(string)
		}
		items = append(items, fmt.Sprintf("%s %v %v", id, of["source"], of["ref"]))
	}
	want := []string{
		"assistant: it is referenced @conv_" + handle + "_msg_2", "boss referenced @Alice Novak", "run referenced @running",
		"nap attached <nil>", "who profile <nil>", "pin pinned <nil>",
	}
	if len(items) < len(want) || !slices.Equal(items[:len(want)], want) {
		t.Errorf("items are %q, want %q first", items, want)
	}
	var dropped []string
	for _, out := range at(got, "dropped").([]any) {
		dropped = append(dropped, fmt.Sprintf("%v %v %v", at(out, "kind"), at(out, "id"), at(out, "reason")))
	}
	if want := []string{"memory secret private", "memory nobody unknown"}; !slices.Equal(dropped, want) {
		t.Errorf("left out are %q, want %q", dropped, want)
	}
	if reports := at(d.do("context.recent", `{}`), "reports").([]any); len(reports) != 4 {
		t.Errorf("%d reports of prompts are kept, 4 prompts were made", len(reports))
	}
}

// TestREF11_GatherAsPKB: lines for clients that know them; a message that refers to nothing has no part of its own.
func TestREF11_GatherAsPKB(t *testing.T) {
	d := start(t)
	d.life()
	got := d.do("refs.gather", `{"text":"@running and #2","format":"pkb","k":0}`)
	want := `<pkb_item source="referenced" type="fact" ref="@running">I run on Mondays</pkb_item>` + "\n" +
		`<pkb_item source="referenced" type="fact" ref="#2" answers="How do I sleep?">I sleep [well]&#10;## Not</pkb_item>` + "\n"
	if at(got, "text") != want {
		t.Errorf("got\n%s\nwant\n%s", at(got, "text"), want)
	}
	none := d.do("refs.gather", `{"text":"what now?","k":0}`)
	if at(none, "text") != "" || len(at(none, "items").([]any))+len(at(none, "dropped").([]any)) > 0 {
		t.Errorf("of nothing is made %v", none)
	}
	if said := at(d.do("refs.gather", `{"text":"hi"}`), "degraded"); said != "the message asks nothing" {
		t.Errorf("of a greeting is said %v", said)
	}
}

// TestREF10_GatherRefuses what it can't read, and names the member.
func TestREF10_GatherRefuses(t *testing.T) {
	d := start(t)
	for _, tc := range []struct {
		params, field string
		code          int
	}{
		{`{}`, "text", protocol.CodeInvalidParams},
		{`{"text":1}`, "text", protocol.CodeInvalidParams},
		{`{"text":"x","k":21}`, "k", protocol.CodeInvalidParams},
		{`{"text":"x","k":-1}`, "k", protocol.CodeInvalidParams},
		{`{"text":"x","k":"5"}`, "k", protocol.CodeInvalidParams},
		{`{"text":"x","format":"json"}`, "format", protocol.CodeInvalidParams},
		{`{"text":"x","audience":"all"}`, "audience", protocol.CodeInvalidParams},
		{`{"text":"x","attachedMemoryIds":"a"}`, "attachedMemoryIds", protocol.CodeInvalidParams},
		{`{"text":"x","attachedMemoryIds":["a b"]}`, "attachedMemoryIds[0]", protocol.CodeInvalidParams},
		{`{"text":"x","conversationId":"a b"}`, "conversationId", protocol.CodeInvalidParams},
		{`{"text":"x","memories":1}`, "memories", protocol.CodeInvalidParams},
		{`{"text":"` + strings.Repeat("x", 1<<20+1) + `"}`, "text", protocol.CodeLimit},
	} {
		_, err := d.try("refs.gather", tc.params)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != tc.code || e.Data.Field != tc.field {
			t.Errorf("%.80s: %v, want code %d and field %q", tc.params, err, tc.code, tc.field)
		}
	}
}
