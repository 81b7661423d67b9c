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
	d.want(hidden, "trace.references.0.status", "deleted")
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
