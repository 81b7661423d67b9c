package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// talk is what is searched here: of the second conversation the last message is private.
func (d *daemon) talk() (trip, pay string) {
	d.t.Helper()
	trip = at(d.do("chat.append", `{"title":"Weekend trip","messages":[
		{"role":"user","content":"Where could we hike in May?"},
		{"role":"assistant","content":"Along the river, where the snow is gone."}]}`), "conversationId").(string)
	pay = at(d.do("chat.append", `{"title":"Before the review","messages":[
		{"role":"user","content":"How do I ask for more pay?"},
		{"role":"user","content":"I earn less than the others who hike.","private":true},
		{"role":"assistant","content":"Say what you have done this year."}]}`), "conversationId").(string)
	return trip, pay
}

// TestMEM12_TheIndexOfMessagesIsServed: the daemon keeps it beside the others, tells how it comes on,
// makes it anew and checks it.
func TestMEM12_TheIndexOfMessagesIsServed(t *testing.T) {
	dir := t.TempDir()
	d := meaningful(t, dir, embed.LazyBuiltinTable())
	l := d.listen("index.progress")
	d.talk()
	served := func() {
		t.Helper()
		d.until("every message has its vectors", func() bool {
			o := at(d.do("admin.stats", `{}`), "index.others.1")
			return at(o, "documents") == 5. && at(o, "waiting") == 0. && at(o, "queue") == 0.
		})
	}
	served()
	for {
		var p protocol.IndexProgress
		must(t, json.Unmarshal(l.next().params, &p))
		if p.Kind == "messages" && p.Done == p.Total {
			break
		}
	}
	d.want(d.do("admin.stats", `{}`), "index.others.1.kind", "messages")
	d.want(d.do("admin.health", `{}`), "index.ready", true)
	d.want(d.do("admin.reindex", `{}`), "others", 5)
	served()
	d.want(d.do("admin.check", `{}`), "ok", true)
	out := d.do("chat.search", `{"query":"walking in the mountains in spring"}`)
	d.want(out, "mode", "hybrid")
	d.want(out, "hits.0.by", "meaning")
	d.want(out, "hits.0.snippet", "Where could we hike in May?")
	files, err := os.ReadDir(filepath.Join(dir, "index-messages"))
	must(t, err)
	if len(files) == 0 {
		t.Error("nothing is kept of the index of messages")
	}
}

// TestMEM12_SearchOfMessages finds them as each reader sees them, in the next call.
func TestMEM12_SearchOfMessages(t *testing.T) {
	d := start(t)
	trip, pay := d.talk()
	count := func(params string, want int) any {
		t.Helper()
		out := d.do("chat.search", params)
		if hits := at(out, "hits").([]any); len(hits) != want {
			t.Fatalf("%s: %d hits, want %d: %v", params, len(hits), want, out)
		}
		return out
	}
	out := count(`{"query":"snow"}`, 1)
	d.want(out, "hits.0.conversationId", trip)
	d.want(out, "hits.0.title", "Weekend trip")
	d.want(out, "hits.0.index", 2)
	d.want(out, "hits.0.role", "assistant")
	d.want(out, "hits.0.by", "words")
	d.want(out, "hits.0.ranges.0.0", 27)
	d.want(out, "degraded.stage", "semantic")
	d.want(count(`{"query":"zzzqq"}`, 0), "hits", "[]")

	count(`{"query":"hike"}`, 2)
	count(`{"query":"hike role:assistant"}`, 0)
	count(`{"query":"hike","conversationId":"`+pay+`"}`, 1)
	count(`{"query":"","conversationId":"`+pay+`"}`, 3)
	count(`{"query":"hike","limit":1}`, 1)
	count(`{"query":"hike","audience":"remote"}`, 1)
	out = count(`{"query":"year","audience":"remote"}`, 1)
	d.want(out, "hits.0.index", 2) // he does not see the one before it
	d.want(count(`{"query":"year"}`, 1), "hits.0.index", 3)

	d.do("chat.archive", `{"id":"`+trip+`"}`)
	count(`{"query":"snow"}`, 0)
	count(`{"query":"snow","archived":true}`, 1)
	count(`{"query":"snow","conversationId":"`+trip+`"}`, 1)
	d.do("chat.patch", `{"id":"`+pay+`","private":true}`)
	count(`{"query":"year","audience":"remote"}`, 0)
	d.wantRefused("chat.search", `{"query":"x","conversationId":"`+pay+`","audience":"remote"}`, 1001, "conversationId")
	d.wantRefused("chat.search", `{"query":"x","conversationId":"nothing"}`, 1001, "conversationId")
	d.do("chat.delete", `{"id":"`+pay+`"}`)
	count(`{"query":"year"}`, 0)
}
