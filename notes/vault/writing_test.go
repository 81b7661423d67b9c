package vault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

var (
	local  = vault.Writer{Client: "test"}
	remote = vault.Writer{Client: "model", Remote: true}
)

// everywhere allows to write all files of all vaults.
var everywhere = []vault.WriteRule{{Folder: "/"}}

// writes is a world in which the folder of a vault may be written; data is that of the store.
func writes(t testing.TB, dir, data string, rules []vault.WriteRule) *watchWorld {
	t.Helper()
	w := open(t, data)
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Write: rules})
	w.imports(t, vault.ImportRequest{Path: dir, Name: "V"})
	return w
}

func filesIn(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for p, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o644))
	}
	return dir
}

// contents returns what all files of a folder hold.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		got[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return got
}

func wantFiles(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("the files are others than they should be (-want +got):\n%s", diff)
	}
}

func (w *watchWorld) at(t testing.TB, p string) *notes.Note {
	t.Helper()
	for n := range w.notes.All() {
		if n.Path == p {
			return w.notes.Get(n.ID)
		}
	}
	t.Fatalf("there is no note %s", p)
	return nil
}

func (w *watchWorld) history(t testing.TB) (list []string) {
	t.Helper()
	all, err := w.im.History(ctx, vault.HistoryFilter{})
	must(t, err)
	for _, h := range all {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s +%d -%d", h.Action, h.Path, h.To, h.Added, h.Removed)))
	}
	return list
}

func refused(t testing.TB, err error, kind fault.Kind, reason fault.Reason) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Reason != reason || f.Hint == "" {
		t.Fatalf("error %#v, want kind %v, reason %q, a hint", err, kind, reason)
	}
	return f
}

func TestSRCH60_NothingIsWrittenUntilAFolderIsNamed(t *testing.T) {
	dir := filesIn(t, map[string]string{"In/a.md": "a\n", "b.md": "b\n", "Inside.md": "c\n"})
	for _, c := range []struct {
		rules            []vault.WriteRule
		in, out          bool
		remoteIn, noteIn bool
	}{
		{},
		{rules: everywhere, in: true, out: true},
		{rules: []vault.WriteRule{{Folder: "In"}}, in: true},
		{rules: []vault.WriteRule{{Vault: "V", Folder: "/In/"}}, in: true},
		{rules: []vault.WriteRule{{Vault: "Other", Folder: "/"}}},
		{rules: []vault.WriteRule{{Folder: "/"}, {Folder: "In", Remote: true}}, in: true, out: true, remoteIn: true},
	} {
		w := writes(t, dir, kv.InMemory, c.rules)
		for p, may := range map[string]bool{"In/a.md": c.in, "b.md": c.out, "Inside.md": c.out} {
			n := w.at(t, p)
			_, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: n.Body + "more\n", DryRun: true, By: local})
			if may {
				must(t, err)
			} else {
				refused(t, err, fault.Conflict, fault.VaultBacked)
				_, err = w.im.Trash(ctx, n.ID, nil, true, local)
				refused(t, err, fault.Conflict, fault.VaultBacked)
			}
			_, err = w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: n.Body + "more\n", DryRun: true, By: remote})
			if p == "In/a.md" && c.remoteIn {
				must(t, err)
			} else {
				refused(t, err, fault.Conflict, fault.VaultBacked)
			}
		}
		_, err := w.im.Write(ctx, vault.FileWrite{Path: "new.md", Text: "x", DryRun: true, By: local})
		if c.out {
			must(t, err)
		} else {
			refused(t, err, fault.Conflict, fault.State)
		}
	}
	wantFiles(t, dir, map[string]string{"In/a.md": "a\n", "b.md": "b\n", "Inside.md": "c\n"})
}

