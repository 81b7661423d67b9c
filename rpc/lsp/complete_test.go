package lsp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
)

var completionVault = map[string]string{
	"Projects/Project Alpha.md": "# Project Alpha\n\nThe plan of the project.\n\n## Goals\n\nShip it.\n\n## Risks\n\nNone. ^none\n\n### Goals\n\nTo have few. ^few\n",
	"Project Beta.md":           "See [[Project Alpha]]. #planning/alpha\n",
	"Daily/2026-01-31.md":       "# Kickoff\n\nWith the team. #planning\n",
	".ctxd/types/Person.yaml":   "name: Person\nfields:\n  - name: role\n    type: select\n    options: [Engineer, Designer, \"Lead: all\"]\n  - name: team\n    type: entity_ref\n    targetType: Team\n  - name: active\n    type: boolean\n  - name: home\n    type: note_ref\n",
	".ctxd/types/Team.yaml":     "name: Team\nfields:\n  - name: budget\n    type: number\n  - name: people\n    type: computed\n    query: SELECT p FROM Person WHERE p.team = {this}\n",
	"People/Alice Novak.md":     "---\ntype: Person\nrole: Engineer\nteam: \"[[Core Team]]\"\n---\n# Alice Novak\n\nBuilds things.\n",
	"People/Albert.md":          "---\ntype: Person\n---\n# Albert\n",
	"Teams/Core Team.md":        "---\ntype: Team\nbudget: 10\n---\n# Core Team\n",
}

// completions are the texts of a document after each item of a completion was applied.
func completions(e *lsptest.Editor, uri, content string) (texts []string, list lsp.CompletionList) {
	at := e.ShowMarked(uri, content, "‸")
	e.Call("textDocument/completion", at, &list)
	for _, item := range list.Items {
		texts = append(texts, e.Applied(uri, *item.TextEdit))
	}
	return texts, list
}

const snippets = `{"textDocument":{"completion":{"completionItem":{"snippetSupport":true,"insertReplaceSupport":true}}}}`

// An item is an escaped snippet where the editor knows such. What stands behind the cursor afterwards is what follows the
// link: brackets that the editor has closed belong to the edit.
func TestLSP9_ItemsAreSnippets(t *testing.T) {
	d := lsptest.Start(t)
	vault := maps.Clone(completionVault)
	vault[`Costs $1 {a} \ b.md`] = "x\n"
	vault["Run `ls`.md"] = "x\n"
	root := d.Vault(vault)
	bare := `{"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}}}`
	for _, c := range []struct {
		name, can, content string
		label, insert      string // of the first item
		after              string // what its edit leaves behind it
		format             int
	}{
		{"VS Code", snippets, "See [[project al‸]] x", "Project Alpha", "Project Alpha]]", " x", 2},
		{"VS Code", snippets, "See [[project al‸", "Project Alpha", "Project Alpha]]", "", 2},
		{"VS Code", snippets, "See [[cos‸] x", `Costs $1 {a} \ b`, `Costs \$1 {a\} \\ b]]`, " x", 2},
		{"VS Code", snippets, "[[Pro‸ject Gamma]] x", "Project Alpha", "Project Alpha]]", " x", 2},
		{"VS Code", snippets, "[[Pro‸ject Gamma|a]] x", "Project Alpha", "Project Alpha", "|a]] x", 2},
		{"VS Code", snippets, "[[Project Alpha#ri‸]] x", "Risks", "Risks]]", " x", 2},
		{"VS Code", snippets, "[[Project Alpha#ri‸sk#goal]] x", "Risks", "Risks]]", " x", 2},
		{"VS Code", snippets, "[x](Projects/Project%20Alpha.md#ri‸) y", "Risks", "risks)", " y", 2},
		{"VS Code", snippets, "[x](<Projects/Project Alpha.md#ri‸>) y", "Risks", "risks>)", " y", 2},
		{"Emacs", snippets, "[[Run‸", "Run `ls`", "Run `ls`]]", "", 0}, // YASnippet would run it
		{"vim-lsp", "{}", `[[cos‸]] x`, `Costs $1 {a} \ b`, `Costs $1 {a} \ b]]`, " x", 0},
		// Neovim replaces what stands before the cursor, and writes the label.
		{"Neovim", bare, "[[proj‸", "Project Alpha]]", "Project Alpha]]", "", 2},
		{"Neovim", bare, "[[proj‸]] x", "Project Alpha", "Project Alpha", "]] x", 2},
		{"Neovim", bare, "[[Run‸", "Run `ls`]]", "Run `ls`]]", "", 2},
		{"Neovim", bare, "met @alice‸ x", "@Alice Novak", "@Alice Novak", " x", 2},
		{"Neovim", "{}", "[[proj‸]] x", "Project Alpha", "Project Alpha", "]] x", 0},     // 0.9 and before
		{"Neovim", snippets, "[[proj‸]] x", "Project Alpha", "Project Alpha]]", " x", 2}, // nvim-cmp
		{"Vim", "{}", "[[proj‸]] x", "Project Alpha", "Project Alpha", "]] x", 0},        // yegappan/lsp
		{"Vim", "{}", "[[project al‸", "Project Alpha", "Project Alpha]]", "", 0},
	} {
		e := d.Open(lsptest.Options{Name: c.name, Capabilities: c.can})
		texts, list := completions(e, lsptest.URI(root, "New.md"), c.content)
		if len(texts) == 0 {
			t.Errorf("%s %q: nothing", c.name, c.content)
			continue
		}
		item := list.Items[0]
		_, after, _ := strings.Cut(texts[0], item.TextEdit.NewText)
		if item.Label != c.label || item.TextEdit.NewText != c.insert || after != c.after || item.InsertTextFormat != c.format {
			t.Errorf("%s %q: %q, format %d, inserts %q before %q", c.name, c.content, item.Label, item.InsertTextFormat, item.TextEdit.NewText, after)
		}
		if filtered := item.FilterText != ""; filtered != (c.name != "Neovim" || c.can == snippets) {
			t.Errorf("%s %q: it is filtered by %q", c.name, c.content, item.FilterText)
		}
	}
}

