package rpc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestAPI9_TheFirstCallsWork makes the calls of the first page of the README, in their order, on an empty store.
func TestAPI9_TheFirstCallsWork(t *testing.T) {
	if n := len(protocol.FirstCalls); n != 15 {
		t.Errorf("%d calls", n)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Kickoff.md": "# Kickoff\n\n@Alice came to it. We begin in May.\n", "Alice.md": "---\ntype: Person\n---\n# Alice\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	d := start(t)
	for _, c := range protocol.FirstCalls[1:] { // the client of the tests has made the first
		params := strings.ReplaceAll(c.Params, "/home/me/Notes", filepath.ToSlash(dir))
		got := d.do(c.Method, params)
		for _, list := range []string{"items", "hits", "rows"} {
			if found, ok := got[list].([]any); ok && len(found) == 0 {
				t.Errorf("%s %s finds nothing", c.Method, params)
			}
		}
	}
}

// TestAPI9_EveryMethodIsInOneGroup of the table in the README.
func TestAPI9_EveryMethodIsInOneGroup(t *testing.T) {
	seen := make(map[string]int)
	for i := range protocol.Groups {
		for _, m := range protocol.Groups[i].Methods() {
			seen[m.Name]++
		}
	}
	for _, name := range protocol.Names() {
		if seen[name] != 1 {
			t.Errorf("%s is in %d groups", name, seen[name])
		}
	}
}

// TestAPI2_FormerNames: a method and a parameter of protocol 1 are refused with what they are called now, and other
// mistakes with what is spelt like them.
func TestAPI2_FormerNames(t *testing.T) {
	d := start(t)
	for former, now := range protocol.Renamed {
		method, _, _ := strings.Cut(now, " ")
		if protocol.Lookup(method) == nil || protocol.Lookup(former) != nil {
			t.Errorf("%s is called %s", former, now)
		}
		if err := d.Call(t.Context(), former, nil, nil); err == nil || !strings.Contains(hintOf(err), now) {
			t.Errorf("%s: %v, hint %q", former, err, hintOf(err))
		}
	}
	if err := d.Call(t.Context(), "notes.serch", nil, nil); !strings.HasPrefix(hintOf(err), "did you mean notes.search or ") {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
	for call, want := range map[string]string{
		`notes.get {"id":"a"}`: "id is not a parameter, it is called ref now", `entities.get {"name":"a"}`: "it is called ref now",
		`memory.list {"sortBy":"use"}`: "it is called sort now", `entities.list {"trashed":true}`: "it is called archived now",
		`notes.search {"qery":"a"}`: "did you mean query?", `notes.list {"zzz":1}`: "zzz is not a parameter",
	} {
		method, params, _ := strings.Cut(call, " ")
		if _, err := d.try(method, params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func hintOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Hint
}

// TestAPI1_RefsOfEveryKind: a record is read by all that people write for it, and by the beginning of its id.
func TestAPI1_RefsOfEveryKind(t *testing.T) {
	d := start(t)
	d.seed()
	const long = "5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77"
	d.do("notes.put", `{"id":"`+long+`","title":"Huts in the Alps","aliases":["Huts"],"path":"travel/huts.md"}`)
	d.do("memory.add", `{"id":"`+long+`","statement":"I like huts","handle":"like_huts"}`)
	d.do("contexts.put", `{"id":"`+long+`","name":"Free Time","handle":"free_time"}`)
	talk := at(d.do("chat.put", `{"id":"`+long+`","title":"Weekend trip"}`), "handle").(string)
	d.do("books.add", `{"id":"`+long+`","text":"# Winter","mimeType":"md","title":"Beekeeping"}`)
	for method, refs := range map[string][]string{
		"notes.get":    {long, "huts in the alps", "HUTS", "travel/huts.md", "[[Huts in the Alps]]", "[[huts|them]]", "5f0c9f36", "[id:" + long + "]"},
		"entities.get": {"alice", "Alice", "al", "@Alice", "[id:alice]"},
		"types.get":    {"Person", "person"},
		"memory.get":   {long, "#1", "1", "claim_1", "@like_huts", "like_huts", "5f0c9f36-90"},
		"contexts.get": {long, "@free_time", "free time", "5f0c9f36-90"},
		"chat.get":     {long, "@" + talk, "5f0c9f36-90"},
		"books.get":    {long, "beekeeping", "5f0c9f36-90"},
		"notes.links":  {"huts"}, "notes.similar": {"huts"}, "graph.neighbors": {"Alice", "huts"}, "memory.versions": {"#1"}, "memory.similar": {"#1"},
	} {
		for _, ref := range refs {
			if _, err := d.try(method, `{"ref":"`+ref+`"}`); err != nil {
				t.Errorf("%s %s: %v", method, ref, err)
			}
		}
	}
	for method, refs := range map[string][]string{
		"notes.get": {"5f0c9f3", "nothing", "[[nothing]]"}, "entities.get": {"nobody", "@nobody"}, "memory.get": {"5f0c9f3", "#9"}, "books.get": {"5f0c9f3"},
		"chat.get": {"5f0c9f3"}, "contexts.get": {"5f0c9f3"},
	} {
		for _, ref := range refs {
			d.wantRefused(method, `{"ref":"`+ref+`"}`, protocol.CodeNotFound, "ref")
		}
	}
	d.do("notes.put", `{"id":"5f0c9f36-other","title":"Huts"}`)
	_, err := d.try("notes.get", `{"ref":"5f0c9f36"}`)
	if list := fault.CandidatesOf(err); fault.KindOf(err) != fault.Conflict || len(list) != 2 {
		t.Errorf("%v %v", err, list)
	}
	d.do("notes.put", `{"id":"5f0c9f36-hidden","title":"Hidden","private":true}`)
	if _, err = d.try("notes.get", `{"ref":"5f0c9f36-h","audience":"remote"}`); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a private note is found by the beginning of its id: %v", err)
	}
}

// TestCTX44_OneResolver: the words for a record are the same on each road to it, and so is what could be meant by a name that
// several have.
func TestCTX44_OneResolver(t *testing.T) {
	d := start(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"People/Ada Lane.md": "---\ntype: Person\naliases: [Ada]\n---\n# Ada Lane\n", "A/Lamp.md": "of A", "B/Lamp.md": "of B",
		"One.md": "# Twice\n", "Two.md": "# Twice\n", "P1.md": "---\ntype: Person\n---\n# Twin\n", "P2.md": "---\ntype: Person\n---\n# Twin\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	d.do("vault.import", `{"path":"`+filepath.ToSlash(dir)+`"}`)
	ada := d.do("entities.get", `{"ref":"Ada Lane"}`)
	entity, note := at(ada, "id").(string), at(ada, "noteId").(string)
	quoted := func(format, ref string) string { return strings.ReplaceAll(format, "REF", ref) }
	for _, ref := range []string{
		"@Ada", "@[Ada Lane]", "Ada", "[[Ada Lane]]", "[[People/Ada Lane]]", "[[ada|her]]", "People/Ada Lane.md",
		entity, note, entity[:8], note[:8], "[id:" + entity + "]", "ctxd://entity/" + entity, "ctxd://note/" + note,
	} {
		for method, params := range map[string]string{
			"notes.get": `{"ref":"REF"}`, "entities.get": `{"ref":"REF"}`, "wql.query": `{"query":"SELECT p FROM Person p WHERE p = {this}","this":"REF"}`,
			"refs.resolve": `{"ref":"REF"}`, "graph.neighbors": `{"ref":"REF"}`,
		} {
			got, err := d.try(method, quoted(params, ref))
			text := fmt.Sprint(got)
			if err != nil || !strings.Contains(text, entity) && !strings.Contains(text, note) {
				t.Errorf("%s %s: %v %s", method, ref, err, text)
			}
		}
	}
	for ref, methods := range map[string][]string{
		"Twice":     {"notes.get", "refs.resolve", "graph.neighbors"},
		"[[Twice]]": {"notes.get", "entities.get", "refs.resolve", "graph.neighbors"},
		"@Twin":     {"entities.get", "refs.resolve", "graph.neighbors"},
	} {
		for _, method := range methods {
			_, err := d.try(method, `{"ref":"`+ref+`"}`)
			if list := fault.CandidatesOf(err); fault.KindOf(err) != fault.Conflict || len(list) != 2 {
				t.Errorf("%s %s: %v %v", method, ref, err, list)
			}
		}
		if ref == "Twice" { // no mark, no mention
			continue
		}
		dropped := at(d.do("context.assemble", `{"text":"what of `+ref+`?"}`), "report.dropped").([]any)
		if len(dropped) != 1 || at(dropped[0].(map[string]any), "reason") != "ambiguous" || len(at(dropped[0].(map[string]any), "candidates").([]any)) != 2 {
			t.Errorf("%s: %v", ref, dropped)
		}
	}
	chosen := d.do("notes.get", `{"ref":"[[Lamp]]"}`) // by the rules of links, which say so
	if chosen["path"] != "A/Lamp.md" || at(chosen, "others.0.path") != "B/Lamp.md" || at(chosen, "others.1") != nil {
		t.Errorf("[[Lamp]]: %v", chosen)
	}
	if n := d.do("notes.get", `{"ref":"A/Lamp.md"}`); n["others"] != nil {
		t.Errorf("a path means one note: %v", n["others"])
	}
}
