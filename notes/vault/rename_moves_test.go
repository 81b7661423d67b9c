package vault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/vault"
)

func TestLSP6_MovesByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		moves []vault.Move
		want  map[string]string // after the edits, before the moves
	}{
		{
			name: "a file to a folder",
			files: map[string]string{
				"a.md":   "[b](b.md) [[b]] [[./b]] ![p](img/p.png) ![[p.png]] [s](#x)\n",
				"b.md":   "[a](a.md) [[a]] [[./a]]\n",
				"d/c.md": "[a](../a.md) [[../a]] [[a]]\n", "img/p.png": "\x89PNG",
			},
			moves: []vault.Move{{From: "a.md", To: "d/e/a.md"}},
			want: map[string]string{
				"a.md":   "[b](../../b.md) [[b]] [[../../b]] ![p](../../img/p.png) ![[p.png]] [s](#x)\n",
				"b.md":   "[a](d/e/a.md) [[a]] [[./d/e/a]]\n",
				"d/c.md": "[a](e/a.md) [[./e/a]] [[a]]\n",
			},
		},
		{
			name: "a folder with what is in it",
			files: map[string]string{
				"d/a.md": "[b](b.md) [[d/b]] [o](../o.md) ![](p%20q.png)\n", "d/b.md": "x\n", "d/p q.png": "\x89PNG",
				"o.md": "[a](d/a.md) [[d/a]] [[d/a.md#h|x]] ![[d/p q.png]] ![](<d/p q.png>)\n\n[r]: ./d/b.md\n",
			},
			moves: []vault.Move{{From: "d", To: "new folder"}},
			want: map[string]string{
				"d/a.md": "[b](b.md) [[new folder/b]] [o](../o.md) ![](p%20q.png)\n",
				"o.md": "[a](new%20folder/a.md) [[new folder/a]] [[new folder/a.md#h|x]] ![[new folder/p q.png]] " +
					"![](<new folder/p q.png>)\n\n[r]: ./new%20folder/b.md\n",
			},
		},
		{
			name:  "an attachment",
			files: map[string]string{"a.md": "![[p.png|300]] ![](p.png) [[a]]\n", "p.png": "\x89PNG"},
			moves: []vault.Move{{From: "p.png", To: "img/photo one.png"}},
			want:  map[string]string{"a.md": "![[photo one.png|300]] ![](img/photo%20one.png) [[a]]\n"},
		},
		{
			name: "two files change their places",
			files: map[string]string{
				"a.md": "1\n", "d/a.md": "2\n", "x.md": "[[a]] [[d/a]] [1](a.md) [2](d/a.md)\n", "d/y.md": "[[a]] [[./a]] [](a.md)\n",
			},
			moves: []vault.Move{{From: "a.md", To: "d/a.md"}, {From: "d/a.md", To: "a.md"}},
			want:  map[string]string{"x.md": "[[d/a]] [[a]] [1](d/a.md) [2](a.md)\n", "d/y.md": "[[d/a]] [[../a]] [](../a.md)\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := read(t, folder(t, c.files))
			plan, err := vault.MoveFiles(w.notes, w.where(), c.moves)
			if err != nil {
				t.Fatal(err)
			}
			check(t, applied(t, w.files, plan), c.files, c.want)
			if len(plan.Problems) > 0 {
				t.Errorf("problems %v", plan.Problems)
			}
		})
	}
}

