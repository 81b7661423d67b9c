package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestCTX34_PrivateGoesWithTheText moves files in a row and in a circle: what a
// client said of a note stays with its text.
func TestCTX34_PrivateGoesWithTheText(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "secret", "b.md": "open", "x.md": "left", "y.md": "right"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	secret := byPath(t, w, "a.md").ID
	yes := true
	if _, err := w.notes.Patch(ctx, notes.Patch{ID: secret, Private: &yes}, nil); err != nil {
		t.Fatal(err)
	}
	left, right := byPath(t, w, "x.md").ID, byPath(t, w, "y.md").ID
	must(t, os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "c.md")))
	must(t, os.Rename(filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md")))
	write(t, dir, "x.md", "right")
	write(t, dir, "y.md", "left")
	res := w.imports(t, vault.ImportRequest{Path: dir})
	if res.Notes != 4 || res.Removed != 0 {
		t.Errorf("%+v", res)
	}
	if n := byPath(t, w, "b.md"); n.ID != secret || !n.Private || n.Body != "secret" {
		t.Errorf("%+v", n)
	}
	if n := byPath(t, w, "c.md"); n.Private || n.Body != "open" {
		t.Errorf("%+v", n)
	}
	if byPath(t, w, "x.md").ID != right || byPath(t, w, "y.md").ID != left {
		t.Error("two files that changed places keep their ids")
	}
	// One takes the place of another, whose text is gone.
	must(t, os.Rename(filepath.Join(dir, "x.md"), filepath.Join(dir, "y.md")))
	res = w.imports(t, vault.ImportRequest{Path: dir})
	if res.Notes != 3 || res.Removed != 1 || byPath(t, w, "y.md").ID != right || w.notes.Get(left) != nil {
		t.Errorf("%+v", res)
	}
	res = w.imports(t, vault.ImportRequest{Path: dir})
	if res.Written != 0 || res.Removed != 0 {
		t.Errorf("nothing is left to do: %+v", res)
	}
}

func TestSRCH30_AFileThatCanNotBeReadNowKeepsItsNote(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "text"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	id := byPath(t, w, "a.md").ID
	write(t, dir, "a.md", "text\x00")
	write(t, dir, "b.md", "text")
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Removed != 0 || byPath(t, w, "b.md").ID == id {
		t.Errorf("%+v", res)
	}
	write(t, dir, "a.md", "text again")
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Notes != 2 || byPath(t, w, "a.md").ID != id {
		t.Errorf("%+v", res)
	}
}

func TestCTX34_AnIgnoreFileThatCanNotBeReadStopsTheImport(t *testing.T) {
	for name, make := range map[string]func(p string) error{
		"a folder":  func(p string) error { return os.Mkdir(p, 0o700) },
		"too large": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("#\n", 1<<20)), 0o600) },
		"a link":    func(p string) error { return os.Symlink(filepath.Join("..", "elsewhere"), p) },
	} {
		dir := importFolder(t, map[string]string{"a.md": "x"})
		if err := make(filepath.Join(dir, ".ctxdignore")); err != nil {
			t.Skip(err)
		}
		w := open(t, kv.InMemory)
		_, err := w.im.Import(ctx, vault.ImportRequest{Path: dir})
		var f *fault.Error
		if n, _, _ := w.notes.Count(); !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Hint == "" || n != 0 {
			t.Errorf("%s: %v, %d notes", name, err, n)
		}
	}
	dir := importFolder(t, map[string]string{"a.md": "x", "s/b.md": "y", ".ctxdignore": "\ufeffs/\n"})
	w := open(t, kv.InMemory)
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Notes != 1 {
		t.Errorf("a byte order mark is no part of a pattern: %+v", res)
	}
}

