package vault_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// link makes a symbolic link to a folder beside it, and returns its path.
func link(t *testing.T, dir, name string) string {
	t.Helper()
	to := filepath.Join(filepath.Dir(dir), name)
	if err := os.Symlink(dir, to); err != nil {
		t.Skip(err)
	}
	return to
}

// TestSRCH30_AFolderIsOneVault imports a folder by two paths.
func TestSRCH30_AFolderIsOneVault(t *testing.T) {
	dir := importFolder(t, map[string]string{"a.md": "one"})
	other := link(t, dir, "by-link")
	for _, order := range [][2]string{{dir, other}, {other, dir}} {
		w := open(t, kv.InMemory)
		first := w.imports(t, vault.ImportRequest{Path: order[0]})
		write(t, dir, "b.md", "two "+order[0])
		second := w.imports(t, vault.ImportRequest{Path: order[1]})
		if second.Vault != first.Vault || second.Notes != len(w.texts()) || second.Removed != 0 {
			t.Errorf("%+v, then %+v", first, second)
		}
		if s := w.status(t); s.Path != order[0] {
			t.Errorf("it is at %s", s.Path)
		}
		_, err := w.im.Import(ctx, vault.ImportRequest{Path: order[1], Name: "another"})
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "already") {
			t.Errorf("with another name: %v", err)
		}
		must(t, os.Remove(filepath.Join(dir, "b.md")))
	}
}

// TestSRCH30_VaultsDoNotLieInEachOther has a folder in another imported beside it.
func TestSRCH30_VaultsDoNotLieInEachOther(t *testing.T) {
	files := map[string]string{"a.md": "one", "sub/deep/b.md": "two", "sub/c.md": "three"}
	for name, c := range map[string]struct {
		first, second string // in the folder
		ignore        string
		says          string // in the error; "" for none
		hint          string
	}{
		"inside":                    {".", "sub/deep", "", `is inside vault "my-vault"`, "/sub/deep/"},
		"around":                    {"sub/deep", ".", "", `the folder contains vault "deep"`, "/sub/deep/"},
		"inside, left out":          {".", "sub/deep", "/sub/deep/\n", "", ""},
		"inside what is left out":   {".", "sub/deep", "sub/\n", "", ""},
		"around, left out":          {"sub/deep", ".", "deep/\n", "", ""},
		"beside, with a like name":  {"sub", "../my vault-more", "", "", ""},
		"inside, by a link":         {".", "../by-link", "", `is inside vault "my-vault"`, "/sub/deep/"},
		"around, but for one above": {"sub/deep", "sub", "", `the folder contains vault "deep"`, "/deep/"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, files)
			write(t, dir+"-more", "x.md", "x")
			if strings.HasSuffix(c.second, "by-link") {
				if err := os.Symlink(filepath.Join(dir, "sub", "deep"), filepath.Join(filepath.Dir(dir), "by-link")); err != nil {
					t.Skip(err)
				}
			}
			if c.ignore != "" {
				write(t, dir, ".ctxdignore", c.ignore)
			}
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: filepath.Join(dir, c.first)})
			before := w.texts()
			for _, dry := range []bool{true, false} {
				_, err := w.im.Import(ctx, vault.ImportRequest{Path: filepath.Join(dir, c.second), DryRun: dry})
				if c.says == "" {
					must(t, err)
					continue
				}
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Ref == "" || !strings.Contains(f.Msg, c.says) || !strings.Contains(f.Hint, c.hint) {
					t.Errorf("dry run %v: %v", dry, err)
				}
				if !maps.Equal(w.texts(), before) {
					t.Errorf("notes were taken in: %v", w.texts())
				}
			}
			// What is there is read again all the same.
			w.imports(t, vault.ImportRequest{Path: filepath.Join(dir, c.first)})
		})
	}
}

// TestSRCH30_OfTwoThatBeginTogether has a folder imported while another, in or around
// it, has only begun to be.
func TestSRCH30_OfTwoThatBeginTogether(t *testing.T) {
	for name, c := range map[string]struct{ first, second, says string }{
		"inside":   {".", "sub", `is inside vault "first"`},
		"around":   {"sub", ".", `the folder contains vault "first"`},
		"the same": {".", ".", "vault first is being imported"},
		"apart":    {"sub", "other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, map[string]string{"a.md": "one", "sub/b.md": "two", "other/c.md": "three"})
			w := open(t, kv.InMemory)
			second := func() {
				_, err := w.im.Import(ctx, vault.ImportRequest{Path: filepath.Join(dir, c.second)})
				if c.says == "" {
					must(t, err)
				} else if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			}
			w.imports(t, vault.ImportRequest{Path: filepath.Join(dir, c.first), Name: "first", Named: func(string) { second() }})
		})
	}
	t.Run("a dry run is nobody's neighbour", func(t *testing.T) {
		dir := importFolder(t, map[string]string{"a.md": "one", "sub/b.md": "two"})
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: dir, DryRun: true, Named: func(string) {
			w.imports(t, vault.ImportRequest{Path: filepath.Join(dir, "sub")})
		}})
	})
	t.Run("after one that failed", func(t *testing.T) {
		dir := importFolder(t, map[string]string{"a.md": "one", "sub/b.md": "two"})
		w := open(t, kv.InMemory)
		gone, cancel := context.WithCancel(ctx)
		if _, err := w.im.Import(gone, vault.ImportRequest{Path: dir, Named: func(string) { cancel() }}); err == nil {
			t.Fatal("it did not fail")
		}
		w.imports(t, vault.ImportRequest{Path: filepath.Join(dir, "sub")})
	})
}

