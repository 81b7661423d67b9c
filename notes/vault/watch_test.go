package vault_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

var ctx = context.Background()

type watchWorld struct {
	db    *kv.Store
	ents  *entities.Store
	notes *notes.Store
	im    *vault.Importer
}

func open(t testing.TB, dir string) *watchWorld {
	t.Helper()
	w := &watchWorld{}
	var err error
	w.db, err = kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{})
	return w
}

func (w *watchWorld) imports(t testing.TB, req vault.ImportRequest) *vault.ImportResult {
	t.Helper()
	res, err := w.im.Import(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// importFolder writes files into a new folder.
func importFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my vault")
	for p, text := range files {
		write(t, dir, p, text)
	}
	return dir
}

func write(t testing.TB, dir, p, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSRCH30_TheSampleVault imports the bundled vault and compares everything
// that it says about itself.
func TestSRCH30_TheSampleVault(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	if err := fixtures.CopyVault(dir); err != nil {
		t.Fatal(err)
	}
	want := fixtures.Expected
	w := open(t, kv.InMemory)
	res := w.imports(t, vault.ImportRequest{Path: dir})
	entityCount := 0
	for name, n := range want.Entities {
		entityCount += n
		got := 0
		for e := range w.ents.All() {
			if e.Type == name {
				got++
			}
		}
		if got != n {
			t.Errorf("%d entities of type %s, want %d", got, name, n)
		}
	}
	if res.Vault != "vault" || res.Notes != want.Notes || res.Links != want.Links || res.Unresolved != want.Unresolved ||
		res.Entities != entityCount || res.Written != want.Notes || !slices.Equal(res.Inferred, []string{"Equipment"}) {
		t.Errorf("%+v", res)
	}
	reasons := make(map[string][]string)
	for _, s := range res.Skipped {
		reasons[s.Path] = append(reasons[s.Path], s.Reason)
	}
	for _, p := range want.BrokenFrontmatter {
		if len(reasons[p]) != 1 || !strings.HasPrefix(reasons[p][0], "frontmatter left out: ") {
			t.Errorf("%s: %q", p, reasons[p])
		}
	}
	for p, fields := range want.InvalidValues {
		if len(reasons[p]) < len(fields) {
			t.Errorf("%s: %q, want the fields %v", p, reasons[p], fields)
		}
		for _, f := range fields {
			if !slices.ContainsFunc(reasons[p], func(r string) bool { return strings.Contains(r, `"`+f+`"`) }) {
				t.Errorf("%s: nothing about %s in %q", p, f, reasons[p])
			}
		}
	}
	for _, p := range want.BrokenTypes {
		if len(reasons[p]) != 1 || !strings.HasPrefix(reasons[p][0], "type left out: ") {
			t.Errorf("%s: %q", p, reasons[p])
		}
	}
	archived, private := 0, 0
	for n := range w.notes.All() {
		if !n.Live() {
			archived++
		}
		if n.Private {
			private++
		}
		if slices.Contains(want.Excluded, n.Path) || !n.VaultBacked {
			t.Errorf("note %s", n.Path)
		}
	}
	if archived != want.Archived || private != want.Private {
		t.Errorf("%d archived, %d private", archived, private)
	}
	status, err := w.im.Status(ctx, "")
	if err != nil || status.Notes != want.Notes || status.MarkdownLinks != want.MarkdownLinks || status.Stale || len(status.Errors) != len(res.Skipped) {
		t.Errorf("status %+v, %v", status, err)
	}
	again := w.imports(t, vault.ImportRequest{Path: dir})
	again.Ms, res.Ms, res.Written = 0, 0, 0
	if diff := cmp.Diff(res, again); diff != "" {
		t.Errorf("a second import differs:\n%s", diff)
	}
}

// TestRealVaults counts the wikilinks of two real vaults against lists made by others.
// Those have no Markdown links; all to files lead nowhere there, since the pictures of
// these vaults are not at hand.
func TestRealVaults(t *testing.T) {
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA is not set: the real vaults are not at hand")
	}
	for _, name := range []string{"vault-logseq", "vault-silverbullet"} {
		t.Run(name, func(t *testing.T) {
			w := open(t, kv.InMemory)
			res := w.imports(t, vault.ImportRequest{Path: filepath.Join(data, name, "vault")})
			f, err := os.Open(filepath.Join(data, name, "links.tsv"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			type key struct{ source, line, link string }
			want := make(map[key][]string)
			links, lost := 0, 0
			lines := bufio.NewScanner(f)
			lines.Scan() // the names of the columns
			for lines.Scan() {
				c := strings.Split(lines.Text(), "\t")
				want[key{c[0], c[1], c[2]}] = append(want[key{c[0], c[1], c[2]}], c[3])
				links++
				if c[3] == "" {
					lost++
				}
			}
			markdown := w.notes.LinkCount(res.Vault, nil).Markdown
			if res.Links-markdown != links || res.Unresolved-markdown > lost {
				t.Errorf("%d links, %d unresolved, %d of Markdown; the list has %d and %d", res.Links, res.Unresolved, markdown,
					links, lost)
			}
			more := 0
			for n := range w.notes.All() {
				targets := w.notes.Targets(n.ID)
				for i, l := range n.Links() {
					if l.Markdown {
						if to := w.notes.Get(targets[i]); to != nil {
							t.Errorf("%s links to %q by %q", n.Path, to.Path, l.Raw)
						}
						continue
					}
					k := key{n.Path, fmt.Sprint(l.Line), l.Raw}
					if len(want[k]) == 0 {
						t.Errorf("%v is not in the list", k)
						continue
					}
					expected := want[k][0]
					want[k] = want[k][1:]
					got := ""
					if to := w.notes.Get(targets[i]); to != nil {
						got = to.Path
					}
					switch {
					case expected == "" && got != "":
						more++ // by title, alias or the tail of a path, which the list does not know
					case got != expected:
						t.Errorf("%v leads to %q, want %q", k, got, expected)
					}
				}
			}
			t.Logf("%d notes, %d links, %d unresolved; %d resolved by title, alias or path tail only; %d ms",
				res.Notes, res.Links, res.Unresolved, more, res.Ms)
		})
	}
}

func TestSRCH30_ChangesRenamesAndRemovals(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"a.md": "---\ntype: Person\n---\n# Ann", "sub/b.md": "to [[a]] and [[Ann]]", "c.md": "gone soon", "same1.md": "twin", "same2.md": "twin",
	})
	data := t.TempDir()
	w := open(t, data)
	first := w.imports(t, vault.ImportRequest{Path: dir})
	if first.Vault != "my-vault" || first.Written != 5 || first.Unresolved != 0 {
		t.Fatalf("%+v", first)
	}
	a, b := byPath(t, w, "a.md"), byPath(t, w, "sub/b.md")
	if a.ID != notes.VaultID("my-vault", "a.md", "note") || a.EntityID != notes.VaultID("my-vault", "a.md", "entity") {
		t.Errorf("ids %s and %s do not come from the place", a.ID, a.EntityID)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "moved"), 0o700))
	must(t, os.Rename(filepath.Join(dir, "a.md"), filepath.Join(dir, "moved", "x.md")))
	must(t, os.Remove(filepath.Join(dir, "c.md")))
	write(t, dir, "sub/b.md", "new text to [[x]]")
	second := w.imports(t, vault.ImportRequest{Path: dir})
	if second.Written != 2 || second.Removed != 1 || second.Notes != 4 {
		t.Errorf("%+v", second)
	}
	moved := byPath(t, w, "moved/x.md")
	if moved.ID != a.ID || moved.EntityID != a.EntityID || !w.ents.Get(a.EntityID).Live() {
		t.Errorf("a rename keeps the ids: %+v", moved)
	}
	write(t, dir, "a.md", "another note at the old place")
	w.imports(t, vault.ImportRequest{Path: dir})
	if n := byPath(t, w, "a.md"); n.ID == a.ID || n.EntityID != "" {
		t.Errorf("a new file has a new id: %+v", n)
	}
	if n := byPath(t, w, "sub/b.md"); n.ID != b.ID || n.Version != 2 || w.notes.Targets(n.ID)[0] != a.ID {
		t.Errorf("%+v", n)
	}
	must(t, w.db.Close())
	w = open(t, data)
	third := w.imports(t, vault.ImportRequest{Path: dir})
	if third.Written != 0 || third.Removed != 0 || third.Notes != 5 {
		t.Errorf("after a restart nothing is to be done: %+v", third)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func byPath(t testing.TB, w *watchWorld, p string) *notes.Note {
	t.Helper()
	n, err := w.notes.ByPath(p, nil)
	must(t, err)
	return n
}

func TestTypesOfAVaultChange(t *testing.T) {
	dir := importFolder(t, map[string]string{
		".ctxd/types/Person.yaml": "name: Person\nfields:\n  - {name: level, type: text}\n", "a.md": "---\ntype: person\nlevel: 7\nrole: x\n---\n",
	})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	id := byPath(t, w, "a.md").EntityID
	if diff := cmp.Diff(entities.Values{"level": "7"}, w.ents.Get(id).Fields); diff != "" {
		t.Error(diff)
	}
	write(t, dir, ".ctxd/types/Person.yaml", "name: Person\nfields:\n  - {name: level, type: number}\n  - {name: role, type: text}\n")
	res := w.imports(t, vault.ImportRequest{Path: dir})
	if diff := cmp.Diff(entities.Values{"level": 7.0, "role": "x"}, w.ents.Get(id).Fields); diff != "" || res.Written != 1 {
		t.Errorf("%+v\n%s", res, diff)
	}
}

func TestSEC5_OnlyWhatLiesInTheVault(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"ok.md": "fine", "binary.md": "a\x00b", "latin1.md": "caf\xe9", "big.md": strings.Repeat("x", notes.MaxBody+1),
		".hidden/x.md": "hidden", ".obsidian/app.json": "{}", "image.png": "png", "deep/.ctxdignore": "*.tmp.md\n!keep.tmp.md\n",
		"deep/a.tmp.md": "no", "deep/keep.tmp.md": "yes", ".ctxdignore": "# comment\nsecret/\n", "secret/s.md": "no", "UPPER.MD": "yes",
	})
	outside := filepath.Join(filepath.Dir(dir), "outside.md")
	must(t, os.WriteFile(outside, []byte("outside"), 0o600))
	wantLinks := 0
	if runtime.GOOS != "windows" {
		wantLinks = 4
		must(t, os.Symlink(outside, filepath.Join(dir, "escape.md")))
		must(t, os.Symlink("../outside.md", filepath.Join(dir, "dots.md")))
		must(t, os.Symlink("nowhere.md", filepath.Join(dir, "dangling.md")))
		must(t, os.Symlink("deep", filepath.Join(dir, "folder.md")))
		must(t, os.Symlink("ok.md", filepath.Join(dir, "inside.md")))
		makeFIFO(t, filepath.Join(dir, "fifo.md"))
	}
	w := open(t, kv.InMemory)
	res := w.imports(t, vault.ImportRequest{Path: dir})
	var got []string
	for n := range w.notes.All() {
		got = append(got, n.Path)
	}
	slices.Sort(got)
	want := []string{"UPPER.MD", "deep/keep.tmp.md", "ok.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	listed := make(map[string]string)
	for _, s := range res.Skipped {
		listed[s.Path] = s.Reason
	}
	for _, p := range []string{"binary.md", "latin1.md", "big.md", "deep/a.tmp.md", "secret"} {
		if listed[p] == "" {
			t.Errorf("%s is not listed: %v", p, listed)
		}
	}
	if wantLinks > 0 && (listed["escape.md"] == "" || listed["dots.md"] == "" || listed["dangling.md"] == "" || listed["folder.md"] == "" || listed["inside.md"] == "" || listed["fifo.md"] == "") {
		t.Errorf("links and pipes are listed: %v", listed)
	}
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error { return err })
	must(t, err)
}

