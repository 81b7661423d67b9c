package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/provider"
)

// TestPRIV13_WhatWasMadeFromARecordFollowsIt: an answer that stood on a record is private as soon as that is, on whatever
// road the record came to the model, and stays so; what was made of the answer goes with it, and no remote model is told of it.
func TestPRIV13_WhatWasMadeFromARecordFollowsIt(t *testing.T) {
	const question = "What of it?"
	for _, c := range []struct {
		name string
		ask  string // what is asked
		tool string // that the model calls, with its arguments; "" for none
		hide string
		show string // makes it public again; "" for none
		with string // further params of the message
	}{
		{"an entity that is mentioned", "What of @Ann?", "", `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one that a field leads to", "What of @Boat?", "", `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one that a computed field counts", "What of @Club?", "", `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one that a computed field lists", "What of @Fleet?", "", `entities.patch {"id":"boat","private":true}`, `entities.patch {"id":"boat","private":false}`, ""},
		{"one that is archived", "What of @Ann?", "", `entities.archive {"id":"ann"}` + "\n" + `entities.patch {"id":"ann","private":true}`, "", ""},
		{"one that a tool shows", question, `get_entity {"entity":"Ann"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one behind one that a tool shows", question, `get_entity {"entity":"Boat"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one that a tool counts", question, `get_entity {"entity":"Club"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one of the graph", question, `explore_graph {"record":"Boat"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one of a query", question, `query {"query":"SELECT p FROM Person p"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one that a query sums up", question, `query {"query":"SELECT SUM(p.pay) FROM Person p"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"one by a path of a query", question, `query {"query":"SELECT MAX(b.owner.pay) FROM Boat b"}`, `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, ""},
		{"an entity whose note becomes private", "What of @Noted?", "", `notes.patch {"id":"n","private":true}`, `notes.patch {"id":"n","private":false}`, ""},
		{"a memory that is mentioned", "What of @jam_claim?", "", `memory.patch {"id":"mm","private":true}`, `memory.patch {"id":"mm","private":false}`, ""},
		{"a memory of a tool", question, `search_memory {"query":"jam"}`, `memory.patch {"id":"mm","private":true}`, `memory.patch {"id":"mm","private":false}`, ""},
		{"a memory whose note becomes private", "What of @noted_claim?", "", `notes.patch {"id":"n","private":true}`, `notes.patch {"id":"n","private":false}`, ""},
		{"a memory that supersedes one that becomes private", "What of @newer_claim?", "", `memory.patch {"id":"older","private":true}`, `memory.patch {"id":"older","private":false}`, ""},
		{"a message of another conversation", question, `search_memory {"query":"harbour","kinds":["messages"]}`, `chat.patch {"id":"talk","private":true}`, `chat.patch {"id":"talk","private":false}`, ""},
		{"a private entity that is deleted", "What of @Ann?", "", `entities.patch {"id":"ann","private":true}` + "\n" + `entities.delete {"id":"ann"}`, "", ""},
		{"a private memory that is deleted", "What of @jam_claim?", "", `memory.patch {"id":"mm","private":true}` + "\n" + `memory.delete {"id":"mm","force":true}`, "", ""},
		{"a note that the search finds", "granite quay", "", `notes.patch {"id":"quay","private":true}`, `notes.patch {"id":"quay","private":false}`, ""},
		{"a note that a tool finds", question, `search_notes {"query":"granite"}`, `notes.patch {"id":"quay","private":true}`, `notes.patch {"id":"quay","private":false}`, ""},
		{"a note whose title a tool shows", question, `read_note {"id":"linker"}`, `notes.patch {"id":"quay","private":true}`, `notes.patch {"id":"quay","private":false}`, ""},
		{"a note, and no references are kept", "What of [[Quay]]?", "", `notes.patch {"id":"quay","private":true}`, `notes.patch {"id":"quay","private":false}`, `,"trackReferences":false`},
		{"a memory, and no references are kept", "What of @jam_claim?", "", `memory.patch {"id":"mm","private":true}`, `memory.patch {"id":"mm","private":false}`, `,"trackReferences":false`},
		{"an entity, and no references are kept", "What of @Ann?", "", `entities.patch {"id":"ann","private":true}`, `entities.patch {"id":"ann","private":false}`, `,"trackReferences":false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var heard []string
			d := answered(t, func(r *provider.Request, to *provider.Reply) {
				heard = append(heard, fmt.Sprint(r.Messages))
				if name, args, ok := strings.Cut(c.tool, " "); ok && strings.HasSuffix(r.Last(), question) {
					to.Call(name, args)
					return
				}
				to.Text("Zqzebra it is.")
			})
			do := func(calls string) {
				t.Helper()
				for call := range strings.SplitSeq(calls, "\n") {
					method, params, _ := strings.Cut(call, " ")
					d.do(method, params)
				}
			}
			for _, call := range []string{
				`types.put {"name":"Person","fields":[{"name":"pay","type":"number"}]}`,
				`types.put {"name":"Boat","fields":[{"name":"owner","type":"entity_ref"}]}`,
				`types.put {"name":"Club","fields":[{"name":"people","type":"computed","query":"SELECT SUM(p.pay) FROM Person p"}]}`,
				`types.put {"name":"Fleet","fields":[{"name":"boats","type":"computed","query":"SELECT b FROM Boat b"}]}`,
				`notes.put {"id":"n","title":"N","body":"x"}`,
				`notes.put {"id":"quay","title":"Quay","body":"The granite quay is wet."}`,
				`notes.put {"id":"linker","title":"Linker","body":"See [[Quay]]."}`,
				`entities.put {"id":"ann","type":"Person","name":"Ann","fields":{"pay":7}}`,
				`entities.put {"id":"noted","type":"Person","name":"Noted","noteId":"n"}`,
				`entities.put {"id":"boat","type":"Boat","name":"Boat","fields":{"owner":"ann"}}`,
				`entities.put {"id":"club","type":"Club","name":"Club"}`,
				`entities.put {"id":"fleet","type":"Fleet","name":"Fleet"}`,
				`memory.add {"id":"mm","handle":"jam_claim","statement":"Jam is sweet"}`,
				`memory.add {"id":"nm","handle":"noted_claim","statement":"Figs are sweet","source":{"kind":"user","noteId":"n"}}`,
				`memory.add {"id":"older","statement":"Plums are sour"}`,
				`memory.add {"id":"newer","handle":"newer_claim","statement":"Plums are sweet","supersedes":["older"]}`,
				`chat.put {"id":"talk","title":"Talk"}`,
				`chat.append {"conversationId":"talk","messages":[{"role":"user","content":"the harbour is full"}]}`,
			} {
				do(call)
			}
			sent := d.do("chat.send", fmt.Sprintf(`{"text":%q,"stream":false,"provider":"far"%s}`, c.ask, c.with))
			talk, answer := at(sent, "conversationId").(string), at(sent, "assistantMessage.id").(string)
			do(`memory.add {"id":"made","statement":"Zqzebra was said","source":{"kind":"extraction","conversationId":"` + talk + `","messageIds":["` + answer + `"]}}`)
			for range 2 { // what is said again follows, too
				d.do("chat.send", `{"conversationId":"`+talk+`","text":"Say that again.","stream":false,"provider":"far"`+c.with+`}`)
			}
			remote := d.remote()
			asks := []string{
				`chat.get {"ref":"` + talk + `"}`, `chat.search {"query":"zqzebra"}`, `memory.search {"query":"zqzebra"}`,
				`memory.list {}`, `chat.export {"ref":"` + talk + `"}`, `memory.get {"ref":"made"}`,
			}
			want := func(when string, visible bool) {
				t.Helper()
				for _, ask := range asks {
					method, params, _ := strings.Cut(ask, " ")
					got := remote.answer(method, params)
					if shown := strings.Contains(got, "Zqzebra it is") || strings.Contains(got, "Zqzebra was said"); shown != visible {
						t.Errorf("%s, %s shows it: %v: %.500s", when, ask, shown, got)
					}
				}
			}
			want("at first", true)
			do(c.hide)
			want("when it is private", false)
			heard = nil
			d.do("chat.send", `{"conversationId":"`+talk+`","text":"And now?","stream":false,"provider":"far"}`)
			if said := strings.Join(heard, "\n"); strings.Contains(said, "Zqzebra it") || !strings.Contains(said, "And now?") {
				t.Errorf("a remote model is told: %s", said)
			}
			if c.show == "" {
				return
			}
			do(c.show)
			if got := remote.answer("chat.get", `{"ref":"`+talk+`"}`); strings.Count(got, "Zqzebra it is") > 1 {
				t.Errorf("it is public again by itself: %.900s", got)
			}
		})
	}
}

// TestPRIV13_WhatBecomesPrivateWhileItIsAnswered: the answer is private from when it is stored, and who follows it from afar
// gets nothing more of it.
func TestPRIV13_WhatBecomesPrivateWhileItIsAnswered(t *testing.T) {
	for _, c := range []struct{ name, ask, hide string }{
		{"an entity", "What of @Ann?", `entities.patch {"id":"ann","private":true}`},
		{"a memory", "What of @jam_claim?", `memory.patch {"id":"mm","private":true}`},
		{"a note", "What of [[N]]?", `notes.patch {"id":"n","private":true}`},
		{"another conversation", "What of the harbour?", `chat.patch {"id":"talk","private":true}`},
		{"what a message of another conversation stood on", "What of the lighthouse?", `entities.patch {"id":"ann","private":true}`},
		{"the conversation", "What now?", `chat.patch {"id":"{own}","private":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d *daemon
			var own string
			begun := make(chan struct{}) // closed when the follower has the beginning
			d = answered(t, func(r *provider.Request, to *provider.Reply) {
				if r.Last() == "What of @Ann once?" {
					to.Text("Ann keeps the lighthouse.")
					return
				}
				to.Text("Begun. ")
				<-begun
				method, params, _ := strings.Cut(strings.ReplaceAll(c.hide, "{own}", own), " ")
				d.do(method, params)
				to.Text("Zqzebra it is.")
			})
			d.do("types.put", `{"name":"Person","fields":[]}`)
			d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
			d.do("memory.add", `{"id":"mm","handle":"jam_claim","statement":"Jam is sweet"}`)
			d.do("notes.put", `{"id":"n","title":"N","body":"x"}`)
			d.do("chat.put", `{"id":"talk","title":"Talk"}`)
			d.do("chat.append", `{"conversationId":"talk","messages":[{"role":"user","content":"the harbour is full"}]}`)
			d.do("chat.send", `{"text":"What of @Ann once?","stream":false,"provider":"far"}`)
			own = d.begun()
			caller, follower := d.peer(), d.remotePeer()
			follower.call("follow", "chat.follow", fmt.Sprintf(`{"conversationId":%q}`, own))
			follower.wantResult(`"follow"`, "")
			caller.call(1, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":%q,"provider":"far"}`, own, c.ask))
			if first := follower.line(); !strings.Contains(first, "Begun. ") {
				t.Errorf("a remote follower is told %s", first)
			}
			close(begun)
			if text, _ := caller.sent(); text != "Begun. Zqzebra it is." {
				t.Errorf("the caller is told %q", text)
			}
			if last := follower.line(); !strings.Contains(last, `"seq":2,"type":"done"`) {
				t.Errorf("a remote follower is told %s", last)
			}
			follower.call("after", "chat.list", "")
			follower.wantResult(`"after"`, "") // and nothing before
			if got := d.remote().answer("chat.get", fmt.Sprintf(`{"ref":%q}`, own)); strings.Contains(got, "Zqzebra") {
				t.Errorf("a remote reader sees it: %.900s", got)
			}
		})
	}
}

// TestPRIV13_ARemoteCallerIsToldNoMoreOfWhatBecomesPrivate: neither while it is answered nor in the end. Local readers have the
// whole answer.
func TestPRIV13_ARemoteCallerIsToldNoMoreOfWhatBecomesPrivate(t *testing.T) {
	for name, c := range map[string]struct{ ask, hide, stream string }{
		"an entity":            {"What of @Ann?", `entities.patch {"id":"ann","private":true}`, "true"},
		"a memory":             {"What of @jam_claim?", `memory.patch {"id":"mm","private":true}`, "true"},
		"the conversation":     {"What now?", `chat.patch {"id":"{own}","private":true}`, "true"},
		"only what is said":    {"What of @Ann?", `entities.patch {"id":"ann","private":true}`, "false"},
		"nothing":              {"What of @Ann?", `entities.patch {"id":"bob","private":true}`, "true"},
		"nothing, all at once": {"What of @Ann?", `entities.patch {"id":"bob","private":true}`, "false"},
	} {
		t.Run(name, func(t *testing.T) {
			var d *daemon
			var own string
			d = answered(t, func(_ *provider.Request, to *provider.Reply) {
				to.Text("Begun. ")
				method, params, _ := strings.Cut(strings.ReplaceAll(c.hide, "{own}", own), " ")
				d.do(method, params)
				to.Text("Zqzebra it is.")
			})
			d.do("types.put", `{"name":"Person","fields":[]}`)
			d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
			d.do("entities.put", `{"id":"bob","type":"Person","name":"Bob"}`)
			d.do("memory.add", `{"id":"mm","handle":"jam_claim","statement":"Jam is sweet"}`)
			own = d.begun()
			caller := d.remotePeer()
			caller.call(1, "chat.send", fmt.Sprintf(`{"conversationId":%q,"text":%q,"provider":"far","stream":%s}`, own, c.ask, c.stream))
			var told string
			for !strings.Contains(told, `"id":1`) {
				told += caller.line() + "\n"
			}
			hides := !strings.HasPrefix(name, "nothing")
			if strings.Contains(told, "Zqzebra") == hides {
				t.Errorf("the caller is told %s", told)
			}
			if interrupted := strings.Contains(told, `"finish":"interrupted"`); interrupted != (hides && c.stream == "true") {
				t.Errorf("interrupted: %v: %s", interrupted, told)
			}
			if kept := d.do("chat.get", fmt.Sprintf(`{"ref":%q}`, own)); !strings.Contains(fmt.Sprint(kept), "Begun. Zqzebra it is.") {
				t.Errorf("of the answer is kept: %v", kept)
			}
		})
	}
}

// TestPRIV13_WhatIsImportedFollowsWhatItWasMadeFrom: an answer that comes back from a file is private if something that it
// stood on has become so since.
func TestPRIV13_WhatIsImportedFollowsWhatItWasMadeFrom(t *testing.T) {
	for ask, hide := range map[string]string{
		"What of @Ann?":        `entities.patch {"id":"ann","private":true}`,
		"What of @jam_claim?":  `memory.patch {"id":"mm","private":true}`,
		"What of [[N]]?":       `notes.patch {"id":"n","private":true}`,
		"What of the harbour?": `chat.patch {"id":"talk","private":true}`,
	} {
		t.Run(hide, func(t *testing.T) {
			d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text("Zqzebra it is.") })
			d.do("types.put", `{"name":"Person","fields":[]}`)
			d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
			d.do("memory.add", `{"id":"mm","handle":"jam_claim","statement":"Jam is sweet"}`)
			d.do("notes.put", `{"id":"n","title":"N","body":"x"}`)
			d.do("chat.put", `{"id":"talk","title":"Talk"}`)
			d.do("chat.append", `{"conversationId":"talk","messages":[{"role":"user","content":"the harbour is full"}]}`)
			send := func(talk, ask string) (id string) {
				return at(d.do("chat.send", fmt.Sprintf(`{%s"text":%q,"stream":false,"provider":"far"}`, talk, ask)), "conversationId").(string)
			}
			talk := send("", "Hello")
			send(`"conversationId":"`+talk+`",`, ask)
			send(`"conversationId":"`+talk+`",`, "Say that again.")
			file, err := json.Marshal(at(d.do("chat.export", `{"ref":"`+talk+`","format":"json"}`), "text"))
			must(t, err)
			d.do("chat.delete", `{"id":"`+talk+`"}`)
			method, params, _ := strings.Cut(hide, " ")
			d.do(method, params)
			d.do("chat.import", `{"data":`+string(file)+`}`)
			got := d.remote().answer("chat.get", `{"ref":"`+talk+`"}`)
			if strings.Count(got, "Zqzebra it is") != 1 { // to what was asked first
				t.Errorf("a remote reader sees: %.2000s", got)
			}
			d.want(d.do("chat.get", `{"ref":"`+talk+`","audience":"remote"}`), "conversation.messages", 4)
		})
	}
}