// TestSRCH31_AFolderThatComesLater waits for a folder that was not there when the
// vault was to be imported first.
func TestSRCH31_AFolderThatComesLater(t *testing.T) {
	dir, data := filepath.Join(t.TempDir(), "Later"), t.TempDir()
	w := follows(t, "", data, never, vault.Seam{})
	req := vault.ImportRequest{Path: dir, Watch: true, Await: true}
	for range 2 { // again is no error of its own
		if _, err := w.im.Import(ctx, req); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	}
	until(t, "it is said", func() bool { return len(w.im.Warnings()) == 1 })
	s, err := w.im.Status(ctx, "Later")
	must(t, err)
	if !s.Watching || !s.Stale || s.Path != dir || s.Notes != 0 || len(s.Errors) != 1 || s.Errors[0] != (vault.ImportSkip{Path: ".", Reason: "there is no such folder"}) {
		t.Errorf("%+v", s)
	}
	if list, err := w.im.List(ctx); err != nil || len(list) != 1 || list[0].Vault != "Later" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := w.im.Import(ctx, vault.ImportRequest{Path: folderNamed(t, "Later")}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another folder of that name: %v", err)
	}
	write(t, dir, "a.md", "there")
	w.shows(t, map[string]string{"a.md": "there"})
	until(t, "all is well", func() bool {
		s, err := w.im.Status(ctx, "")
		return err == nil && !s.Stale && len(w.im.Warnings()) == 0
	})
	must(t, w.db.Close())

	write(t, dir, "b.md", "is followed")
	w = follows(t, "", data, never, vault.Seam{})
	w.shows(t, map[string]string{"a.md": "there", "b.md": "is followed"})
}

func folderNamed(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	write(t, dir, "x.md", "x")
	return dir
}

// TestSRCH31_NoLongerWaitedFor ends the wait for a folder.
func TestSRCH31_NoLongerWaitedFor(t *testing.T) {
	for name, end := range map[string]func(w *watchWorld) error{
		"unwatch": func(w *watchWorld) error { return w.im.Unwatch(ctx, "Later") },
		"forget": func(w *watchWorld) error {
			_, err := w.im.Forget(ctx, "Later", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "Later")
			w := follows(t, "", kv.InMemory, never, vault.Seam{})
			_, err := w.im.Import(ctx, vault.ImportRequest{Path: dir, Watch: true, Await: true})
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%v", err)
			}
			must(t, end(w))
			if list, err := w.im.List(ctx); err != nil || len(list) != 0 || len(w.im.Warnings()) != 0 {
				t.Errorf("%+v, %v, %q", list, err, w.im.Warnings())
			}
			if end(w) == nil {
				t.Error("it is known still")
			}
		})
	}
}

// TestSRCH31_WhatIsWaitedForIsNoVaultOfItsOwn has a folder come that another vault
// has the notes of.
func TestSRCH31_WhatIsWaitedForIsNoVaultOfItsOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	for name, at := range map[string]string{"the same": ".", "inside": "sub"} {
		t.Run(name, func(t *testing.T) {
			dir := importFolder(t, map[string]string{"a.md": "one", "sub/b.md": "two"})
			later := filepath.Join(t.TempDir(), "Later")
			w := follows(t, dir, kv.InMemory, never, vault.Seam{})
			_, err := w.im.Import(ctx, vault.ImportRequest{Path: later, Watch: true, Await: true})
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%v", err)
			}
			must(t, os.Symlink(filepath.Join(dir, at), later))
			until(t, "it is said", func() bool {
				s, err := w.im.Status(ctx, "Later")
				return err == nil && len(s.Errors) == 1 && strings.Contains(s.Errors[0].Reason, `vault "my-vault"`)
			})
			if n := len(w.texts()); n != 2 {
				t.Errorf("%d notes", n)
			}
		})
	}
}