// yegappan/lsp writes the part of an item that its edit has from the last typed word on: what it would write wrongly is left out.
func TestLSP9_VimGetsWhatGoesOnWithTheTypedWords(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	for _, c := range []struct{ name, content, want string }{
		{"Vim", "[[alpha‸", "[[Project Alpha]]"},
		{"Vim", "[[project alpha‸", "[[Project Alpha]]"},
		{"Vim", "[[##top ri‸", ""},
		{"vim-lsp", "[[##ris‸", "[[Project Alpha#Risks]]"},
		{"Vim", "[[##ris‸", ""},
	} {
		e := d.Open(lsptest.Options{Name: c.name})
		texts, _ := completions(e, lsptest.URI(root, "New.md"), c.content)
		if c.want == "" && len(texts) > 0 || c.want != "" && !slices.Contains(texts, c.want) {
			t.Errorf("%s %q: %q, want %q", c.name, c.content, texts, c.want)
		}
	}
}

// TestSRCH50_AnchorOfAMarkdownLink is completed as a link writes it in this document: as GitHub makes it, or as the heading says.
func TestSRCH50_AnchorOfAMarkdownLink(t *testing.T) {
	d := lsptest.Start(t)
	vault := maps.Clone(completionVault)
	vault["Projects/Übersicht.md"] = "# Übersicht\n\n## Other Part: C & C\n\n## Same\n\n## Same\n"
	root := d.Vault(vault)
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"[x](Projects/%C3%9Cbersicht.md#oth‸":                              "[x](Projects/%C3%9Cbersicht.md#other-part-c--c)",
		"[x](Projects/Übersicht.md#other-p‸)":                              "[x](Projects/Übersicht.md#other-part-c--c)",
		"[x](Projects/Übersicht.md#Other Part‸":                            "",
		"[x](<Projects/Project Alpha.md#ris‸":                              "[x](<Projects/Project Alpha.md#risks>)",
		"[x](<Projects/Project Alpha.md#ris‸>) y":                          "[x](<Projects/Project Alpha.md#risks>) y",
		"[x](Projects/Project%20Alpha.md#ri‸sk) y":                         "[x](Projects/Project%20Alpha.md#risks) y",
		"[x](Projects/Project%20Alpha.md#^no‸":                             "[x](Projects/Project%20Alpha.md#^none)",
		"# Here it is\n\n[x](#he‸":                                         "# Here it is\n\n[x](#here-it-is)",
		"[a](Project%20Beta.md#Top%20One)\n[x](Projects/Übersicht.md#oth‸": "[a](Project%20Beta.md#Top%20One)\n[x](Projects/Übersicht.md#Other%20Part:%20C%20&%20C)",
		"[x](https://a.org/Projects/Project%20Alpha.md#ris‸":               "",
		"[x](Projects/None.md#ris‸":                                        "",
		"[x](Projects/Project%20Alpha.md#risks) and #pl‸ ":                 "[x](Projects/Project%20Alpha.md#risks) and #planning ",
	} {
		texts, _ := completions(e, uri, content)
		if want == "" && len(texts) > 0 || want != "" && (len(texts) == 0 || texts[0] != want) {
			t.Errorf("%q: %q, want %q first", content, texts, want)
		}
	}
	if texts, _ := completions(e, uri, "[x](Projects/Übersicht.md#sam‸"); len(texts) != 2 || texts[1] != "[x](Projects/Übersicht.md#same-1)" {
		t.Errorf("two that are called alike: %q", texts)
	}
}

