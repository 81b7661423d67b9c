package vault_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

const person = "---\ntype: Person\nrole: x\n---\n# Ann\n"

// TestSRCH30_ANoteComesBack removes files and makes them anew, as a checkout, a
// sync or a restore does in two steps: they are the notes that they were.
func TestSRCH30_ANoteComesBack(t *testing.T) {
	for name, back := range map[string]struct{ path, text string }{
		"as it was":          {"b.md", person},
		"with another text":  {"b.md", person + "more"},
		"at another place":   {"sub/c.md", person},
		"at its first place": {"a.md", person},
	} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, map[string]string{"a.md": person, "stays.md": "to [[Ann]]"})
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: dir})
			rename(t, dir, "a.md", "b.md")
			w.imports(t, vault.ImportRequest{Path: dir})
			was := byPath(t, w, "b.md")
			yes := true
			was, err := w.notes.Patch(ctx, notes.Patch{ID: was.ID, Private: &yes}, nil)
			must(t, err)
			must(t, os.Remove(filepath.Join(dir, "b.md")))
			if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Removed != 1 || w.notes.Get(was.ID) != nil {
				t.Fatalf("%+v", res)
			}
			write(t, dir, back.path, back.text)
			w.imports(t, vault.ImportRequest{Path: dir})
			n := byPath(t, w, back.path)
			if n.ID != was.ID || n.EntityID != was.EntityID || !n.Private || n.Version <= was.Version {
				t.Errorf("it was %+v and is %+v", was, n)
			}
			if e := w.ents.Get(was.EntityID); !e.Live() || !e.Private || e.NoteID != n.ID || w.ents.Count("") != 1 {
				t.Errorf("%+v", e)
			}
			if _, err := w.im.Forget(ctx, "my-vault", nil); err != nil || w.kept(t) != 0 {
				t.Errorf("%v, %d records are left", err, w.kept(t))
			}
		})
	}
}

// TestSRCH30_LostNotesAreForgotten keeps what a note needs to come back for a
// month, and nothing of it after vault.forget.
func TestSRCH30_LostNotesAreForgotten(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "one", "b.md": "two", "c.md": ""})
	w := open(t, kv.InMemory)
	now := time.Now()
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Now: func() time.Time { return now }})
	w.imports(t, vault.ImportRequest{Path: dir})
	none := w.kept(t)
	must(t, os.Remove(filepath.Join(dir, "a.md")))
	must(t, os.Remove(filepath.Join(dir, "c.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	for _, text := range []string{"another", "a third"} { // at a place where one was lost already
		write(t, dir, "a.md", text)
		w.imports(t, vault.ImportRequest{Path: dir})
		must(t, os.Remove(filepath.Join(dir, "a.md")))
		w.imports(t, vault.ImportRequest{Path: dir})
	}
	if n := w.kept(t); n != none+4 {
		t.Errorf("%d records are kept of two notes", n)
	}
	now = now.Add(31 * 24 * time.Hour)
	w.imports(t, vault.ImportRequest{Path: dir})
	if n := w.kept(t); n != none {
		t.Errorf("%d records are kept", n)
	}
	must(t, os.Remove(filepath.Join(dir, "b.md")))
	write(t, dir, "d.md", "")
	w.imports(t, vault.ImportRequest{Path: dir})
	if _, err := w.im.Forget(ctx, "my-vault", nil); err != nil || w.kept(t) != 0 {
		t.Errorf("%v, %d records are left", err, w.kept(t))
	}
}

// kept counts what is kept of notes whose files are gone.
func (w *watchWorld) kept(t *testing.T) int {
	t.Helper()
	n, err := vault.Lost(ctx, w.db)
	must(t, err)
	return n
}

// TestCTX34_PrivateWhileTheFileIsGone: the entity of a private note stays private
// without it, and is what the note says when the file is back.
func TestCTX34_PrivateWhileTheFileIsGone(t *testing.T) {
	const private = "---\ntype: P\nprivate: true\n---\nx"
	dir := importFolder(t, map[string]string{"a.md": private, "b.md": "b"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	id := byPath(t, w, "a.md").EntityID
	for _, back := range []struct {
		text    string
		private bool
	}{{private, true}, {"---\ntype: P\n---\nx", false}} {
		must(t, os.Remove(filepath.Join(dir, "a.md")))
		w.imports(t, vault.ImportRequest{Path: dir})
		if e := w.ents.Get(id); e == nil || e.Live() || !e.Private {
			t.Errorf("the file is gone: %+v", e)
		}
		write(t, dir, "a.md", back.text)
		w.imports(t, vault.ImportRequest{Path: dir})
		if e := w.ents.Get(id); !e.Live() || e.Private != back.private {
			t.Errorf("the file is back with %q: %+v", back.text, e)
		}
	}
}
