package vault_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// patience is how long a test waits for what must come. Nothing waits for it
// when all is well. At 10,000 files a sweep may be as far away as a minute.
func patience() time.Duration {
	return campaign.Figure(2*time.Minute, 5*time.Minute)
}

// until waits for a condition.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.After(patience())
	for {
		began := time.Now()
		if done() {
			return
		}
		select {
		case <-time.After(max(2*time.Millisecond, 10*time.Since(began))): // a large world is not asked all the time
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// follows is a world that follows a folder. sweep is the time between sweeps.
func follows(t testing.TB, dir, data string, sweep time.Duration, seam vault.Seam) *watchWorld {
	t.Helper()
	w := open(t, data)
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{SweepEvery: sweep})
	w.im.SetSeam(seam)
	w.start(t)
	if dir != "" {
		w.imports(t, vault.ImportRequest{Path: dir, Watch: true})
		w.agreed(t)
	}
	return w
}

func (w *watchWorld) start(t testing.TB) {
	t.Helper()
	must(t, w.im.Start(ctx, vault.Host{Enter: func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }}))
}

// never is a time between sweeps in which a test is over.
const never = time.Hour

// agreed waits until a look that has begun from now on is over.
func (w *watchWorld) agreed(t testing.TB) {
	t.Helper()
	for range 2 { // the first may have begun before
		now, s := time.Now(), w.status(t)
		w.im.Overflow(s.Vault) // all that there were may be over
		until(t, "the vault was looked at", func() bool {
			return w.status(t).LastScanAt.After(later(now, s.LastScanAt))
		})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *watchWorld) status(t testing.TB) *vault.Status {
	t.Helper()
	s, err := w.im.Status(ctx, "")
	must(t, err)
	return s
}

// texts are the texts of the notes by path.
func (w *watchWorld) texts() map[string]string {
	out := make(map[string]string)
	for n := range w.notes.All() {
		out[n.Path] = n.Body
	}
	return out
}

// shows waits until the notes are those.
func (w *watchWorld) shows(t testing.TB, want map[string]string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(cmp.Diff(want, w.texts()))
		}
	}()
	until(t, "the notes are what the files are", func() bool { return maps.Equal(w.texts(), want) })
}

func TestSRCH31_ChangesAppear(t *testing.T) {
	skipWithoutEvents(t)
	files := map[string]string{"a.md": "one", "sub/b.md": "to [[a]]", "sub/deep/c.md": "three"}
	dir := importFolder(t, files)
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	if s := w.status(t); !s.Watching || s.Stale || len(s.Errors) != 0 {
		t.Fatalf("%+v", s)
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"a file is written", func() { write(t, dir, "a.md", "one more"); files["a.md"] = "one more" }},
		{"a file is made", func() { write(t, dir, "new.md", "n"); files["new.md"] = "n" }},
		{"a file is saved beside and renamed", func() {
			write(t, dir, "sub/.b.md.tmp", "to [[new]]")
			rename(t, dir, "sub/.b.md.tmp", "sub/b.md")
			files["sub/b.md"] = "to [[new]]"
		}},
		{"a file is set aside, written and the other deleted", func() {
			rename(t, dir, "a.md", "a.md~")
			write(t, dir, "a.md", "vim")
			must(t, os.Remove(filepath.Join(dir, "a.md~")))
			files["a.md"] = "vim"
		}},
		{"a file is removed", func() { must(t, os.Remove(filepath.Join(dir, "new.md"))); delete(files, "new.md") }},
		{"folders are made with a file in them", func() { write(t, dir, "x/y/z/deep.md", "d"); files["x/y/z/deep.md"] = "d" }},
		{"a file in a new folder is written", func() { write(t, dir, "x/y/z/deep.md", "e"); files["x/y/z/deep.md"] = "e" }},
		{"a folder is moved", func() {
			rename(t, dir, "sub", "x/moved")
			files["x/moved/b.md"], files["x/moved/deep/c.md"] = files["sub/b.md"], files["sub/deep/c.md"]
			delete(files, "sub/b.md")
			delete(files, "sub/deep/c.md")
		}},
		{"a file in a moved folder is written", func() { write(t, dir, "x/moved/deep/c.md", "moved"); files["x/moved/deep/c.md"] = "moved" }},
		{"another folder takes the place", func() { write(t, dir, "sub/deep/other.md", "o"); files["sub/deep/other.md"] = "o" }},
		{"a file in it is written", func() { write(t, dir, "sub/deep/other.md", "oo"); files["sub/deep/other.md"] = "oo" }},
		{"a folder is put in the place of one", func() {
			rename(t, dir, "sub", "old")
			write(t, dir, "sub/deep/third.md", "3")
			files["old/deep/other.md"], files["sub/deep/third.md"] = "oo", "3"
			delete(files, "sub/deep/other.md")
		}},
		{"files in both are written", func() {
			write(t, dir, "old/deep/other.md", "ooo")
			write(t, dir, "sub/deep/third.md", "33")
			files["old/deep/other.md"], files["sub/deep/third.md"] = "ooo", "33"
		}},
		{"a folder is removed", func() {
			must(t, os.RemoveAll(filepath.Join(dir, "old")))
			delete(files, "old/deep/other.md")
		}},
		{"files are left out from now on", func() { write(t, dir, ".ctxdignore", "sub/\n"); delete(files, "sub/deep/third.md") }},
		{"and no longer", func() { must(t, os.Remove(filepath.Join(dir, ".ctxdignore"))); files["sub/deep/third.md"] = "33" }},
		{"only the case of a name changes", func() { rename(t, dir, "a.md", "A.md"); files["A.md"] = files["a.md"]; delete(files, "a.md") }},
	}
	for _, s := range steps {
		t.Log(s.name)
		why, skipped := underWine(s.name)
		if why != "" {
			t.Log(why)
		}
		if skipped {
			continue
		}
		s.do()
		if why != "" {
			w.im.Overflow("my-vault")
		}
		w.shows(t, files)
	}
	if s := w.status(t); s.Stale || len(s.Errors) != 0 {
		t.Errorf("%+v", s)
	}
}

