package lsp_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/lsp"
	"github.com/ctxd/ctxd/rpc/lsp/lsptest"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// A Markdown link is completed to files and folders beside the document, and to notes of the vault by name.
func TestLSP11_PathOfAMarkdownLink(t *testing.T) {
	d := lsptest.Start(t)
	vault := maps.Clone(completionVault)
	vault["Projects/a (b) 100%.md"] = "# Brackets\n"
	vault["Projects/img/plan.png"] = "\x89PNG"
	root := d.Vault(vault)
	e := d.Open(lsptest.Options{Capabilities: snippets})
	note, deep := lsptest.URI(root, "New.md"), lsptest.URI(root, "Projects/New.md")
	for _, c := range []struct{ uri, content, want string }{
		{note, "[x](Proj‸", "[x](Projects/"},
		{note, "[x](Projects/‸) y", "[x](Projects/a%20%28b%29%20100%25.md) y"},
		{note, "[x](Projects/proj‸) y", "[x](Projects/Project%20Alpha.md) y"},
		{note, "[x](<Projects/proj‸>) y", "[x](<Projects/Project Alpha.md>) y"},
		{note, "[x](<Projects/proj‸", "[x](<Projects/Project Alpha.md>)"},
		{note, "![x](Projects/img/‸)", "![x](Projects/img/plan.png)"},
		{deep, "[x](../Peop‸", "[x](../People/"},
		{deep, "[x](../People/Al‸", "[x](../People/Albert.md)"},
		{deep, "[x](/People/Alice%20N‸", "[x](/People/Alice%20Novak.md)"},
		{deep, "[x](kick‸) y", "[x](../Daily/2026-01-31.md) y"}, // by its title
		{deep, "[x](Pro‸ject%20Beta.md) y", "[x](Project%20Alpha.md) y"},
		{note, "[x](Projects/Project%20Alpha.md#ri‸) y", "[x](Projects/Project%20Alpha.md#risks) y"},
		{note, "[x](../‸", ""},      // outside the vault
		{note, "[x](.ctxd/‸", ""},   // hidden files of it are entries of no list
		{note, "[x](https://‸", ""}, // an address
		{note, "`[x](Proj‸` [x](a b‸", ""},
	} {
		content := c.content
		if strings.Count(content, "‸") > 1 {
			content = strings.Replace(content, "‸", "", 1)
		}
		texts, list := completions(e, c.uri, content)
		if c.uri == note && c.content == "[x](.ctxd/‸" {
			texts = slices.DeleteFunc(texts, func(s string) bool { return strings.Contains(s, ".ctxd/types/") })
		}
		if c.want == "" && len(texts) > 0 || c.want != "" && !slices.Contains(texts, c.want) {
			t.Errorf("%q: %q, want %q", c.content, texts, c.want)
		}
		for _, i := range list.Items {
			if strings.Contains(i.Label, ".ctxd") {
				t.Errorf("%q offers %q", c.content, i.Label)
			}
		}
	}
	loose := servertest.WriteFolder(t, map[string]string{"a.md": "x", "b c.md": "x"})
	if texts, _ := completions(e, lsptest.URI(loose, "a.md"), "[x](b‸"); !slices.Equal(texts, []string{"[x](b%20c.md)"}) {
		t.Errorf("in a loose file: %q", texts)
	}
}

// Behind [[## stand the headings of all notes.
func TestLSP11_HeadingsOfTheVault(t *testing.T) {
	d := lsptest.Start(t)
	root := d.Vault(completionVault)
	e := d.Open(lsptest.Options{})
	uri := lsptest.URI(root, "New.md")
	for content, want := range map[string]string{
		"[[##ris‸":               "[[Project Alpha#Risks]]",
		"[[##ris‸]] x":           "[[Project Alpha#Risks]] x",
		"# Rise\n[[##ris‸":       "# Rise\n[[#Rise]]",
		"# Rise\n[[##ris‸ ":      "# Rise\n[[Project Alpha#Risks]] ",
		"[[##goals‸":             "[[Project Alpha#Risks#Goals]]",
		"[[##‸":                  "[[Project Alpha#Goals]]",
		"[[##no such heading‸]]": "",
	} {
		texts, list := completions(e, uri, content)
		if want == "" && len(texts) > 0 || want != "" && !slices.Contains(texts, want) || !list.IsIncomplete {
			t.Errorf("%q: %q, want %q", content, texts, want)
		}
	}
}

