package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPRIV6_TheTypesOfAVaultThatIsNotSeen say nothing of it: neither its name nor that it has
// a type, be it declared or made from notes. What is public of it shows itself (SRCH-36).
func TestPRIV6_TheTypesOfAVaultThatIsNotSeen(t *testing.T) {
	r := privateWorld(t, "Zqcanary")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Zqcanary/.ctxd/types/Task.yaml": "fields: [{name: due, type: text}]\n",
		"Zqcanary/Task.md":               "---\ntype: Task\ndue: soon\nprivate: true\n---\n",
		"Zqcanary/Trip.md":               "---\ntype: Trip\nplace: there\nhotel: dear\nprivate: true\n---\n",
		"Open/Ship.md":                   "---\ntype: Ship\nmast: one\n---\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, vault := range []string{"Zqcanary", "Open"} {
		r.daemon.do("vault.import", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, vault)))
	}
	// Entities of a client's that have the types of that vault, as no other has any.
	r.daemon.do("entities.put", `{"id":"call","type":"Task","name":"Call","fields":{"due":"late"}}`)
	r.daemon.do("entities.put", `{"id":"walk","type":"Trip","name":"Walk","fields":{"place":"here"}}`)
	for id, want := range map[string]string{"call": "Zqcanary", "walk": "Zqcanary"} {
		if got := at(r.daemon.do("entities.get", `{"ref":"`+id+`"}`), "typeVault"); got != want {
			t.Fatalf("%s has the type of vault %v: there is nothing to hide", id, got)
		}
	}
	ship := r.daemon.do("entities.get", `{"ref":"Ship"}`)
	if at(ship, "typeVault") != "Open" {
		t.Fatalf("%v", ship)
	}
	for _, c := range []struct{ call, want string }{
		{`entities.get {"ref":"call"}`, `"due":"late"`},
		{`entities.get {"ref":"walk"}`, `"place":"here"`},
		{`entities.get {"ref":"Ship"}`, `"typeVault":"Open"`},
		{`entities.list {}`, `"call"`},
		{`types.list {}`, `"vault":"Open"`},
		{`types.get {"ref":"Task"}`, `"kind":"not_found"`},
		{`types.get {"ref":"Task","vault":"Open"}`, `"kind":"not_found"`},
		{`types.get {"ref":"Trip"}`, `"kind":"not_found"`},
		{`wql.query {"query":"SELECT t FROM Task t"}`, `"rows":[]`}, // the tasks of notes: there is no such type
		{`wql.query {"query":"SELECT t FROM Trip t"}`, `there is no type Trip`},
		{`wql.query {"query":"SELECT s FROM Ship s WHERE s.mast = 'one'"}`, `"total":1`},
		{`context.assemble {"text":"@Call @Walk","explain":true}`, `Call`},
		{`graph.neighbors {"ref":"call","depth":2,"fields":16}`, `"call"`},
		{`entities.put {"type":"Task","name":"N"}`, `no type`},
		{`entities.put {"type":"Trip","name":"N"}`, `no type`},
		{`entities.patch {"id":"call","fields":{"due":"tomorrow"}}`, `"due":"tomorrow"`},
	} {
		method, params, _ := strings.Cut(c.call, " ")
		got := r.raw(method, params)
		if strings.Contains(got, "Zqcanary") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.call, got)
		}
	}
	// With one public note the vault is no secret, and what it declares is shown.
	must(t, os.WriteFile(filepath.Join(dir, "Zqcanary", "Open.md"), []byte("x\n"), 0o600))
	r.daemon.do("vault.import", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "Zqcanary")))
	for _, id := range []string{"call", "walk"} {
		if got := r.raw("entities.get", `{"ref":"`+id+`"}`); !strings.Contains(got, `"typeVault":"Zqcanary"`) {
			t.Errorf("a vault with a public note: %s", got)
		}
	}
	got := r.raw("types.get", `{"ref":"Trip"}`) // made from a private note and used by a public entity
	if !strings.Contains(got, `"name":"place"`) || strings.Contains(got, "hotel") {
		t.Errorf("a type that private notes have made: %s", got)
	}
}

// TestPRIV8_DeclarationsNameNoPrivateRecord to a remote reader: neither where types are read, nor in what is said of values and
// queries. It can still write an option that it is shown.
func TestPRIV8_DeclarationsNameNoPrivateRecord(t *testing.T) {
	r := privateWorld(t, "Zqcanary")
	r.daemon.do("notes.put", `{"id":"hush","title":"Zqcanary Plan","body":"x","private":true}`)
	r.daemon.do("types.put", `{"name":"Task","fields":[{"name":"state","type":"select","options":["Open","Zqcanary Plan","as [[Zqcanary Plan]]","Done"]},`+
		`{"name":"cost","type":"number","label":"of [[Zqcanary Plan]]"},{"name":"[[Zqcanary Plan]] due","type":"text"},`+
		`{"name":"like","type":"computed","query":"SELECT COUNT(t) FROM Task t WHERE t.state = 'Zqcanary Plan'"}]}`)
	r.daemon.do("entities.put", `{"id":"paint","type":"Task","name":"Paint","fields":{"state":"Zqcanary Plan","[[Zqcanary Plan]] due":"x"}}`)
	for _, c := range []struct{ call, want string }{
		{`types.get {"ref":"Task"}`, `"options":["Open","Done"]`},
		{`types.list {}`, `"options":["Open","Done"]`},
		{`entities.get {"ref":"paint","resolve":1}`, `"state":"(private)"`},
		{`entities.put {"type":"Task","name":"A","fields":{"state":"Nope"}}`, `its options are Open, Done`},
		{`entities.put {"type":"Task","name":"A","fields":{"state":"zqCanary plan"}}`, `its options are Open, Done`},
		{`entities.put {"type":"Task","name":"A","fields":{"state":["Open"]}}`, `"error"`},
		{`entities.putMany {"entities":[{"type":"Task","name":"A","fields":{"state":"Nope"}}]}`, `its options are Open, Done`},
		{`entities.patch {"id":"paint","fields":{"state":"Nope"}}`, `its options are Open, Done`},
		{`entities.patch {"id":"paint","fields":{"cost":2}}`, `"cost":2`},
		{`entities.put {"type":"Task","name":"B","fields":{"state":"done"}}`, `"state":"Done"`},
		{`wql.check {"query":"SELECT t FROM Task t WHERE t.state = 'Zqcanari Plan'"}`, `has no option`},
		{`context.assemble {"text":"@Paint"}`, `Paint`},
	} {
		method, params, _ := strings.Cut(c.call, " ")
		if got := r.raw(method, params); strings.Contains(strings.ReplaceAll(got, "Zqcanari", ""), "Zqcanary") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.call, got)
		}
	}
}