func TestSRCH60_ATextIsWrittenAndTakenIn(t *testing.T) {
	dir := filesIn(t, map[string]string{"a.md": "\ufeff# A\r\nold\r\n"})
	w := writes(t, dir, kv.InMemory, everywhere)
	n := w.at(t, "a.md")
	dry, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "# B\nnew", DryRun: true, By: local})
	must(t, err)
	wantFiles(t, dir, map[string]string{"a.md": "\ufeff# A\r\nold\r\n"})
	out, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "# B\nnew", IfVersion: &n.Version, IfHash: notes.HashOf(n.Body), By: local})
	must(t, err)
	want := "\ufeff# B\r\nnew\r\n"
	wantFiles(t, dir, map[string]string{"a.md": want})
	if dry.Diff != out.Diff || !strings.Contains(out.Diff, "+new") || dry.ID != "" || out.ID == "" || dry.Hash != out.Hash || out.Hash != notes.HashOf(want) {
		t.Errorf("a dry run says %+v, and the write %+v", dry, out)
	}
	if now := w.at(t, "a.md"); now.ID != n.ID || now.Body != want || now.Version != n.Version+1 || now.Title != "B" || out.Note.Version != now.Version {
		t.Errorf("the note is %+v", now)
	}
	again, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: want, By: local})
	must(t, err)
	if again.ID != "" || again.Diff != "" || len(w.history(t)) != 1 {
		t.Errorf("the same text is a write: %+v", again)
	}
	made, err := w.im.Write(ctx, vault.FileWrite{Vault: "V", Path: "Deep/er/c.md", Text: "---\ntype: Person\n---\nhi", By: local})
	must(t, err)
	if made.Note == nil || made.Note.Path != "Deep/er/c.md" || made.Note.EntityID == "" || !made.Note.VaultBacked {
		t.Errorf("the new note is %+v", made.Note)
	}
	added, err := w.im.Append(ctx, local, made.Note.ID, "more")
	must(t, err)
	wantFiles(t, dir, map[string]string{"a.md": want, "Deep/er/c.md": "---\ntype: Person\n---\nhi\nmore"})
	if added.Note.Version != made.Note.Version+1 {
		t.Errorf("version %d", added.Note.Version)
	}
	if diff := cmp.Diff([]string{"change Deep/er/c.md  +2 -1", "create Deep/er/c.md  +4 -0", "change a.md  +2 -2"}, w.history(t)); diff != "" {
		t.Error(diff)
	}
}

// TestSRCH60_ATextThatChangedMeanwhileIsAConflictWithBothSides also where size and time are kept.
func TestSRCH60_ATextThatChangedMeanwhileIsAConflictWithBothSides(t *testing.T) {
	dir := filesIn(t, map[string]string{"a.md": "old\n"})
	w := writes(t, dir, kv.InMemory, everywhere)
	n := w.at(t, "a.md")
	file := filepath.Join(dir, "a.md")
	info, err := os.Stat(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte("odd\n"), 0o644))
	must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	for _, f := range []vault.FileWrite{
		{}, {IfVersion: &n.Version}, {IfHash: notes.HashOf("old\n")}, {IfVersion: &n.Version, IfHash: notes.HashOf("old\n")},
	} {
		f.NoteID, f.Text, f.By = n.ID, "new\n", local
		_, err := w.im.Write(ctx, f)
		if w.at(t, "a.md").Version > n.Version && f.IfVersion != nil { // the first conflict has taken the text in
			refused(t, err, fault.Conflict, fault.StaleVersion)
			continue
		}
		if f.IfHash == "" && w.at(t, "a.md").Body == "odd\n" && err == nil {
			t.Fatalf("%+v was written over what nobody has read", f)
		}
		e := refused(t, err, fault.Conflict, fault.Changed)
		if e.Sides == nil || *e.Sides != (fault.Sides{Current: "odd\n", Wanted: "new\n"}) {
			t.Errorf("the sides are %+v", e.Sides)
		}
		wantFiles(t, dir, map[string]string{"a.md": "odd\n"})
	}
	if now := w.at(t, "a.md"); now.Body != "odd\n" || now.ID != n.ID {
		t.Errorf("the store has %q", now.Body)
	}
	f := vault.FileWrite{NoteID: n.ID, Text: "new\n", IfHash: notes.HashOf("odd\n"), By: remote}
	_, err = w.im.Write(ctx, f)
	refused(t, err, fault.Conflict, fault.VaultBacked)
	f.By = local
	_, err = w.im.Write(ctx, f)
	must(t, err)
	must(t, os.Remove(file))
	_, err = w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "newer\n", By: local})
	refused(t, err, fault.NotFound, "")
}