// A day that is typed as people say it becomes a link to its note, by the settings of the vault.
func TestLSP11_TheNoteOfADay(t *testing.T) {
	now := time.Now()
	monday := now.AddDate(0, 0, -((int(now.Weekday())+5)%7 + 1))
	day := func(t time.Time, layout string) string { return t.Format(layout) }
	for name, c := range map[string]struct {
		files                    map[string]string
		today, monday, path, new string // new is what a note that is made begins with
	}{
		"no settings": {nil, "2006-01-02", "2006-01-02", "2006-01-02.md", "# "},
		"where most are": {
			map[string]string{"Log/2020_01_01.md": "x", "Log/2020_01_02.md": "x", "2020-01-03.md": "x"}, "2006_01_02", "2006_01_02", "Log/2006_01_02.md", "# ",
		},
		"Obsidian": {
			map[string]string{".obsidian/daily-notes.json": `{"folder":"Days/","format":"YYYY/YYYY-MM-DD dddd","template":"T"}`},
			"2006-01-02 Monday", "2006-01-02 Monday", "Days/2006/2006-01-02 Monday.md", "# ",
		},
		"a template": {
			map[string]string{".obsidian/daily-notes.json": `{"template":"T/Day"}`, "T/Day.md": "Day {{date:YYYY}}\n"},
			"2006-01-02", "2006-01-02", "2006-01-02.md", "Day 20",
		},
		"Obsidian, its defaults": {map[string]string{".obsidian/daily-notes.json": `{}`}, "2006-01-02", "2006-01-02", "2006-01-02.md", "# "},
		"Periodic Notes": {
			map[string]string{
				".obsidian/daily-notes.json":                     `{"folder":"Days"}`,
				".obsidian/plugins/periodic-notes/data.json":     `{"daily":{"enabled":true,"folder":"P","format":"YYYYMMDD"}}`,
				".obsidian/plugins/periodic-notes/manifest.json": `{}`,
			}, "20060102", "20060102", "P/20060102.md", "# ",
		},
		"Logseq": {
			map[string]string{"logseq/config.edn": "{;; :journal/page-title-format \"yyyy\"\n :journal/page-title-format \"EEEE, dd.MM.yyyy\"\n}"},
			"Monday, 02.01.2006", "Monday, 02.01.2006", "journals/2006_01_02.md", "- ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := lsptest.Start(t)
			files := maps.Clone(c.files)
			if files == nil {
				files = map[string]string{}
			}
			files["a.md"] = "x\n"
			root := d.Vault(files)
			e := d.Open(lsptest.Options{Capabilities: commandsCapabilities})
			uri := lsptest.URI(root, "a.md")
			for typed, want := range map[string]string{"[[tod‸]]": day(now, c.today), "[[last mon‸": day(monday, c.monday)} {
				texts, list := completions(e, uri, typed)
				if len(texts) == 0 || texts[0] != "[["+want+"]]" || list.Items[0].Detail == "" {
					t.Errorf("%q: %q, want %q first", typed, texts, want)
				}
			}
			var made lsp.TodayResult
			done := make(chan error, 1)
			go func() {
				done <- e.Try("workspace/executeCommand", map[string]any{"command": "ctxd.lsp.today", "arguments": []any{map[string]string{"uri": uri}}}, &made)
			}()
			var edit lsp.ApplyWorkspaceEditParams
			e.Await("workspace/applyEdit", &edit)
			made = lsp.TodayResult{}
			<-done // this editor has not applied it
			if got := e.Apply(root, edit.Edit)[day(now, c.path)]; !strings.HasPrefix(got, c.new) {
				t.Errorf("the note of today is %q in %+v", got, edit.Edit)
			}
		})
	}
	// Words that begin like a day complete notes as before.
	d := lsptest.Start(t)
	root := d.Vault(map[string]string{"Todo.md": "x\n", "Today I learned.md": "x\n"})
	e := d.Open(lsptest.Options{})
	if texts, _ := completions(e, lsptest.URI(root, "n.md"), "[[today i‸"); len(texts) == 0 || texts[0] != "[[Today I learned]]" {
		t.Errorf("%q", texts)
	}
}
