package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCHAT46_ATaskIsWrittenDown: once, in the note of tasks, with the day and the conversation; one of a private conversation is
// in a private note; an action names what it is about.
func TestCHAT46_ATaskIsWrittenDown(t *testing.T) {
	d := answered(t, func(r *provider.Request, to *provider.Reply) {
		if _, title, ok := strings.Cut(r.Last(), "task "); ok {
			to.Call("create_task", `{"title":"`+title+`","due":"2026-06-01","entities":["Hive"],"reason":"You said so."}`)
			return
		}
		proposes(r, to)
	})
	d.do("types.put", `{"name":"Person","fields":[]}`)
	d.do("types.put", `{"name":"Project","fields":[{"name":"lead","type":"entity_ref"}]}`)
	d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
	d.do("entities.put", `{"id":"hive","type":"Project","name":"Hive"}`)
	propose := func(text, more string) (action, handle string) {
		t.Helper()
		out := d.do("chat.send", `{"text":"`+text+`","stream":false,"provider":"near"`+more+`}`)
		return at(out, "actions.0.id").(string),
			at(d.do("chat.get", `{"ref":"`+at(out, "conversationId").(string)+`"}`), "conversation.handle").(string)
	}
	confirm := func(id string) any { t.Helper(); return d.do("chat.confirm", `{"id":"`+id+`"}`) }

	first, handle := propose("task Tar the hive", "")
	out := confirm(first)
	d.want(out, "status", "confirmed")
	d.want(out, "edit.path", "Tasks")
	d.want(out, "names.hive", "Hive")
	line := "- [ ] Tar the hive (due 2026-06-01) [[Hive]] — " + time.Now().Format("2006-01-02") + ", @" + handle
	d.want(out, "edit.line", line)
	note := `{"ref":"` + at(out, "edit.noteId").(string) + `"}`
	d.want(d.do("notes.get", note), "body", line+"\n")
	d.want(confirm(first), "repeat", true)
	d.want(d.do("notes.get", note), "body", line+"\n")

	second, _ := propose("task Buy bees", "")
	confirm(second)
	if body := at(d.do("notes.get", note), "body").(string); strings.Count(body, "- [ ] ") != 2 || !strings.Contains(body, "\n- [ ] Buy bees ") {
		t.Errorf("the note is %q", body)
	}

	talk := at(d.do("chat.append", `{"private":true,"messages":[{"role":"user","content":"Hello"}]}`), "conversationId").(string)
	secret, _ := propose("task Hide zqhoney", `,"conversationId":"`+talk+`"`)
	out = confirm(secret)
	d.want(out, "edit.path", "Private tasks")
	d.want(d.do("notes.get", `{"ref":"`+at(out, "edit.noteId").(string)+`"}`), "private", true)
	if found := d.do("notes.search", `{"query":"zqhoney","audience":"remote"}`); len(at(found, "hits").([]any)) > 0 {
		t.Error("a remote reader finds the task of a private conversation")
	}

	assign, _ := propose("please propose", "")
	out = d.do("chat.actions", `{}`)
	d.want(out, "actions.0.action.id", assign)
	d.want(out, "actions.0.action.names.hive", "Hive")
	d.want(out, "actions.0.action.names.ann", "Ann")
	d.wantRefused("chat.confirm", `{"id":"`+assign+`","args":{"targetId":"nobody"}}`, protocol.CodeNotFound, "args.targetId")
}

// TestCHAT46_AFileOfAVaultIsNotWritten: the task stays proposed, the file as it is, and the hint says what can be done.
func TestCHAT46_AFileOfAVaultIsNotWritten(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	d := startOver(t, db, rpc.Options{Tasks: "Inbox", Providers: models(t, func(_ *provider.Request, to *provider.Reply) {
		to.Call("create_task", `{"title":"Tar"}`)
	})})
	dir := t.TempDir()
	file := filepath.Join(dir, "Inbox.md")
	must(t, os.WriteFile(file, []byte("# Inbox\n"), 0o600))
	propose := func() string {
		return at(d.do("chat.send", `{"text":"task","stream":false,"provider":"near"}`), "actions.0.id").(string)
	}
	id := propose()
	d.wantRefused("chat.confirm", `{"id":"`+id+`"}`, protocol.CodeConflict, "") // there is no such note yet
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	d.wantRefused("chat.confirm", `{"id":"`+id+`"}`, protocol.CodeConflict, "")
	d.want(d.do("chat.actions", `{}`), "actions.0.action.status", "proposed")
	text, err := os.ReadFile(file)
	must(t, err)
	if string(text) != "# Inbox\n" {
		t.Errorf("the file has %q", text)
	}
}
