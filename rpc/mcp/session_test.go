package mcp_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/mcp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestMCP1_TheSessionOfTheREADME: testdata/session.md is what a model sends and reads.
func TestMCP1_TheSessionOfTheREADME(t *testing.T) {
	d := start(t)
	d.put("types.put", `{"name":"Team","fields":[{"name":"lead","type":"entity_ref","targetType":"Person"}]}`,
		"types.put", `{"name":"Person","fields":[{"name":"role","type":"text"},{"name":"team","type":"entity_ref","targetType":"Team"},{"name":"started","type":"date"},
			{"name":"leads","type":"computed","query":"SELECT t FROM Team t WHERE t.lead = {this}"}]}`,
		"notes.putMany", `{"notes":[
			{"id":"kickoff","title":"Kickoff of Alpha","path":"Meetings/Kickoff.md","body":"Met with @Alice and @Bob. See [[Alpha]].\n\n- [ ] Bob measures the drift of the scales\n- [x] Alice orders a new housing\n\n#planning"},
			{"id":"alpha","title":"Alpha","path":"Projects/Alpha.md","body":"A kitchen scale that does not drift.\n\nThe first test is on the roof, in the cold."},
			{"id":"roof","title":"Roof test","path":"Projects/Roof test.md","body":"At minus 5 °C the scale drifts by two grams. [[Alpha]] must not. #planning/tests"},
			{"id":"pay","title":"Pay","path":"Private/Pay.md","body":"What everybody earns. @Alice","private":true}]}`,
		"memory.addMany", `{"memories":[
			{"id":"morning","kind":"preference","statement":"The user reads reports in the morning","tags":["work"]},
			{"id":"scale","kind":"goal","statement":"The user wants Alpha to be sold by May"},
			{"id":"salary","kind":"goal","statement":"The user wants to earn more","private":true}]}`,
		"entities.putMany", `{"entities":[
			{"id":"core","type":"Team","name":"Core","fields":{"lead":"alice"}},
			{"id":"alice","type":"Person","name":"Alice","aliases":["Ali"],"fields":{"role":"Engineer","team":"core","started":"2024-03-01"}},
			{"id":"bob","type":"Person","name":"Bob","fields":{"role":"Physicist","team":"core","started":"2025-09-15"}},
			{"id":"carla","type":"Person","name":"Carla","fields":{"role":"Designer","started":"2025-11-03"}}]}`)
	dir := filepath.Join(t.TempDir(), "Files")
	must(t, os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, "Todo.md")
	must(t, os.WriteFile(file, []byte("# Todo\n\n- [ ] Call the supplier\n- [ ] Book the roof\n"), 0o600))
	changed := time.Date(2026, 1, 30, 8, 0, 0, 0, time.UTC)
	must(t, os.Chtimes(file, changed, changed))
	_, err := d.Rooms.Vaults.Import(t.Context(), vault.ImportRequest{Path: dir})
	must(t, err)

	var b strings.Builder
	b.WriteString("A session of `ctxd mcp --allow-write`, written by TestMCP1_TheSessionOfTheREADME (rpc/mcp). `→` is what a\nmodel sends, below it stands what it reads. There is a private note, which it does not see, and no\nembedder runs.\n")
	h := d.open(mcp.Options{AllowWrite: true})
	for _, call := range []struct{ tool, args string }{
		{"assemble_context", `{"message":"Who is @Alice?","searchNotes":0}`},
		{"explain_context", `{}`},
		{"search_notes", `{"query":"drift in the cold","limit":2}`},
		{"read_note", `{"note":"Kickoff of Alpha"}`},
		{"read_notes", `{"notes":["Alpha","[[Roof test]]","Pay"]}`},
		{"list_notes", `{"folder":"Projects"}`},
		{"recent_changes", `{"limit":1}`},
		{"related_notes", `{"note":"Alpha"}`},
		{"list_tags", `{}`},
		{"list_types", `{}`},
		{"get_entity", `{"entity":"@Alice"}`},
		{"list_entities", `{"type":"Person","limit":2}`},
		{"query", `{"query":"SELECT p FROM Person p WHERE p.team.lead = {this} ORDER BY p.started","this":"Alice"}`},
		{"query", `{"query":"SELECT p FROM Person p WHERE p.rol = 'Engineer'"}`},
		{"explore_graph", `{"record":"Core"}`},
		{"find_path", `{"from":"[[Roof test]]","to":"Kickoff of Alpha"}`},
		{"append_to_note", `{"note":"Roof test","text":"- again on Friday"}`},
		{"put_entity", `{"entity":"Carla","fields":{"team":"Core"}}`},
		{"propose_edit", `{"note":"Todo","old":"- [ ] Book the roof","new":"- [x] Book the roof"}`},
		{"write_note", `{"note":"Todo","text":"Nothing."}`},
		{"remember", `{"statement":"The user wants Alpha to be sold by June","kind":"goal","supersedes":["scale"]}`},
		{"remember", `{"statement":"The user reads reports in the morning."}`},
		{"update_memory", `{"memory":"#1","statement":"The user reads reports after lunch"}`},
		{"recall", `{"query":"When is Alpha sold?"}`},
		{"recall", `{"query":"Which car do they drive?"}`},
		{"recall", `{"memory":"#1"}`},
		{"memory_profile", `{}`},
		{"forget_memory", `{"memory":"morning"}`},
	} {
		fmt.Fprintf(&b, "\n→ `%s` `%s`\n\n", call.tool, call.args)
		for line := range strings.Lines(textOf(h.result(call.tool, call.args))) {
			b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
		}
	}
	golden := filepath.Join("testdata", "session.md")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", golden, diff)
	}
}