func TestLSP3_LinkToANote(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"See [[Proj‸":              "See [[Project Alpha]]",
		"See [[Proj‸]]":            "See [[Project Alpha]]",
		"See [[Proj‸] x":           "See [[Project Alpha]] x",
		"é😀 [[Proj‸]] z\r\nb\r\n":  "é😀 [[Project Alpha]] z\r\nb\r\n",
		"a\r\nSee [[Proj‸\r\nb":    "a\r\nSee [[Project Alpha]]\r\nb",
		"[[Pro‸ject Gamma|x]]":     "[[Project Alpha|x]]",
		"[[Pro‸ject Gamma#Goals]]": "[[Project Alpha#Goals]]",
		"[[Proj‸ and [[Kickoff]]":  "[[Project Alpha]] and [[Kickoff]]",
		"![[Proj‸":                 "![[Project Alpha]]",
	} {
		texts, list := completions(e, uri, content)
		if len(texts) == 0 || texts[0] != want || !list.IsIncomplete {
			t.Errorf("%q: %q, want %q first", content, texts, want)
		}
	}
	for _, content := range []string{"See [Proj‸", "[[Kickoff]] Proj‸", "[[a|Proj‸"} {
		if texts, _ := completions(e, uri, content); len(texts) > 0 {
			t.Errorf("%q: %q, want nothing", content, texts)
		}
	}
}

// TestLSP3_WhatIsTyped: each completion is applied; want is the document after the first item, or
// after one of them with a plus sign before it.
func TestLSP3_WhatIsTyped(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	d.Call("memory.add", json.RawMessage(`{"statement":"I prefer morning workouts"}`), nil)
	e := d.Open(lsptest.Options{})
	note, types := lsptest.URI(root, "New.md"), lsptest.URI(root, ".ctxd/types/Person.yaml")
	for _, c := range []struct{ uri, content, want string }{
		// Headings and blocks of a link.
		{note, "[[Project Alpha#‸", "[[Project Alpha#Project Alpha]]"},
		{note, "[[Project Alpha#ri‸]] x", "[[Project Alpha#Risks]] x"},
		{note, "[[Project Alpha#go‸als|the goals]]", "[[Project Alpha#Goals|the goals]]"},
		{note, "[[Project Alpha#go‸", "+[[Project Alpha#Risks#Goals]]"},
		{note, "[[Project Alpha#^‸", "[[Project Alpha#^none]]"},
		{note, "[[Project Alpha#^f‸]]", "[[Project Alpha#^few]]"},
		{note, "# Here\n\n## There\n[[#th‸", "# Here\n\n## There\n[[#There]]"},
		// Mentions, tags, numbers.
		{note, "Ask @Ali‸ now", "Ask @Alice Novak now"},
		{note, "(@al‸)", "+(@Albert)"},
		{note, "see @morning‸", "see @"},
		{note, "see #1‸", "see #1"},
		{note, "a #plan‸ b", "a #planning b"},
		{note, "a #planning/‸", "a #planning/alpha"},
		// Frontmatter.
		{note, "---\nty‸\n---\n", "---\ntype: \n---\n"},
		{note, "---\nty‸\n", "---\ntype: \n"}, // not closed yet
		{note, "---\ntype: pe‸\n---\n", "---\ntype: Person\n---\n"},
		{note, "---\r\ntype: Person\r\nro‸\r\n---\r\n", "---\r\ntype: Person\r\nrole: \r\n---\r\n"},
		{note, "---\ntype: Person\nrole: ‸\n---\n", "---\ntype: Person\nrole: Engineer\n---\n"},
		{note, "---\ntype: Person\nrole: lead‸\n---\n", "---\ntype: Person\nrole: \"Lead: all\"\n---\n"},
		{note, "---\ntype: Person\nactive: f‸x\n---\n", "---\ntype: Person\nactive: false\n---\n"},
		{note, "---\ntype: Person\nteam: co‸\n---\n", "---\ntype: Person\nteam: \"[[Core Team]]\"\n---\n"},
		{note, "---\ntype: Person\nteam: \"[[co‸\"\n---\n", "---\ntype: Person\nteam: \"[[Core Team]]\"\n---\n"},
		{note, "---\ntype: Person\nhome: kick‸\n---\n", "---\ntype: Person\nhome: \"[[Kickoff]]\"\n---\n"},
		{note, "---\ntags: [a, pla‸]\n---\n", "---\ntags: [a, planning]\n---\n"},
		{note, "---\ntags:\n  - pla‸\n---\n", "---\ntags:\n  - planning\n---\n"},
		// Queries.
		{note, "x\n```wql\nSELECT p FROM Per‸\n```\n", "x\n```wql\nSELECT p FROM Person\n```\n"},
		{note, "```wql\nSELECT p FROM Person p WHERE p.ro‸\n```\n", "```wql\nSELECT p FROM Person p WHERE p.role\n```\n"},
		{types, "name: Person\nfields:\n  - name: x\n    type: computed\n    query: SELECT t FROM Te‸\n  - name: y\n", "name: Person\nfields:\n  - name: x\n    type: computed\n    query: SELECT t FROM Team\n  - name: y\n"},
		{types, "name: Person\nfields:\n  - name: x\n    query: >\n      SELECT t\n      FROM Te‸\n", "name: Person\nfields:\n  - name: x\n    query: >\n      SELECT t\n      FROM Team\n"},
		{types, "name: Person\nfields:\n  - name: x\n    type: sel‸\n", "name: Person\nfields:\n  - name: x\n    type: select\n"},
		{types, "name: Person\nfields:\n  - name: x\n    targetType: ‸\n", "name: Person\nfields:\n  - name: x\n    targetType: Person\n"},
		// Nothing.
		{note, "mail me@exa‸", ""},
		{note, "# ‸", ""},
		{note, "#‸", ""},
		{note, "```go\n// @Ali‸\n```\n", ""},
		{note, "```\nx = [[Proj‸\n```\n", ""},
		{note, "a ‸", ""},
		{"untitled:Untitled-1", "x‸", ""},
		{"file:///elsewhere/a.md", "[[Kick‸", "[[Kickoff]]"},
		{"untitled:Untitled-2", "[[Kick‸", "[[Kickoff]]"},
	} {
		texts, _ := completions(e, c.uri, c.content)
		want, among := strings.CutPrefix(c.want, "+")
		switch {
		case want == "" && len(texts) == 0:
		case among && slices.Contains(texts, want):
		case !among && len(texts) > 0 && want != "" && strings.HasPrefix(texts[0], want):
		default:
			t.Errorf("%q: %q, want %q", c.content, texts, c.want)
		}
	}
}

