package mcp_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/mcp"
)

// Two notes, and one that a host does not see, whose ids begin alike.
const (
	firstID   = "550e8400-e29b-41d4-a716-446655440000"
	secondID  = "550e8400-e29b-51d4-a716-446655440000"
	privateID = "660e8400-e29b-41d4-a716-446655440000"
	publicID  = "660e8400-ffff-41d4-a716-446655440000"
	aliceID   = "770e8400-e29b-41d4-a716-446655440000"
	memoryID  = "880e8400-e29b-41d4-a716-446655440000"
	bookID    = "990e8400-e29b-41d4-a716-446655440000"
)

// likeIDs starts a daemon with them.
func likeIDs(t *testing.T) *daemon {
	t.Helper()
	d := start(t)
	note := func(id, title, more string) string {
		return fmt.Sprintf(`{"id":%q,"title":%q,"body":"About scales, not [id:%s] in a text."%s}`, id, title, aliceID, more)
	}
	d.put("notes.put", note(firstID, "First", ""), "notes.put", note(secondID, "Second", ""),
		"notes.put", note(privateID, "Zqprivate", `,"private":true`), "notes.put", note(publicID, "Public", ""),
		"types.put", `{"name":"Person","fields":[{"name":"file","type":"note_ref"}]}`,
		"entities.put", `{"id":"`+aliceID+`","type":"Person","name":"Alice","fields":{"file":"`+firstID+`"}}`,
		"memory.add", `{"id":"`+memoryID+`","handle":"hive","statement":"Scales weigh the hive"}`,
		"books.add", `{"id":"`+bookID+`","title":"Bees","name":"bees.md","mimeType":"md","text":"# Winter\n\nScales weigh the hive."}`)
	return d
}

var shownID = regexp.MustCompile(`\[id:([^\]]+)\]`)

// TestCLI10_IDsAreShort: answers have at least eight characters of an id, as many as no other that was shown has; each
// tool takes them back. What is private makes none longer.
func TestCLI10_IDsAreShort(t *testing.T) {
	d := likeIDs(t)
	h := d.open(mcp.Options{AllowWrite: true})
	text := h.call("list_notes", `{}`)
	h.contains("list", text, "[[First]] [id:550e8400]", "[[Public]] [id:660e8400]", "[[Second]] [id:550e8400-e29b-5]")
	for tool, args := range map[string]string{
		"search_notes": `{"query":"scales"}`, "recent_changes": `{}`, "get_entity": `{"entity":"Alice"}`, "list_entities": `{}`, "recall": `{"query":"hive"}`,
		"memory_profile": `{}`, "search_books": `{"query":"hive"}`, "read_book": `{"book":"Bees","text":true}`, "explore_graph": `{"record":"Alice"}`,
		"assemble_context": `{"message":"@Alice and scales"}`, "query": `{"query":"SELECT p FROM Person p"}`, "append_to_note": `{"note":"First","text":"more"}`,
	} {
		answer := h.call(tool, args)
		for _, m := range shownID.FindAllStringSubmatch(answer, -1) {
			if len(m[1]) >= len(firstID) {
				t.Errorf("%s shows %s", tool, m[1])
			}
		}
	}
	for _, tc := range []struct{ tool, args, want string }{
		{"read_note", `{"note":"550e8400"}`, "[[First]] [id:550e8400]"},
		{"read_note", `{"note":"[id:550e8400-e29b-5]"}`, "[[Second]] [id:550e8400-e29b-5]"},
		{"read_note", `{"note":"660e8400"}`, "[[Public]]"},
		{"read_notes", `{"notes":["550e8400","[id:660e8400]"]}`, "[[Public]]"},
		{"related_notes", `{"note":"550e8400"}`, ""},
		{"get_entity", `{"entity":"[id:770e8400]"}`, "@Alice"},
		{"explore_graph", `{"record":"770e8400"}`, "@Alice"},
		{"find_path", `{"from":"770e8400","to":"550e8400"}`, "[[First]]"},
		{"recall", `{"memory":"880e8400"}`, "weigh the hive"},
		{"read_book", `{"book":"990e8400"}`, "Bees"},
		{"read_book", `{"book":"[id:990e8400.000000]"}`, "Bees"},
		{"query", `{"query":"SELECT p FROM Person p WHERE p = {this}","this":"770e8400"}`, ""},
		{"assemble_context", `{"message":"x","notes":["550e8400"],"entities":["[id:770e8400]"]}`, "@Alice"},
		{"update_memory", `{"memory":"880e8400","tags":["bees"]}`, "Changed"},
		{"record_outcome", `{"memories":["[id:880e8400]"],"outcome":"worked"}`, "[id:880e8400]"},
		{"put_entity", `{"entity":"770e8400","fields":{"file":"[id:660e8400]"}}`, "Changed"},
		{"write_note", `{"note":"550e8400","text":"new"}`, "Replaced"},
		{"append_to_note", `{"note":"550e8400","text":"more"}`, "Added"},
		{"remember", `{"statement":"The hive is weighed daily","supersedes":["880e8400"]}`, "[id:880e8400] holds no more"},
	} {
		h.contains(tc.tool+tc.args, h.call(tc.tool, tc.args), tc.want)
	}
	text = h.call("read_note", `{"note":"Second"}`)
	h.contains("the text of a note is as it is", text, "[[Second]] [id:550e8400-e29b-5]", "not [id:"+aliceID+"] in a text")
	text = h.call("read_notes", `{"notes":["Second","Public"]}`)
	if strings.Count(text, "[id:"+aliceID+"] in a text") != 2 || !strings.Contains(text, "[[Public]] [id:660e8400]") {
		t.Errorf("%s", text)
	}

	other := d.open(mcp.Options{}) // which was shown nothing
	other.contains("several", other.fails("read_note", `{"note":"550e8400"}`), "[id:550e8400]", "[id:550e8400-e29b-5]")
	other.contains("in brackets", other.call("read_note", `{"note":"[id:660e8400]"}`), "[[Public]]")
	other.contains("private is none", other.call("read_note", `{"note":"660e8400"}`), "[[Public]]")
}