func TestLSP6_HeadingsAndBlocksByHand(t *testing.T) {
	files := map[string]string{
		"n.md": "---\nx: 1\n---\n# Top\n## Goals\n### Risks\ntext ^one\n## Other *one*\n### Risks\n[[#Goals]] [[#Risks]] [[#Other one#Risks]] [[#^one]]\n",
		"x.md": "[[n#Goals]] [[n#goals|g]] ![[n#Goals#Risks]] [g](n.md#Goals) [r](n.md#Goals#Risks) [[n#^one]] [b](n.md#^one) [[Top]]\n",
	}
	w := read(t, folder(t, files))
	t.Run("heading", func(t *testing.T) {
		plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "n.md", Line: 5, New: "All [aims]: 1"})
		if err != nil {
			t.Fatal(err)
		}
		check(t, applied(t, w.files, plan), files, map[string]string{
			"n.md": "---\nx: 1\n---\n# Top\n## All [aims]: 1\n### Risks\ntext ^one\n## Other *one*\n### Risks\n[[#All aims 1]] [[#Risks]] [[#Other one#Risks]] [[#^one]]\n",
			"x.md": "[[n#All aims 1]] [[n#All aims 1|g]] ![[n#All aims 1#Risks]] [g](n.md#All%20aims%201) [r](n.md#All%20aims%201#Risks) " +
				"[[n#^one]] [b](n.md#^one) [[Top]]\n",
		})
	})
	t.Run("SRCH50 anchors and code", func(t *testing.T) {
		files := map[string]string{
			"a.md": "# A\n## Other Part\n## Same\n## Same\n## Use `npm run`\n",
			"l.md": "[x](a.md#other-part) [y](a.md#Other%20Part) [[a#Other Part]] [[a#other-part]] [s](a.md#same-1) [[a#Use `npm run`]] [[a#Use npm run|n]]\n",
		}
		for line, want := range map[int]string{
			2: "[x](a.md#main-part-now) [y](a.md#Main%20Part,%20now!) [[a#Main Part, now!]] [[a#main-part-now]] [s](a.md#same-1) [[a#Use `npm run`]] [[a#Use npm run|n]]\n",
			3: "[x](a.md#other-part) [y](a.md#Other%20Part) [[a#Other Part]] [[a#other-part]] [s](a.md#same) [[a#Use `npm run`]] [[a#Use npm run|n]]\n",
			5: "[x](a.md#other-part) [y](a.md#Other%20Part) [[a#Other Part]] [[a#other-part]] [s](a.md#same-1) [[a#Main Part, now!]] [[a#Main Part, now!|n]]\n",
		} {
			w := read(t, folder(t, files))
			plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "a.md", Line: line, New: "Main Part, now!"})
			if err != nil {
				t.Fatal(err)
			}
			if got := applied(t, w.files, plan)["l.md"]; got != want {
				t.Errorf("line %d:\n%s\nwant\n%s", line, got, want)
			}
		}
	})
	// As tables of contents have it; flibbles/tw5-relink #45.
	t.Run("SRCH50 anchors within the note", func(t *testing.T) {
		w := read(t, folder(t, map[string]string{
			"toc.md": "# No\n## 文字\n", "toc/n.md": "# 目次\n- [文](#文字)\n- [esc](#%E6%96%87%E5%AD%97)\n- <a href=\"#文字\">x</a> [other](#other) [no](#)\n\n## 文字\n\n## Other\n\n[d]: #文字\n",
		}))
		plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "toc/n.md", Line: 6, New: "漢字 Test"})
		if err != nil {
			t.Fatal(err)
		}
		want := "# 目次\n- [文](#漢字-test)\n- [esc](#%E6%BC%A2%E5%AD%97-test)\n- <a href=\"#漢字-test\">x</a> [other](#other) [no](#)\n\n## 漢字 Test\n\n## Other\n\n[d]: #漢字-test\n"
		if got := applied(t, w.files, plan)["toc/n.md"]; got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
	t.Run("a heading that takes the name of another", func(t *testing.T) {
		plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "n.md", Line: 8, New: "Goals"})
		if err != nil {
			t.Fatal(err)
		}
		check(t, applied(t, w.files, plan), files, map[string]string{
			"n.md": "---\nx: 1\n---\n# Top\n## Goals\n### Risks\ntext ^one\n## Goals\n### Risks\n[[#Goals]] [[#Risks]] [[#Other one#Risks]] [[#^one]]\n",
		})
		if len(plan.Problems) != 1 || plan.Problems[0].Text != "[[#Other one#Risks]]" {
			t.Errorf("problems %v", plan.Problems)
		}
	})
	t.Run("a heading that is the title", func(t *testing.T) {
		plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "n.md", Line: 4, New: "Summit"})
		if err != nil {
			t.Fatal(err)
		}
		got := applied(t, w.files, plan)
		if want := "[[n#Goals]] [[n#goals|g]] ![[n#Goals#Risks]] [g](n.md#Goals) [r](n.md#Goals#Risks) [[n#^one]] [b](n.md#^one) [[Summit]]\n"; got["x.md"] != want {
			t.Errorf("%q", got["x.md"])
		}
	})
	t.Run("block", func(t *testing.T) {
		plan, err := vault.RenameBlock(w.notes, w.where(), vault.PartRename{Path: "n.md", Line: 7, New: "the-one"})
		if err != nil {
			t.Fatal(err)
		}
		check(t, applied(t, w.files, plan), files, map[string]string{
			"n.md": "---\nx: 1\n---\n# Top\n## Goals\n### Risks\ntext ^the-one\n## Other *one*\n### Risks\n[[#Goals]] [[#Risks]] [[#Other one#Risks]] [[#^the-one]]\n",
			"x.md": "[[n#Goals]] [[n#goals|g]] ![[n#Goals#Risks]] [g](n.md#Goals) [r](n.md#Goals#Risks) [[n#^the-one]] [b](n.md#^the-one) [[Top]]\n",
		})
	})
}

