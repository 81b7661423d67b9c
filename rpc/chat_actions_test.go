package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// proposal is an action as an answer has it, until a day behind at. args are JSON.
func proposal(id, typ, args string, at time.Time) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"args":%s,"status":"proposed","messageId":"m2","reason":"You asked for it.","version":1,"expiresAt":%q}`,
		id, typ, args, at.Add(23*time.Hour).UTC().Format(time.RFC3339))
}

// imported are params of chat.import: a conversation with a question and an answer that proposes actions.
func imported(id, title string, at time.Time, private bool, proposals ...string) string {
	counts, public, second := fmt.Sprintf(`{"messages":2,"user":1,"at":%q}`, at.UTC().Format(time.RFC3339)), 1, 2
	all := counts
	if private {
		counts, public, second = "{}", 0, 0
	}
	said := func(index, public int, role, content, more string) string {
		return fmt.Sprintf(`{"id":"%s-m%d","index":%d,"publicIndex":%d,"hash":"a%d%s","role":%q,"content":%q,"createdAt":%q,"addedAt":%q,"finish":"complete","clientMessageId":""%s}`,
			id, index, index, public, index, "f20k", role, content, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), more)
	}
	text := fmt.Sprintf(`{"format":"ctxd-chat","version":1,"conversation":{"id":%q,"handle":"%s_talk_k3x9","title":%q,"private":%v,"createdAt":%q,"changedAt":%q,`+
		`"version":1,"all":%s,"public":%s},"messages":[`, id, id, title, private, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), all, counts) +
		said(1, public, "user", "Who leads "+title+"?", "") + "," +
		said(2, second, "assistant", "Ann does.", `,"actions":[`+strings.Join(proposals, ",")+`]`) + "]}"
	return `{"data":` + quoted(text) + `}`
}

// proposes has the model propose that Ann leads the hive.
func proposes(r *provider.Request, to *provider.Reply) {
	if strings.HasSuffix(r.Last(), "propose") {
		to.Call("assign_entity", `{"entity":"Hive","field":"lead","to":"Ann","reason":"You said so."}`)
		return
	}
	to.Text("I have.")
}

// TestCHAT21_Confirmed goes over the methods: a proposal is shown where the answer is, listed, told of, and done by who
// is shown it. Nobody is told of one in a private message who does not see that.
func TestCHAT21_Confirmed(t *testing.T) {
	d := answered(t, proposes)
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("types.put", `{"name":"Project","fields":[{"name":"lead","type":"entity_ref"}]}`)
	d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
	d.do("entities.put", `{"id":"hive","type":"Project","name":"Hive"}`)
	send := func(provider, more string) (action, conversation string) {
		t.Helper()
		out := d.do("chat.send", `{"text":"please propose","stream":false,"provider":"`+provider+`"`+more+`}`)
		d.want(out, "actions.0.status", "proposed")
		d.want(out, "assistantMessage.actions.0.id", at(out, "actions.0.id"))
		return at(out, "actions.0.id").(string), at(out, "conversationId").(string)
	}
	id, talk := send("far", "")
	secret, hidden := send("near", `,"private":true,"conversationId":"`+at(d.do("chat.append",
		`{"messages":[{"role":"user","content":"Seen"}]}`), "conversationId").(string)+`"`) // in a public conversation
	remote := d.remotePeer()
	remote.call("s", "events.subscribe", `{"topics":["chat.changed"]}`)
	remote.wantResult(`"s"`, "")
	ask := func(method, params string) string {
		t.Helper()
		remote.call("a", method, params)
		return remote.line()
	}
	d.want(d.do("chat.actions", `{}`), "total", 2)
	d.want(d.do("chat.actions", `{"conversationId":"`+hidden+`"}`), "actions.0.action.id", secret)
	if got := ask("chat.actions", `{}`); !strings.Contains(got, id) || strings.Contains(got, secret) || !strings.Contains(got, `"total":1}`) {
		t.Errorf("a remote reader is told %s", got)
	}
	for _, method := range []string{"chat.confirm", "chat.reject"} {
		unknown := strings.ReplaceAll(ask(method, `{"id":"none"}`), "none", secret)
		if got := ask(method, `{"id":"`+secret+`"}`); got != unknown || !strings.Contains(got, `"code":1001`) {
			t.Errorf("%s tells a remote reader %s, and of one that there is not %s", method, got, unknown)
		}
	}

	l := d.listen("chat.changed")
	told := func() string {
		t.Helper()
		var c protocol.ChatChanged
		must(t, json.Unmarshal(l.next().params, &c))
		return fmt.Sprintf("%v %s", c.IDs, c.Kind)
	}
	before := d.do("chat.get", `{"ref":"`+talk+`"}`)
	d.do("chat.reject", `{"id":"`+secret+`"}`) // of which a remote reader is not told
	if got := told(); got != "["+hidden+"] put" {
		t.Errorf("told %s", got)
	}
	for range 3 {
		if got := ask("chat.list", `{}`); !strings.Contains(got, `"conversations"`) {
			t.Errorf("a remote reader is told %s", got)
		}
	}
	out := d.do("chat.confirm", `{"id":"`+id+`"}`)
	d.want(out, "status", "confirmed")
	d.want(out, "repeat", false)
	d.want(out, "warnings", "[]")
	if got := told(); got != "["+talk+"] put" {
		t.Errorf("told %s", got)
	}
	if got := remote.line(); !strings.Contains(got, `"ids":["`+talk+`"]`) {
		t.Errorf("a remote reader is told %s", got)
	}
	d.want(d.do("entities.get", `{"ref":"hive"}`), "fields.lead", "ann")
	after := d.do("chat.get", `{"ref":"`+talk+`"}`)
	d.want(after, "messages.1.actions.0.status", "confirmed")
	for _, same := range []string{"conversation.version", "conversation.updatedAt", "messages.1.hash", "messages.1.index"} {
		d.want(after, same, at(before, same))
	}
	d.want(d.do("chat.get", `{"ref":"`+hidden+`"}`), "messages.2.actions.0.status", "rejected")
	if got := ask("chat.get", `{"ref":"`+talk+`"}`); !strings.Contains(got, `"status":"confirmed"`) {
		t.Errorf("a remote reader reads %s", got)
	}
	seq := at(d.do("admin.stats", `{}`), "seq")
	d.want(d.do("chat.confirm", `{"id":"`+id+`"}`), "repeat", true)
	d.want(d.do("admin.stats", `{}`), "seq", seq)
	d.want(d.do("chat.actions", `{}`), "actions", "[]")
}

// TestCHAT21_NoModelConfirms: no tool of the daemon or of ctxd mcp does, and what a model proposes by tools.call is kept
// nowhere.
func TestCHAT21_NoModelConfirms(t *testing.T) {
	d := start(t)
	tools := d.do("tools.list", `{"write":true}`)
	for _, name := range []string{"chat.confirm", "chat_confirmAction", "confirm_action"} {
		if text := fmt.Sprint(tools); strings.Contains(text, name) {
			t.Errorf("%s is a tool: %s", name, text)
		}
		out := d.do("tools.call", `{"name":"`+name+`","arguments":{"id":"act1"}}`)
		d.want(out, "error", true)
	}
	d.do("tools.call", `{"name":"create_task","arguments":{"title":"x"}}`)
	d.want(d.do("chat.actions", `{}`), "total", 0)
}