// underWine tells what Wine 8 does otherwise than Windows in a step, and whether the step is left out for it. Programs
// with nothing but the call of Windows show it.
func underWine(step string) (why string, skipped bool) {
	if os.Getenv("CTXD_WINE") == "" {
		return "", false
	}
	switch step {
	case "a file in a moved folder is written", "files in both are written":
		return "not under Wine: ReadDirectoryChangesW reports no changes in a folder that was moved", false
	case "only the case of a name changes":
		return "not under Wine: MoveFileExW leaves a name as it is when only its case is to change", true
	}
	return "", false
}

func skipWithoutEvents(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("changes are not heard of here")
	}
}

func rename(t testing.TB, dir, from, to string) {
	t.Helper()
	must(t, os.Rename(filepath.Join(dir, filepath.FromSlash(from)), filepath.Join(dir, filepath.FromSlash(to))))
}

func TestSRCH31_RenamesKeepIDsAndLinks(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "---\ntype: Person\n---\n# Ann", "b.md": "[[a]] and [[x]]", "d/one.md": "1", "d/e/two.md": "2"})
	w := follows(t, dir, kv.InMemory, 10*time.Millisecond, vault.Seam{})
	a, one, two, b := byPath(t, w, "a.md"), byPath(t, w, "d/one.md"), byPath(t, w, "d/e/two.md"), byPath(t, w, "b.md")
	rename(t, dir, "a.md", "x.md")
	rename(t, dir, "d", "f")
	w.shows(t, map[string]string{"x.md": a.Body, "b.md": b.Body, "f/one.md": "1", "f/e/two.md": "2"})
	for p, old := range map[string]*notes.Note{"x.md": a, "f/one.md": one, "f/e/two.md": two} {
		if n := byPath(t, w, p); n.ID != old.ID || n.EntityID != old.EntityID {
			t.Errorf("%s has the id %s, had %s", p, n.ID, old.ID)
		}
	}
	if !w.ents.Get(a.EntityID).Live() {
		t.Error("the entity is archived")
	}
	if got := w.notes.Targets(b.ID); !slices.Equal(got, []string{"", a.ID}) {
		t.Errorf("links lead to %q", got)
	}
}