func TestLSP3_LinksAreWrittenAsTheVaultDoes(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	for how, want := range map[string]string{
		"title": "[[Project Alpha]]", "path": "[[Projects/Project Alpha]]", "alias": "[[Projects/Project Alpha|Project Alpha]]",
	} {
		e := d.Open(lsptest.Options{Settings: `{"links":"` + how + `"}`})
		texts, _ := completions(e, lsptest.URI(root, "New.md"), "[[project al‸")
		if len(texts) == 0 || texts[0] != want {
			t.Errorf("%s: %q, want %q", how, texts, want)
		}
	}
}

// A blank may be part of a title: the list stays open when one is typed in a link.
func TestLSP3_BlanksBeginNothingButInLinksAndFrontmatter(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	e := d.Open(lsptest.Options{})
	for content, want := range map[string]bool{
		"[[Project ‸": true, "---\ntype: ‸\n---\n": true, "```wql\nSELECT ‸\n```": true, "see @Alice ‸": false, "some text ‸": false, "see #plan ‸": false,
	} {
		at := e.ShowMarked(lsptest.URI(root, "New.md"), content, "‸")
		var list lsp.CompletionList
		e.Call("textDocument/completion", map[string]any{
			"textDocument": at.TextDocument, "position": at.Position, "context": map[string]any{"triggerKind": lsp.CompletionTriggerCharacter, "triggerCharacter": " "},
		}, &list)
		if got := len(list.Items) > 0; got != want {
			t.Errorf("%q: %+v", content, list.Items)
		}
	}
}

func TestLSP3_ItemsResolveToAPreview(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	e := d.Open(lsptest.Options{})
	for content, want := range map[string]string{
		"[[project al‸": "The plan of the project.", "@Alice‸": "- team: @Core Team",
	} {
		_, list := completions(e, lsptest.URI(root, "New.md"), content)
		if len(list.Items) == 0 {
			t.Fatalf("%s: nothing", content)
		}
		var item lsp.CompletionItem
		e.Call("completionItem/resolve", list.Items[0], &item)
		if item.Documentation == nil || !strings.Contains(item.Documentation.Value, want) || item.Label != list.Items[0].Label {
			t.Errorf("%s: %+v, want %q", content, item, want)
		}
	}
}

// What is typed counts before it is saved, and is not taken for what the disk says.
func TestLSP2_UnsavedTextCounts(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	e := d.Open(lsptest.Options{})
	e.Show(lsptest.URI(root, "Projects/Project Alpha.md"), "# Project Alpha\n\n## Brand new\n")
	texts, _ := completions(e, lsptest.URI(root, "New.md"), "[[Project Alpha#bra‸")
	if !slices.Equal(texts, []string{"[[Project Alpha#Brand new]]"}) {
		t.Errorf("%q", texts)
	}
}
