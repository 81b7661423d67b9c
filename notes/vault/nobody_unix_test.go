//go:build unix

package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/nobody"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH30_WhatNobodyMayRead runs the tests of what can't be read where root runs all
// the others: root can read everything.
func TestSRCH30_WhatNobodyMayRead(t *testing.T) {
	nobody.Tests(t,
		"TestSRCH30_WhatCantBeReadStays", "TestSRCH31_PermissionsAreHeardOf", "TestAFolderThatCanNotBeReadKeepsItsNotes",
		"TestSRCH30_UnreadableFromTheStart", "TestPRIV9_AnIgnoreFileThatCantBeRead", "TestPRIV9_APrivateNoteThatCantBeRead",
	)
}

// leaveOutForRoot leaves a test out that root passes in any case.
func leaveOutForRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("the system's administrator may read everything")
	}
}

// wantUnreadable checks that an error says what can't be read and what to do.
func wantUnreadable(t *testing.T, err error, part string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !strings.Contains(f.Msg, part) || f.Hint == "" {
		t.Errorf("got %#v, want that %s", err, part)
	}
}

// TestSRCH30_UnreadableFromTheStart imports a vault that can be read in part, and not at
// all.
func TestSRCH30_UnreadableFromTheStart(t *testing.T) {
	leaveOutForRoot(t)
	dir := importFolder(t, map[string]string{"a.md": "one", "b.md": "two", "s/c.md": "three"})
	must(t, os.Chmod(filepath.Join(dir, "a.md"), 0))
	must(t, os.Chmod(filepath.Join(dir, "s"), 0))
	w := open(t, kv.InMemory)
	res := w.imports(t, vault.ImportRequest{Path: dir})
	if len(res.Skipped) != 2 || res.Skipped[0] != (vault.ImportSkip{Path: "a.md", Reason: "can't be read"}) ||
		res.Skipped[1] != (vault.ImportSkip{Path: "s", Reason: "can't be read"}) || res.Notes != 1 {
		t.Errorf("%+v", res)
	}
	must(t, os.Chmod(dir, 0))
	_, err := w.im.Import(ctx, vault.ImportRequest{Path: dir})
	must(t, os.Chmod(dir, 0o700))
	wantUnreadable(t, err, "the folder can't be read")
	if byPath(t, w, "b.md") == nil {
		t.Error("what can't be read for a while is gone")
	}
	must(t, os.Chmod(filepath.Join(dir, "a.md"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "s"), 0o700))
	if res := w.imports(t, vault.ImportRequest{Path: dir}); len(res.Skipped) != 0 || res.Notes != 3 {
		t.Errorf("%+v", res)
	}
}

// TestPRIV9_AnIgnoreFileThatCantBeRead: what a .ctxdignore leaves out is not known while
// it can't be read, so nothing is taken in, and nothing goes.
func TestPRIV9_AnIgnoreFileThatCantBeRead(t *testing.T) {
	leaveOutForRoot(t)
	for _, ignore := range []string{".ctxdignore", "sub/.ctxdignore"} {
		files := map[string]string{"a.md": "one", "sub/b.md": "two", "sub/secret/c.md": "three", ignore: "secret/\n"}
		dir := importFolder(t, files)
		file := filepath.Join(dir, filepath.FromSlash(ignore))
		must(t, os.Chmod(file, 0))
		w := open(t, kv.InMemory)
		_, err := w.im.Import(ctx, vault.ImportRequest{Path: dir})
		wantUnreadable(t, err, ".ctxdignore of the vault cannot be read")
		if notes, _, _ := w.notes.Count(); notes != 0 {
			t.Errorf("%s can't be read: %d notes", ignore, notes)
		}
		must(t, os.Chmod(file, 0o600))
		if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Notes != 2 {
			t.Errorf("%+v", res)
		}
		must(t, os.Chmod(file, 0))
		write(t, dir, "sub/secret/d.md", "four")
		_, err = w.im.Import(ctx, vault.ImportRequest{Path: dir})
		wantUnreadable(t, err, ".ctxdignore of the vault cannot be read")
		if notes, _, _ := w.notes.Count(); notes != 2 {
			t.Errorf("%s can't be read any more: %d notes", ignore, notes)
		}
		must(t, os.Chmod(file, 0o600))
	}
}

// TestPRIV9_APrivateNoteThatCantBeRead: a note stays, and stays private, while its file
// can't be read, whatever is in it meanwhile.
func TestPRIV9_APrivateNoteThatCantBeRead(t *testing.T) {
	leaveOutForRoot(t)
	dir := importFolder(t, map[string]string{"a.md": "---\nprivate: true\n---\none", "b.md": "two"})
	file := filepath.Join(dir, "a.md")
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	was := byPath(t, w, "a.md")
	write(t, dir, "a.md", "open now, and longer than before")
	must(t, os.Chmod(file, 0))
	res := w.imports(t, vault.ImportRequest{Path: dir})
	if n := byPath(t, w, "a.md"); res.Removed != 0 || n.ID != was.ID || !n.Private || n.Body != was.Body || len(res.Skipped) != 1 {
		t.Errorf("it can't be read: %+v, %+v", n, res)
	}
	must(t, os.Chmod(file, 0o600))
	w.imports(t, vault.ImportRequest{Path: dir})
	if n := byPath(t, w, "a.md"); n.ID != was.ID || n.Private {
		t.Errorf("it can be read again: %+v", n)
	}
}