// TestSRCH31_LostEvents has every event lost: the sweeps mend it.
func TestSRCH31_LostEvents(t *testing.T) {
	for name, seam := range map[string]vault.Seam{
		"dropped": {Drop: func(fsnotify.Event) bool { return true }},
		"untold":  {NoEvents: true},
		"exhausted": {Add: func(string) error {
			return &os.PathError{Op: "inotify_add_watch", Path: "/secret", Err: syscall.ENOSPC}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, map[string]string{"a.md": "one", "s/b.md": "two"})
			w := follows(t, dir, kv.InMemory, 10*time.Millisecond, seam)
			write(t, dir, "a.md", "changed")
			write(t, dir, "t/c.md", "new")
			must(t, os.RemoveAll(filepath.Join(dir, "s")))
			w.shows(t, map[string]string{"a.md": "changed", "t/c.md": "new"})
			s := w.status(t)
			said := len(s.Errors) == 1 && s.Errors[0].Path == "." && !strings.Contains(s.Errors[0].Reason, "secret")
			if s.Stale || !s.Watching || said != (name != "dropped" && runtime.GOOS != "darwin") && runtime.GOOS == "linux" {
				t.Errorf("%+v", s)
			}
			if name == "exhausted" && runtime.GOOS == "linux" {
				if !strings.Contains(s.Errors[0].Reason, "max_user_watches") || len(w.im.Warnings()) != 1 {
					t.Errorf("%+v, %q", s, w.im.Warnings())
				}
			}
		})
	}
}

func TestSRCH31_AnOverflowSweeps(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "one"})
	w := follows(t, dir, kv.InMemory, never, vault.Seam{Drop: func(fsnotify.Event) bool { return true }})
	write(t, dir, "b.md", "two")
	w.im.Overflow("my-vault")
	w.shows(t, map[string]string{"a.md": "one", "b.md": "two"})
}

// TestSRCH31_TheFolderGoesAndComes is a disk that is taken out and put in again.
func TestSRCH31_TheFolderGoesAndComes(t *testing.T) {
	files := map[string]string{"a.md": "one", "s/b.md": "two"}
	dir := importFolder(t, files)
	w := follows(t, dir, kv.InMemory, 10*time.Millisecond, vault.Seam{})
	away := dir + " away"
	stale := func() bool { s := w.status(t); return s.Stale && s.Errors[0].Path == "." && s.Errors[0].Reason != "" }

	// Windows renames no folder in which a file is open, as long as a sweep takes.
	until(t, "the folder is away", func() bool { return os.Rename(dir, away) == nil })
	until(t, "the vault is stale", stale)
	must(t, os.Mkdir(dir, 0o700)) // what a disk is mounted on
	until(t, "the folder is seen to be empty", func() bool { return stale() && strings.Contains(w.status(t).Errors[0].Reason, "empty") })
	if !maps.Equal(w.texts(), files) || len(w.im.Warnings()) != 1 {
		t.Errorf("%v, %q", w.texts(), w.im.Warnings())
	}
	if _, err := w.im.Import(ctx, vault.ImportRequest{Path: dir}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an import of the empty folder: %v", err)
	}
	until(t, "the empty folder is away", func() bool { return os.Remove(dir) == nil })
	must(t, os.Rename(away, dir))
	write(t, dir, "s/b.md", "changed")
	files["s/b.md"] = "changed"
	w.shows(t, files)
	until(t, "the vault is as it was", func() bool { return !w.status(t).Stale && len(w.im.Warnings()) == 0 })
	if runtime.GOOS == "linux" {
		until(t, "its folders are watched", func() bool { return len(w.im.Watched("my-vault")) == 2 })
	}
}

func TestSRCH31_TypesChange(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "---\ntype: person\nlevel: 7\n---\n", "b.md": "---\ntype: person\nlevel: 8\n---\n"})
	w := follows(t, dir, kv.InMemory, 10*time.Millisecond, vault.Seam{})
	level := func(p string) any { return w.ents.Get(byPath(t, w, p).EntityID).Fields["level"] }
	if level("a.md") != 7.0 {
		t.Fatalf("%#v", level("a.md"))
	}
	write(t, dir, ".ctxd/types/Person.yaml", "name: person\nfields:\n  - {name: level, type: text}\n")
	until(t, "the fields are read anew", func() bool { return level("a.md") == "7" && level("b.md") == "8" })
	write(t, dir, ".ctxd/types/Person.yaml", "name: person\nfields:\n  - {name: level, type: colour}\n")
	until(t, "what is wrong is listed", func() bool { return len(w.status(t).Errors) == 1 })
}

