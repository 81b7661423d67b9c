package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// secretive is hives with private records whose names and texts hold a word, and public ones that refer to them.
func secretive(t testing.TB, word string) *toolsWorld {
	t.Helper()
	w := hives(t)
	w.typ(entities.Type{Name: "Case", Fields: []entities.Field{{Name: "who", Type: "entity_ref_list"}, {Name: "file", Type: "note_ref"}, {Name: "about", Type: "text"}}})
	w.note(notes.Draft{ID: "pnote", Title: word + " plan", Path: "docs/" + word + ".md", Aliases: []string{word + " alias"}, Private: true, Body: "# " + word + "\n\nThe load cell drifts honey " + word + ". [[Roof]] [[Load cell]]"})
	w.entity(entities.Entity{ID: "pent", Type: "Person", Name: word + " Zed", Private: true, Fields: entities.Values{"role": word, "boss": "ann"}})
	w.note(notes.Draft{ID: "open", Title: "Open [[" + word + " plan]]", Body: "# Open\n\n## Of [[" + word + " plan]]\n\nBees drift: [[" + word + " plan|" + word + "]], @[" + word + " Zed], ![[" + word + ".md]]\n\nMore bees."})
	w.entity(entities.Entity{ID: "case", Type: "Case", Name: "Case one", Fields: entities.Values{
		"who": []string{"pent", "bob"}, "file": "pnote", "about": "see [[" + word + " plan]]",
	}})
	w.note(notes.Draft{ID: "vcase", Vault: "v", Path: "Vault case.md", Body: "---\ntype: Case\nwho: [\"[[" + word + " Zed]]\", \"[[Bob]]\"]\nfile: \"[[" + word + " plan]]\"\n---\nBees"})
	_, err := w.memory.Add(context.Background(), w.seen.View(audience.Local), []memory.Draft{
		{ID: "pm", Statement: word + " honey", Private: true}, {ID: "mm", Statement: "I wrote [[" + word + " plan]] with honey"},
	})
	mustTool(t, err)
	return w
}

// asked are calls of every tool that come near to the private records.
func asked(word string) (calls [][2]string) {
	add := func(name string, args map[string]any) {
		data, _ := json.Marshal(args)
		calls = append(calls, [2]string{name, string(data)})
	}
	for _, s := range []string{"pnote", word + " plan", "[[" + word + " plan]]", word, word + " alias", "open", "vcase", "[id:pnote]", "v:docs/" + word, "Open"} {
		add("read_note", map[string]any{"id": s})
		add("explore_graph", map[string]any{"record": s, "depth": 4})
		add("create_task", map[string]any{"title": "x", "note": s})
	}
	add("read_note", map[string]any{"path": "docs/" + word + ".md"})
	add("read_note", map[string]any{"id": "open", "heading": "Of " + word + " plan"})
	add("read_note", map[string]any{"id": "open", "heading": "Off"})
	for _, s := range []string{"pent", word + " Zed", "@" + word + " Zed", "case", "ann", "Vault case", "Zed", word} {
		add("get_entity", map[string]any{"entity": s, "depth": 3})
		add("explore_graph", map[string]any{"record": s, "depth": 2})
		add("query", map[string]any{"query": "SELECT p FROM Person p WHERE p.boss = {this}", "this": s})
		add("create_task", map[string]any{"title": "x", "entities": []string{s}})
		add("assign_entity", map[string]any{"entity": s, "field": "who", "to": "ann"})
		add("assign_entity", map[string]any{"entity": "Vault case", "field": "who", "to": s})
		add("assign_entity", map[string]any{"entity": "hive", "field": "lead", "to": s})
	}
	add("assign_entity", map[string]any{"entity": "Vault case", "field": "file", "to": "roof"})
	for _, q := range []string{"drift honey bees", word, word + " plan", "bees"} {
		add("search_notes", map[string]any{"query": q})
		add("find_excerpts", map[string]any{"query": q})
		add("search_memory", map[string]any{"query": q})
	}
	for _, q := range []string{
		"SELECT p FROM Person p ORDER BY p.role", "SELECT COUNT(*) FROM Person", "SELECT c FROM Case c WHERE c.who.name LIKE '%' ORDER BY c.about",
		"SELECT c FROM Case c WHERE c.file IS NOT NULL", "SELECT p FROM Person p WHERE p.name = '" + word + " Zed'", "SELECT x FROM " + word + " x",
		"SELECT t FROM Task t ORDER BY t.heading", "SELECT COUNT(*) FROM Task t WHERE t.name LIKE '%" + word + "%'",
	} {
		add("query", map[string]any{"query": q})
	}
	return calls
}