// TestSRCH60_AppendsAreTriedAgainInside while somebody else writes the same file.
func TestSRCH60_AppendsAreTriedAgainInside(t *testing.T) {
	dir := filesIn(t, map[string]string{"a.md": "start\n"})
	w := writes(t, dir, kv.InMemory, everywhere)
	n := w.at(t, "a.md")
	n2 := 0
	defer vault.SetWriteStep(func(s string) error {
		if s == "exchange" && n2 < 7 {
			n2++
			f, err := os.OpenFile(filepath.Join(dir, "a.md"), os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = fmt.Fprintf(f, "theirs %d\n", n2)
			return errors.Join(err, f.Close())
		}
		return nil
	})()
	_, err := w.im.Append(ctx, local, n.ID, "ours")
	must(t, err)
	want := "start\n"
	for i := range 7 {
		want += fmt.Sprintf("theirs %d\n", i+1)
	}
	wantFiles(t, dir, map[string]string{"a.md": want + "ours\n"})
	if now := w.at(t, "a.md"); now.Body != want+"ours\n" {
		t.Errorf("the store has %q", now.Body)
	}
}

func TestSRCH60_WhatTheVaultLeavesOutIsNotWritten(t *testing.T) {
	files := map[string]string{
		"a.md": "a\n", ".ctxdignore": "/Secret/\n*.draft.md\n", "Secret/s.md": "s\n", "Deep/.ctxdignore": "x.md\n", "Deep/y.md": "y\n",
		".obsidian/app.json": "{}", "b.canvas": `{"nodes":[],"edges":[]}`,
	}
	dir := filesIn(t, files)
	outside := filesIn(t, map[string]string{"o.md": "outside\n"})
	if runtime.GOOS != "windows" {
		must(t, os.Symlink(filepath.Join(outside, "o.md"), filepath.Join(dir, "out.md")))
		must(t, os.Symlink("Secret", filepath.Join(dir, "way")))
	}
	w := writes(t, dir, kv.InMemory, everywhere)
	for _, by := range []vault.Writer{local, remote} {
		rules := []vault.WriteRule{{Folder: "/", Remote: true}}
		w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Write: rules, Exclude: []string{"Conf/"}})
		for _, p := range []string{
			"Secret/new.md", "new.draft.md", "Deep/x.md", "Deep/er/x.md", ".obsidian/x.md", ".ctxd/x.md", ".trash/x.md", "Conf/x.md", "con.md",
			"../up.md", "/abs.md", "a.md", "x.txt", "x.canvas", "out.md", "way/new.md", "a.sync-conflict-20260101-101010.md", "x", "", "a.md/b.md",
		} {
			_, err := w.im.Write(ctx, vault.FileWrite{Path: p, Text: "x", By: by})
			var f *fault.Error
			if !errors.As(err, &f) || f.Hint == "" || f.Kind != fault.Invalid && f.Kind != fault.Conflict {
				t.Errorf("%s: %v", p, err)
			}
			if by.Remote && (f.Kind != fault.Invalid || f.Field != "path") {
				t.Errorf("a remote connection is told about %s: %v", p, f)
			}
		}
	}
	for id := range w.notes.All() {
		if id.Kind != "" {
			_, err := w.im.Write(ctx, vault.FileWrite{NoteID: id.ID, Text: "x", By: local})
			refused(t, err, fault.Conflict, fault.State)
		}
	}
	wantFiles(t, dir, files)
	wantFiles(t, outside, map[string]string{"o.md": "outside\n"})
}

// TestSRCH60_AMissingFolderIsUnavailable, on this machine or on another one that shares the store.
func TestSRCH60_AMissingFolderIsUnavailable(t *testing.T) {
	dir := filesIn(t, map[string]string{"v/a.md": "a\n"})
	w := writes(t, filepath.Join(dir, "v"), kv.InMemory, everywhere)
	n := w.at(t, "a.md")
	must(t, os.Rename(filepath.Join(dir, "v"), filepath.Join(dir, "away")))
	_, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "x", By: local})
	refused(t, err, fault.Unavailable, "")
	_, err = w.im.Write(ctx, vault.FileWrite{Path: "new.md", Text: "x", By: local})
	refused(t, err, fault.Unavailable, "")
	_, err = w.im.Trash(ctx, n.ID, nil, false, local)
	refused(t, err, fault.Unavailable, "")
	if _, err := os.Stat(filepath.Join(dir, "v")); !os.IsNotExist(err) {
		t.Error("the folder was made")
	}
	other := open(t, kv.InMemory)
	other.im = vault.NewImporter(other.db, other.ents, other.notes, vault.ImporterOptions{Write: everywhere})
	_, err = other.notes.Put(ctx, notes.Draft{ID: n.ID, Body: "a\n", Path: "a.md", Vault: "V"}, nil)
	must(t, err)
	_, err = other.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "x", By: local})
	refused(t, err, fault.Unavailable, "")
}

