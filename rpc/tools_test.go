package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestCHAT12_ToolsOfAModel: a client lists the tools and calls them for a model, as the audience of the call sees.
func TestCHAT12_ToolsOfAModel(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Person","fields":[{"name":"boss","type":"entity_ref"}]}`)
	d.do("entities.put", `{"id":"ann","type":"Person","name":"Ann"}`)
	d.do("entities.put", `{"id":"bob","type":"Person","name":"Bob"}`)
	d.do("notes.put", `{"id":"n","title":"Hive","path":"docs/hive.md","body":"The load cell drifts.\n\n`+strings.Repeat("word ", 4000)+`"}`)
	d.do("notes.put", `{"id":"p","title":"Diary","private":true,"body":"I dislike the load cell."}`)
	names := func(params string) (list []string) {
		for _, m := range at(d.do("tools.list", params), "tools").([]any) {
			list = append(list, fmt.Sprint(at(m, "name"), at(m, "proposes")))
		}
		return list
	}
	read := "[read_notefalse find_excerptsfalse search_notesfalse get_entityfalse explore_graphfalse queryfalse search_memoryfalse"
	if got := fmt.Sprint(names(`{}`)); got != read+"]" {
		t.Error(got)
	}
	if got := fmt.Sprint(names(`{"write":true}`)); got != read+" create_tasktrue assign_entitytrue]" {
		t.Error(got)
	}
	call := func(name, arguments, more string) map[string]any {
		t.Helper()
		return d.do("tools.call", fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, name, arguments, more))
	}
	out := call("read_note", `{"path":"docs/hive.md"}`, "")
	d.want(out, "references.0.noteId", "n")
	d.want(out, "references.0.how", "read")
	d.want(out, "error", false)
	if n := len([]rune(fmt.Sprint(at(out, "text")))); n < 15_000 || n > 16_000 {
		t.Errorf("%d characters", n)
	}
	if n := len([]rune(fmt.Sprint(at(call("read_note", `{"id":"n"}`, `,"maxChars":4000`), "text")))); n < 3_500 || n > 4_000 {
		t.Errorf("%d characters of 4000", n)
	}
	d.want(call("read_note", `{"id":"p"}`, ""), "private", true)
	for _, out := range []map[string]any{
		call("read_note", `{"id":"p"}`, `,"audience":"remote"`), call("read_note", `7`, ""), call("read_nothing", `{}`, ""),
		d.do("tools.call", `{"name":"query"}`),
	} {
		d.want(out, "error", true)
		d.want(out, "private", false)
	}
	out = call("assign_entity", `{"entity":"Bob","field":"boss","to":"Ann","reason":"she is"}`, "")
	d.want(out, "proposal.type", "assignEntity")
	d.want(out, "proposal.args.targetId", "ann")
	d.want(out, "proposal.reason", "she is")
	if fields := at(d.do("entities.get", `{"ref":"bob"}`), "fields").(map[string]any); len(fields) > 0 {
		t.Errorf("the proposal was carried out: %v", fields)
	}
}
