package rpc_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCHAT27_WhatAnAnswerGot asks for the trace of an answer over the wire, as each reader. It goes with its
// conversation, and comes back with a backup.
func TestCHAT27_WhatAnAnswerGot(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{Providers: models(t, func(_ *provider.Request, to *provider.Reply) { to.Text("Yes.") })})
	d.do("notes.put", `{"id":"kayak","title":"Kayak","body":"red"}`)
	id, dir := d.begun(), filepath.Join(t.TempDir(), "backup")
	d.do("chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"the [[Kayak]]?","stream":false}`, id))
	inspected := func(audience string) any {
		return d.do("chat.inspect", fmt.Sprintf(`{"conversationId":%q,"audience":%q}`, id, audience))
	}
	told := func(got any) {
		t.Helper()
		for path, want := range map[string]any{
			"answer.content": "Yes.", "question.content": "the [[Kayak]]?", "trace.references.0.id": "kayak", "trace.references.0.title": "Kayak",
			"trace.references.0.origin": "mention", "trace.references.0.status": "ok", "trace.rounds.0.tries": 1, "trace.history.messages": 2,
		} {
			d.want(got, path, want)
		}
		if hash, _ := at(got, "trace.prompt.hash").(string); len(hash) != 64 {
			t.Errorf("the hash is %q", hash)
		}
	}
	told(inspected("local"))
	d.do("admin.backup", `{"path":`+quoted(dir)+`}`)

	d.do("notes.put", `{"id":"kayak","title":"Canoe","body":"red","private":true}`)
	d.want(inspected("local"), "trace.references.0.title", "Canoe")
	hidden := inspected("remote")
	d.want(hidden, "answer.index", 2) // the answer that stood on the note is one that there is not
	d.want(hidden, "trace", nil)
	if text := fmt.Sprint(hidden); strings.Contains(text, "kayak") || strings.Contains(text, "Canoe") {
		t.Errorf("a remote reader is told %s", text)
	}

	d.do("chat.delete", fmt.Sprintf(`{"id":%q}`, id))
	d.wantRefused("chat.inspect", fmt.Sprintf(`{"conversationId":%q}`, id), protocol.CodeNotFound, "conversationId")
	d.want(d.do("admin.check", `{}`), "problems", "[]")
	d.do("admin.restore", `{"path":`+quoted(dir)+`}`)
	told(inspected("local"))
	d.want(d.do("admin.check", `{}`), "problems", "[]")
}

// TestCHAT2_ReferencesOverTheSocket: a message and its answer say which notes they refer to, with what those are about, to
// each reader what he sees, also after the notes have changed and in a store that was restored.
func TestCHAT2_ReferencesOverTheSocket(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{Providers: models(t, func(_ *provider.Request, to *provider.Reply) { to.Text("It is [[Kayak|red]].") })})
	d.do("notes.put", `{"id":"kayak","title":"Kayak","path":"boats/kayak.md","body":"# Boat\n\nA red boat."}`)
	d.do("notes.put", `{"id":"safe","title":"Safe","body":"locked","private":true}`)
	sent := d.do("chat.send", `{"text":"the [[Kayak]] in the [[Safe]] or [[Gone]]?","stream":false}`)
	for path, want := range map[string]any{
		"references.0.wikilink": "[[Kayak]]", "references.0.noteId": "kayak", "references.0.relativePath": "boats/kayak.md",
		"references.0.summary": "A red boat.", "references.0.used": true, "references.0.spans": "[[6 19]]", "references.1.noteId": "safe",
		"references.2.status": "broken", "userMessage.references.0.spans": "[[4 13]]", "userMessage.references.2.spans": "[[33 41]]",
	} {
		d.want(sent, path, want)
	}
	id := fmt.Sprint(at(sent, "conversationId"))
	seen := func(audience string) any {
		return d.do("chat.get", fmt.Sprintf(`{"ref":%q,"audience":%q}`, id, audience))
	}
	before := fmt.Sprint(seen("local"))
	remote := seen("remote")
	d.want(remote, "messages.0.references.1.spans", "[[34 42]]")
	if text := fmt.Sprint(remote); strings.Contains(text, "safe") || strings.Contains(text, "Safe") {
		t.Errorf("a remote reader is told %s", text)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	d.do("admin.backup", `{"path":`+quoted(dir)+`}`)
	d.do("notes.put", `{"id":"kayak","title":"Canoe","path":"canoe.md","body":"blue"}`)
	d.do("notes.delete", `{"id":"safe"}`)
	if now := fmt.Sprint(seen("local")); now != before {
		t.Errorf("it was\n%s\nand is\n%s", before, now)
	}
	d.do("admin.restore", `{"path":`+quoted(dir)+`}`)
	if now := fmt.Sprint(seen("local")); now != before {
		t.Errorf("it was\n%s\nand is\n%s", before, now)
	}
	again := d.do("chat.send", fmt.Sprintf(`{"conversationId":%q,"text":"[[Kayak]]","stream":false}`, id))
	d.want(again, "references.0.summary", "A red boat.")
}
