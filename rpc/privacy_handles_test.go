package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPRIV8_HandlesOfPrivateRecordsAreMasked: what refers to a memory, a context or a conversation is shown for as long as
// the record is public, and to no remote reader from when it is not, also when it is gone.
func TestPRIV8_HandlesOfPrivateRecordsAreMasked(t *testing.T) {
	for _, c := range []struct {
		name string
		make []string // CHAT is the conversation of the last chat.append
		says string   // the reference
		word string   // in it, by which nothing must be found
		hide []string
		show []string // makes it public again; nil: it can't be
		gone []string
	}{
		{
			"a memory",
			[]string{`memory.add {"id":"mm","handle":"zqplum_jam","statement":"Jam is sweet"}`},
			"@zqplum_jam", "zqplum_jam",
			[]string{`memory.patch {"id":"mm","private":true}`},
			[]string{`memory.patch {"id":"mm","private":false}`},
			[]string{`memory.delete {"id":"mm","force":true}`},
		},
		{
			"a memory by its id",
			[]string{`memory.add {"id":"zqident","statement":"Jam is sweet"}`},
			"@memory:zqident", "zqident",
			[]string{`memory.patch {"id":"zqident","private":true}`},
			nil,
			[]string{`memory.delete {"id":"zqident","force":true}`},
		},
		{
			"a memory of a note",
			[]string{
				`notes.put {"id":"source","title":"Source","body":"x"}`,
				`memory.add {"id":"mm","handle":"zqplum_jam","statement":"Jam is sweet","source":{"kind":"user","noteId":"source"}}`,
			},
			"@zqplum_jam", "zqplum_jam",
			[]string{`notes.patch {"id":"source","private":true}`},
			nil,
			[]string{`memory.delete {"id":"mm","force":true}`},
		},
		{
			"a context by its name",
			[]string{`contexts.put {"id":"cc","name":"Zqorchard"}`},
			"@Zqorchard", "zqorchard",
			[]string{`contexts.put {"id":"cc","name":"Zqorchard","private":true}`},
			[]string{`contexts.put {"id":"cc","name":"Zqorchard","private":false}`},
			[]string{`contexts.delete {"id":"cc"}`},
		},
		{
			"a message of a conversation",
			[]string{
				`chat.append {"title":"Talk","messages":[{"role":"user","content":"x"}]}`,
				`refs.rename {"ref":"{CHAT}","handle":"zqtalk_one"}`,
			},
			"@conv_zqtalk_one_msg_1", "conv_zqtalk_one_msg_1",
			[]string{`chat.patch {"id":"{CHAT}","private":true}`},
			[]string{`chat.patch {"id":"{CHAT}","private":false}`},
			[]string{`chat.delete {"id":"{CHAT}"}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := start(t)
			d.do("types.put", `{"name":"Person","fields":[{"name":"about","type":"text"}]}`)
			chat := ""
			do := func(calls []string) {
				t.Helper()
				for _, call := range calls {
					method, params, _ := strings.Cut(strings.ReplaceAll(call, "{CHAT}", chat), " ")
					if res := d.do(method, params); method == "chat.append" {
						chat = fmt.Sprint(at(res, "conversationId"))
					}
				}
			}
			do(c.make)
			made := chat
			d.do("notes.put", fmt.Sprintf(`{"id":"n","title":"Of %s","aliases":["%s too"],"body":"They say %s is best."}`, c.says, c.says, c.says))
			d.do("entities.put", fmt.Sprintf(`{"id":"e","type":"Person","name":"Ann","fields":{"about":"as %s says"}}`, c.says))
			d.do("memory.add", fmt.Sprintf(`{"id":"other","statement":"I meant %s then"}`, c.says))
			do([]string{fmt.Sprintf(`chat.append {"messages":[{"role":"user","content":"what of %s now"}]}`, c.says)})
			other := chat
			chat = made
			remote := d.remote()
			asks := [][2]string{
				{"notes.get", `{"ref":"n"}`},
				{"entities.get", `{"ref":"e"}`},
				{"memory.get", `{"ref":"other"}`},
				{"chat.get", `{"ref":"` + other + `"}`},
				{"chat.list", `{}`},
				{"context.assemble", `{"text":"They say [[n]] @Ann is best","memories":5}`},
			}
			finds := [][2]string{
				{"notes.search", `{"query":"` + c.word + `"}`}, {"chat.search", `{"query":"` + c.word + `"}`}, {"memory.search", `{"query":"` + c.word + `"}`},
			}
			shown := strings.TrimPrefix(c.says, "@")
			want := func(when string, visible bool) {
				t.Helper()
				for _, ask := range asks {
					got := remote.answer(ask[0], ask[1])
					if ask[0] == "chat.list" && c.name == "a message of a conversation" {
						continue // it lists the conversation
					}
					if ask[0] == "context.assemble" && visible {
						continue // what is shown of it depends on the search
					}
					if strings.Contains(got, shown) != visible {
						t.Errorf("%s, %s shows %v: %.700s", when, ask[0], !visible, got)
					}
				}
				for _, ask := range finds {
					if got := remote.answer(ask[0], ask[1]); strings.Contains(got, `"hits":[]`) == visible {
						t.Errorf("%s, %s finds something: %v: %.700s", when, ask[0], !visible, got)
					}
				}
				if got := fmt.Sprint(d.do("notes.get", `{"ref":"n"}`)); !strings.Contains(got, shown) {
					t.Errorf("%s, a local reader is not shown it: %.700s", when, got)
				}
			}
			want("while it is public", true)
			do(c.hide)
			want("when it is private", false)
			if c.show != nil {
				do(c.show)
				want("when it is public again", true)
				do(c.hide)
			}
			do(c.gone)
			want("when it is gone", false)
		})
	}
}

// TestPRIV16_AHandleThatSomethingHiddenHasIsNotRefused: whatever kind of record has it, and whichever asks. What a remote reader
// sees has its handle, and that is said.
func TestPRIV16_AHandleThatSomethingHiddenHasIsNotRefused(t *testing.T) {
	d := start(t)
	for _, c := range []struct{ name, private string }{{"open", "false"}, {"hidden", "true"}} {
		d.do("memory.add", fmt.Sprintf(`{"id":"m%[1]s","handle":"%[1]s_jam_claim","statement":"The %[1]s jam is sweet","private":%[2]s}`, c.name, c.private))
		d.do("contexts.put", fmt.Sprintf(`{"id":"c%[1]s","handle":"%[1]s_plans_context","name":"The %[1]s plans","private":%[2]s}`, c.name, c.private))
		d.do("chat.put", fmt.Sprintf(`{"id":"t%[1]s","title":"The %[1]s talk","private":%[2]s}`, c.name, c.private))
		d.do("refs.rename", fmt.Sprintf(`{"ref":"t%[1]s","handle":"%[1]s_talk"}`, c.name))
	}
	remote := d.remote()
	own := map[string]string{"mopen": "open_jam_claim", "copen": "open_plans_context", "topen": "open_talk"}
	for _, asks := range []string{"mopen", "copen", "topen"} {
		for _, of := range []string{"jam_claim", "plans_context", "talk"} {
			if of == "plans_context" && asks != "copen" {
				continue // its end is that of contexts alone
			}
			if got := remote.answer("refs.rename", fmt.Sprintf(`{"ref":%q,"handle":"hidden_%s"}`, asks, of)); strings.Contains(got, "error") {
				t.Errorf("%s asks for hidden_%s: %s", asks, of, got)
			}
			if got := d.do("refs.resolve", `{"refs":["@hidden_`+of+`"]}`); !strings.Contains(fmt.Sprint(got), "hidden") {
				t.Errorf("a local reader finds by hidden_%s: %v", of, got)
			}
		}
		if got := remote.answer("refs.rename", fmt.Sprintf(`{"ref":%q,"handle":%q}`, asks, own[asks])); strings.Contains(got, "error") {
			t.Errorf("%s gets its own one back: %s", asks, got)
		}
	}
	d.do("chat.put", `{"id":"more","title":"More"}`)
	if got := remote.answer("refs.rename", `{"ref":"more","handle":"open_talk"}`); !strings.Contains(got, "the handle is taken") {
		t.Errorf("one that is seen to be taken: %s", got)
	}
}