func TestBadImports(t *testing.T) {
	w := open(t, kv.InMemory)
	dir := importFolder(t, map[string]string{"a.md": "x"})
	other := importFolder(t, map[string]string{"b.md": "y"})
	w.imports(t, vault.ImportRequest{Path: dir})
	for _, c := range []struct {
		req   vault.ImportRequest
		kind  fault.Kind
		field string
	}{
		{vault.ImportRequest{}, fault.Invalid, "path"},
		{vault.ImportRequest{Path: "relative"}, fault.Invalid, "path"},
		{vault.ImportRequest{Path: filepath.Join(dir, "none")}, fault.NotFound, "path"},
		{vault.ImportRequest{Path: filepath.Join(dir, "a.md")}, fault.Invalid, "path"},
		{vault.ImportRequest{Path: other, Name: "a/b"}, fault.Invalid, "name"},
		{vault.ImportRequest{Path: other, Name: "my-vault"}, fault.Conflict, ""},
		{vault.ImportRequest{Path: other}, fault.Conflict, ""},
		{vault.ImportRequest{Path: dir, Name: "again"}, fault.Conflict, ""},
	} {
		_, err := w.im.Import(ctx, c.req)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Field != c.field || f.Hint == "" && f.Kind != fault.Invalid {
			t.Errorf("%+v: %v", c.req, err)
		}
		if err != nil && strings.Contains(fault.Message(err), filepath.Dir(dir)) {
			t.Errorf("the message names a path of the file system: %v", err)
		}
	}
	if _, err := w.im.Status(ctx, "nope"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("status: %v", err)
	}
	if _, err := w.im.Forget(ctx, "nope", nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("forget: %v", err)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	must(t, fixtures.CopyVault(dir))
	w := open(t, kv.InMemory)
	dry := w.imports(t, vault.ImportRequest{Path: dir, DryRun: true})
	if n, _, _ := w.notes.Count(); n != 0 || w.db.Seq() != 0 || len(w.ents.Types()) != 0 {
		t.Errorf("a dry run wrote %d notes", n)
	}
	done := w.imports(t, vault.ImportRequest{Path: dir})
	dry.DryRun, dry.Ms, done.Ms = false, 0, 0
	if diff := cmp.Diff(done, dry); diff != "" {
		t.Errorf("it reports what a real one does:\n%s", diff)
	}
}

func TestForgetLeavesNothing(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "---\ntype: Person\n---\nthe CANARY text", "b.md": "other"})
	data := t.TempDir()
	w := open(t, data)
	w.imports(t, vault.ImportRequest{Path: dir})
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "mine", Body: "stays"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Backup(ctx, filepath.Join(data, "replaced.ctxdbackup"), kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	n, err := w.im.Forget(ctx, "my-vault", nil)
	if err != nil || n != 2 || w.notes.Get("mine") == nil || w.ents.Count("") != 0 {
		t.Errorf("%d removed, %v", n, err)
	}
	if list, err := w.im.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	must(t, w.db.Close())
	must(t, filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(p)
		if strings.Contains(string(content), "CANARY") {
			t.Errorf("%s still holds the text", d.Name())
		}
		return err
	}))
}