// TestCLI10_OneWordAnArgument: an argument for a note, entity, memory or book has the same name in every tool, and takes
// what people write for one.
func TestCLI10_OneWordAnArgument(t *testing.T) {
	d := likeIDs(t)
	h := d.open(mcp.Options{AllowWrite: true, Tools: chosen(t, "all,core")})
	names := map[string][]string{
		"note": {"First", "[[First]]", firstID, "[id:" + firstID + "]", "550e8400-e29b-4"}, "entity": {"Alice", "@Alice", "alice", aliceID, "770e8400"},
		"memory": {"#1", "1", "@hive", "hive", memoryID, "880e8400"}, "book": {"Bees", "bees", bookID, "990e8400", "[id:" + bookID + "]"},
	}
	list, err := h.ListTools(t.Context(), nil)
	must(t, err)
	tried := 0
	for _, tool := range list.Tools {
		props, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for _, other := range []string{"id", "ref", "name", "noteId", "title", "path"} {
			if _, has := props[other]; has && tool.Annotations.ReadOnlyHint {
				t.Errorf("%s names a record with %s", tool.Name, other)
			}
		}
		for argument, forms := range names {
			if _, has := props[argument]; !has || !tool.Annotations.ReadOnlyHint || tool.Name == "propose_edit" {
				continue
			}
			for _, form := range forms {
				tried++
				h.call(tool.Name, asJSON(t, map[string]string{argument: form}))
			}
		}
	}
	if tried < 30 {
		t.Errorf("%d forms are tried", tried)
	}
}

// wholeID returns the id of the note or entity that begins with a prefix.
func (d *daemon) wholeID(prefix string) string {
	d.t.Helper()
	for n := range d.Rooms.Notes.All() {
		if strings.HasPrefix(n.ID, prefix) {
			return n.ID
		}
	}
	for e := range d.Rooms.Entities.All() {
		if strings.HasPrefix(e.ID, prefix) {
			return e.ID
		}
	}
	d.t.Fatalf("no record has an id that begins with %s", prefix)
	return ""
}
