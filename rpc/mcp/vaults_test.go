package mcp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/mcp"
)

// twoVaults imports two vaults with the same paths.
func twoVaults(d *daemon) {
	d.t.Helper()
	for _, folder := range []string{"Home", "Work"} {
		dir := filepath.Join(d.t.TempDir(), folder)
		for file, text := range map[string]string{
			"Plan.md": "[[Todo]]", "Todo.md": "Call.", "Old/Plan.md": "Old.", "Deep/Old/Plan.md": "Older.",
			"Alice.md": "---\ntype: Person\n---\n", "Old/Alice.md": "---\ntype: Person\n---\n",
		} {
			at := filepath.Join(dir, filepath.FromSlash(file))
			must(d.t, os.MkdirAll(filepath.Dir(at), 0o700))
			must(d.t, os.WriteFile(at, []byte(text), 0o600))
		}
		_, err := d.Rooms.Vaults.Import(d.t.Context(), vault.ImportRequest{Path: dir})
		must(d.t, err)
	}
}

// places are the parts of the lines of an answer that say where a record lies.
func places(text string) (out []string) {
	for word := range strings.FieldsSeq(text) {
		if word = strings.TrimSuffix(word, ","); strings.HasSuffix(word, ".md") {
			out = append(out, word)
		}
	}
	return out
}

// TestMCP1_RecordsOfTwoVaultsAreToldApart: in lists, resources and edges, and what was most
// likely meant is the first candidate.
func TestMCP1_RecordsOfTwoVaultsAreToldApart(t *testing.T) {
	d := start(t)
	twoVaults(d)
	h := d.open(mcp.Options{})
	plans := "Home:Plan.md Work:Plan.md Home:Old/Plan.md Work:Old/Plan.md Home:Deep/Old/Plan.md Work:Deep/Old/Plan.md"
	alices := "Home:Alice.md Work:Alice.md Home:Old/Alice.md Work:Old/Alice.md"
	for _, c := range []struct{ what, got, want string }{
		{"a title", h.fails("read_note", `{"note":"Plan"}`), plans},
		{"a link", h.fails("related_notes", `{"note":"[[Old/Plan]]"}`), "Home:Old/Plan.md Work:Old/Plan.md"},
		{"a name", h.fails("get_entity", `{"entity":"Alice"}`), alices},
		{"a mention", h.call("assemble_context", `{"message":"@Alice","searchNotes":0}`), alices},
	} {
		if got := strings.Join(places(c.got), " "); got != c.want {
			t.Errorf("%s may mean %s, want %s", c.what, got, c.want)
		}
	}
	listed := places(h.call("list_entities", `{}`))
	slices.Sort(listed)
	if got := strings.Join(listed, " "); got != "Home:Alice.md Home:Old/Alice.md Work:Alice.md Work:Old/Alice.md" {
		t.Errorf("list_entities: %s", got)
	}
	resources, err := h.ListResources(t.Context(), nil)
	must(t, err)
	seen := make(map[string]bool)
	for _, r := range resources.Resources {
		seen[r.Name+" "+r.Description] = true
	}
	if len(seen) != 12 || !seen["Plan Work:Old/Plan.md"] {
		t.Errorf("resources: %v", seen)
	}
	plan := d.idAt("Home", "Plan.md")
	if text := h.call("explore_graph", `{"record":"`+plan+`"}`); !strings.Contains(text, "\n[[Plan]] --link--> [[Todo]]\n") {
		t.Errorf("labels that differ:\n%s", text)
	}
	d.put("notes.put", `{"id":"twin","title":"Todo","body":"[[Plan of twins]]"}`, "notes.put", `{"id":"twins","title":"Todo","path":"Plan of twins.md"}`)
	if text := h.call("explore_graph", `{"record":"twin"}`); !strings.Contains(text, "\n[[Todo]] [id:twin] --link--> [[Todo]] [id:twins]\n") {
		t.Errorf("labels that are alike:\n%s", text)
	}
}

// TestMCP5_CompletionsLeadSomewhere: where nothing means one record alone, a completion is
// what the prompt answers with candidates, once.
func TestMCP5_CompletionsLeadSomewhere(t *testing.T) {
	d := start(t)
	twoVaults(d)
	d.put("notes.putMany", `{"notes":[{"title":"Twin"},{"title":"Twin"},{"title":"Brackets ]] here"},{"title":"Only one"}]}`)
	h := d.open(mcp.Options{})
	for _, c := range []struct{ typed, want string }{
		{"[[Pla", "[[Deep/Old/Plan]]|[[Old/Plan]]|[[Plan]]"},
		{"[[Twi", "[[Twin]]"},
		{"[[Bracke", ""},
		{"[[Onl", "[[Only one]]"},
		{"@Ali", "@Alice"},
	} {
		res, err := h.Complete(t.Context(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: "ask_notes"},
			Argument: sdk.CompleteParamsArgument{Name: "message", Value: c.typed},
		})
		must(t, err)
		slices.Sort(res.Completion.Values)
		if got := strings.Join(res.Completion.Values, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.typed, got, c.want)
		}
		for _, value := range res.Completion.Values {
			made, err := h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask_notes", Arguments: map[string]string{"message": value}})
			must(t, err)
			text := asJSON(t, made.Messages[0].Content)
			if value != "[[Only one]]" && !strings.Contains(text, "could mean") {
				t.Errorf("the prompt says nothing of what %s may mean: %s", value, text)
			}
		}
	}
}

// TestSRCH17_AContextNamesTheVaultsOfItsNotes in the headings of notes that are called the same,
// and of all notes in what explains it.
func TestSRCH17_AContextNamesTheVaultsOfItsNotes(t *testing.T) {
	d := start(t)
	twoVaults(d)
	h := d.open(mcp.Options{})
	text := h.call("assemble_context", `{"message":"hi","notes":["Home:Plan.md","Work:Plan.md","Home:Todo.md"],"searchNotes":0}`)
	h.contains("context", text, "] (vault Home)\n[[Todo]]\n---", "] (vault Work)\n[[Todo]]\n---", "### [[Todo]] [id:"+d.idAt("Home", "Todo.md")[:8]+"]\n")
	text = h.call("explain_context", `{}`)
	h.contains("report", text, "[[Todo]] [id:"+d.idAt("Home", "Todo.md")[:8]+"] (vault Home): in pinned", " (vault Work): in pinned")
}