func TestForgetTakesWhatWasInTheTrash(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "---\ntype: Person\nrole: x\n---\n", "b.md": "---\ntype: Person\nrole: y\n---\n"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	gone := byPath(t, w, "a.md").EntityID
	must(t, os.Remove(filepath.Join(dir, "a.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	if w.ents.Get(gone) == nil || w.ents.Get(gone).Live() {
		t.Error("the entity of a removed file is archived")
	}
	if _, err := w.im.Forget(ctx, "my-vault", nil); err != nil {
		t.Fatal(err)
	}
	for e := range w.ents.All() {
		t.Errorf("%+v is left", e)
	}
}

func TestTypesOfAVaultMayNeedEachOther(t *testing.T) {
	dir := importFolder(t, map[string]string{
		".ctxd/types/A.yaml": "name: A\nfields:\n  - {name: all, type: computed, query: 'SELECT b FROM B WHERE b.due > today()'}\n",
		".ctxd/types/B.yaml": "name: B\nfields:\n  - {name: due, type: date}\n",
		".ctxd/types/C.yaml": "name: b\nfields: []\n",
		"a.md":               "---\ntype: B\ndue: 2025-01-01\nextra: 5\n---\n",
	})
	w := open(t, kv.InMemory)
	for _, dry := range []bool{true, false} {
		res := w.imports(t, vault.ImportRequest{Path: dir, DryRun: dry})
		if len(res.Skipped) != 1 || !strings.Contains(res.Skipped[0].Reason, "B.yaml declares") {
			t.Errorf("dry %v: %+v", dry, res.Skipped)
		}
	}
	// A client declares one more field: the next import reads it.
	b := *w.ents.Type("B")
	b.Fields = append([]entities.Field{{Name: "extra", Type: record.Number}}, b.Fields...)
	if _, _, err := w.ents.PutType(ctx, b, nil, false); err != nil {
		t.Fatal(err)
	}
	must(t, os.Remove(filepath.Join(dir, ".ctxd", "types", "B.yaml")))
	must(t, os.Remove(filepath.Join(dir, ".ctxd", "types", "C.yaml")))
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Written != 1 {
		t.Errorf("%+v", res)
	}
	if e := w.ents.Get(byPath(t, w, "a.md").EntityID); e.Fields["extra"] != 5.0 {
		t.Errorf("%+v", e.Fields)
	}
}

func TestNamesOfVaults(t *testing.T) {
	for base, want := range map[string]string{"Meine Notizen": "Meine-Notizen", "Заметки": "vault-", strings.Repeat("n", 80): strings.Repeat("n", 64)} {
		dir := filepath.Join(t.TempDir(), base)
		write(t, dir, "a.md", "x")
		w := open(t, kv.InMemory)
		if res := w.imports(t, vault.ImportRequest{Path: dir}); !strings.HasPrefix(res.Vault, want) {
			t.Errorf("%q is called %q", base, res.Vault)
		}
	}
}

// TestSRCH30_ACopyIsAnotherNote edits a file while another one is made that has the
// text that it had: the file that was edited is the note that it was.
func TestSRCH30_ACopyIsAnotherNote(t *testing.T) {
	for name, text := range map[string]struct{ before, after string }{
		"an empty note is filled":       {"", "something"},
		"white space is filled":         {"\n", "something"},
		"what a template says is added": {"# Day\n\n## Plan\n", "# Day\n\n## Plan\n- much\n- and more\n"},
		"something is taken out":        {"# Day\n\n## Plan\n- call\n", "# Day\n"},
	} {
		dir := importFolder(t, map[string]string{"a.md": text.before})
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: dir})
		id := byPath(t, w, "a.md").ID
		write(t, dir, "a.md", text.after)
		write(t, dir, "b.md", text.before)
		w.imports(t, vault.ImportRequest{Path: dir})
		if byPath(t, w, "a.md").ID != id || byPath(t, w, "b.md").ID == id {
			t.Errorf("%s: the copy has taken its id", name)
		}
	}
}

