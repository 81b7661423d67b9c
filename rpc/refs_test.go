package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestREF6_CasesOverTheWire sends every case of fixtures/references.json, as other clients would.
func TestREF6_CasesOverTheWire(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "fixtures", "references.json"))
	must(t, err)
	var cases []struct {
		Text      string
		CleanText *string
		Refs      []any
	}
	must(t, json.Unmarshal(data, &cases))
	if len(cases) < 32 {
		t.Fatalf("there are %d cases only", len(cases))
	}
	d := start(t)
	for _, c := range cases {
		params, err := json.Marshal(protocol.RefsParse{Text: c.Text})
		must(t, err)
		got := d.do("refs.parse", string(params))
		clean := c.Text
		if c.CleanText != nil {
			clean = *c.CleanText
		}
		d.want(got, "cleanText", clean)
		list := at(got, "refs").([]any)
		if len(list) != len(c.Refs) {
			t.Fatalf("%q: %v, want %v", c.Text, list, c.Refs)
		}
		for i := range list {
			for _, name := range []string{"kind", "id", "start", "end"} {
				if is, want := at(list[i], name), at(c.Refs[i], name); !reflect.DeepEqual(is, want) {
					t.Errorf("%q: %s of reference %d is %v, want %v", c.Text, name, i, is, want)
				}
			}
		}
	}
	d.want(d.do("refs.parse", `{"text":"🙂 @abc","unit":"byte"}`), "refs.0.start", 5)
	d.wantRefused("refs.parse", `{"text":"`+strings.Repeat("x", 1<<20+1)+`"}`, protocol.CodeLimit, "text")
}

// TestREF7_ResolveOverTheWire: one reference, and several of which each has its own error.
func TestREF7_ResolveOverTheWire(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"alice","type":"Person","name":"Alice Novak"}`)
	d.do("contexts.put", `{"id":"health","name":"Health Goals"}`)
	d.do("contexts.put", `{"id":"sport","name":"Sport","parentId":"health"}`)
	d.do("memory.add", `{"id":"run","handle":"running","statement":"I run on Mondays","contexts":["sport"],"tags":["fitness/outside"]}`)
	d.do("memory.add", `{"id":"night","handle":"sleeping","statement":"I sleep well, says Alice Novak","contexts":["health"],"domains":["health"]}`)
	talk := d.do("chat.append", `{"title":"Fix bus","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"`+strings.Repeat("long ", 2000)+`"}]}`)
	conversation := d.do("chat.get", `{"ref":"`+at(talk, "conversationId").(string)+`"}`)
	handle := at(conversation, "conversation.handle").(string)
	hash := at(conversation, "messages.1.hash").(string)

	for ref, want := range map[string][4]any{
		"#1":                              {"memory", "number", "run", "run"},
		"2":                               {"memory", "number", "night", "night"},
		"@RUNNING":                        {"memory", "handle", "run", "run"},
		"run":                             {"memory", "id", "run", "run"},
		"@health_goals_context":           {"context", "handle", "health", "night"},
		"@Health goals":                   {"context", "name", "health", "night"},
		"@fitness_tag":                    {"tag", "computed", "fitness", "run"},
		"@health_domain":                  {"domain", "computed", "health", "night"},
		"@alice_novak_person_entity":      {"entity", "computed", "alice", "night"},
		"@[Alice Novak]":                  {"entity", "name", "alice", "night"},
		"@" + handle:                      {"conversation", "handle", at(conversation, "conversation.id"), nil},
		"@conv_" + handle + "_msg_1":      {"conversation_message", "message", at(conversation, "messages.0.id"), nil},
		"conv_" + handle + "_msg_" + hash: {"conversation_message", "message", at(conversation, "messages.1.id"), nil},
	} {
		got := d.do("refs.resolve", `{"ref":"`+ref+`"}`)
		d.wantAll(got, "type", want[0], "via", want[1], "sourceId", want[2])
		if want[3] != nil {
			d.wantAll(got, "memories.0.id", want[3], "truncated", false)
		}
	}
	said := d.do("refs.resolve", `{"ref":"conv_`+handle+`_msg_2"}`)
	if text := at(said, "message.content").(string); len(text) > 8002 || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes of a message", len(text))
	}
	d.wantAll(d.do("refs.resolve", `{"ref":"health","limit":1}`), "total", 2, "truncated", true)

	many := d.do("refs.resolve", `{"refs":["#1","@runing","@nobody",""]}`)
	d.wantAll(many, "results.0.ref", "#1", "results.0.sourceId", "run",
		"results.1.error.code", protocol.CodeNotFound, "results.1.error.data.field", "refs[1]",
		"results.1.error.data.candidates.0.id", "run", "results.1.error.data.candidates.0.handle", "running",
		"results.2.error.message", "No memory, context or entity is called nobody",
		"results.3.error.code", protocol.CodeInvalidParams)

	d.do("contexts.put", `{"id":"twin","name":"Alice Novak"}`)
	d.wantRefused("refs.resolve", `{"ref":"@Alice Novak"}`, protocol.CodeConflict, "ref")
	d.wantRefused("refs.resolve", `{"ref":"@nobody"}`, protocol.CodeNotFound, "ref")
	d.wantRefused("refs.resolve", `{"ref":"conv_`+handle+`_msg_3"}`, protocol.CodeNotFound, "ref")
	d.wantRefused("refs.resolve", `{}`, protocol.CodeInvalidParams, "ref")
	d.wantRefused("refs.resolve", `{"ref":"a","refs":["b"]}`, protocol.CodeInvalidParams, "ref")
	d.wantRefused("refs.resolve", `{"refs":[`+strings.Repeat(`"a",`, 100)+`"a"]}`, protocol.CodeLimit, "refs")
	d.wantRefused("refs.resolve", `{"ref":"`+strings.Repeat("x", 5000)+`"}`, protocol.CodeLimit, "ref")
}

// TestREF9_ResolveTellsARemoteReaderNothing: what is private answers byte for byte as what is missing, and is
// no candidate.
func TestREF9_ResolveTellsARemoteReaderNothing(t *testing.T) {
	answers := func(private string) string {
		d := start(t)
		d.do("types.put", `{"name":"Person","fields":[]}`)
		if private != "" {
			d.do("entities.put", `{"id":"spy","type":"Person","name":"Spy Nine","private":true}`)
			d.do("contexts.put", `{"id":"hid","name":"Hidden","private":true}`)
			d.do("memory.add", `{"id":"shh","handle":"shh_one","statement":"nobody knows","tags":["own"],"private":true}`)
			d.do("chat.append", `{"title":"Hidden talk","private":true,"messages":[{"role":"user","content":"x"}]}`)
		}
		list, err := json.Marshal(d.do("refs.resolve", `{"audience":"remote","refs":["spy","@Spy Nine","@Spy Nin","@spy_nine_person_entity",`+
			`"hid","@Hidden","@Hiden","@hidden_context","@hiden_context","shh","@shh_one","@shh_on","#1","1","@own_tag","@own_ta","@memory:shh"]}`))
		must(t, err)
		return string(list)
	}
	if with, without := answers("yes"), answers(""); with != without {
		t.Errorf("a remote reader is told\n%s\nand without private records\n%s", with, without)
	}
}

// wantAll is want for paths that alternate with what stands there.
func (d *daemon) wantAll(v any, pairs ...any) {
	d.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		d.want(v, pairs[i].(string), pairs[i+1])
	}
}
