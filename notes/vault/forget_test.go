package vault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// many returns files enough for several groups.
func many() map[string]string {
	files := make(map[string]string)
	for i := range 450 {
		files[fmt.Sprintf("n%03d.md", i)] = fmt.Sprintf("---\ntype: Person\nrole: x\n---\n# P%d\n", i)
	}
	return files
}

// TestForgetGoesInGroups removes a vault in transactions of a bounded size.
func TestForgetGoesInGroups(t *testing.T) {
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: importFolder(t, many())})
	var mu sync.Mutex
	var groups []int
	w.db.OnCommit(func(cs *kv.ChangeSet) {
		n := 0
		for _, ch := range cs.Changes {
			if old, now, ok := notes.Records.Of(ch); ok && old != nil && now == nil {
				n++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if n > 0 {
			groups = append(groups, n)
		}
	})
	var told []string
	n, err := w.im.Forget(ctx, "", func(done, total int) { told = append(told, fmt.Sprintf("%d/%d", done, total)) })
	if n != 450 || err != nil || len(w.texts()) != 0 || w.ents.Count("") != 0 {
		t.Errorf("%d, %v; %d notes and %d entities are left", n, err, len(w.texts()), w.ents.Count(""))
	}
	mu.Lock()
	defer mu.Unlock()
	if len(groups) < 3 || slices.Max(groups) > vault.Batch {
		t.Errorf("groups of %v", groups)
	}
	if want := []string{"200/450", "400/450", "450/450"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// TestForgetIsGoneOnWith ends in the middle of a forget: the next start goes on with
// it, and so do another forget and an import.
func TestForgetIsGoneOnWith(t *testing.T) {
	died := errors.New("killed")
	for name, goOn := range map[string]struct {
		do   func(t *testing.T, w *watchWorld, dir string)
		left int // notes
	}{
		"the next start": {func(t *testing.T, w *watchWorld, _ string) { w.start(t) }, 0},
		"another forget": {func(t *testing.T, w *watchWorld, _ string) {
			if n, err := w.im.Forget(ctx, "my-vault", nil); n != 250 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}, 0},
		"an import": {func(t *testing.T, w *watchWorld, dir string) {
			write(t, dir, "n000.md", "new")
			if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Written != 450 || res.Removed != 0 {
				t.Errorf("%+v", res)
			}
		}, 450},
	} {
		t.Run(name, func(t *testing.T) {
			dir, data := importFolder(t, many()), t.TempDir()
			w := follows(t, dir, data, never, vault.Seam{Forgot: func(int) error { return died }})
			if n, err := w.im.Forget(ctx, "my-vault", nil); n != vault.Batch || !errors.Is(err, died) {
				t.Fatalf("%d, %v", n, err)
			}
			s := w.status(t)
			if s.Notes != 250 || s.Watching || len(s.Errors) != 1 || s.Errors[0].Reason != "it is being forgotten" {
				t.Errorf("%+v", s)
			}
			must(t, w.db.Close())
			w = open(t, data)
			goOn.do(t, w, dir)
			until(t, "it is done", func() bool {
				list, err := w.im.List(ctx)
				return err == nil && len(w.texts()) == goOn.left && len(list) == min(goOn.left, 1)
			})
			if goOn.left == 0 && w.ents.Count("") != 0 {
				t.Errorf("%d entities are left", w.ents.Count(""))
			}
		})
	}
}

// TestPRIV4_ForgetLeavesNoTextInTheFolder: nothing that stood in a file of the vault is in a file of the store then, the
// types that its notes have given included.
func TestPRIV4_ForgetLeavesNoTextInTheFolder(t *testing.T) {
	data := t.TempDir()
	w := open(t, data)
	w.imports(t, vault.ImportRequest{Path: importFolder(t, map[string]string{
		"n.md":                  "---\ntype: ZqType\nprivate: true\nzqfield: zqvalue\n---\n# Zqtitle\n\n[[Zqlink]] #zqtag\n",
		".ctxd/types/Told.yaml": "name: Told\nfields:\n  - {name: zqdeclared, type: select, options: [zqoption]}\n",
	})})
	_, err := w.im.Forget(ctx, "", nil)
	must(t, err)
	err = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if found := regexp.MustCompile(`(?i)zq\w+`).Find(text); found != nil {
			t.Errorf("%s has %s", filepath.Base(path), found)
		}
		return err
	})
	must(t, err)
}
