//go:build unix

package vault_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSEC5_HugeAndPackedFiles has files that would cost much to read: none is.
func TestSEC5_HugeAndPackedFiles(t *testing.T) {
	dir := importFolder(t, map[string]string{"ok.md": "fine"})
	must(t, os.WriteFile(filepath.Join(dir, "huge.md"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "huge.md"), 50<<20))
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, err := w.Write(make([]byte, 10<<20)) // a thousand times as much as is written
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile(filepath.Join(dir, "packed.md"), gz.Bytes(), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "packed.md.gz"), gz.Bytes(), 0o600))
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	_, err = z.Create("../../escape.md")
	must(t, err)
	must(t, z.Close())
	must(t, os.WriteFile(filepath.Join(dir, "notes.zip"), zipped.Bytes(), 0o600))
	if err := syscall.Mknod(filepath.Join(dir, "device.md"), syscall.S_IFCHR|0o600, 1<<8|5); err != nil {
		t.Logf("no device: %v", err)
	}
	world := open(t, kv.InMemory)
	res := world.imports(t, vault.ImportRequest{Path: dir})
	got := make(map[string]string)
	for _, s := range res.Skipped {
		got[s.Path] = s.Reason
	}
	want := map[string]string{
		"huge.md": "larger than 4 MiB", "packed.md": "binary, not text",
		"packed.md.gz": "an archive, which is never unpacked", "notes.zip": "an archive, which is never unpacked",
	}
	if _, err := os.Lstat(filepath.Join(dir, "device.md")); err == nil {
		want["device.md"] = "not a regular file"
	}
	if diff := cmp.Diff(want, got); diff != "" || res.Notes != 1 {
		t.Errorf("%d notes\n%s", res.Notes, diff)
	}
}

// TestSEC5_SwappedForALink puts something else in the place of a file, or of the
// folder that it lies in, at the last moment before it is opened: what lies outside
// is never taken in, and a pipe is not waited for.
func TestSEC5_SwappedForALink(t *testing.T) {
	for name, swap := range map[string]func(dir, outside string) error{
		"link": func(dir, outside string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "sub/n.md")), os.Symlink(filepath.Join(outside, "n.md"), filepath.Join(dir, "sub/n.md")))
		},
		"relative link": func(dir, outside string) error {
			to, err := filepath.Rel(filepath.Join(dir, "sub"), filepath.Join(outside, "n.md"))
			return errors.Join(err, os.Remove(filepath.Join(dir, "sub/n.md")), os.Symlink(to, filepath.Join(dir, "sub/n.md")))
		},
		"folder": func(dir, outside string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "was")), os.Symlink(outside, filepath.Join(dir, "sub")))
		},
		"pipe": func(dir, _ string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "sub/n.md")), syscall.Mkfifo(filepath.Join(dir, "sub/n.md"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := importFolder(t, map[string]string{"sub/n.md": "inside"}), t.TempDir()
			must(t, os.WriteFile(filepath.Join(outside, "n.md"), []byte("CANARY"), 0o600))
			done := false
			defer vault.SetBeforeOpen(func(p string) {
				if p == "sub/n.md" && !done {
					done = true
					must(t, swap(dir, outside))
				}
			})()
			w := open(t, kv.InMemory)
			res := w.imports(t, vault.ImportRequest{Path: dir})
			if !done || res.Notes != 0 || len(res.Skipped) != 1 {
				t.Errorf("swapped: %v; %+v, %v", done, res, w.texts())
			}
		})
	}
}

// TestSRCH30_NothingIsWritten compares all of a vault before an import, following
// it and forgetting it, and after. Nobody may write there anyway.
func TestSRCH30_NothingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	must(t, fixtures.CopyVault(dir))
	modes(t, dir, 0o500, 0o400)
	t.Cleanup(func() { modes(t, dir, 0o700, 0o600) })
	before := manifest(t, dir)
	w := follows(t, dir, kv.InMemory, 0, vault.Seam{})
	if s := w.status(t); s.Notes != fixtures.Expected.Notes || s.Stale {
		t.Errorf("%+v", s)
	}
	_, err := w.im.Forget(ctx, "", nil)
	must(t, err)
	if diff := cmp.Diff(before, manifest(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func modes(t *testing.T, dir string, folder, file fs.FileMode) {
	must(t, os.Chmod(dir, 0o700))
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(p, file)
	}))
	var dirs []string
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700)
			dirs = append(dirs, p)
		}
		return err
	}))
	for _, p := range dirs {
		must(t, os.Chmod(p, folder))
	}
}

// manifest says of everything in a folder what it is, when it was changed, and
// what is in it.
func manifest(t *testing.T, dir string) map[string]string {
	out := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		sum := [sha256.Size]byte{}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		out[p] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime(), sum)
		return nil
	}))
	return out
}

// TestSRCH30_WhatCantBeReadStays has a folder and a file that nobody may read for
// a while: what is known of them stays, and is brought up to date afterwards.
func TestSRCH30_WhatCantBeReadStays(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the system's administrator may read everything")
	}
	files := map[string]string{"a.md": "one", "s/b.md": "two", "s/t/c.md": "three"}
	dir := importFolder(t, files)
	w := follows(t, dir, kv.InMemory, 10e6, vault.Seam{})
	must(t, os.Chmod(filepath.Join(dir, "s"), 0))
	must(t, os.Chmod(filepath.Join(dir, "a.md"), 0))
	until(t, "both are listed", func() bool { return len(w.status(t).Errors) == 2 })
	w.shows(t, files)
	must(t, os.Chmod(filepath.Join(dir, "s"), 0o700))
	must(t, os.Chmod(filepath.Join(dir, "a.md"), 0o600))
	must(t, os.RemoveAll(filepath.Join(dir, "s/t")))
	delete(files, "s/t/c.md")
	until(t, "nothing is listed", func() bool { return len(w.status(t).Errors) == 0 })
	w.shows(t, files)
}

// TestSRCH31_PermissionsAreHeardOf opens what nobody may read, without a sweep.
func TestSRCH31_PermissionsAreHeardOf(t *testing.T) {
	skipWithoutEvents(t)
	if os.Geteuid() == 0 {
		t.Skip("the system's administrator may read everything")
	}
	files := map[string]string{"a.md": "one", "s/b.md": "two"}
	dir := importFolder(t, files)
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	sub := filepath.Join(dir, "s")
	must(t, os.Chmod(sub, 0))
	until(t, "it is listed", func() bool { return len(w.status(t).Errors) == 1 })
	must(t, os.Chmod(sub, 0o700))
	until(t, "it is listed no more", func() bool { return len(w.status(t).Errors) == 0 })
	must(t, os.Chmod(dir, 0))
	until(t, "the vault is stale", func() bool { return w.status(t).Stale })
	must(t, os.Chmod(dir, 0o700))
	until(t, "it is not any more", func() bool { return !w.status(t).Stale })
	w.shows(t, files)
}