func TestSRCH60_ARemoteConnectionWritesPublicNotesAlone(t *testing.T) {
	dir := filesIn(t, map[string]string{"a.md": "a\n", "p.md": "---\nprivate: true\n---\np\n"})
	w := writes(t, dir, kv.InMemory, []vault.WriteRule{{Folder: "/", Remote: true}})
	n := w.at(t, "a.md")
	_, err := w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "---\nprivate: true\n---\na\n", By: remote})
	refused(t, err, fault.Invalid, "")
	_, err = w.im.Write(ctx, vault.FileWrite{Path: "q.md", Text: "---\nprivate: true\n---\na\n", By: remote})
	refused(t, err, fault.Invalid, "")
	there, err := w.im.Write(ctx, vault.FileWrite{Path: "p.md", Text: "x", By: remote})
	none, err2 := w.im.Write(ctx, vault.FileWrite{Path: "con.md", Text: "x", By: remote})
	if a, b := refused(t, err, fault.Invalid, ""), refused(t, err2, fault.Invalid, ""); there != nil || none != nil || !cmp.Equal(a, b) {
		t.Errorf("a private note is told from a name that is refused: %v, %v", a, b)
	}
	must(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("odd\n"), 0o644))
	_, err = w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "x\n", By: remote})
	if e := refused(t, err, fault.Conflict, fault.Changed); e.Sides != nil {
		t.Errorf("a remote connection is told %+v unmasked", e.Sides)
	}
	_, err = w.im.Write(ctx, vault.FileWrite{NoteID: n.ID, Text: "x\n", By: remote})
	must(t, err)
	wantFiles(t, dir, map[string]string{"a.md": "x\n", "p.md": "---\nprivate: true\n---\np\n"})
	public := func(n *notes.Note) bool { return !n.Private }
	p := w.at(t, "p.md")
	hidden, err := w.im.Append(ctx, local, p.ID, "more")
	must(t, err)
	seen, err := w.im.History(ctx, vault.HistoryFilter{Sees: public})
	must(t, err)
	if len(seen) != 1 || seen[0].Path != "a.md" || seen[0].Diff != "" || seen[0].Client != "model" || !seen[0].Remote {
		t.Errorf("a remote reader is told %+v", seen)
	}
	_, err = w.im.Undo(ctx, hidden.ID, false, remote, public)
	e := refused(t, err, fault.NotFound, "")
	_, err = w.im.Undo(ctx, "none", false, remote, public)
	if other := refused(t, err, fault.NotFound, ""); other.Hint != e.Hint {
		t.Errorf("%v is told from %v", e, other)
	}
	_, err = w.im.Undo(ctx, seen[0].ID, false, remote, public)
	must(t, err)
}

