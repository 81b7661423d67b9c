package lsp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

var navigationVault = map[string]string{
	"Projects/Project Alpha.md": "---\ntags: [planning]\n---\n# Project Alpha\r\n\r\nThe plan of the project. 😀 [[#Goals]]\r\n\r\n## Goals\r\n\r\nShip it.\r\n\r\n## Risks\r\n\r\nNone. ^none\r\n",
	"Project Beta.md":           "See [[Project Alpha]] and [[Project Alpha#Goals|goals]].\n\nAlso 😀 [the plan](Projects/Project%20Alpha.md) of @Alice Novak. #planning/beta\n",
	"A/Twin.md":                 "# Twin\n\nOne.\n",
	"B/Twin.md":                 "# Twin\n\nOther.\n",
	"pic.png":                   "x",
	"Shows.md":                  "![[pic.png]] [[Alice Novak]]\n",
	".ctxd/types/Person.yaml":   "name: Person\nfields:\n  - name: role\n    type: text\n  - name: team\n    type: entity_ref\n    targetType: Team\n",
	".ctxd/types/Team.yaml":     "name: Team\nfields:\n  - name: people\n    type: computed\n    query: SELECT p FROM Person WHERE p.team = {this}\n",
	"People/Alice Novak.md":     "---\ntype: Person\nrole: Engineer\nteam: \"[[Core Team]]\"\n---\n# Alice Novak\n\nBuilds things.\n",
	"People/Bob.md":             "---\ntype: Person\nteam: Core Team\n---\n# Bob\n",
	"Teams/Core Team.md":        "---\ntype: Team\n---\n# Core Team\n",
}

// openNavigation is a vault, a memory and an editor.
func openNavigation(t *testing.T, capabilities string) (*lsptest.Editor, string) {
	t.Helper()
	d := lsptest.Start(t)
	root := d.Vault(navigationVault)
	d.Call("memory.add", json.RawMessage(`{"statement":"I prefer morning workouts"}`), nil)
	return d.Open(lsptest.Options{Capabilities: capabilities}), root
}

func TestLSP4_Hover(t *testing.T) {
	e, root := openNavigation(t, "")
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"[[Project Al‸pha]]":                         "The plan of the project.",
		"‸[[Project Alpha]]":                         "**Project Alpha** · Projects/Project Alpha.md",
		"[[Project Alpha#go‸als]]":                   "Ship it.",
		"[[Project Alpha#^no‸ne]]":                   "None. ^none",
		"[x](Projects/Project%20Al‸pha.md)":          "The plan of the project.",
		"## Here\n\nText.\n\n[[#he‸re]]":             "Text.",
		"by @Ali‸ce Novak today":                     "- team: @Core Team",
		"by @[Alice No‸vak]":                         "**Alice Novak** · Person",
		"as #‸1 says":                                "I prefer morning workouts",
		"---\ntype: Person\nteam: Core Te‸am\n---\n": "**Core Team** · Team",
		"---\ntype: Person\nrole: Core Te‸am\n---\n": "",
		"in #plann‸ing":                              "- #planning/beta · 1 notes",
		"[[Alice No‸vak]]":                           "- team: @Core Team",
		"[[Tw‸in]]":                                  "**Twin** · A/Twin.md",
		"```wql\nSELECT p FROM Per‸son p\n```":       "- Bob · Person",
		"```wql\nSELECT COUNT(*) FROM Per‸son\n```":  "**2**",
		"```wql\nSELECT p FROM Per‸sn p\n```":        "error, line 1, column 15",
		"[[No‸where]]":                               "",
		"me‸@example.com":                            "",
		"```\n[[Project Al‸pha]]\n```":               "",
		"pla‸in":                                     "",
	} {
		var h *lsp.Hover
		e.Call("textDocument/hover", e.ShowMarked(uri, content, "‸"), &h)
		switch {
		case want == "" && h == nil:
		case want == "" || h == nil || !strings.Contains(h.Contents.Value, want):
			t.Errorf("%q: %+v, want %q", content, h, want)
		case h.Range == nil || lsp.NewDocument("", "", e.Text(uri)).Offset(h.Range.End, lsp.UTF16) < strings.Index(content, "‸"):
			t.Errorf("%q: the range is %+v", content, h.Range)
		}
	}
}

