package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// openWith is open with options of the notes and of the importer.
func openWith(t *testing.T, folders []string, opts vault.ImporterOptions) *watchWorld {
	t.Helper()
	w := &watchWorld{}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{PrivateFolders: folders})
	must(t, err)
	w.im = vault.NewImporter(w.db, w.ents, w.notes, opts)
	return w
}

// TestPRIV9_FoldersInOneForm has folders on the disk in NFD and the configuration and
// .ctxdignore in NFC, and the other way round, with letter case told and folded.
func TestPRIV9_FoldersInOneForm(t *testing.T) {
	const composed, decomposed = "Priv\u00e9", "Prive\u0301"
	for _, folds := range []bool{false, true} {
		for written, lies := range map[string]string{composed: decomposed, decomposed: composed, strings.ToUpper(composed): decomposed} {
			matched := folds || written != strings.ToUpper(composed)
			w := openWith(t, []string{"/" + written + "/"}, vault.ImporterOptions{
				Exclude:   []string{"/Conf" + written + "/"},
				FoldsCase: func(*os.Root, []string) (bool, bool) { return folds, true },
			})
			w.imports(t, vault.ImportRequest{Path: importFolder(t, map[string]string{
				lies + "/a.md": "in a private folder", "Conf" + lies + "/b.md": "left out", "Own" + lies + "/c.md": "left out",
				"sub/" + lies + "/d.md": "left out", "open.md": "open",
				".ctxdignore": "/Own" + written + "/\n", "sub/.ctxdignore": "/" + written + "/\n",
			})})
			for p, there := range map[string]bool{"Conf" + lies + "/b.md": !matched, "Own" + lies + "/c.md": !matched, "sub/" + lies + "/d.md": !matched} {
				if _, err := w.notes.ByPath(p, nil); (err == nil) != there {
					t.Errorf("folds %v, %+q for %+q: %+q is there: %v", folds, written, lies, p, err)
				}
			}
			if n := byPath(t, w, lies+"/a.md"); n.Private != matched || byPath(t, w, "open.md").Private {
				t.Errorf("folds %v, %+q for %+q: private %v", folds, written, lies, n.Private)
			}
		}
	}
}

// TestPRIV9_LetterCaseOfTheFileSystem asks the file system that the tests run on.
func TestPRIV9_LetterCaseOfTheFileSystem(t *testing.T) {
	w := openWith(t, []string{"/journal/"}, vault.ImporterOptions{})
	dir := importFolder(t, map[string]string{"Journal/a.md": "x"})
	_, err := os.Lstat(filepath.Join(dir, "jOURNAL"))
	w.imports(t, vault.ImportRequest{Path: dir})
	if folds := err == nil; byPath(t, w, "Journal/a.md").Private != folds || w.notes.FoldsCase("my-vault") != folds {
		t.Errorf("the file system folds: %v", folds)
	}
}

// TestPRIV9_DoubtsAreListed has files that may say that they are private.
func TestPRIV9_DoubtsAreListed(t *testing.T) {
	w := open(t, kv.InMemory)
	dir := importFolder(t, map[string]string{
		"plain.md": "---\nprivate: true\n---\nx", "open.md": "x",
		"cr.md":     "---\rprivate: true\r---\rx",
		"blank.md":  "---\ntitle: x\nprivate:true\n---\nx",
		"broken.md": "---\ntitle: a: b\nprivate: true\n---\nx",
		"large.md":  "---\ntext: " + strings.Repeat("x", 300<<10) + "\nprivate: true\n---\nx",
	})
	w.imports(t, vault.ImportRequest{Path: dir})
	for range 2 { // nothing is read the second time
		listed := map[string]int{}
		for _, e := range w.status(t).Errors {
			if strings.Contains(e.Reason, "private") {
				listed[e.Path]++
			}
		}
		for _, p := range []string{"plain.md", "open.md", "cr.md", "blank.md", "broken.md", "large.md"} {
			doubtful := p != "plain.md" && p != "open.md"
			if byPath(t, w, p).Private != (p != "open.md") || (listed[p] == 1) != doubtful || listed[p] > 1 {
				t.Errorf("%s: private %v, listed %d times", p, byPath(t, w, p).Private, listed[p])
			}
		}
		w.imports(t, vault.ImportRequest{Path: dir})
	}
	if errs := w.status(t).Errors; !slices.ContainsFunc(errs, func(e vault.ImportSkip) bool {
		return e.Path == "broken.md" && strings.HasPrefix(e.Reason, "frontmatter left out")
	}) {
		t.Errorf("%+v", errs)
	}
	write(t, dir, "blank.md", "---\ntitle: x\nprivate: false\n---\nlonger")
	w.imports(t, vault.ImportRequest{Path: dir})
	if n := byPath(t, w, "blank.md"); n.Private || slices.ContainsFunc(w.status(t).Errors, func(e vault.ImportSkip) bool { return e.Path == "blank.md" }) {
		t.Errorf("it says so plainly now: %+v", w.status(t).Errors)
	}
}