// TestSRCH30_MovedAndEdited moves files and edits them before they are looked at.
func TestSRCH30_MovedAndEdited(t *testing.T) {
	const long = "# Budget\nThe figures of the year are in the sheet.\nAsk Ann about the rest of it.\n"
	cases := map[string]struct {
		before, after map[string]string
		kept          map[string]string // new path to old path
	}{
		"renamed and edited": {
			map[string]string{"a.md": long, "x.md": "x"},
			map[string]string{"b.md": long + "One line more.\n", "x.md": "x"},
			map[string]string{"b.md": "a.md"},
		},
		"a folder of much alike notes": {
			map[string]string{"a/1.md": long + "1", "a/2.md": long + "2"},
			map[string]string{"b/1.md": long + "1\nx", "b/2.md": long + "2\ny"},
			map[string]string{"b/1.md": "a/1.md", "b/2.md": "a/2.md"},
		},
		"nobody knows which": {
			map[string]string{"a.md": long + "1", "b.md": long + "2"},
			map[string]string{"c.md": long + "3"},
			map[string]string{"c.md": ""},
		},
		"another text": {
			map[string]string{"a.md": long},
			map[string]string{"b.md": "# Budget\nSomething else altogether is said here.\n"},
			map[string]string{"b.md": ""},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, c.before)
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: dir})
			was := map[string]string{"": ""}
			for p := range c.before {
				was[p] = byPath(t, w, p).ID
				must(t, os.Remove(filepath.Join(dir, filepath.FromSlash(p))))
			}
			for p, text := range c.after {
				write(t, dir, p, text)
			}
			w.imports(t, vault.ImportRequest{Path: dir})
			for p, old := range c.kept {
				id := byPath(t, w, p).ID
				if old != "" && id != was[old] {
					t.Errorf("%s is not %s any more", p, old)
				}
				for q := range c.before {
					if old == "" && id == was[q] {
						t.Errorf("%s is taken for %s", p, q)
					}
				}
			}
			if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Written+res.Removed != 0 || res.Notes != len(c.after) {
				t.Errorf("%+v", res)
			}
		})
	}
}

// TestSRCH50_AMovedFileIsNotItsNamesake: two files have one title. One moves, by an editor or on the disk: it is the same note, and
// what led to it by its path leads to it, not to the other that is called alike.
func TestSRCH50_AMovedFileIsNotItsNamesake(t *testing.T) {
	files := map[string]string{
		"a/Plan.md": "# Plan\n\nof a\n", "b/Plan.md": "# Plan\n\nof b\n", "c/x.md": "1\n",
		"links.md": "[[a/Plan]] [[b/Plan]] [x](a/Plan.md) [y](b/Plan.md) <a href=\"a/Plan.md\">z</a>\n", "a/near.md": "[[Plan]] [n](Plan.md)\n",
	}
	dir := importFolder(t, files)
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	id, other := byPath(t, w, "a/Plan.md").ID, byPath(t, w, "b/Plan.md").ID

	plan, err := vault.MoveFiles(w.notes, vault.RenameScope{Vault: byPath(t, w, "a/Plan.md").Vault}, []vault.Move{{From: "a/Plan.md", To: "c/Plan.md"}})
	must(t, err)
	got := make(map[string]string)
	for _, f := range plan.Files {
		got[f.Path] = f.Apply()
	}
	if want := "[[c/Plan]] [[b/Plan]] [x](c/Plan.md) [y](b/Plan.md) <a href=\"c/Plan.md\">z</a>\n"; got["links.md"] != want {
		t.Errorf("%q, want %q", got["links.md"], want)
	}
	if want := "[[c/Plan]] [n](../c/Plan.md)\n"; got["a/near.md"] != want {
		t.Errorf("%q, want %q", got["a/near.md"], want)
	}

	// The file moves on the disk, and nobody writes the links: those by its path lead nowhere, and not to the namesake.
	must(t, os.Rename(filepath.Join(dir, "a", "Plan.md"), filepath.Join(dir, "c", "Plan.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	if byPath(t, w, "c/Plan.md").ID != id || byPath(t, w, "b/Plan.md").ID != other {
		t.Error("the file that moved is another note")
	}
	resolved, unresolved := w.notes.Outgoing(byPath(t, w, "links.md").ID)
	for _, l := range resolved {
		if strings.HasPrefix(l.Target, "a/") && l.ID == other {
			t.Errorf("%s leads to the namesake", l.Target)
		}
	}
	if len(resolved) != 2 || len(unresolved) != 3 {
		t.Errorf("%+v %+v", resolved, unresolved)
	}
}

// TestSRCH31_AnotherTextAtThePlaceOfAMovedNote moves a note and puts another text where it
// was before anybody looks: each file has a note of its own, whichever is read first, and
// what a client said of the note goes with its text.
func TestSRCH31_AnotherTextAtThePlaceOfAMovedNote(t *testing.T) {
	const first, second = "Pears are picked in September.", "The meeting begins at nine."
	for _, to := range []string{"a/note.md", "z/note.md", "z/other.md", "m/note 2.md", "notes.md"} {
		for _, edited := range []bool{false, true} {
			dir := importFolder(t, map[string]string{"m/note.md": first})
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: dir})
			id, yes := byPath(t, w, "m/note.md").ID, true
			_, err := w.notes.Patch(ctx, notes.Patch{ID: id, Private: &yes}, nil)
			must(t, err)
			write(t, dir, to, first)
			write(t, dir, "m/note.md", second)
			w.imports(t, vault.ImportRequest{Path: dir})
			if edited { // the next look finds another text at each place
				write(t, dir, to, first+"\nAnd eaten.")
				write(t, dir, "m/note.md", second+"\nAnd ends at ten.")
				w.imports(t, vault.ImportRequest{Path: dir})
			}
			moved, fresh := byPath(t, w, to), byPath(t, w, "m/note.md")
			if moved == nil || fresh == nil || moved.ID != id || !moved.Private || fresh.ID == id || fresh.Private ||
				!strings.HasPrefix(moved.Body, first) || !strings.HasPrefix(fresh.Body, second) {
				t.Errorf("to %s: %+v; %+v", to, moved, fresh)
			}
			if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Notes != 2 || res.Written != 0 || res.Removed != 0 {
				t.Errorf("to %s: nothing is left to do: %+v", to, res)
			}
		}
	}
}