func TestCancelledImportGoesOnLater(t *testing.T) {
	const all, batch = 2600, 500
	files := make(map[string]string)
	for i := range all {
		files[fmt.Sprintf("n%04d.md", i)] = fmt.Sprintf("note %d to [[n%04d]]", i, (i+1)%all)
	}
	dir := importFolder(t, files)
	w := open(t, kv.InMemory)
	stop, cancel := context.WithCancel(ctx)
	_, err := w.im.Import(stop, vault.ImportRequest{Path: dir, Progress: func(stage string, done, _ int) {
		if stage == "write" && done == batch {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	n, _, _ := w.notes.Count()
	if n == 0 || n%batch != 0 {
		t.Errorf("%d notes are there, a whole batch has %d", n, batch)
	}
	var stages []string
	res := w.imports(t, vault.ImportRequest{Path: dir, Progress: func(stage string, done, total int) {
		if done == total {
			stages = append(stages, stage)
		}
	}})
	if res.Written != all-n || res.Notes != all || res.Unresolved != 0 {
		t.Errorf("%+v", res)
	}
	if !slices.Contains(stages, "write") {
		t.Errorf("progress reached the end of %v", stages)
	}
}

func BenchmarkImport(b *testing.B) {
	files := make(map[string]string)
	for i := range 2000 {
		files[fmt.Sprintf("d%d/n%04d.md", i%20, i)] = fmt.Sprintf("# Note %d\n\n%s [[n%04d]] #tag%d\n", i, strings.Repeat("some words of a text that goes on. ", 55), (i*7)%2000, i%50)
	}
	dir := importFolder(b, files)
	b.ResetTimer()
	for range b.N {
		w := open(b, b.TempDir())
		start := time.Now()
		res := w.imports(b, vault.ImportRequest{Path: dir})
		b.ReportMetric(float64(res.Notes)/time.Since(start).Seconds(), "notes/s")
		w.db.Close()
	}
}