// TestPRIV6_NoToolTellsOfPrivateRecords: a remote reader is told the same, byte for byte, whatever private records are
// called, and none of their names.
func TestPRIV6_NoToolTellsOfPrivateRecords(t *testing.T) {
	// Two words of one length that no text has, so that what is cut is cut alike.
	const one, other = "Quixalot", "Vimbrosk"
	w, v := secretive(t, one), secretive(t, other)
	calls, others := asked(one), asked(other)
	told := 0
	for i, c := range calls {
		got := w.call(audience.Remote, c[0], c[1])
		if got.Private {
			t.Errorf("%s %s: private", c[0], c[1])
		}
		data, err := json.Marshal(got)
		mustTool(t, err)
		text := string(data)
		// What the caller wrote is told back to him.
		if !strings.Contains(c[1], one) && strings.Contains(strings.ToLower(text), strings.ToLower(one)) {
			t.Errorf("%s %s:\n%s", c[0], c[1], got.Text)
		}
		again, err := json.Marshal(v.call(audience.Remote, others[i][0], others[i][1]))
		mustTool(t, err)
		v := entitiesAlike(v, w, string(again))
		if strings.ReplaceAll(text, one, other) != v {
			t.Errorf("%s %s:\n%s\n%s", c[0], c[1], text, v)
		}
		if !got.Error {
			told++
		}
		for _, id := range []string{"pnote", "pent", "pm"} {
			if !strings.Contains(c[1], id) && strings.Contains(text, id) {
				t.Errorf("%s %s names %s:\n%s", c[0], c[1], id, text)
			}
		}
	}
	if told < len(calls)/3 {
		t.Errorf("%d of %d calls give more than an error", told, len(calls))
	}
}

// TestPRIV6_ALineWithPrivateItems: the line of a file that a remote reader does not see whole is not made for him, since
// it would replace what he does not see.
func TestPRIV6_ALineWithPrivateItems(t *testing.T) {
	w := secretive(t, "Quixalot")
	const args = `{"entity":"Vault case","field":"who","to":"ann"}`
	local, remote := w.call(audience.Local, "assign_entity", args), w.call(audience.Remote, "assign_entity", args)
	if local.Proposal == nil || remote.Proposal == nil {
		t.Fatalf("%s\n%s", local.Text, remote.Text)
	}
	const want = `who: ["[[Quixalot Zed]]", "[[Bob]]", "[[Ann's page]]"]`
	if e := local.Proposal.Edit; e == nil || e.Line != want || !local.Private {
		t.Errorf("%+v", e)
	}
	if e := remote.Proposal.Edit; e == nil || e.Line != "" || e.Value != "[[Ann's page]]" || e.Path != "Vault case.md" {
		t.Errorf("%+v", e)
	}
}

// entitiesAlike puts the id of the entity of vcase, which is random, in a text of v as w has it.
func entitiesAlike(v, w *toolsWorld, text string) string {
	return strings.ReplaceAll(text, v.entityOf("vcase"), w.entityOf("vcase"))
}

// TestPRIV6_APrivateRecordIsLikeNone: by its id and by its name.
func TestPRIV6_APrivateRecordIsLikeNone(t *testing.T) {
	w, none := secretive(t, "Quixalot"), hives(t)
	for _, c := range [][2]string{
		{"read_note", `{"id":"pnote"}`},
		{"read_note", `{"id":"Quixalot plan"}`},
		{"read_note", `{"path":"docs/Quixalot.md"}`},
		{"get_entity", `{"entity":"pent"}`},
		{"get_entity", `{"entity":"Quixalot Zed"}`},
		{"explore_graph", `{"record":"pent"}`},
		{"query", `{"query":"SELECT p FROM Person p WHERE p.boss = {this}","this":"pent"}`},
	} {
		if a, b := w.call(audience.Remote, c[0], c[1]), none.call(audience.Remote, c[0], c[1]); a.Text != b.Text || !a.Error {
			t.Errorf("%s %s:\n%s\n%s", c[0], c[1], a.Text, b.Text)
		}
	}
}

// TestPRIV4_AResultSaysWhetherItIsPrivate: a local reader's, when a remote one would be told something else.
func TestPRIV4_AResultSaysWhetherItIsPrivate(t *testing.T) {
	w := secretive(t, "Quixalot")
	for _, tc := range []struct {
		name, args string
		private    bool
	}{
		{"read_note", `{"id":"pnote"}`, true},
		{"read_note", `{"id":"open"}`, true},
		{"read_note", `{"id":"bio"}`, false},
		{"get_entity", `{"entity":"pent"}`, true},
		{"get_entity", `{"entity":"case"}`, true},
		{"get_entity", `{"entity":"hive"}`, false},
		{"explore_graph", `{"record":"ann"}`, true},
		{"explore_graph", `{"record":"bio"}`, false},
		{"query", `{"query":"SELECT COUNT(*) FROM Person"}`, true},
		{"query", `{"query":"SELECT p FROM Project p"}`, false},
		{"search_memory", `{"query":"honey"}`, true},
		{"search_memory", `{"query":"allergic"}`, false},
		{"search_notes", `{"query":"Quixalot"}`, true},
		{"find_excerpts", `{"query":"wood"}`, false},
		{"assign_entity", `{"entity":"hive","field":"lead","to":"pent"}`, true},
		{"assign_entity", `{"entity":"hive","field":"lead","to":"bob"}`, false},
	} {
		if got := w.local(tc.name, tc.args); got.Private != tc.private {
			t.Errorf("%s %s: private %v\n%s", tc.name, tc.args, got.Private, got.Text)
		}
	}
	turn := w.set.Turn(w.env(audience.Local), nil)
	for i, c := range []string{"bio", "pnote", "bio"} {
		_, err := turn.Round(t.Context(), callsOf("read_note", fmt.Sprintf(`{"id":%q}`, c)))
		mustTool(t, err)
		if turn.Private() != (i > 0) {
			t.Errorf("round %d: private %v", i+1, turn.Private())
		}
	}
}
