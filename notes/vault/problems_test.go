package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// wrong is a vault with each kind of problem.
var wrong = map[string]string{
	".ctxd/types/task.yaml": "name: Task\nfields:\n  - {name: state, type: select, options: [open, closed]}\n" +
		"  - {name: owner, type: entity_ref, targetType: Person}\n  - {name: helpers, type: entity_ref_list}\n  - {name: page, type: note_ref}\n",
	".ctxd/types/bad.yaml": "name: Bad\nfields:\n  - {name: x, type: nothing}\n",
	".ctxdignore":          "/out/\n",
	"out/x.md":             "x",
	"bytes.md":             "\x00",
	"old.zip":              "PK",
	"Kickoff.md":           "---\naliases: [Start, Alpha]\n---\n# Kickoff\n\nWe begin. ^one\n",
	"Notes.md": "# Notes\n\n[[Kickof]] and [[Kickoff#Nothing]] and [[Kickoff#^two]]\n![](map.png) [[Twin]]\n\n" +
		"a ^b\n\nb ^b\n\n```wql\nSELECT p FROM\n```\n[[Both]]\n",
	"Broken.md":     "---\na: [\n---\ntext\n",
	"Task.md":       "---\ntype: Task\nstate: opened\nowner: Nobody\nhelpers: [Ann, \"[[Nowhere]]\", \"[[Kickoff]]\"]\npage: Neverland\n---\n",
	"Work.md":       "---\ntype: Task\nowner: Bo\n---\n",
	"Two.md":        "---\ntype: [Task, Reading]\n---\n",
	"Ann.md":        "---\ntype: Person\n---\n",
	"p/Bo1.md":      "---\ntype: Person\ntitle: Bo\n---\n",
	"q/Bo 2.md":     "---\ntype: Person\ntitle: Bo\n---\n",
	"A.md":          "# Twin\n",
	"B.md":          "# Twin\n",
	"C.md":          "---\naliases: [Start]\n---\n# Alpha\n",
	"x/Both.md":     "x",
	"y/Both.md":     "y",
	"Empty.md":      " \n",
	"case.md":       "a",
	"Case.markdown": "b",
	"Doubt.md":      "---\nprivate: perhaps\n---\nsecret [[Gone]]\n",
	"card.canvas":   `{"nodes":[{"id":"1","type":"text","text":"[[Missing card]]","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
	"Kickoff.sync-conflict-20261101-101010-ABCDEFG.md": "---\naliases: [Start, Alpha]\n---\n# Kickoff\n\nWe begin late. ^one\nIn May.\n",
}

func (w *watchWorld) problems(t testing.TB, r vault.Reader) *vault.ProblemList {
	t.Helper()
	if r.Check == nil {
		r.Check = wql.New(w.ents, wql.Options{}).Check
	}
	list, err := w.im.Problems(ctx, "", r)
	must(t, err)
	return list
}

func described(t testing.TB, list *vault.ProblemList) []record.VaultProblem {
	t.Helper()
	all, err := list.Describe(ctx, list.All)
	must(t, err)
	return all
}

// TestSRCH53_EachKindOfProblem is listed with its file, its line, what is wrong and what mends it.
func TestSRCH53_EachKindOfProblem(t *testing.T) {
	w := open(t, kv.InMemory)
	dir := importFolder(t, wrong)
	w.imports(t, vault.ImportRequest{Path: dir})
	var got []string
	for _, p := range described(t, w.problems(t, vault.Reader{})) {
		got = append(got, fmt.Sprintf("%s %s:%d: %s | %s", p.Kind, p.Path, p.Line, p.What, p.Fix))
		if (p.Diff != "") != (p.Kind == record.FileCopy) {
			t.Errorf("%s has the diff %q", p.Path, p.Diff)
		}
		if p.Diff != "" && !strings.HasSuffix(p.Diff, " # Kickoff\n \n-We begin. ^one\n+We begin late. ^one\n+In May.\n") {
			t.Errorf("the diff is %s", p.Diff)
		}
	}
	if diff := cmp.Diff(wrongListed, strings.Join(got, "\n")+"\n"); diff != "" {
		t.Error(diff)
		t.Log(strings.Join(got, "\n"))
	}
	must(t, os.RemoveAll(dir))
	list := w.problems(t, vault.Reader{})
	if first := described(t, list)[0]; first.Kind != record.VaultFolder || !strings.Contains(first.What, "its folder is not there") {
		t.Errorf("a vault that is gone: %+v", first)
	}
	if list.Counts[record.LinkUnresolved] == 0 {
		t.Error("what is known of it is listed no more")
	}
}

// agree checks a list of a vault against the status of it and against what editors are told of each note.
func (w *watchWorld) agree(t rapidOrTest, r vault.Reader) {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Check = wql.New(w.ents, wql.Options{}).Check
	list, err := w.im.Problems(ctx, "", r)
	check(err)
	status, err := w.im.StatusFor(ctx, "", r.Sees)
	check(err)
	count := func(kinds ...string) (n int) {
		for kind, of := range list.Counts {
			if slices.ContainsFunc(kinds, func(k string) bool { return string(kind) == k || strings.HasPrefix(string(kind), k+".") }) {
				n += of
			}
		}
		return n
	}
	for what, n := range map[string][2]int{
		"unresolved":     {status.Unresolved, count("link.unresolved", "link.ambiguous")},
		"unresolvedRefs": {status.UnresolvedRefs, count("field.reference", "field.ambiguous")},
		"errors":         {len(status.Errors), count("vault", "file", "type", "frontmatter", "private", "field.value")},
		"all":            {len(list.All), count("vault", "file", "type", "frontmatter", "private", "field", "query", "link", "duplicate", "note")},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: the count is %d, and %d are listed: %v %+v", what, n[0], n[1], list.Counts, status.Errors)
		}
	}
	if r.Sees != nil {
		return
	}
	listed := make(map[string][]string)
	for _, p := range list.All {
		listed[p.Path] = append(listed[p.Path], fmt.Sprint(p.Kind, " ", p.Line))
	}
	for n := range w.notes.All() {
		if n.Kind != "" {
			continue
		}
		var told []string
		problems, text, err := vault.Diagnose(w.notes, w.ents, r.Check, vault.RenameScope{Vault: list.Vault}, n.Path)
		check(err)
		for _, p := range problems {
			line := 1 + strings.Count(text[:p.Start], "\n")
			if p.Code == record.DuplicatePath || p.Code == record.NoteEmpty {
				line = 0
			}
			if p.Severity != vault.SeverityHint {
				told = append(told, fmt.Sprint(p.Code, " ", line))
			}
		}
		slices.Sort(told)
		slices.Sort(listed[n.Path])
		if diff := cmp.Diff(told, listed[n.Path]); diff != "" && len(told) < vault.MaxProblems {
			t.Errorf("%s: an editor is told (-) and the list has (+)\n%s", n.Path, diff)
		}
	}
}

type rapidOrTest interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

func public(n *notes.Note) bool { return !n.Private }

// TestSRCH53_WhatACountSaysTheListNames: each count of a status is the number of problems of some kinds, and an editor is told
// of the same problems of a note.
func TestSRCH53_WhatACountSaysTheListNames(t *testing.T) {
	t.Run("wrong", func(t *testing.T) {
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: importFolder(t, wrong)})
		w.agree(t, vault.Reader{})
		w.agree(t, vault.Reader{Sees: public})
	})
	for _, name := range []string{"vault-silverbullet", "vault-logseq"} {
		t.Run(name, func(t *testing.T) {
			data := os.Getenv("CTXD_TESTDATA")
			if data == "" {
				t.Skip("CTXD_TESTDATA is not set: the real vaults are not at hand")
			}
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: filepath.Join(data, name, "vault")})
			w.agree(t, vault.Reader{})
			w.agree(t, vault.Reader{Sees: public})
		})
	}
	lines := []string{
		"[[A]]", "[[B#One]]", "[[b]]", "[[C|c]]", "[[x/A]]", "[x](A.md)", "![[p.png]]", "[t](No.md#q)", "# One", "# A", "text ^a", "[[A#^a]]", "[[Al]]", "`[[D]]`",
	}
	heads := []string{
		"type: T", "type: [T, U]", "title: B", "aliases: [Al, b]", "private: true", "private: perhaps", "n: 1", "n: one", "r: A", "r: \"[[A]]\"", "r: \"[[No]]\"", "r: No",
		"l: [A, \"[[No]]\", B]", "t: [", "archived: true", "q: B", "r: [A, C]", "l: No",
	}
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{
			".ctxd/types/t.yaml": "name: T\nfields:\n  - {name: n, type: number, required: true}\n  - {name: r, type: entity_ref, targetType: T}\n" +
				"  - {name: l, type: entity_ref_list}\n  - {name: q, type: note_ref}\n",
		}
		for _, p := range []string{"A.md", "x/A.md", "B.md", "x/y/C.md", "a.markdown"} {
			if rapid.IntRange(0, 4).Draw(rt, "absent") == 0 {
				continue
			}
			text := ""
			if head := rapid.SliceOfNDistinct(rapid.SampledFrom(heads), 0, 4, rapid.ID).Draw(rt, "head"); len(head) > 0 {
				text = "---\n" + strings.Join(head, "\n") + "\n---\n"
			}
			files[p] = text + strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 5).Draw(rt, "lines"), "\n\n")
		}
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: importFolder(t, files)})
		w.agree(rt, vault.Reader{})
		w.agree(rt, vault.Reader{Sees: public})
	})
}

const wrongListed = `file.skipped bytes.md:0: binary, not text | change the file so that it can be read, or exclude it in .ctxdignore
file.skipped old.zip:0: an archive, which is never unpacked | change the file so that it can be read, or exclude it in .ctxdignore
file.copy Kickoff.sync-conflict-20261101-101010-ABCDEFG.md:0: a copy of Kickoff.md that Syncthing has left after a conflict: compare them, and delete one; lines that only the copy has: 2, that only the note has: 1 | take over what is missing in the note, and delete the copy
type.declaration .ctxd/types/bad.yaml:0: type left out: fields[0].type: there is no field type "nothing" | correct the declaration
frontmatter Broken.md:2: the frontmatter is left out: a list is not closed with "]" | correct the YAML between the lines ---
private.doubt Doubt.md:1: kept private: the value of private is neither yes nor no | write private: true or private: false as a line of the frontmatter
type.names Two.md:2: several types: the first that is declared is the type of the entity, other types became tags: 1 | name one type; write others as tags
field.value Task.md:3: field "state" has no such option (try: its options are open, closed) | change to open
field.reference Task.md:4: no entity is called Nobody | correct the name, or write the note of it with the type that the field takes
field.reference Task.md:5: Kickoff is no entity | correct the name, or write the note of it with the type that the field takes
field.reference Task.md:6: no note is called Neverland | correct the name, or write the note of it with the type that the field takes
field.ambiguous Work.md:3: 2 records are called Bo, and none is nearer than the others | write a link with the path of the one that is meant
query Notes.md:11: expected a type, found the end of the query (try: name one type or several, as in FROM Person, Team) | correct the query
link.unresolved Doubt.md:4: no note is called Gone | correct the link, or create Gone.md
link.unresolved Notes.md:3: no note is called Kickof; did you mean Kickoff? | link to Kickoff.md, or create Kickof.md
link.unresolved Notes.md:4: there is no file map.png | correct the path, or put the file there
link.unresolved Task.md:5: no note is called Nowhere | correct the link, or create Nowhere.md
link.unresolved card.canvas:0: no note is called Missing card | correct the link, or create Missing card.md
link.ambiguous Notes.md:4: 2 notes are called Twin, and none is nearer than the others | link to A.md, or link to B.md
link.heading Notes.md:3: Kickoff.md has no heading Nothing | name a heading that is there
link.block Notes.md:3: no block of Kickoff.md is called ^two | name a block that is there
link.chosen Notes.md:13: 2 notes are called Both; this link leads to x/Both.md | link to x/Both.md, or link to y/Both.md
duplicate.title A.md:1: B.md has the title Twin, too | give one of the notes another title
duplicate.title B.md:1: A.md has the title Twin, too | give one of the notes another title
duplicate.title p/Bo1.md:3: q/Bo 2.md has the title Bo, too | give one of the notes another title
duplicate.title q/Bo 2.md:3: p/Bo1.md has the title Bo, too | give one of the notes another title
duplicate.alias C.md:2: Kickoff.md has the alias Start, too, and links with it lead nowhere | take the alias out of one of the notes
duplicate.alias Kickoff.md:2: C.md has the alias Start, too, and links with it lead nowhere | take the alias out of one of the notes
duplicate.alias Kickoff.md:2: C.md has the alias Alpha for its title, and links lead there | take the alias out of one of the notes
duplicate.path Case.markdown:0: case.md has the same path but for letter case, the form of Unicode or the ending; on other systems the two may be one file | rename one of the files
duplicate.path case.md:0: Case.markdown has the same path but for letter case, the form of Unicode or the ending; on other systems the two may be one file | rename one of the files
duplicate.block Notes.md:8: another block of this note is called ^b, and links lead to that one | give the block another identifier
note.empty Empty.md:0: there is nothing in this note | write something, or delete the file
file.excluded out:0: excluded by .ctxdignore | nothing need be done; without the pattern they are read
`