// TestSRCH31_AMoveThatIsCutShort stops an import behind the note that moved, before the
// file at its old place is taken in: that one has a note of its own the next time, also
// when it is what it was before, to the minute.
func TestSRCH31_AMoveThatIsCutShort(t *testing.T) {
	const first, second = "Pears are picked in September.", "The meeting begins at nine."
	for name, then := range map[string]string{"another text": second, "the same text and time": first} {
		dir := importFolder(t, map[string]string{"m/note.md": first})
		w := open(t, kv.InMemory)
		p := filepath.Join(dir, "m", "note.md")
		was := time.Now().Add(-time.Hour).Truncate(time.Second)
		must(t, os.Chtimes(p, was, was))
		w.imports(t, vault.ImportRequest{Path: dir})
		id := byPath(t, w, "m/note.md").ID
		write(t, dir, "z.md", first)
		write(t, dir, "m/note.md", second)
		cut, stop := context.WithCancel(ctx)
		_, err := w.im.Import(cut, vault.ImportRequest{Path: dir, Progress: func(stage string, done, total int) {
			if stage == "write" && done == 1 {
				stop()
			}
		}})
		if n := byPath(t, w, "z.md"); !errors.Is(err, context.Canceled) || n.ID != id {
			t.Fatalf("%s: %v, %+v", name, err, n)
		}
		write(t, dir, "m/note.md", then)
		must(t, os.Chtimes(p, was, was))
		w.imports(t, vault.ImportRequest{Path: dir})
		if n := byPath(t, w, "m/note.md"); n.ID == id || n.Body != then || byPath(t, w, "z.md").ID != id {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

// TestSRCH60_ANewFileWhereAMovedNoteWas: the move was cut short, and a client makes a file at the old place. The note that moved
// stays, though only the new file is looked at.
func TestSRCH60_ANewFileWhereAMovedNoteWas(t *testing.T) {
	dir := filesIn(t, map[string]string{"m/note.md": "Pears are picked in September."})
	w := writes(t, dir, kv.InMemory, everywhere)
	id := byPath(t, w, "m/note.md").ID
	write(t, dir, "z.md", "Pears are picked in September.")
	write(t, dir, "m/note.md", "The meeting begins at nine.")
	cut, stop := context.WithCancel(ctx)
	_, err := w.im.Import(cut, vault.ImportRequest{Path: dir, Name: "V", Progress: func(stage string, done, total int) {
		if stage == "write" && done == 1 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	must(t, os.Remove(filepath.Join(dir, "m", "note.md")))
	made, err := w.im.Write(ctx, vault.FileWrite{Vault: "V", Path: "m/note.md", Text: "Bees sleep.", By: local})
	must(t, err)
	if n := byPath(t, w, "z.md"); made.Note.ID == id || n == nil || n.ID != id || n.Body != "Pears are picked in September." {
		t.Errorf("%+v; %+v", made.Note, n)
	}
	if res := w.imports(t, vault.ImportRequest{Path: dir, Name: "V"}); res.Notes != 2 || res.Removed != 0 {
		t.Errorf("%+v", res)
	}
}
