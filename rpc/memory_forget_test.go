package rpc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM99_ASubjectIsForgotten: by its words, in memories, their former versions, messages, titles, handles, kept reports and
// files; a dry run lists it, and what it lists is what may be deleted; a receipt tells what went.
func TestMEM99_ASubjectIsForgotten(t *testing.T) {
	const canary = "zqwombat"
	dir := t.TempDir()
	d := meaningful(t, dir, embed.LazyBuiltinTable())
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("entities.put", `{"id":"ent","name":"Kim","type":"Person"}`)
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"The zqwombat sleeps in the shed","tags":["zqwombat"],"questions":["Where is the zqwombat?"]},
		{"id":"b","statement":"The zqwombat bites"},
		{"id":"c","statement":"The shed has a window"},
		{"id":"d","statement":"She collects stamps","entityIds":["ent"]}]}`)
	d.do("memory.patch", `{"id":"b","statement":"Something of the garden"}`)
	d.remembered(4)
	talk := at(d.do("chat.append", `{"messages":[
		{"role":"user","content":"Does the zqwombat eat carrots?"},{"role":"assistant","content":"The zqwombat does."},
		{"role":"user","content":"What about the window?"},{"role":"assistant","content":"It is open."}]}`), "conversationId").(string)
	whole := at(d.do("chat.append", `{"title":"The zqwombat alone","messages":[{"role":"user","content":"Hello zqwombat"}]}`), "conversationId").(string)
	d.do("context.assemble", `{"text":"the zqwombat in the shed","memories":5,"attachedMemoryIds":["a"]}`)
	if raw, _ := json.Marshal(d.do("context.recent", `{}`)); !strings.Contains(string(raw), canary) {
		t.Fatalf("no report names it, so the test shows nothing: %s", raw)
	}

	const about = `{"about":"zqwombats","messages":true`
	d.wantRefused("memory.forget", about+`}`, protocol.CodeInvalidParams, "hash")
	d.wantRefused("memory.forget", `{"all":true,"messages":true}`, protocol.CodeInvalidParams, "messages")
	d.wantRefused("memory.forget", `{"about":"x","client":"y"}`, protocol.CodeInvalidParams, "conversationId")
	d.wantRefused("memory.forget", `{"client":"x","from":"2020-01-01T00:00:00Z"}`, protocol.CodeInvalidParams, "from")
	d.wantRefused("memory.forget", `{"entityId":"none","dryRun":true}`, protocol.CodeNotFound, "entityId")
	early := d.do("memory.forget", `{"about":"zqwombats","messages":true,"to":"2020-01-01T00:00:00Z","dryRun":true}`)
	d.want(early, "total", 0)
	d.want(early, "messages", 0)
	d.want(d.do("memory.forget", `{"entityId":"ent","dryRun":true}`), "ids.0", "d")

	plan := d.do("memory.forget", about+`,"dryRun":true}`)
	d.want(plan, "total", 2)
	d.want(plan, "messages", 3)
	d.want(plan, "conversations", 1)
	hash := at(plan, "hash").(string)
	d.do("memory.add", `{"id":"e","statement":"A second zqwombat came"}`)
	d.wantRefused("memory.forget", about+`,"hash":"`+hash+`"}`, protocol.CodeConflict, "hash")
	d.want(d.do("memory.get", `{"ref":"a"}`), "id", "a")
	hash = at(d.do("memory.forget", about+`,"dryRun":true}`), "hash").(string)

	gone := d.do("memory.forget", about+`,"hash":"`+hash+`"}`)
	d.want(gone, "forgotten", 3)
	d.want(gone, "messages", 3)
	d.want(gone, "titles", 1)
	d.want(gone, "receipt.empty", true)
	if len(at(gone, "receipt.left").([]any)) == 0 {
		t.Error("nothing is left to admin.compact")
	}
	sum := sha256.Sum256([]byte(at(gone, "receipt.salt").(string) + "a"))
	ids := fmt.Sprint(at(gone, "receipt.ids"))
	if !strings.Contains(ids, hex.EncodeToString(sum[:])) || strings.Count(ids, " ")+1 != 6 {
		t.Errorf("the receipt has %s", ids)
	}

	d.want(d.do("memory.search", `{"query":"zqwombat"}`), "confidence", "low")
	d.wantRefused("chat.get", `{"ref":"`+whole+`"}`, protocol.CodeNotFound, "ref")
	left := d.do("chat.get", `{"ref":"`+talk+`"}`)
	d.want(left, "messages.0.index", 3)
	d.want(left, "messages.1.content", "It is open.")
	d.do("chat.append", `{"conversationId":"`+talk+`","messages":[{"role":"user","content":"And the door?"}]}`)
	for method, params := range map[string]string{
		"context.recent": `{}`, "chat.list": `{}`, "chat.get": `{"ref":"` + talk + `"}`, "memory.list": `{}`, "memory.events": `{}`,
		"concepts.list": `{}`, "chat.search": `{"query":"wombat"}`, "chat.export": `{"ref":"` + talk + `","format":"json"}`,
	} {
		if raw, _ := json.Marshal(d.do(method, params)); strings.Contains(strings.ToLower(string(raw)), canary) {
			t.Errorf("%s still has it: %s", method, raw)
		}
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
	d.remembered(2)
	d.do("admin.compact", `{}`)
	if list := holding(t, dir, canary); len(list) > 0 {
		t.Errorf("it is still in %q", list)
	}
	d.want(d.do("memory.get", `{"ref":"c"}`), "statement", "The shed has a window")
}
