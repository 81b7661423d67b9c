package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSRCH35_NamesThatLeadNowhereAreDiagnostics of the answers that show or write an entity. What
// leads to a record, or did, is none, nor what a reader is not to know of.
func TestSRCH35_NamesThatLeadNowhereAreDiagnostics(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Team","fields":[]}`)
	d.do("types.put", `{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"team","type":"entity_ref","targetType":"Team"},
		{"name":"friends","type":"entity_ref_list","targetType":"Person"},{"name":"notes","type":"note_ref"}]}`)
	d.do("entities.put", `{"id":"core","type":"Team","name":"Core"}`)
	none := func(what string, answer map[string]any) {
		t.Helper()
		if found, ok := answer["diagnostics"]; ok {
			t.Errorf("%s has the diagnostics %v", what, found)
		}
	}
	none("an id and no name", d.do("entities.put", `{"id":"bob","type":"Person","name":"Bob","fields":{"role":"Boss","team":"core"}}`))
	none("names", d.do("entities.put", `{"id":"bob","type":"Person","name":"Bob","fields":{"team":"Core","friends":["Bob"]}}`))
	none("what went", d.do("entities.put", `{"id":"eve","type":"Person","name":"Eve","fields":{"team":"8f14e45f-ceea-467f-a9d4-7c2b1f0c6a11"}}`))

	made := d.do("entities.put", `{"id":"al","type":"Person","name":"Al","fields":{"team":"Sales","friends":["Bob","[[Zoe]]"],"notes":"[[Plan]]"}}`)
	for i, want := range []string{`team "Sales"`, `friends "[[Zoe]]"`, `notes "[[Plan]]"`} {
		field, text, _ := strings.Cut(want, " ")
		d.want(made, fmt.Sprintf("diagnostics.%d.field", i), field)
		d.want(made, fmt.Sprintf("diagnostics.%d.message", i), text+" leads to no record")
		d.want(made, fmt.Sprintf("diagnostics.%d.severity", i), "warning")
	}
	d.want(d.do("entities.get", `{"ref":"al"}`), "diagnostics", made["diagnostics"])
	d.want(d.do("entities.get", `{"ref":"al","resolve":2}`), "diagnostics", made["diagnostics"])
	many := d.do("entities.putMany", `{"entities":[{"id":"x","type":"Person","name":"X"},{"id":"y","type":"Person","name":"Y","fields":{"team":"Ops"}}]}`)
	d.want(many, "diagnostics.0.field", "entities[1].team")

	d.do("notes.put", `{"id":"plan","title":"Plan","private":true}`)
	d.do("entities.put", `{"id":"secret","type":"Person","name":"Zoe","private":true}`)
	d.do("entities.patch", `{"id":"al","fields":{"team":"Marketing"}}`)
	remote := d.remote()
	d.want(d.do("entities.get", `{"ref":"al"}`), "diagnostics.0.message", `"Marketing" leads to no record`)
	if text := remote.answer("entities.get", `{"ref":"al"}`); strings.Count(text, "leads to no record") != 1 || !strings.Contains(text, `"message":"\"Marketing\" leads`) {
		t.Errorf("a remote reader is answered %s", text)
	}
	d.do("entities.put", `{"id":"sales","type":"Team","name":"Marketing","private":true}`)
	if text := remote.answer("entities.get", `{"ref":"al"}`); strings.Contains(text, "diagnostics") || strings.Contains(text, "Marketing") {
		t.Errorf("a remote reader is answered %s", text)
	}
	d.want(d.do("entities.patch", `{"id":"al","fields":{"team":"Plan"}}`), "diagnostics.0.message", `"Plan" leads to no record`)
	if text := remote.answer("entities.get", `{"ref":"al"}`); strings.Contains(text, "diagnostics") {
		t.Errorf("of what a private note is called a remote reader is answered %s", text)
	}
}

// TestRPC6_DiagnosticsAreFew however many names lead nowhere.
func TestRPC6_DiagnosticsAreFew(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"P","fields":[{"name":"all","type":"entity_ref_list"}]}`)
	entity := func(id string) string {
		return `{"id":"` + id + `","type":"P","name":"` + id + `","fields":{"all":["no` + strings.Repeat(`","no`, 79) + `"]}}`
	}
	got := d.do("entities.putMany", `{"entities":[`+entity("a")+`,`+entity("b")+`,`+entity("c")+`]}`)
	list := got["diagnostics"].([]any)
	if len(list) != 100 {
		t.Fatalf("%d diagnostics", len(list))
	}
	d.want(list[98], "field", "entities[1].all")
	d.want(list[99], "message", "141 names more lead to no record")
}
