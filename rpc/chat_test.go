package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCHAT36_WhatAClientSaysIsKept goes over all methods of conversations.
func TestCHAT36_WhatAClientSaysIsKept(t *testing.T) {
	d := start(t)
	l := d.listen("chat.changed")
	out := d.do("chat.append", `{"title":"Trip","messages":[
		{"role":"user","content":"Where could we hike?","clientMessageId":"a"},{"role":"assistant","content":"Along the river."}]}`)
	id := at(out, "conversationId").(string)
	d.want(out, "messages.1.index", 2)
	var told protocol.ChatChanged
	must(t, json.Unmarshal(l.next().params, &told))
	if len(told.IDs) != 1 || told.IDs[0] != id || told.Kind != protocol.ChangePut {
		t.Errorf("told %+v", told)
	}
	again := d.do("chat.append", `{"messages":[{"role":"user","content":"Where could we hike?","clientMessageId":"a"}]}`)
	d.want(again, "conversationId", id)
	d.want(again, "messages.0.repeat", true)

	page := d.do("chat.get", `{"ref":"`+id+`","limit":1}`)
	d.want(page, "conversation.title", "Trip")
	d.want(page, "messages.0.content", "Where could we hike?")
	page = d.do("chat.get", `{"ref":"`+id+`","cursor":"`+at(page, "nextCursor").(string)+`"}`)
	d.want(page, "messages.0.index", 2)
	d.want(page, "nextCursor", nil)
	handle := at(page, "conversation.handle").(string)

	d.wantRefused("chat.patch", `{"id":"@`+handle+`","title":"River"}`, protocol.CodeNotFound, "")
	d.want(d.do("chat.patch", `{"id":"`+id+`","title":"River","ifVersion":1}`), "title", "River")
	if _, err := d.try("chat.patch", `{"id":"`+id+`","title":"x","ifVersion":1}`); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a former version: %v", err)
	}
	d.want(d.do("chat.archive", `{"id":"`+id+`"}`), "version", 3)
	d.want(d.do("chat.list", `{}`), "conversations", "[]")
	d.want(d.do("chat.list", `{"archived":true}`), "conversations.0.title", "River")
	d.do("chat.restore", `{"id":"`+id+`"}`)
	other := at(d.do("chat.append", `{"messages":[{"role":"user","content":"Another"}]}`), "conversationId")
	first := d.do("chat.list", `{"limit":1}`)
	second := d.do("chat.list", `{"cursor":"`+at(first, "nextCursor").(string)+`"}`)
	both := []any{at(first, "conversations.0.id"), at(second, "conversations.0.id")}
	if !slices.Contains(both, any(id)) || !slices.Contains(both, other) || at(second, "nextCursor") != nil {
		t.Errorf("the pages hold %v", both)
	}
	d.want(d.do("chat.delete", `{"id":"`+id+`"}`), "id", id)
	d.wantRefused("chat.get", `{"ref":"`+id+`"}`, 1001, "ref")
	d.wantRefused("chat.get", `{"ref":"x","cursor":"%%"}`, -32602, "cursor")
	d.wantRefused("chat.append", `{"messages":[]}`, -32602, "messages")
	d.wantRefused("chat.append", `{"conversationId":"none","messages":[{"role":"user","content":"x"}]}`, 1001, "conversationId")
	d.wantRefused("chat.append", `{"messages":[{"role":"user","content":"x"},{"role":"user","content":" "}]}`, -32602, "messages[1].content")
}

// TestMEM7_WhatIsRememberedOfAPrivateConversation is private: of one that becomes private, and of a private
// message of a public one.
func TestMEM7_WhatIsRememberedOfAPrivateConversation(t *testing.T) {
	d := start(t)
	out := d.do("chat.append", `{"messages":[{"role":"user","content":"I moved to Graz"},{"role":"user","content":"I am ill","private":true}]}`)
	id := at(out, "conversationId").(string)
	from := func(memory, message string) {
		d.do("memory.add", `{"id":"`+memory+`","statement":"`+memory+` said","source":{"kind":"extraction","conversationId":"`+id+`","messageIds":["`+
			at(out, message).(string)+`"]}}`)
	}
	from("moved", "messages.0.id")
	from("ill", "messages.1.id")
	d.want(d.do("memory.get", `{"ref":"moved"}`), "private", false)
	d.want(d.do("memory.get", `{"ref":"ill"}`), "private", true)
	d.do("chat.patch", `{"id":"`+id+`","private":true}`)
	d.want(d.do("memory.get", `{"ref":"moved"}`), "private", true)
	d.want(d.do("memory.list", `{"audience":"remote"}`), "memories", "[]")
	d.want(d.do("memory.forget", `{"conversationId":"`+id+`"}`), "forgotten", 2)
}

// TestPRIV6_NoEventTellsOfAPrivateMessage: a remote subscriber is told of what it can read, and not of a
// private message of a public conversation.
func TestPRIV6_NoEventTellsOfAPrivateMessage(t *testing.T) {
	d := start(t)
	id := at(d.do("chat.append", `{"messages":[{"role":"user","content":"Seen"}]}`), "conversationId").(string)
	r := d.remote()
	r.call("s", "events.subscribe", `{"topics":["chat.changed"]}`)
	r.line()
	d.do("chat.append", `{"conversationId":"`+id+`","messages":[{"role":"user","content":"Hidden","private":true}]}`)
	d.do("chat.append", `{"private":true,"messages":[{"role":"user","content":"Hidden"}]}`)
	d.do("chat.archive", `{"id":"`+id+`"}`)
	var event struct {
		Params protocol.ChatChanged `json:"params"`
	}
	must(t, json.Unmarshal([]byte(r.line()), &event))
	if event.Params.Kind != protocol.ChangeArchive {
		t.Errorf("told %+v first", event)
	}
}

// TestCHAT25_ConversationsOutliveARestart and are compared by admin.check.
func TestCHAT25_ConversationsOutliveARestart(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	id := at(d.do("chat.append", `{"messages":[{"role":"user","content":"Seen"}]}`), "conversationId").(string)
	d.want(d.do("admin.check", `{}`), "ok", true)
	d.want(d.do("chat.get", `{"ref":"`+id+`"}`), "messages.0.content", "Seen")
}

// TestCHAT36_AnExportIsImportedOnce over the wire, with a report of what was left out.
func TestCHAT36_AnExportIsImportedOnce(t *testing.T) {
	d := start(t)
	file := filepath.Join(t.TempDir(), "chats.json")
	must(t, os.WriteFile(file, []byte(exportedChats), 0o600))
	params := func(more string) string { return `{"path":` + quoted(file) + more + `}` }
	dry := d.do("chat.import", params(`,"dryRun":true`))
	d.want(dry, "messages", 2)
	d.want(d.do("chat.list", `{}`), "conversations", "[]")
	out := d.do("chat.import", params(""))
	d.want(out, "conversations", 1)
	d.want(out, "messages", 2)
	d.want(d.do("chat.list", `{}`), "conversations.0.title", "Talk")
	out = d.do("chat.import", params(""))
	d.want(out, "unchanged", 1)
	d.want(out, "messages", 0)
	d.wantRefused("chat.import", `{"path":"/nowhere/x.json"}`, 1001, "path")
	d.want(d.do("chat.import", `{"path":`+quoted(filepath.Dir(file))+`}`), "unchanged", 1) // the files in it
	if _, err := d.try("chat.import", `{"path":`+quoted(t.TempDir())+`}`); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an empty folder: %v", err)
	}
}