// TestSRCH50_LinksOfHTMLAndOfProperties follow what they lead to: its file, its heading, and what moves the note itself.
func TestSRCH50_LinksOfHTMLAndOfProperties(t *testing.T) {
	files := map[string]string{
		"d/Old.md":    "# Old\n\n## Goals\n",
		"img/p q.png": "\x89PNG",
		"x.md": "---\nsource: \"[o](d/Old.md#goals)\"\nlist:\n  - '[a](d/Old.md)'\n  - \"[[Old]] and [b](<d/Old.md> \\\"t\\\")\"\nplain: see [c](d/Old.md)\nweb: \"[w](https://a.org/d/Old.md)\"\n---\n" +
			"<a href=\"d/Old.md\">o</a> <a class='x' href='d/Old.md#Goals'>g</a> <a href=d/Old.md>u</a> <img alt=\"d/Old.md\" src=\"img/p%20q.png\"/>\n" +
			"<p><IMG SRC = 'img/p q.png'></p>\n<a href=\"https://a.org/d/Old.md\">w</a> `<a href=\"d/Old.md\">` <!-- <a href=\"d/Old.md\"> -->\n" +
			"<a\n  title=\"x\"\n  href=\"d/Old.md\">\nlines</a> <Old href=\"d/Old.md\"> \\<a href=\"d/Old.md\"> <a data-href=\"d/Old.md\">\n",
	}
	for name, c := range map[string]struct {
		moves []vault.Move
		old   []string
	}{
		"a note":        {[]vault.Move{{From: "d/Old.md", To: "e/It's \"new\".md"}}, []string{"d/Old.md", "e/It%27s%20%22new%22.md"}},
		"a picture":     {[]vault.Move{{From: "img/p q.png", To: "p (1).png"}}, []string{"img/p%20q.png", "p%20(1).png", "img/p q.png", "p%20(1).png"}},
		"what has them": {[]vault.Move{{From: "x.md", To: "f/x.md"}}, []string{"d/Old.md", "../d/Old.md", "img/p%20q.png", "../img/p%20q.png", "img/p q.png", "../img/p%20q.png"}},
	} {
		w := read(t, folder(t, files))
		plan, err := vault.MoveFiles(w.notes, w.where(), c.moves)
		if err != nil {
			t.Fatal(err)
		}
		got := applied(t, w.files, plan)["x.md"]
		want := files["x.md"]
		for _, place := range []string{"(%s", "<%s> ", "href=\"%s\">o", "href='%s", "href=%s", "\n  href=\"%s", "src=\"%s", "SRC = '%s"} {
			for i := 0; i < len(c.old); i += 2 {
				now := c.old[i+1]
				if place == "<%s> " {
					now = strings.ReplaceAll(now, "%20", " ")
				}
				want = strings.ReplaceAll(want, fmt.Sprintf(place, c.old[i]), fmt.Sprintf(place, now))
			}
		}
		for _, kept := range []string{"`<a href=", "<!-- <a href=", "<Old href=", "\\<a href=", "data-href="} { // no links
			for i := 0; i < len(c.old); i += 2 {
				want = strings.ReplaceAll(want, kept+"\""+c.old[i+1], kept+"\""+c.old[i])
			}
		}
		if got != want {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		if len(plan.Problems) > 0 {
			t.Errorf("%s: problems %v", name, plan.Problems)
		}
	}
	w := read(t, folder(t, files))
	plan, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "d/Old.md", Line: 3, New: "All aims"})
	if err != nil {
		t.Fatal(err)
	}
	got := applied(t, w.files, plan)["x.md"]
	if !strings.Contains(got, "Old.md#all-aims)") || !strings.Contains(got, "Old.md#All%20aims'>") {
		t.Errorf("a heading:\n%s", got)
	}
}