func TestSRCH60_EveryWriteIsInTheHistoryAndCanBeUndone(t *testing.T) {
	start := map[string]string{"a.md": "one\r\n", "Sub/a.md": "two\n"}
	dir := filesIn(t, start)
	w := writes(t, dir, kv.InMemory, everywhere)
	a, sub := w.at(t, "a.md"), w.at(t, "Sub/a.md")
	changed, err := w.im.Write(ctx, vault.FileWrite{NoteID: a.ID, Text: "three", By: local})
	must(t, err)
	made, err := w.im.Write(ctx, vault.FileWrite{Path: "n.md", Text: "new\n", By: local})
	must(t, err)
	gone, err := w.im.Trash(ctx, a.ID, nil, false, local)
	must(t, err)
	_, err = w.im.Trash(ctx, sub.ID, nil, false, local)
	must(t, err)
	wantFiles(t, dir, map[string]string{"n.md": "new\n", ".trash/a.md": "three\r\n", ".trash/a 2.md": "two\n"})
	if w.notes.Get(a.ID) != nil || gone.Path != ".trash/a.md" {
		t.Errorf("the note is there still; %+v", gone)
	}
	_, err = w.im.Undo(ctx, changed.ID, false, local, nil)
	refused(t, err, fault.Conflict, fault.Changed) // the file is gone
	dry, err := w.im.Undo(ctx, gone.ID, true, local, nil)
	must(t, err)
	back, err := w.im.Undo(ctx, gone.ID, false, local, nil)
	must(t, err)
	if dry.Path != "a.md" || back.Note == nil || back.Note.ID != a.ID {
		t.Errorf("it came back as %+v; a dry run says %+v", back, dry)
	}
	_, err = w.im.Undo(ctx, gone.ID, false, local, nil)
	refused(t, err, fault.Conflict, fault.State)
	_, err = w.im.Undo(ctx, changed.ID, false, local, nil)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "n.md"), []byte("edited\n"), 0o644))
	_, err = w.im.Undo(ctx, made.ID, false, local, nil)
	if e := refused(t, err, fault.Conflict, fault.Changed); e.Sides == nil || e.Sides.Current != "edited\n" {
		t.Errorf("the sides are %+v", e.Sides)
	}
	must(t, os.WriteFile(filepath.Join(dir, "n.md"), []byte("new\n"), 0o644))
	_, err = w.im.Undo(ctx, made.ID, false, local, nil)
	must(t, err)
	want := map[string]string{"a.md": "one\r\n", ".trash/n.md": "new\n", ".trash/a 2.md": "two\n"}
	wantFiles(t, dir, want)
	all, err := w.im.History(ctx, vault.HistoryFilter{Vault: "V", Path: "a.md"})
	must(t, err)
	if len(all) != 4 || all[0].Undoes != changed.ID || all[3].Undone != all[0].ID || all[3].Diff != changed.Diff || all[3].Client != "test" || all[3].At.IsZero() {
		t.Errorf("the history of a.md is %+v", all)
	}
	must2(w.im.Forget(ctx, "V", nil))(t)
	if rest := w.history(t); len(rest) > 0 {
		t.Errorf("of a forgotten vault is left %v", rest)
	}
}

func must2[T any](_ T, err error) func(testing.TB) {
	return func(t testing.TB) { t.Helper(); must(t, err) }
}

// TestSRCH60_OurOwnWritesAreNoChangeToTheWatcher: nothing is written to the store a second time.
func TestSRCH60_OurOwnWritesAreNoChangeToTheWatcher(t *testing.T) {
	dir := filesIn(t, map[string]string{"a.md": "a\n"})
	w := open(t, kv.InMemory)
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Write: everywhere, SweepEvery: never})
	w.start(t)
	w.imports(t, vault.ImportRequest{Path: dir, Name: "V", Watch: true})
	w.agreed(t)
	n := w.at(t, "a.md")
	out, err := w.im.Append(ctx, local, n.ID, "more")
	must(t, err)
	made, err := w.im.Write(ctx, vault.FileWrite{Path: "b.md", Text: "b", By: local})
	must(t, err)
	w.agreed(t)
	for id, version := range map[string]int{n.ID: out.Note.Version, made.Note.ID: made.Note.Version} {
		if now := w.notes.Get(id); now == nil || now.Version != version {
			t.Errorf("the note is %+v, and was at version %d", now, version)
		}
	}
	must2(w.im.Trash(ctx, n.ID, nil, false, local))(t)
	w.agreed(t)
	must(t, os.WriteFile(filepath.Join(dir, "b.md"), []byte("an editor"), 0o644))
	until(t, "the editor's text is taken in", func() bool { return w.at(t, "b.md").Body == "an editor" })
}

