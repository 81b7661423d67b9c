package vault_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/vault"
)

// handMade are renames whose result was written by hand. Files that are not listed in want stay as they are.
var handMade = []struct {
	name     string
	files    map[string]string
	note     vault.NoteRename
	want     map[string]string
	problems []string // texts of links
}{
	{
		name: "file, title and heading, all forms of links",
		files: map[string]string{
			"Boss.md": "---\r\ntitle: Boss\r\nboss: \"[[Boss]]\"\r\n---\r\n# Boss #\r\nI am [[#Boss|me]], [[Boss#Boss]].\r\n",
			"a/x.md": "\uFEFFsee [[boss]] and ![[Boss]] and [[Boss|the | boss]] and [[ Boss #Boss]] and [[Boss#^b1]]\r\n" +
				"[m](../Boss.md) ![e](<../Boss.md> \"title\") [h](../Boss.md#Boss) [[Boss.md]] [[/Boss]] [[../Boss]]\r\n\r\n" +
				"[ref]: ../Boss.md 'A title'\r\n`[[Boss]]` \\[[Boss]] <!-- [[Boss]] -->\r\n| [[Boss\\|b]] | Bossy [[Bossy]] |\r\n",
		},
		note: vault.NoteRename{Path: "Boss.md", New: "The Chief"},
		want: map[string]string{
			"The Chief.md": "---\r\ntitle: The Chief\r\nboss: \"[[The Chief]]\"\r\n---\r\n# The Chief #\r\nI am [[#The Chief|me]], [[The Chief#The Chief]].\r\n",
			"a/x.md": "\uFEFFsee [[The Chief]] and ![[The Chief]] and [[The Chief|the | boss]] and [[ The Chief #The Chief]] and [[The Chief#^b1]]\r\n" +
				"[m](../The%20Chief.md) ![e](<../The Chief.md> \"title\") [h](../The%20Chief.md#The%20Chief) [[The Chief.md]] [[/The Chief]] [[../The Chief]]\r\n\r\n" +
				"[ref]: ../The%20Chief.md 'A title'\r\n`[[Boss]]` \\[[Boss]] <!-- [[Boss]] -->\r\n| [[The Chief\\|b]] | Bossy [[Bossy]] |\r\n",
		},
	},
	{
		name: "the file alone",
		files: map[string]string{
			"Boss.md": "# Boss\n", "x.md": "[[Boss]] [b](Boss.md)\n",
		},
		note: vault.NoteRename{Path: "Boss.md", New: "Chief", What: vault.RenameFileOnly},
		want: map[string]string{"Chief.md": "# Boss\n", "x.md": "[[Boss]] [b](Chief.md)\n"},
	},
	{
		name:  "the title alone",
		files: map[string]string{"Boss.md": "# Boss\n", "x.md": "[[Boss]]\n"},
		note:  vault.NoteRename{Path: "Boss.md", New: "Chief", What: vault.RenameTitleOnly},
		want:  map[string]string{"Boss.md": "# Chief\n"},
	},
	{
		name:  "a title that is not the file name, by a link that says it",
		files: map[string]string{"2024-01.md": "---\ntitle: 'Boss'\n---\n", "x.md": "[[Boss]] [[2024-01]] [[BOSS#x|y]]\n"},
		note:  vault.NoteRename{Path: "2024-01.md", Old: "boss", New: "It's"},
		want:  map[string]string{"2024-01.md": "---\ntitle: 'It''s'\n---\n", "x.md": "[[It's]] [[2024-01]] [[It's#x|y]]\n"},
	},
	{
		name: "the new name is a title that others link to",
		files: map[string]string{
			"a.md": "x\n", "deep/b.md": "# Plan\n", "x.md": "[[Plan]] ![[Plan]] [[Plan|p]] [[plan#Plan]] [[a]]\n", "deep/y.md": "| [[Plan]] | z |\n",
		},
		note: vault.NoteRename{Path: "a.md", New: "Plan"},
		want: map[string]string{
			"Plan.md": "x\n", "x.md": "[[b|Plan]] ![[b]] [[b|p]] [[b#Plan]] [[Plan]]\n", "deep/y.md": "| [[b\\|Plan]] | z |\n",
		},
	},
	{
		name: "the new name is a file name in another folder",
		files: map[string]string{
			"deep/down/Plan.md": "x\n", "a.md": "y\n", "x.md": "[[Plan]] [[a]] [[down/Plan]]\n", "deep/down/y.md": "[[Plan]] [[a]]\n",
		},
		note: vault.NoteRename{Path: "a.md", New: "Plan"},
		want: map[string]string{
			"Plan.md": "y\n", "x.md": "[[down/Plan]] [[Plan]] [[down/Plan]]\n", "deep/down/y.md": "[[down/Plan]] [[Plan]]\n",
		},
	},
	{
		name:  "the old name was a file name before it was a title",
		files: map[string]string{"Plan.md": "x\n", "b.md": "# Plan\n", "x.md": "[[Plan]] [[b]]\n"},
		note:  vault.NoteRename{Path: "Plan.md", New: "Goal"},
		want:  map[string]string{"Goal.md": "x\n", "x.md": "[[Goal]] [[b]]\n"},
	},
	{
		name:  "a heading with a link to it is a title of another note",
		files: map[string]string{"Old.md": "x\n", "About.md": "# About [[Old]]\n", "x.md": "[[About Old]] [[About#About Old]]\n"},
		note:  vault.NoteRename{Path: "Old.md", New: "New"},
		want:  map[string]string{"New.md": "x\n", "About.md": "# About [[New]]\n", "x.md": "[[About New]] [[About#About New]]\n"},
	},
	{
		name:     "a link that led nowhere",
		files:    map[string]string{"Old.md": "x\n", "x.md": "[[New]] [[Old]] [[Nobody]]\n"},
		note:     vault.NoteRename{Path: "Old.md", New: "New"},
		want:     map[string]string{"New.md": "x\n", "x.md": "[[New]] [[New]] [[Nobody]]\n"},
		problems: []string{"[[New]]"},
	},
	{
		name:  "names with characters that are escaped",
		files: map[string]string{"Old.md": "x\n", "x.md": "[o](Old.md) [o](<Old.md>) [[Old]]\n"},
		note:  vault.NoteRename{Path: "Old.md", New: "100% (é)) &amp; co"},
		want: map[string]string{
			"100% (é)) &amp; co.md": "x\n", "x.md": "[o](100%25%20%28é%29%29%20%26amp;%20co.md) [o](<100%25 (é)) %26amp; co.md>) [[100% (é)) &amp; co]]\n",
		},
	},
	{
		name: "the name of an entity",
		files: map[string]string{
			"People/Ann Lee.md":  "---\ntype: Person\n---\n# Ann Lee\n",
			"Core.md":            "---\ntype: Team\nlead: \"[[Ann Lee]]\"\nmotto: Ann Lee\n---\n",
			"Sales.md":           "---\ntype: Team\nlead: Ann Lee\nmotto: Ann Lee\n---\n@Ann Lee, @[ann lee] and `@Ann Lee` x@Ann Lee @Ann Leeds @Ann Lee's\n",
			"Other.md":           "Ann Lee is no mention\n",
			".ctxd/types/t.yaml": "name: Team\nfields:\n  - {name: lead, type: entity_ref}\n  - {name: motto, type: text}\n",
		},
		note: vault.NoteRename{Path: "People/Ann Lee.md", New: "Ann Ray"},
		want: map[string]string{
			"People/Ann Ray.md": "---\ntype: Person\n---\n# Ann Ray\n",
			"Core.md":           "---\ntype: Team\nlead: \"[[Ann Ray]]\"\nmotto: Ann Lee\n---\n",
			"Sales.md":          "---\ntype: Team\nlead: Ann Ray\nmotto: Ann Lee\n---\n@Ann Ray, @[Ann Ray] and `@Ann Lee` x@Ann Lee @Ann Leeds @Ann Ray's\n",
		},
	},
	{
		name:  "letter case alone",
		files: map[string]string{"boss.md": "# boss\n", "x.md": "[[boss]] [b](boss.md)\n"},
		note:  vault.NoteRename{Path: "boss.md", New: "Boss"},
		want:  map[string]string{"Boss.md": "# Boss\n"},
	},
}