// TestPRIV9_PrivateUntilAWholeFileSaysOtherwise takes in every beginning of a file that
// an editor rewrites: a private one that stays so, and one that is made public.
func TestPRIV9_PrivateUntilAWholeFileSaysOtherwise(t *testing.T) {
	const private = "---\ntype: Affair\nprivate: true\n---\n# Secret\n"
	for _, c := range []struct {
		text string
		from int // the length from which on it is public; longer: it never is
	}{
		{private, len(private) + 1},
		{"\uFEFF" + private, len(private) + 4},
		{"---\r\ntype: Affair\r\n---\r\npublic", len("---\r\ntype: Affair\r\n---")},
		{"---\ntype: Affair\n---\npublic", len("---\ntype: Affair\n---")},
		{"no frontmatter", 1},
		{"\n\n  no frontmatter", 5},
		{"--- a rule", len("--- a")},
	} {
		dir := importFolder(t, map[string]string{"a.md": private})
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: dir})
		id := byPath(t, w, "a.md").EntityID
		for size := range len(c.text) + 1 {
			text := c.text[:size]
			if strings.HasPrefix(c.text, "\uFEFF") && size > 0 && size < 3 {
				continue // is no text
			}
			write(t, dir, "a.md", private) // as it was
			w.imports(t, vault.ImportRequest{Path: dir})
			write(t, dir, "a.md", text)
			w.imports(t, vault.ImportRequest{Path: dir})
			n := byPath(t, w, "a.md")
			want, e := size < c.from, w.ents.Get(id)
			// An entity archived says what the private text said.
			if n.Body != text || n.Private != want || e.Private != (want || !e.Live()) {
				t.Errorf("%q of %q: note %v, entity %+v", text, c.text, n.Private, e)
			}
			kept := w.notes.WhyPrivate(n).Rule == notes.RuleKept
			if listed := len(w.status(t).Errors) > 0; kept && !listed {
				t.Errorf("%q is not listed", text)
			}
		}
	}
}