func TestSRCH31_ErrorsComeAndGo(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "one"})
	w := follows(t, dir, kv.InMemory, 10*time.Millisecond, vault.Seam{})
	listed := func(want ...string) func() bool {
		return func() bool {
			var got []string
			for _, e := range w.status(t).Errors {
				got = append(got, e.Path+": "+e.Reason)
			}
			return slices.Equal(got, want)
		}
	}
	write(t, dir, "bin.md", "a\x00")
	until(t, "a binary file is listed", listed("bin.md: binary, not text"))
	write(t, dir, "bad.md", "---\na: [\n---\nx")
	until(t, "broken frontmatter is listed", func() bool { return len(w.status(t).Errors) == 2 && byPath(t, w, "bad.md") != nil })
	write(t, dir, "bin.md", "text now")
	write(t, dir, "bad.md", "good")
	until(t, "nothing is listed", listed())
	w.shows(t, map[string]string{"a.md": "one", "bin.md": "text now", "bad.md": "good"})
	write(t, dir, ".ctxdignore", "a.md\n")
	until(t, "what is left out is listed", listed("a.md: excluded by .ctxdignore"))
	w.shows(t, map[string]string{"bin.md": "text now", "bad.md": "good"})
}

func TestSRCH31_FollowedAfterARestart(t *testing.T) {
	dir, data := importFolder(t, map[string]string{"a.md": "one"}), t.TempDir()
	w := follows(t, dir, data, never, vault.Seam{})
	must(t, w.db.Close())
	write(t, dir, "a.md", "changed while nobody looked")
	w = follows(t, "", data, never, vault.Seam{})
	w.shows(t, map[string]string{"a.md": "changed while nobody looked"})
	must(t, w.im.Unwatch(ctx, "my-vault"))
	if s := w.status(t); s.Watching {
		t.Errorf("%+v", s)
	}
	must(t, w.im.Unwatch(ctx, "")) // again is no error
	write(t, dir, "a.md", "and now nobody looks")
	must(t, w.db.Close())
	w = follows(t, "", data, never, vault.Seam{})
	if s := w.status(t); s.Watching || w.texts()["a.md"] != "changed while nobody looked" {
		t.Errorf("%+v", s)
	}
	w.imports(t, vault.ImportRequest{Path: dir, Watch: true})
	if n, err := w.im.Forget(ctx, "", nil); n != 1 || err != nil || len(w.texts()) != 0 {
		t.Errorf("forget: %d, %v", n, err)
	}
	write(t, dir, "b.md", "after it was forgotten")
	if list, err := w.im.List(ctx); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestFollowingNeedsAHost(t *testing.T) {
	w := open(t, kv.InMemory)
	dir := importFolder(t, map[string]string{"a.md": "one"})
	if _, err := w.im.Import(ctx, vault.ImportRequest{Path: dir, Watch: true}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	w.start(t)
	if res := w.imports(t, vault.ImportRequest{Path: dir, Watch: true, DryRun: true}); res.Watching || w.db.Seq() != 0 {
		t.Errorf("a dry run follows nothing: %+v", res)
	}
	if res := w.imports(t, vault.ImportRequest{Path: dir, Watch: true}); !res.Watching {
		t.Errorf("%+v", res)
	}
	if res := w.imports(t, vault.ImportRequest{Path: dir}); !res.Watching {
		t.Errorf("an import changes nothing of that: %+v", res)
	}
}

// TestSRCH31_WritersAreNotCaughtHalfway writes a file in many steps.
func TestSRCH31_WritersAreNotCaughtHalfway(t *testing.T) {
	skipWithoutEvents(t)
	dir := importFolder(t, map[string]string{"a.md": "one"})
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	var mu sync.Mutex
	var seen []string
	w.db.OnCommit(func(cs *kv.ChangeSet) {
		for _, ch := range cs.Changes {
			if _, n, ok := notes.Records.Of(ch); ok && n != nil {
				mu.Lock()
				seen = append(seen, n.Body)
				mu.Unlock()
			}
		}
	})
	f, err := os.Create(filepath.Join(dir, "a.md"))
	must(t, err)
	pauses, last := 0, time.Now() // of a busy machine, each of which may pass for the end
	for i := range 10 {
		_, err := fmt.Fprintf(f, "line %d\n", i)
		must(t, err)
		if now := time.Now(); now.Sub(last) > vault.Quiet/2 {
			pauses, last = pauses+1, now
		} else {
			last = now
		}
	}
	must(t, f.Close())
	var whole strings.Builder
	for i := range 10 {
		fmt.Fprintf(&whole, "line %d\n", i)
	}
	w.shows(t, map[string]string{"a.md": whole.String()})
	mu.Lock()
	defer mu.Unlock()
	if len(seen) > 2+pauses {
		t.Errorf("%d versions were taken in, with %d pauses: %q", len(seen), pauses, seen)
	}
}

// TestCTX34_ConfiguredFolders has the configuration leave files out, and call a
// folder private and later not.
func TestCTX34_ConfiguredFolders(t *testing.T) {
	data := t.TempDir()
	dir := importFolder(t, map[string]string{
		"a.md": "x", "Journal/b.md": "y", "some.draft.md": "d", "Out/c.md": "z", ".ctxdignore": "!some.draft.md\n!Out/\n",
	})
	for _, private := range []string{"Journal/", "Elsewhere/"} {
		db, err := kv.Open(data, kv.Options{})
		must(t, err)
		ents, err := entities.Open(db, entities.Options{})
		must(t, err)
		ns, err := notes.Open(db, ents, notes.Options{PrivateFolders: []string{private}})
		must(t, err)
		w := &watchWorld{db: db, ents: ents, notes: ns, im: vault.NewImporter(db, ents, ns, vault.ImporterOptions{Exclude: []string{"*.draft.md", "/Out/"}})}
		res := w.imports(t, vault.ImportRequest{Path: dir})
		w.shows(t, map[string]string{"a.md": "x", "Journal/b.md": "y"})
		if len(res.Skipped) != 2 || res.Skipped[0].Reason != "excluded by the configuration" {
			t.Errorf("%+v", res.Skipped)
		}
		if byPath(t, w, "Journal/b.md").Private != (private == "Journal/") || byPath(t, w, "a.md").Private {
			t.Errorf("private %s: %+v", private, byPath(t, w, "Journal/b.md"))
		}
		must(t, db.Close())
	}
}

// TestSRCH30_UnchangedFilesAreNotRead counts what is opened.
func TestSRCH30_UnchangedFilesAreNotRead(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "one", "b.md": "two", "bad.md": "---\na: [\n---\n"})
	long := time.Now().Add(-time.Hour)
	for _, p := range []string{"a.md", "b.md", "bad.md"} {
		must(t, os.Chtimes(filepath.Join(dir, p), long, long))
	}
	var mu sync.Mutex
	var opened []string
	defer vault.SetBeforeOpen(func(p string) {
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, p)
	})()
	w := open(t, kv.InMemory)
	first := w.imports(t, vault.ImportRequest{Path: dir})
	if len(opened) != 3 || len(first.Skipped) != 1 {
		t.Fatalf("%q, %+v", opened, first)
	}
	opened = nil
	write(t, dir, "b.md", "changed")
	young := time.Now().Add(vault.Grain - time.Millisecond) // also when the import is slow to begin
	must(t, os.Chtimes(filepath.Join(dir, "b.md"), young, young))
	second := w.imports(t, vault.ImportRequest{Path: dir})
	if !slices.Equal(opened, []string{"b.md"}) || second.Written != 1 || !slices.Equal(second.Skipped, first.Skipped) {
		t.Errorf("%q, %+v", opened, second)
	}
	// So young a file is read again: it may have changed and kept its size and time.
	opened = nil
	if third := w.imports(t, vault.ImportRequest{Path: dir}); !slices.Equal(opened, []string{"b.md"}) || third.Written != 0 {
		t.Errorf("%q, %+v", opened, third)
	}
}

// TestSRCH31_WatchesToHaveAgain has the system run out of watches for a while.
func TestSRCH31_WatchesToHaveAgain(t *testing.T) {
	skipWithoutEvents(t)
	dir := importFolder(t, map[string]string{"a.md": "one", "sub/b.md": "two"})
	var full atomic.Bool
	full.Store(true)
	w := follows(t, dir, kv.InMemory, 10*time.Millisecond, vault.Seam{Add: func(dir string) error {
		if dir == "sub" && full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}})
	until(t, "it is said", func() bool { return len(w.im.Warnings()) == 1 && len(w.status(t).Errors) == 1 })
	full.Store(false)
	until(t, "it is said no more", func() bool { return len(w.im.Warnings())+len(w.status(t).Errors) == 0 })
	if n := len(w.im.Watched("my-vault")); n != 2 {
		t.Errorf("%d folders are watched", n)
	}
}