// TestSRCH60_ReadOnlyFilesAndHardLinksAreLeftAsTheyAre: the note stays as it was.
func TestSRCH60_ReadOnlyFilesAndHardLinksAreLeftAsTheyAre(t *testing.T) {
	dir := filesIn(t, map[string]string{"ro.md": "ro\n", "one.md": "h\n"})
	must(t, os.Chmod(filepath.Join(dir, "ro.md"), 0o444))
	if err := os.Link(filepath.Join(dir, "one.md"), filepath.Join(dir, "two.txt")); err != nil {
		t.Skip("no hard links here")
	}
	w := writes(t, dir, kv.InMemory, everywhere)
	for p, kind := range map[string]fault.Kind{"ro.md": fault.Unavailable, "one.md": fault.Conflict} {
		n := w.at(t, p)
		_, err := w.im.Append(ctx, local, n.ID, "more")
		if fault.KindOf(err) != kind {
			t.Errorf("%s: %v", p, err)
		}
		if now := w.at(t, p); now.Version != n.Version || now.Body != n.Body {
			t.Errorf("%s is %+v now", p, now)
		}
	}
	wantFiles(t, dir, map[string]string{"ro.md": "ro\n", "one.md": "h\n", "two.txt": "h\n"})
	if h := w.history(t); len(h) > 0 {
		t.Errorf("the history has %v", h)
	}
}

// TestSRCH60_WritesAreAsOfAPlainModel: random writes, undos and edits by others against a map of texts.
func TestSRCH60_WritesAreAsOfAPlainModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "ctxd-w")
		must(t, err)
		defer func() { must(t, os.RemoveAll(dir)) }()
		must(t, os.WriteFile(filepath.Join(dir, "keep.md"), []byte("keep\n"), 0o644))
		w := writes(t, dir, kv.InMemory, everywhere)
		defer w.db.Close()
		model := map[string]string{"keep.md": "keep\n"}
		type done struct {
			id, path string
			undo     func()
			after    string
		}
		var log []done
		names := []string{"a.md", "B/b.md", "B/c d.md"}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			p := rapid.SampledFrom(names).Draw(rt, "path")
			was, there := model[p]
			body := rapid.SampledFrom([]string{"x\n", "y\nz\n", "é\n", "---\na: 1\n---\n"}).Draw(rt, "text")
			switch op := rapid.SampledFrom([]string{"put", "put", "append", "edit", "undo"}).Draw(rt, "op"); {
			case op == "put" && !there:
				out, err := w.im.Write(ctx, vault.FileWrite{Path: p, Text: body, By: local})
				must(t, err)
				model[p] = body
				log = append(log, done{out.ID, p, func() { delete(model, p) }, body})
			case op == "put" && was != body:
				out, err := w.im.Write(ctx, vault.FileWrite{NoteID: w.at(t, p).ID, Text: body, IfHash: notes.HashOf(was), By: local})
				must(t, err)
				model[p] = body
				log = append(log, done{out.ID, p, func() { model[p] = was }, body})
			case op == "append" && there:
				out, err := w.im.Append(ctx, local, w.at(t, p).ID, body)
				must(t, err)
				model[p] = was + body
				log = append(log, done{out.ID, p, func() { model[p] = was }, was + body})
			case op == "edit" && there:
				must(t, os.WriteFile(filepath.Join(dir, p), []byte(body), 0o644))
				_, err := w.im.Write(ctx, vault.FileWrite{NoteID: w.at(t, p).ID, Text: "over\n", IfHash: notes.HashOf(was), By: local})
				if was != body {
					refused(t, err, fault.Conflict, fault.Changed)
					model[p] = body
				} else {
					must(t, err)
					model[p] = "over\n"
				}
			case op == "undo" && len(log) > 0:
				last := log[len(log)-1]
				log = log[:len(log)-1]
				now, there := model[last.path]
				_, err := w.im.Undo(ctx, last.id, false, local, nil)
				if there && now == last.after {
					must(t, err)
					last.undo()
				} else {
					refused(t, err, fault.Conflict, fault.Changed)
				}
			}
			got := contents(t, dir)
			for p := range got {
				if strings.HasPrefix(p, ".trash/") {
					delete(got, p)
				}
			}
			if diff := cmp.Diff(model, got); diff != "" {
				rt.Fatal(diff)
			}
			for p, text := range model {
				if n := w.at(t, p); n.Body != text {
					rt.Fatalf("%s is %q in the store, want %q", p, n.Body, text)
				}
			}
		}
	})
}
