package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

func TestREL13_Formats(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{Format: 2})
	put(t, s, "a", "1")
	wantState(t, s, map[string]string{"a": "1"}) // the mark is no record
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	before := d.list()
	_, err := kv.Open(dir, kv.Options{FS: d, Format: 1})
	e := wantKind(t, err, fault.Unavailable)
	if !strings.Contains(e.Msg, "format 2") || !strings.Contains(e.Msg, "up to 1") {
		t.Errorf("message %q names not both formats", e.Msg)
	}
	if !slices.Equal(before, d.list()) {
		t.Error("a refused store was changed")
	}

	failing := errors.New("no")
	if _, err := kv.Open(dir, kv.Options{FS: d, Format: 4, Upgrade: func(*kv.Tx, int) error { return failing }}); !errors.Is(err, failing) {
		t.Errorf("failing upgrade: %v", err)
	}
	var from []int
	upgrade := func(tx *kv.Tx, f int) error {
		from = append(from, f)
		return notes.Put(tx, "b", &record{Text: "upgraded"})
	}
	s = open(t, d, kv.Options{Format: 4, Upgrade: upgrade})
	wantState(t, s, map[string]string{"a": "1", "b": "upgraded"})
	_ = s.Snapshot(ctx)
	_ = s.Close()
	s = open(t, d, kv.Options{Format: 4, Upgrade: upgrade})
	_ = s.Close()
	if !slices.Equal(from, []int{2}) {
		t.Errorf("upgrades from %v", from)
	}
	_, err = kv.Open(dir, kv.Options{FS: d, Format: 3})
	wantKind(t, err, fault.Unavailable)

	// An upgrade that finds nothing to change still counts.
	s = open(t, d, kv.Options{Format: 5, Upgrade: func(*kv.Tx, int) error { return nil }})
	_ = s.Close()
	_, err = kv.Open(dir, kv.Options{FS: d, Format: 4})
	wantKind(t, err, fault.Unavailable)
}

func TestREL5_SecondOpener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = kv.Open(path, kv.Options{})
	e := wantKind(t, err, fault.Conflict)
	if !strings.Contains(e.Msg, fmt.Sprint(os.Getpid())) {
		t.Errorf("message %q does not name the holder", e.Msg)
	}
	if strings.Contains(e.Msg+e.Hint, path) {
		t.Error("the message holds a path")
	}
	put(t, s, "a", "1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantState(t, s, map[string]string{"a": "1"})
	if !s.Status().Recovered.Clean {
		t.Errorf("Recovered = %+v", s.Status().Recovered)
	}
}

func TestSEC1_Modes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are POSIX")
	}
	path := filepath.Join(t.TempDir(), "deep", "store")
	check := func(when string) {
		t.Helper()
		err := filepath.WalkDir(filepath.Dir(path), func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s: %s has mode %v", when, e.Name(), info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	reopen := func() *kv.Store {
		s, err := kv.Open(path, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen()
	check("new")
	for i := range 3 {
		put(t, s, "a", fmt.Sprint(i))
		if err := s.Snapshot(ctx); err != nil {
			t.Fatal(err)
		}
		check("snapshot")
	}
	_ = s.Close()
	check("closed")
	// Somebody was careless: the next start makes it private again.
	_ = os.Chmod(path, 0o755)
	files, _ := filepath.Glob(filepath.Join(path, "*"))
	for _, f := range files {
		_ = os.Chmod(f, 0o644)
	}
	s = reopen()
	check("reopened")
	wantState(t, s, map[string]string{"a": "2"})
	_ = s.Close()
}

// A store does not move into a folder of something else, whose mode and files
// stay as they are.
func TestOpenRefusesAForeignFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".hidden", "a.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = kv.Open(dir, kv.Options{})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("opening it: %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode() != before.Mode() {
		t.Errorf("its mode is %v now (%v)", info, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("it holds %v", entries)
	}
	if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	s, err := kv.Open(dir, kv.Options{}) // with nothing but what systems leave in folders
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A folder with anything of somebody else is not taken for a store's.
func TestREL5_FolderOfSomethingElse(t *testing.T) {
	for _, tc := range []struct {
		has    string // a slash at the end makes it a folder
		beside []string
		ok     bool
	}{
		{has: "notes.md"},
		{has: "Projects/"},
		{has: "log/", beside: []string{"log/"}, ok: true},
		{has: "log/"},
		{has: ".DS_Store", ok: true},
	} {
		dir := t.TempDir()
		if there, err := kv.Exists(nil, dir); there || err != nil {
			t.Errorf("an empty folder: %v, %v", there, err)
		}
		path := filepath.Join(dir, tc.has)
		var err error
		if strings.HasSuffix(tc.has, "/") {
			err = os.Mkdir(path, 0o755)
		} else {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := kv.Open(dir, kv.Options{Beside: tc.beside})
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.has, err)
		}
		if err != nil {
			wantKind(t, err, fault.Invalid)
			continue
		}
		_ = s.Close()
		if there, err := kv.Exists(nil, dir); !there || err != nil {
			t.Errorf("%s: a store that is none: %v, %v", tc.has, there, err)
		}
	}
	if there, err := kv.Exists(nil, filepath.Join(t.TempDir(), "none")); there || err != nil {
		t.Errorf("no folder: %v, %v", there, err)
	}
}