// TestLSP6_UnsavedBuffers: links that are typed and not saved count, and the edits are of that text.
func TestLSP6_UnsavedBuffers(t *testing.T) {
	w := read(t, folder(t, map[string]string{"Old.md": "# Old\n", "x.md": "[[Old]]\n", "y.md": "-\n"}))
	where := w.where()
	where.Buffers = map[string]string{"x.md": "-\n", "y.md": "new [[Old]]\n", "fresh.md": "[[Old]] too\n", "Old.md": "# Old\n\n[[#Old]]\n"}
	plan, err := vault.RenameNote(w.notes, w.ents, where, vault.NoteRename{Path: "Old.md", New: "New"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, f := range plan.Files {
		if f.Text != where.Buffers[f.Path] {
			t.Errorf("the edits of %s are of %q", f.Path, f.Text)
		}
		got[f.Path] = f.Apply()
	}
	check(t, got, nil, map[string]string{"y.md": "new [[New]]\n", "fresh.md": "[[New]] too\n", "Old.md": "# New\n\n[[#New]]\n"})
}

func TestLSP6_BadRequests(t *testing.T) {
	w := read(t, folder(t, map[string]string{"a.md": "# A\n\np ^one\nq ^two\n", "B.md": "x\n"}))
	note := func(r vault.NoteRename) error { _, err := vault.RenameNote(w.notes, w.ents, w.where(), r); return err }
	for name, c := range map[string]struct {
		err   error
		field string
	}{
		"no such note":    {note(vault.NoteRename{Path: "c.md", New: "x"}), "path"},
		"empty":           {note(vault.NoteRename{Path: "a.md", New: " "}), "new"},
		"no name of link": {note(vault.NoteRename{Path: "a.md", New: "a|b"}), "new"},
		"no file name":    {note(vault.NoteRename{Path: "a.md", New: "a/b"}), "new"},
		"taken":           {note(vault.NoteRename{Path: "a.md", New: "b"}), "new"},
		"not its name":    {note(vault.NoteRename{Path: "a.md", Old: "c", New: "d"}), "old"},
		"what":            {note(vault.NoteRename{Path: "a.md", New: "d", What: "all"}), "what"},
		"no move": {func() error {
			_, err := vault.MoveFiles(w.notes, w.where(), []vault.Move{{From: "a.md", To: "../a.md"}})
			return err
		}(), "moves[0].to"},
		"no heading": {func() error {
			_, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "a.md", Line: 2, New: "x"})
			return err
		}(), "line"},
		"block taken": {func() error {
			_, err := vault.RenameBlock(w.notes, w.where(), vault.PartRename{Path: "a.md", Line: 3, New: "two"})
			return err
		}(), "new"},
		"no identifier": {func() error {
			_, err := vault.RenameBlock(w.notes, w.where(), vault.PartRename{Path: "a.md", Line: 3, New: "a b"})
			return err
		}(), "new"},
	} {
		var about *fault.Error
		if !asFault(c.err, &about) || about.Field != c.field {
			t.Errorf("%s: %v, want a fault of %s", name, c.err, c.field)
		}
	}
}

// What no file of some system can be called is refused for a file, and allowed for a title alone.
func TestLSP11_RenameRefusesNamesThatAFileSystemRefuses(t *testing.T) {
	w := read(t, folder(t, map[string]string{"A.md": "# A\n\n## Part\n"}))
	rename := func(name, what string) error {
		_, err := vault.RenameNote(w.notes, w.ents, w.where(), vault.NoteRename{Path: "A.md", New: name, What: what})
		return err
	}
	for _, name := range []string{
		"x\x00y", "x\x1by", "x\x7fy", "x\u0085y", "x\u2028y", "x\u202egpj.y", "x\u2066y", "a\nb", "a\tb",
	} {
		if rename(name, "") == nil || rename(name, vault.RenameTitleOnly) == nil {
			t.Errorf("%q is a name of a note", name)
		}
		_, err := vault.RenameHeading(w.notes, w.where(), vault.PartRename{Path: "A.md", Line: 3, New: name})
		if err == nil {
			t.Errorf("%q is a heading", name)
		}
	}
	for _, name := range []string{
		"a/b", `a\b`, "a:b", "a*", "what?", `"a"`, "<a>", ".hidden", "end.", "CON", "nul", "Aux.2", "com1", "LPT9 .x", "COM\u00b9",
		strings.Repeat("ü", 127), strings.Repeat("x", 253),
	} {
		if rename(name, "") == nil {
			t.Errorf("%q is a name of a file", name)
		}
		if err := rename(name, vault.RenameTitleOnly); err != nil && name != "<a>" { // HTML is no title
			t.Errorf("%q as a title: %v", name, err)
		}
	}
	for _, name := range []string{"Concert", "com", "COM10", "Nulla", "a.b", "Ünï 👩‍👩‍👧", strings.Repeat("x", 252)} {
		if err := rename(name, ""); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