// TestPRIV9_PrivateWhileTheFileIsMadeAnew has an editor remove a file and make it anew,
// which is empty for a moment.
func TestPRIV9_PrivateWhileTheFileIsMadeAnew(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "---\nprivate: true\n---\nx", "b.md": "b"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	must(t, os.Remove(filepath.Join(dir, "a.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	write(t, dir, "a.md", "")
	w.imports(t, vault.ImportRequest{Path: dir})
	n := byPath(t, w, "a.md")
	if !n.Private {
		t.Errorf("%+v", n)
	}
	if n, err := w.notes.Archive(ctx, n.ID, nil); err != nil || !n.Private {
		t.Errorf("archived: %+v, %v", n, err)
	}
	write(t, dir, "a.md", "public")
	w.imports(t, vault.ImportRequest{Path: dir})
	if n := byPath(t, w, "a.md"); n.Private {
		t.Errorf("%+v", n)
	}
}

// TestPRIV4_EntitiesOfFilesThatAreLeftOut has a person leave files out that were taken
// in, by each means that there is, and take them in again.
func TestPRIV4_EntitiesOfFilesThatAreLeftOut(t *testing.T) {
	const public, private = "---\ntype: Person\n---\n# Bob", "---\ntype: Person\nprivate: true\n---\n# Ann"
	for name, leaveOut := range map[string]string{"the file": "Own/a.md\nOwn/b.md\n", "its folder": "/Own/\n", "a pattern": "*.md\n!stays.md\n"} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, map[string]string{"Own/a.md": private, "Own/b.md": public, "stays.md": "x"})
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: dir})
			ids := map[string]bool{byPath(t, w, "Own/a.md").EntityID: true, byPath(t, w, "Own/b.md").EntityID: false}
			write(t, dir, ".ctxdignore", leaveOut)
			if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Notes != 1 {
				t.Fatalf("%+v", res)
			}
			for id := range ids {
				if e, err := w.ents.Restore(ctx, id, nil); err != nil || !e.Private {
					t.Errorf("left out: %+v, %v", e, err)
				}
			}
			must(t, os.Remove(filepath.Join(dir, ".ctxdignore")))
			w.imports(t, vault.ImportRequest{Path: dir})
			for id, want := range ids {
				if e := w.ents.Get(id); !e.Live() || e.Private != want {
					t.Errorf("taken in again: %+v", e)
				}
			}
		})
	}
	dir := importFolder(t, map[string]string{"b.md": public, "stays.md": "x"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	id := byPath(t, w, "b.md").EntityID
	must(t, os.Remove(filepath.Join(dir, "b.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	if e := w.ents.Get(id); e.Live() || e.Private {
		t.Errorf("a public file that is deleted: %+v", e)
	}
}

// TestPRIV14_FilesOfAVault: a file that is no note is as private as a note in its place would be, and one that is a note as
// that is.
func TestPRIV14_FilesOfAVault(t *testing.T) {
	const composed, decomposed = "Priv\u00e9", "Prive\u0301"
	yes := true
	for _, folds := range []bool{false, true} {
		w := openWith(t, []string{"/" + composed + "/", "*.secret.png"}, vault.ImporterOptions{
			FoldsCase: func(*os.Root, []string) (bool, bool) { return folds, true },
		})
		upper := strings.ToUpper(composed)
		dir := importFolder(t, map[string]string{
			decomposed + "/a.png": "x", upper + "/a.png": "x", "open/a.png": "x", "open/a.secret.png": "x", "open/note.md": "x",
		})
		w.imports(t, vault.ImportRequest{Path: dir})
		out := t.TempDir()
		must(t, os.Symlink(filepath.Join(dir, decomposed), filepath.Join(out, "folder")))
		must(t, os.Symlink(filepath.Join(out, "b.png"), filepath.Join(dir, decomposed, "b.png")))
		must(t, os.WriteFile(filepath.Join(out, "b.png"), []byte("x"), 0o600))
		_, err := w.notes.Patch(ctx, notes.Patch{ID: byPath(t, w, "open/note.md").ID, Private: &yes}, nil)
		must(t, err)
		for at, private := range map[string]bool{
			filepath.Join(dir, decomposed, "a.png"): true, filepath.Join(dir, upper, "a.png"): folds, filepath.Join(dir, "open", "a.png"): false,
			filepath.Join(dir, "open", "a.secret.png"): true, filepath.Join(dir, "open", "note.md"): true, filepath.Join(out, "folder", "a.png"): true,
			filepath.Join(dir, decomposed, "b.png"): true, filepath.Join(out, "b.png"): false, filepath.Join(dir, decomposed, "none.png"): true, "": false,
		} {
			got, err := w.im.IsPrivateFile(ctx, at, "---\nprivate: no\n---\nx")
			if err != nil || got != private {
				t.Errorf("folds %v, %+q: private %v, %v", folds, at, got, err)
			}
		}
		for head, private := range map[string]bool{"private: true": false, "---\nprivate: true\n---\n": true, "---\nprivate:true\n---\n": true, "{\"private\":true}": false} {
			if got, err := w.im.IsPrivateFile(ctx, "", head); err != nil || got != private {
				t.Errorf("%q: private %v, %v", head, got, err)
			}
		}
	}
}
