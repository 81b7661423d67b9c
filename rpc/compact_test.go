package rpc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// holding returns the files in and below a folder that hold a text.
func holding(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(content), []byte(text)) {
			list = append(list, path)
		}
		return err
	}))
	return list
}

// withAlias gives a memory a former handle, which an import alone can.
func (d *daemon) withAlias(id, alias string) {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "memories.jsonl")
	d.do("memory.export", fmt.Sprintf(`{"path":%q}`, file))
	text, err := os.ReadFile(file)
	must(d.t, err)
	d.do("memory.delete", `{"id":"`+id+`","force":true}`)
	text = bytes.Replace(text, []byte(`"aliases":[]`), []byte(`"aliases":["`+alias+`"]`), 2) // the context's, and the memory's
	text = bytes.Replace(text, []byte(alias), []byte(alias+"_context"), 1)
	must(d.t, os.WriteFile(file, text, 0o600))
	d.do("memory.import", fmt.Sprintf(`{"path":%q}`, file))
	d.want(d.do("memory.get", `{"ref":"`+alias+`"}`), "id", id)
}

// TestMEM5_NothingOfWhatWasDeletedIsLeftInTheFiles: no text of a memory that was deleted or forgotten, of what it said
// before, of its summary, questions, tags and handles, of a conversation with its title, handles and messages, or of
// synonyms, in any file of the data folder after admin.compact; all else stays.
func TestMEM5_NothingOfWhatWasDeletedIsLeftInTheFiles(t *testing.T) {
	const canary, kept = "zqcanary", "zqkept"
	dir := t.TempDir()
	d := meaningful(t, dir, embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"The zqcanarya is yellow","summary":"zqcanaryb","questions":["Where is zqcanaryc?"],
			"tags":["zqcanaryd"],"domains":["zqcanarye"],"handle":"zqcanaryf_a"},
		{"id":"b","statement":"The zqcanaryg sings","source":{"kind":"client","client":"zqcanaryh"}},
		{"id":"c","statement":"The zqkept stays","supersedes":[]}]}`)
	d.do("memory.patch", `{"id":"a","statement":"Something else"}`)
	d.do("contexts.put", `{"id":"ctx","name":"Zqcanaryi"}`)
	d.do("contexts.link", `{"id":"ctx","memoryIds":["a","c"]}`)
	d.remembered(3)
	d.withAlias("a", "zqcanaryj_a")
	d.remembered(3)
	gone := at(d.do("chat.append", `{"title":"About the zqcanaryk","messages":[
		{"role":"user","content":"Where does the zqcanaryl nest?","clientMessageId":"zqcanarym"},
		{"role":"assistant","content":"In the zqcanaryn.","private":true}]}`), "conversationId").(string)
	d.do("chat.append", `{"messages":[{"role":"user","content":"The zqkept talks"}]}`)
	d.do("memory.add", `{"id":"d","statement":"The zqcanaryo nests","source":{"kind":"extraction","conversationId":"`+gone+`"}}`)
	d.do("synonyms.put", `{"words":["zqcanaryp","zqcanaryq"]}`)
	d.remembered(4)
	d.do("admin.reindex", `{}`) // writes the indexes to files
	backup := filepath.Join(t.TempDir(), "b")
	d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, backup))
	d.do("admin.restore", fmt.Sprintf(`{"path":%q}`, backup)) // keeps what it replaced
	// A memory, two messages, a synonym.
	for _, of := range []string{"a", "l", "n", "p"} {
		if len(holding(t, dir, canary+of)) == 0 {
			t.Fatalf("canary %s is in no file, so the test shows nothing", of)
		}
	}
	d.do("memory.delete", `{"id":"a","force":true}`)
	d.do("memory.forget", `{"client":"zqcanaryh"}`)
	d.do("memory.forget", `{"conversationId":"`+gone+`"}`)
	d.do("chat.delete", `{"id":"`+gone+`"}`)
	d.do("synonyms.delete", `{"words":["zqcanaryp","zqcanaryq"]}`)
	d.do("contexts.delete", `{"id":"ctx"}`)
	d.remembered(1)
	var out protocol.Compacted
	raw, err := json.Marshal(d.do("admin.compact", `{}`))
	must(t, err)
	must(t, json.Unmarshal(raw, &out))
	if out.Freed <= 0 {
		t.Errorf("%d bytes were freed", out.Freed)
	}
	if list := holding(t, dir, canary); len(list) > 0 {
		t.Errorf("what was deleted is still in %q", list)
	}
	if len(holding(t, dir, kept)) == 0 {
		t.Error("what was not deleted is in no file")
	}
	d.want(d.do("memory.get", `{"ref":"c"}`), "statement", "The zqkept stays")
	d.wantRefused("chat.get", `{"ref":"`+gone+`"}`, protocol.CodeNotFound, "ref")
	d.want(d.do("admin.check", `{}`), "ok", true)
}

// TestMEM11_MemoriesGoOutAndIn over the wire, with progress, to where files may be written and nowhere else.
func TestMEM11_MemoriesGoOutAndIn(t *testing.T) {
	dir := t.TempDir()
	d := startOn(t, dir, rpc.Options{})
	d.do("memory.addMany", `{"memories":[{"id":"a","statement":"I like tea"},{"id":"b","statement":"a secret","private":true}]}`)
	file := filepath.Join(t.TempDir(), "memories.jsonl")
	params := fmt.Sprintf(`{"path":%q}`, file)
	d.want(d.do("memory.export", params), "memories", 2)
	d.wantRefused("memory.export", params, protocol.CodeConflict, "path")
	d.wantRefused("memory.export", `{"path":"m"}`, protocol.CodeInvalidParams, "path")
	d.wantRefused("memory.export", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "m")), protocol.CodeInvalidParams, "path")
	d.wantRefused("memory.import", `{"path":"m"}`, protocol.CodeInvalidParams, "path")
	d.wantRefused("memory.import", `{"path":"/nowhere/m"}`, protocol.CodeNotFound, "path")
	d.do("memory.forget", `{"all":true}`)
	dry := d.do("memory.import", fmt.Sprintf(`{"path":%q,"dryRun":true}`, file))
	d.want(dry, "memories", 2)
	d.wantRefused("memory.get", `{"ref":"a"}`, protocol.CodeNotFound, "ref")
	d.want(d.do("memory.import", params), "memories", 2)
	d.want(d.do("memory.get", `{"ref":"b"}`), "private", true)
	d.want(d.do("memory.import", params), "same", 2)
	d.want(d.do("admin.check", `{}`), "ok", true)
}