// locationsIn are locations as path and the text of their range.
func locationsIn(t *testing.T, e *lsptest.Editor, root string, list []lsp.Location) (out []string) {
	t.Helper()
	for _, l := range list {
		file, ok := lsp.URIPath(l.URI)
		rel, err := filepath.Rel(root, file)
		if !ok || err != nil {
			t.Fatalf("%s: %v", l.URI, err)
		}
		data, err := os.ReadFile(file)
		content := string(data)
		if err != nil {
			content = e.Text(l.URI)
		}
		d := lsp.NewDocument(l.URI, "", content)
		start, end := d.Span(l.Range, lsp.UTF16)
		out = append(out, filepath.ToSlash(rel)+": "+d.Text[start:end])
	}
	slices.Sort(out)
	return out
}

func TestLSP4_Definition(t *testing.T) {
	e, root := openNavigation(t, "")
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"[[Project Al‸pha]]":                      "Projects/Project Alpha.md: ",
		"[[Project Alpha#Go‸als]]":                "Projects/Project Alpha.md: ## Goals",
		"[[Project Alpha#^no‸ne]]":                "Projects/Project Alpha.md: None. ^none",
		"![[Project Alpha#Gon‸e]]":                "Projects/Project Alpha.md: ",
		"[x](Projects/Project%20Al‸pha.md#Risks)": "Projects/Project Alpha.md: ## Risks",
		"é 😀 by @Ali‸ce Novak today":              "People/Alice Novak.md: ",
		"[[Alice No‸vak]]":                        "People/Alice Novak.md: ",
		"[[Tw‸in]]":                               "A/Twin.md: ",
		"## Here\n\n[[#he‸re]]":                   "New.md: ## Here",
		"#‸1":                                     "",
		"[[No‸where]]":                            "",
	} {
		var got []lsp.Location
		e.Call("textDocument/definition", e.ShowMarked(uri, content, "‸"), &got)
		if list := strings.Join(locationsIn(t, e, root, got), "|"); list != want {
			t.Errorf("%q: %q, want %q", content, list, want)
		}
	}
	var got []lsp.Location
	at := e.ShowMarked(lsptest.URI(root, "Shows.md"), "![[pi‸c.png]] [[Alice Novak]]\n", "‸")
	e.Call("textDocument/definition", at, &got)
	if list := locationsIn(t, e, root, got); !slices.Equal(list, []string{"pic.png: "}) {
		t.Errorf("an attachment: %q", list)
	}
}

func TestLSP4_DefinitionWithItsOrigin(t *testing.T) {
	e, root := openNavigation(t, `{"textDocument":{"definition":{"linkSupport":true}}}`)
	uri := lsptest.URI(root, "New.md")
	var got []lsp.LocationLink
	e.Call("textDocument/definition", e.ShowMarked(uri, "😀 @Ali‸ce Novak x", "‸"), &got)
	if len(got) != 1 || got[0].OriginSelectionRange == nil || *got[0].OriginSelectionRange != (lsp.Range{Start: lsp.Position{Character: 3}, End: lsp.Position{Character: 15}}) {
		t.Errorf("%+v", got)
	}
}

