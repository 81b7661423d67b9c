package rpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
)

// TestCTX41_AHistoryOverTheWire gives what the conversation gives that says the same, and a bad one is refused by its place. A
// remote connection gets no private name out of what it sends or keeps itself.
func TestCTX41_AHistoryOverTheWire(t *testing.T) {
	d := start(t)
	d.do("notes.put", `{"id":"hives","title":"Hives","body":"Bees winter in a cluster."}`)
	d.do("notes.put", `{"id":"secret","title":"Zanzibar","body":"Nobody knows.","private":true}`)
	said := `[{"role":"user","TEXT":"What about [[Hives]] and [[Zanzibar]]?"},{"role":"assistant","TEXT":"They winter."}]`
	kept := at(d.do("chat.append", `{"messages":`+strings.ReplaceAll(said, "TEXT", "content")+`}`), "conversationId").(string)
	remote := d.remote()
	for name, params := range map[string]string{
		"history": `"history":` + strings.ReplaceAll(said, "TEXT", "text"), "conversation": `"conversationId":"` + kept + `"`,
	} {
		params = `{"text":"and why do they?","searchNotes":3,` + params
		res := d.do("context.assemble", params+`,"audience":"local"}`)
		if q := fmt.Sprint(at(res, "report.query")); !strings.Contains(q, "Hives") || !strings.Contains(q, "Zanzibar") {
			t.Errorf("%s: searched for %q", name, q)
		}
		if n := strings.Count(fmt.Sprint(res), "focus: named 1 turn ago"); n != 2 {
			t.Errorf("%s: %d records are in the focus: %v", name, n, res)
		}
		raw := remote.answer("context.assemble", params+`}`)
		if !strings.Contains(raw, "focus: named 1 turn ago") || strings.Contains(raw, "Zanzibar") || strings.Contains(raw, "secret") {
			t.Errorf("%s: a remote reader gets %s", name, raw)
		}
	}
	for params, field := range map[string]string{
		`{"history":[{"role":"user","text":"x"},{"role":"tool","text":"x"}]}`: "history[1].role", `{"history":[{"role":"user","words":"x"}]}`: "history[0].words",
	} {
		_, err := d.try("context.assemble", params)
		var e *client.Error
		if !errors.As(err, &e) || e.Code != -32602 || e.Data.Field != field {
			t.Errorf("%s: %v %+v, want one of %s", params, err, e, field)
		}
	}
}
