package vault_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// look returns the problems of a note of a vault, a line each: what stands at the place, the code, the severity, the
// fixes as texts that replace it, and the path of a note to create.
func look(t *testing.T, files map[string]string, p string, buffers map[string]string) (list []string, all []vault.Problem) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := wql.New(ents, wql.Options{})
	res, err := vault.NewImporter(db, ents, store, vault.ImporterOptions{}).Import(context.Background(), vault.ImportRequest{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	all, text, err := vault.Diagnose(store, ents, engine.Check, vault.RenameScope{Vault: res.Vault, Buffers: buffers}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		line := fmt.Sprintf("%s: %s %s", text[f.Start:f.End], f.Code, f.Severity)
		for _, fix := range f.Fixes {
			if fix.Edit.Start != f.Start || fix.Edit.End != f.End {
				t.Errorf("the fix %q is of another place", fix.Title)
			}
			line += " -> " + fix.Edit.New
		}
		if f.Create != "" {
			line += " + " + f.Create
		}
		list = append(list, line)
	}
	return list, all
}

const types = "name: Task\nfields:\n  - {name: state, type: select, options: [open, closed]}\n  - {name: due, type: date}\n" +
	"  - {name: hours, type: number}\n  - {name: done, type: boolean}\n  - {name: owner, type: entity_ref, targetType: Person}\n"

func TestLSP5_ProblemsOfANote(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		text    string
		want    []string
		message string // of the first
		path    string // n.md when absent
	}{
		{
			name:  "links without a target",
			files: map[string]string{"Kickoff.md": "x\n", "Plans/Roadmap.md": "x\n", "p.png": "\x89PNG"},
			text: "[[Kickof]] [[kickoff]] [[Nobody at all]] [[Plans/Raodmap|r]] ![[p.png]] ![[q.png]] [x](Kickof.md) " +
				"[y](none.md) [z](https://x.org) [w](whatever)\n",
			want: []string{
				"Kickof: link.unresolved warning -> Kickoff + Kickof.md", "Nobody at all: link.unresolved warning + Nobody at all.md",
				"Plans/Raodmap: link.unresolved warning -> Plans/Roadmap + Plans/Raodmap.md", "q.png: link.unresolved warning",
				"Kickof.md: link.unresolved warning -> Kickoff.md + Kickof.md", "none.md: link.unresolved warning + none.md",
			},
			message: "no note is called Kickof; did you mean Kickoff?",
		},
		{
			name:  "links that could mean several",
			files: map[string]string{"a.md": "# Plan\n", "b/c.md": "# Plan\n", "d/Same.md": "x\n", "eee/Same.md": "x\n"},
			text:  "[[Plan]] [[Same]]\n",
			want: []string{
				"Plan: link.ambiguous warning -> a -> c", "Same: link.chosen information -> d/Same -> eee/Same",
			},
			message: "2 notes are called Plan, and none is nearer than the others",
		},
		{
			name: "each of the notes that a link could mean is spelled out (LSP-11)",
			files: map[string]string{
				"a/P.md": "x\n", "b/P.md": "x\n", "c/P.md": "x\n", "d/P.md": "x\n", "e/P.md": "x\n", "f/P.md": "x\n", "f/g/P.md": "x\n",
			},
			text: "[[P|it]]\n",
			want: []string{"P: link.chosen information -> a/P -> b/P -> c/P -> d/P -> e/P -> f/P -> g/P"},
		},
		{
			name:  "a file whose name is decomposed, in an editor that composes it",
			files: map[string]string{"u\u0308ber.md": "x\n", "a.md": "[[\u00fcber]]\n"},
			text:  "# \u00fcber\n[[\u00fcber]] [[Nobody]]\n",
			path:  "\u00fcber.md",
			want:  []string{"Nobody: link.unresolved warning + Nobody.md"},
		},
		{
			name:  "headings and blocks",
			files: map[string]string{"a.md": "# A\n## Goals: all\n## Risks\ntext ^one\n"},
			text:  "# Own\n[[a#Goals all]] [[a#Risk]] [[a#^on]] [[a#^one]] [[#Own]] [[#Other]] [m](a.md#Riks) x ^x\ny ^x\n",
			want: []string{
				"Risk: link.heading warning -> Risks", "on: link.block warning -> one", "Other: link.heading warning",
				"Riks: link.heading warning -> Risks", "^x: duplicate.block warning",
			},
			message: "a.md has no heading Risk; did you mean Risks?",
		},
		{
			name: "anchors within the note, as tables of contents have them",
			text: "- [g](#my-goals) [r](#risk) [i](#here) [top](#top)\n## My goals!\n## Risks\n<a id=\"here\"></a> x {#there} [t](#there) ^b\n\n[b](#^b)\n",
			want: []string{"risk: link.heading warning -> Risks"},
		},
		{
			name: "frontmatter", text: "---\na: [\n---\n[[x]]\n",
			want: []string{"a: [: frontmatter error", "x: link.unresolved warning + x.md"},
		},
		{
			name:  "values",
			files: map[string]string{".ctxd/types/Task.yaml": types, "Ann.md": "---\ntype: Person\n---\n"},
			text:  "---\ntype: Task\nstate: opne\ndue: 31.12.2026\nhours: about 3\ndone: perhaps\nowner: Anne\n---\n",
			want: []string{
				"opne: field.value warning -> open", "31.12.2026: field.value warning -> 2026-12-31", "about 3: field.value warning -> 3",
				"perhaps: field.value warning -> true -> false", "Anne: field.reference warning -> Ann",
			},
		},
		{
			name:  "values in inline fields",
			files: map[string]string{".ctxd/types/Task.yaml": types, "Ann.md": "---\ntype: Person\n---\n"},
			text:  "---\ntype: Task\nstate: open\n---\nstate:: opne\n- **due**:: 31.12.2026\n\nIt takes (hours:: about 3), [owner:: [[Anne]]].\n",
			want: []string{
				"31.12.2026: field.value warning -> 2026-12-31", "about 3: field.value warning -> 3", "Anne: link.unresolved warning -> Ann + Anne.md",
			},
		},
		{
			name: "an inferred type", files: map[string]string{"o.md": "---\ntype: Odd\n---\n"}, text: "---\ntype: Odd\n---\n", want: []string{"type: Odd: type.inferred hint"},
		},
		{
			name:  "queries",
			files: map[string]string{".ctxd/types/Task.yaml": types},
			text:  "a\n\n```wql\nSELECT t FROM Taks t\n```\n~~~ wql\nSELECT t FROM Task t\n  WHERE t.stat = 'open'\n~~~\n```\nSELECT\n```\n",
			want:  []string{"Taks: query error", "stat: query error"},
		},
		{
			name:  "titles that are given twice",
			files: map[string]string{"a.md": "# Own\n", "b/n.md": "x\n"},
			text:  "---\nx: 1\n---\n# Own\n", want: []string{"# Own: duplicate.title information"}, message: "a.md has the title Own, too",
		},
		{
			name: "where the vault keeps such notes",
			files: map[string]string{
				"Journal/2026-01-01.md": "x\n", "Journal/2026-01-02.md": "x\n", "People/Ann.md": "x\n", "People/Bob.md": "x\n",
				"Teams/core.md": "---\nlead: \"[[Ann]]\"\n---\n", "Teams/dev.md": "---\nlead: \"[[Bob]]\"\n---\n",
			},
			text: "---\nlead: \"[[Zoe]]\"\n---\n[[2026-01-03]] [[Elsewhere]] [[../Up]] [[/Root]] [x](./y%20z.md)\n",
			want: []string{
				"Zoe: link.unresolved warning + People/Zoe.md", "2026-01-03: link.unresolved warning + Journal/2026-01-03.md",
				"Elsewhere: link.unresolved warning + Teams/Elsewhere.md", "../Up: link.unresolved warning + Up.md",
				"/Root: link.unresolved warning + Root.md", "./y%20z.md: link.unresolved warning + Teams/y z.md",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := "n.md"
			if c.name == "where the vault keeps such notes" {
				p = "Teams/n.md"
			}
			files := map[string]string{}
			if c.path != "" {
				p = c.path
			} else {
				files[p] = "on the disk\n"
			}
			for name, text := range c.files {
				files[name] = text
			}
			got, all := look(t, files, p, map[string]string{p: c.text})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if c.message != "" && (len(all) == 0 || all[0].Message != c.message) {
				t.Errorf("%+v, want %q", all, c.message)
			}
		})
	}
}

// TestLSP5_OtherBuffersCount: what is typed elsewhere is there.
func TestLSP5_OtherBuffersCount(t *testing.T) {
	files := map[string]string{"a.md": "[[n#Fresh]] [[new]]\n", "n.md": "x\n"}
	got, _ := look(t, files, "a.md", map[string]string{"n.md": "# Fresh\n", "new.md": ""})
	if len(got) > 0 {
		t.Error(got)
	}
}

func TestLSP5_AHugeNote(t *testing.T) {
	got, all := look(t, map[string]string{"a.md": strings.Repeat("[[none]] ^x\n", 20_000)}, "a.md", nil)
	if len(got) != vault.MaxProblems || len(all) != len(got) {
		t.Errorf("%d problems", len(got))
	}
}