func TestLSP4_DocumentLinks(t *testing.T) {
	e, root := openNavigation(t, "")
	uri := lsptest.URI(root, "New.md")
	at := e.Show(uri, "[[Project Alpha#Goals]] [x](A/Twin.md) [[Nowhere]] [y](https://example.com)\n")
	var links []lsp.DocumentLink
	e.Call("textDocument/documentLink", lsp.TextDocumentParams{TextDocument: at.TextDocument}, &links)
	var got []string
	for _, l := range links {
		e.Call("documentLink/resolve", l, &l)
		got = append(got, strings.TrimPrefix(l.Target, lsp.FileURI(root)))
	}
	if want := []string{"/Projects/Project%20Alpha.md#L8", "", "/A/Twin.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLSP4_References(t *testing.T) {
	e, root := openNavigation(t, "")
	alpha := []string{
		"New.md: [[Project Alpha]]", "Project Beta.md: Projects/Project%20Alpha.md", "Project Beta.md: [[Project Alpha#Goals|goals]]",
		"Project Beta.md: [[Project Alpha]]", "Projects/Project Alpha.md: [[#Goals]]",
	}
	goals := []string{"Project Beta.md: [[Project Alpha#Goals|goals]]", "Projects/Project Alpha.md: [[#Goals]]"}
	e.Show(lsptest.URI(root, "New.md"), "unsaved: [[Project Alpha]]")
	data, err := os.ReadFile(filepath.Join(root, "Projects", "Project Alpha.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, content string
		want          []string
	}{
		{"New2.md", "[[Project Al‸pha]]", alpha},
		{"Projects/Project Alpha.md", strings.Replace(string(data), "# Project Alpha", "# Project ‸Alpha", 1), alpha},
		{"Projects/Project Alpha.md", strings.Replace(string(data), "## Goals", "## Go‸als", 1), goals},
		{"New2.md", "[[Project Alpha#Goa‸ls]]", goals},
		{"New2.md", "@Ali‸ce Novak", []string{"Project Beta.md: @Alice Novak", "Shows.md: [[Alice Novak]]"}},
		{"New2.md", "[[Core Te‸am]]", []string{"People/Alice Novak.md: [[Core Team]]", "People/Bob.md: team: Core Team"}},
		{"New2.md", "---\ntype: Person\nteam: Core Te‸am\n---\n", []string{"People/Alice Novak.md: [[Core Team]]", "People/Bob.md: team: Core Team"}},
		{"New2.md", "#plann‸ing", []string{"Project Beta.md: #planning/beta"}},
		{".ctxd/types/Person.yaml", "name: Person\nfields:\n  - name: ro‸le\n    type: text\n", []string{"People/Alice Novak.md: role: Engineer"}},
		{"New2.md", "[[Now‸here]]", nil},
	} {
		at := e.ShowMarked(lsptest.URI(root, c.path), c.content, "‸")
		var got []lsp.Location
		e.Call("textDocument/references", lsp.ReferenceParams{TextDocumentPositionParams: at}, &got)
		list := slices.DeleteFunc(locationsIn(t, e, root, got), func(p string) bool { return strings.HasPrefix(p, "New2.md") })
		if !slices.Equal(list, c.want) && len(list)+len(c.want) > 0 {
			t.Errorf("%s %q:\n%q, want\n%q", c.path, c.content[max(0, len(c.content)-60):], list, c.want)
		}
	}
}

// Links, tags and values are all found, however many notes they stand in.
func TestLSP4_ReferencesOfManyNotes(t *testing.T) {
	const many = 510
	d := lsptest.Start(t)
	files := map[string]string{"Hub.md": "# Hub\n", ".ctxd/types/Step.yaml": "name: Step\nfields:\n  - name: size\n    type: number\n"}
	for i := range many {
		files[fmt.Sprintf("%d.md", i)] = "---\ntype: Step\nsize: 1\n---\nSee [[Hub]]. #often\n"
	}
	root := d.Vault(files)
	e := d.Open(lsptest.Options{})
	for path, content := range map[string]string{
		"Hub.md": "# H‸ub\n", "New.md": "#oft‸en\n", ".ctxd/types/Step.yaml": "name: Step\nfields:\n  - name: si‸ze\n    type: number\n",
	} {
		at := e.ShowMarked(lsptest.URI(root, path), content, "‸")
		var got []lsp.Location
		e.Call("textDocument/references", lsp.ReferenceParams{TextDocumentPositionParams: at}, &got)
		if len(got) != many {
			t.Errorf("%s: %d of %d", path, len(got), many)
		}
	}
}

func TestLSP4_WorkspaceSymbols(t *testing.T) {
	e, root := openNavigation(t, "")
	for query, want := range map[string]string{
		"proj": "Project Alpha", "alice": "Alice Novak", "goals": "Goals", "": "Core Team",
	} {
		var got []lsp.SymbolInformation
		e.Call("workspace/symbol", lsp.WorkspaceSymbolParams{Query: query}, &got)
		if !slices.ContainsFunc(got, func(s lsp.SymbolInformation) bool {
			return s.Name == want && strings.HasPrefix(s.Location.URI, lsp.FileURI(root))
		}) {
			t.Errorf("%q: %+v, want %s", query, got, want)
		}
	}
}

func TestLSP4_Highlights(t *testing.T) {
	e, root := openNavigation(t, "")
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]int{
		"[[A‸]] [[a#x]] [[B]]": 2, "#ta‸g #tag #tagged": 2, "@Bo‸b and @Bob": 2, "## He‸re\n[[#here]] [[#there]]": 2, "pla‸in": 0,
	} {
		var got []lsp.DocumentHighlight
		e.Call("textDocument/documentHighlight", e.ShowMarked(uri, content, "‸"), &got)
		if len(got) != want {
			t.Errorf("%q: %+v, want %d", content, got, want)
		}
	}
}