// TestLSP6_LinksInCanvases: the file is JSON, and not a byte of it changes that need not.
func TestLSP6_LinksInCanvases(t *testing.T) {
	files := map[string]string{
		"a/Old.md": "x\n", "p.png": "\x89PNG",
		"b.canvas": "{\r\n\t\"nodes\":[{\"type\":\"text\",\"x\":0,\"y\":0,\"text\":\"\\ud83d\\ude00 \\\"[[Old|\\u00e9]]\\\"\\n`[[Old]]` [m](a/Old.md)\"}, " +
			"{\"file\": \"a/Old.md\",\"type\":\"file\",\"x\":1,\"y\":1},{\"type\":\"file\",\"file\":\"p.png\",\"x\":2,\"y\":2}]}\n",
		"c.base": "filters: '[[Old]]'\n",
	}
	w := read(t, folder(t, files))
	plan, err := vault.RenameNote(w.notes, w.ents, w.where(), vault.NoteRename{Path: "a/Old.md", New: "New é"})
	if err != nil {
		t.Fatal(err)
	}
	check(t, applied(t, w.files, plan), files, map[string]string{
		"a/New é.md": "x\n",
		"b.canvas": "{\r\n\t\"nodes\":[{\"type\":\"text\",\"x\":0,\"y\":0,\"text\":\"\\ud83d\\ude00 \\\"[[New é|\\u00e9]]\\\"\\n`[[Old]]` [m](a/New%20é.md)\"}, " +
			"{\"file\": \"a/New é.md\",\"type\":\"file\",\"x\":1,\"y\":1},{\"type\":\"file\",\"file\":\"p.png\",\"x\":2,\"y\":2}]}\n",
	}, "a/Old.md")
	if len(plan.Problems) != 1 || plan.Problems[0].Path != "c.base" {
		t.Errorf("problems %v", plan.Problems)
	}
	moves := []vault.Move{{From: "p.png", To: "img/q.png"}}
	plan, err = vault.MoveFiles(w.notes, w.where(), moves)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(files["b.canvas"], `"p.png"`, `"img/q.png"`, 1)
	if got := applied(t, w.files, plan)["b.canvas"]; got != want {
		t.Errorf("%s", got)
	}
}

func TestLSP6_RenamesByHand(t *testing.T) {
	for _, c := range handMade {
		t.Run(c.name, func(t *testing.T) {
			w := read(t, folder(t, c.files))
			plan, err := vault.RenameNote(w.notes, w.ents, w.where(), c.note)
			if err != nil {
				t.Fatal(err)
			}
			check(t, applied(t, w.files, plan), c.files, c.want, c.note.Path)
			var problems []string
			for _, p := range plan.Problems {
				problems = append(problems, p.Text)
			}
			if strings.Join(problems, " ") != strings.Join(c.problems, " ") {
				t.Errorf("problems %v, want %q", plan.Problems, c.problems)
			}
		})
	}
}

// check compares files with those that are wanted: those of before, but for want and what moved away.
func check(t *testing.T, got, before, want map[string]string, moved ...string) {
	t.Helper()
	all := make(map[string]string)
	for p, text := range before {
		all[p] = text
	}
	for _, p := range moved {
		delete(all, p)
	}
	for p, text := range want {
		all[p] = text
	}
	for p, text := range all {
		if g, ok := got[p]; !ok || g != text {
			t.Errorf("%s is\n%q, want\n%q", p, g, text)
		}
	}
	if len(got) != len(all) {
		t.Errorf("%d files, want %d", len(got), len(all))
	}
}
