package write_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/vault/write"
)

var temp = write.TempName("t")

const most = 1 << 20

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a vault with files.
func folder(t testing.TB, files map[string]string) (dir string, root *os.Root) {
	t.Helper()
	dir = t.TempDir()
	for p, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o644))
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return dir, root
}

// holds compares all files of a folder.
func holds(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	got := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		got[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	for p := range got {
		if got[p] != want[p] {
			t.Errorf("%s holds %q, want %q", p, got[p], want[p])
		}
	}
	for p := range want {
		if _, there := got[p]; !there {
			t.Errorf("%s is not there", p)
		}
	}
}

// failsAs wants an error of a kind with a hint.
func failsAs(t testing.TB, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Hint == "" || f.Msg == "" {
		t.Fatalf("error %#v, want one of kind %v with a hint", err, kind)
	}
	return f
}

func TestSRCH60_TheFormOfAFileIsKept(t *testing.T) {
	for _, c := range []struct{ name, before, text, want string }{
		{"line feeds", "a\nb\n", "a\r\nc\r\n", "a\nc\n"},
		{"CRLF", "a\r\nb\r\n", "a\nc\nd\n", "a\r\nc\r\nd\r\n"},
		{"CRLF stays CRLF", "a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n"},
		{"mixed ends are the writer's", "a\r\nb\n", "a\r\nc\n", "a\r\nc\n"},
		{"byte order mark", "\ufeffa\n", "b\n", "\ufeffb\n"},
		{"byte order mark that was read", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n"},
		{"final line break", "a\n", "b", "b\n"},
		{"final CRLF", "a\r\n", "b", "b\r\n"},
		{"no final line break", "a", "b\n", "b"},
		{"no final CRLF", "a\r\nb", "b\n", "b"},
		{"an empty file", "", "b\r\n", "b\r\n"},
		{"no line at all", "a", "b\nc", "b\nc"},
		{"to nothing", "a\n", "", ""},
	} {
		if got := write.Like(c.before, c.text); got != c.want {
			t.Errorf("%s: %q as %q is %q, want %q", c.name, c.text, c.before, got, c.want)
		}
	}
}

func TestSRCH60_AFileIsReplacedAsAWholeAndKeepsItsMode(t *testing.T) {
	dir, root := folder(t, map[string]string{"a/n.md": "old", "b.md": "other"})
	file := filepath.Join(dir, "a", "n.md")
	must(t, os.Chmod(file, 0o640))
	open, err := os.Open(file) // as somebody who reads it
	must(t, err)
	defer open.Close()
	must(t, write.Replace(root, "a/n.md", temp, []byte("old"), []byte("new")))
	holds(t, dir, map[string]string{"a/n.md": "new", "b.md": "other"})
	info, err := os.Stat(file)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	data := make([]byte, 8)
	n, _ := open.Read(data)
	if string(data[:n]) != "old" {
		t.Errorf("who had it open reads %q", data[:n])
	}
}

// TestSRCH60_TheBytesAreComparedAndNotTheTime: an editor that keeps size and time is noticed.
func TestSRCH60_TheBytesAreComparedAndNotTheTime(t *testing.T) {
	dir, root := folder(t, map[string]string{"n.md": "old"})
	file := filepath.Join(dir, "n.md")
	info, err := os.Stat(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte("odd"), 0o644))
	must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	var changed *write.Changed
	if err := write.Replace(root, "n.md", temp, []byte("old"), []byte("new")); !errors.As(err, &changed) || string(changed.Now) != "odd" {
		t.Errorf("error %v", err)
	}
	holds(t, dir, map[string]string{"n.md": "odd"})
}

// TestSRCH60_WhoWritesInTheLastMomentIsNotLost writes at each step of a write, as editors and synchronisers do.
func TestSRCH60_WhoWritesInTheLastMomentIsNotLost(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system can't have two files change places")
	}
	inPlace := func(file string) error { return os.WriteFile(file, []byte("theirs"), 0o644) }
	renamed := func(file string) error {
		return errors.Join(os.WriteFile(file+"~", []byte("theirs"), 0o644), os.Rename(file+"~", file))
	}
	for _, at := range []string{"create", "write", "flush", "exchange", "compare"} {
		for how, save := range map[string]func(string) error{"in place": inPlace, "renamed": renamed} {
			t.Run(at+" "+how, func(t *testing.T) {
				dir, root := folder(t, map[string]string{"n.md": "old"})
				defer write.SetStep(func(s string) error {
					if s == at {
						return save(filepath.Join(dir, "n.md"))
					}
					return nil
				})()
				err := write.Replace(root, "n.md", temp, []byte("old"), []byte("new"))
				var changed *write.Changed
				// Behind the exchange the file has the new text: who replaces that has read it, or does not care.
				if written := at == "compare"; !written && !errors.As(err, &changed) || written && err != nil {
					t.Errorf("error %v", err)
				}
				holds(t, dir, map[string]string{"n.md": "theirs"})
			})
		}
	}
}

// TestSRCH60_WhoHasTheFileOpenIsNotLost: a program writes through what it has opened before the exchange, at the last moment,
// or does not end. An empty file is the worst case: it is what an editor leaves that is about to write.
func TestSRCH60_WhoHasTheFileOpenIsNotLost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell who has a file open")
	}
	for _, before := range []string{"old", ""} {
		for _, ends := range []bool{true, false} {
			dir, root := folder(t, map[string]string{"n.md": before})
			f, err := os.OpenFile(filepath.Join(dir, "n.md"), os.O_WRONLY, 0)
			must(t, err)
			wrote := make(chan error, 1)
			restore := write.SetStep(func(s string) error {
				if s != "compare" {
					return nil
				}
				if !ends {
					wrote <- nil
					return nil
				}
				go func() { // beside the wait for it
					_, err := f.WriteString("their text")
					wrote <- errors.Join(err, f.Close())
				}()
				return nil
			})
			err = write.Replace(root, "n.md", temp, []byte(before), []byte("new"))
			must(t, <-wrote)
			restore()
			if ends {
				var changed *write.Changed
				if !errors.As(err, &changed) || string(changed.Now) != "their text" {
					t.Errorf("error %v", err)
				}
			} else {
				if e := failsAs(t, err, fault.Unavailable); !e.Retryable {
					t.Errorf("error %v", e)
				}
				_, err = f.WriteString("their text")
				must(t, errors.Join(err, f.Close()))
			}
			holds(t, dir, map[string]string{"n.md": "their text"})
		}
	}
}

// TestSRCH60_AFullDiskLeavesEverythingAsItWas at each step.
func TestSRCH60_AFullDiskLeavesEverythingAsItWas(t *testing.T) {
	for _, at := range []string{"create", "write", "flush", "exchange", "compare"} {
		full := func(s string) error {
			if s == at {
				return &fs.PathError{Op: s, Path: "n.md", Err: syscall.ENOSPC}
			}
			return nil
		}
		dir, root := folder(t, map[string]string{"n.md": "old"})
		restore := write.SetStep(full)
		err := write.Replace(root, "n.md", temp, []byte("old"), []byte("new"))
		if at != "compare" || runtime.GOOS == "linux" {
			if f := failsAs(t, err, fault.Unavailable); !f.Retryable || !strings.Contains(f.Msg, "full") {
				t.Errorf("%s: %+v", at, f)
			}
			holds(t, dir, map[string]string{"n.md": "old"})
		}
		if at != "compare" {
			failsAs(t, write.Create(root, "deep/er/new.md", temp, []byte("new")), fault.Unavailable)
			holds(t, dir, map[string]string{"n.md": "old"})
			if _, err := os.Stat(filepath.Join(dir, "deep")); err == nil {
				t.Errorf("%s: a folder was left", at)
			}
		}
		if at == "exchange" || at == "compare" {
			failsAs(t, write.Move(root, "n.md", ".trash/n.md", []byte("old")), fault.Unavailable)
			holds(t, dir, map[string]string{"n.md": "old"})
		}
		restore()
		must(t, write.Replace(root, "n.md", temp, []byte("old"), []byte("new"))) // when there is room again
	}
}

func TestSRCH60_CreateAndMoveNeverReplaceAFile(t *testing.T) {
	dir, root := folder(t, map[string]string{"a.md": "a", "b.md": "b"})
	failsAs(t, write.Create(root, "a.md", temp, []byte("x")), fault.Conflict)
	failsAs(t, write.Move(root, "a.md", "b.md", []byte("a")), fault.Conflict)
	var changed *write.Changed
	if err := write.Move(root, "a.md", "c.md", []byte("other")); !errors.As(err, &changed) {
		t.Errorf("error %v", err)
	}
	defer write.SetStep(func(s string) error { // somebody makes the file in the last moment
		if s == "exchange" {
			return os.WriteFile(filepath.Join(dir, "c.md"), []byte("theirs"), 0o644)
		}
		return nil
	})()
	failsAs(t, write.Create(root, "c.md", temp, []byte("ours")), fault.Conflict)
	failsAs(t, write.Move(root, "a.md", "c.md", []byte("a")), fault.Conflict)
	holds(t, dir, map[string]string{"a.md": "a", "b.md": "b", "c.md": "theirs"})
	must(t, write.Create(root, "deep/er/d.md", temp, []byte("d")))
	must(t, write.Move(root, "b.md", ".trash/b.md", []byte("b")))
	holds(t, dir, map[string]string{"a.md": "a", ".trash/b.md": "b", "c.md": "theirs", "deep/er/d.md": "d"})
}

func TestSRCH60_LinksAreFollowedWithinTheVaultAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir, root := folder(t, map[string]string{"real/n.md": "old"})
	outside := filepath.Join(t.TempDir(), "secret.md")
	must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	for name, to := range map[string]string{
		"link.md": "real/n.md", "folder": "real", "absolute.md": filepath.Join(dir, "real", "n.md"), "twice.md": "link.md",
		"out.md": outside, "up.md": "../secret.md", "away": filepath.Dir(outside), "loop.md": "loop.md",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	for p, want := range map[string]string{
		"link.md": "real/n.md", "folder/n.md": "real/n.md", "absolute.md": "real/n.md", "twice.md": "real/n.md",
		"real/n.md": "real/n.md", "folder/new.md": "real/new.md", "new/er.md": "new/er.md",
	} {
		if got, err := write.Resolve(root, dir, p); err != nil || got != want {
			t.Errorf("%s leads to %q, %v; want %q", p, got, err, want)
		}
	}
	for _, p := range []string{"out.md", "up.md", "away/secret.md", "loop.md"} {
		_, err := write.Resolve(root, dir, p)
		failsAs(t, err, fault.Conflict)
		if err := write.Replace(root, p, temp, []byte("secret"), []byte("new")); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	must(t, write.Replace(root, "real/n.md", temp, []byte("old"), []byte("new")))
	if to, err := os.Readlink(filepath.Join(dir, "link.md")); err != nil || to != "real/n.md" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "secret" {
		t.Errorf("outside is %q, %v", data, err)
	}
}

// TestSRCH60_AFileWithTwoNamesIsRefused: a new text would part it from the other.
func TestSRCH60_AFileWithTwoNamesIsRefused(t *testing.T) {
	dir, root := folder(t, map[string]string{"a.md": "old"})
	if err := os.Link(filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md")); err != nil {
		t.Skip("no hard links here")
	}
	_, err := write.Read(root, "a.md", most)
	failsAs(t, err, fault.Conflict)
	failsAs(t, write.Replace(root, "a.md", temp, []byte("old"), []byte("new")), fault.Conflict)
	holds(t, dir, map[string]string{"a.md": "old", "b.md": "old"})
}

func TestSRCH60_WhatCannotBeWrittenIsRefusedWithAHint(t *testing.T) {
	dir, root := folder(t, map[string]string{"ro.md": "old", "closed/n.md": "old"})
	must(t, os.Chmod(filepath.Join(dir, "ro.md"), 0o444))
	failsAs(t, write.Replace(root, "ro.md", temp, []byte("old"), []byte("new")), fault.Unavailable)
	must(t, os.Mkdir(filepath.Join(dir, "dir.md"), 0o755))
	_, err := write.Read(root, "dir.md", most)
	failsAs(t, err, fault.Conflict)
	_, err = write.Read(root, "none.md", most)
	failsAs(t, err, fault.NotFound)
	_, err = write.Read(root, "closed/n.md", 2)
	failsAs(t, err, fault.Limit)
	if runtime.GOOS != "windows" {
		failsAs(t, write.Create(root, strings.Repeat("x", 300)+".md", temp, nil), fault.Invalid)
	}
	holds(t, dir, map[string]string{"ro.md": "old", "closed/n.md": "old"})
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("whoever runs this may write everywhere")
	}
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0o555))
	defer func() { must(t, os.Chmod(filepath.Join(dir, "closed"), 0o755)) }()
	failsAs(t, write.Replace(root, "closed/n.md", temp, []byte("old"), []byte("new")), fault.Unavailable)
	failsAs(t, write.Create(root, "closed/new.md", temp, nil), fault.Unavailable)
	holds(t, dir, map[string]string{"ro.md": "old", "closed/n.md": "old"})
}

func TestSRCH60_NamesThatASystemRefuses(t *testing.T) {
	for _, p := range []string{
		"a.md", "Ordner/Über mich.md", "日記/2026-03-04.md", "a b.c.md", strings.Repeat("x", 252) + ".md", "console.md",
	} {
		if why := write.PathProblem(p); why != "" {
			t.Errorf("%q: %s", p, why)
		}
	}
	for _, p := range []string{
		"", ".md", ".hidden.md", "a/.git/b.md", "con.md", "a/NUL.txt.md", "com1.md", "lpt¹.md", "a:b.md", "a?.md", "a|b.md", `a\b.md`, "a*/b.md",
		"a./b.md", "a .md", " a.md", "a /b.md", "a\n.md", "a\u202e.md", "a//b.md", strings.Repeat("x", 253) + ".md", "CONIN$.md", "<a>.md", `"a".md`,
	} {
		if write.PathProblem(p) == "" {
			t.Errorf("%q is taken", p)
		}
	}
}

func TestSRCH60_WhatAKilledProcessLeftIsRemoved(t *testing.T) {
	const copied = "n (conflicted copy t).md"
	for _, c := range []struct {
		file, left string
		want       map[string]string
	}{
		{"new text", "old", map[string]string{"n.md": "new text"}},
		{"old", "new text", map[string]string{"n.md": "old"}},
		{"old", "new", map[string]string{"n.md": "old"}},
		{"old", "", map[string]string{"n.md": "old"}},
		{"new text", "theirs", map[string]string{"n.md": "theirs"}},
		{"saved since", "theirs", map[string]string{"n.md": "saved since", copied: "theirs"}},
	} {
		dir, root := folder(t, map[string]string{"n.md": c.file, temp: c.left})
		kept, err := write.Discard(root, "n.md", temp, []byte("old"), []byte("new text"))
		if _, want := c.want[copied]; err != nil || want != (kept == copied) {
			t.Errorf("%q: kept %q, %v", c.left, kept, err)
		}
		holds(t, dir, c.want)
		if _, err := write.Discard(root, "n.md", temp, nil, nil); err != nil {
			t.Errorf("nothing is left: %v", err)
		}
	}
}

// TestSRCH60_TwoWhoWriteInTheLastMomentAreNotLost: the first through what it has opened before the exchange, the second to
// the new text, which is never acknowledged.
func TestSRCH60_TwoWhoWriteInTheLastMomentAreNotLost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell who has a file open")
	}
	const copied = "n (conflicted copy t).md"
	save := func(file string) error { return os.WriteFile(file, []byte("second"), 0o644) }
	var appender *os.File
	for name, c := range map[string]struct {
		second func(file string) error
		want   map[string]string
	}{
		"saved in place": {save, map[string]string{"n.md": "second", copied: "first"}},
		"renamed": {
			func(file string) error { return errors.Join(save(file+"~"), os.Rename(file+"~", file)) },
			map[string]string{"n.md": "second", copied: "first"},
		},
		"removed": {os.Remove, map[string]string{"n.md": "first"}},
		"opened": {
			func(file string) (err error) {
				appender, err = os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
				return err
			},
			map[string]string{"n.md": "new, second", copied: "first"},
		},
	} {
		for _, full := range []error{nil, syscall.ENOSPC} {
			t.Run(fmt.Sprint(name, full), func(t *testing.T) {
				dir, root := folder(t, map[string]string{"n.md": "old"})
				file := filepath.Join(dir, "n.md")
				first, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
				must(t, err)
				_, err = first.WriteString("old") // as read before, until the exchange
				must(t, err)
				wrote := make(chan error, 1)
				wrote <- nil
				defer write.SetStep(func(s string) error {
					if s != "compare" {
						return nil
					}
					_, err := first.WriteAt([]byte("first"), 0)
					must(t, errors.Join(err, first.Close(), c.second(file)))
					if name == "opened" {
						<-wrote
						go func() { // beside the wait for it
							_, err := appender.WriteString(", second")
							wrote <- errors.Join(err, appender.Close())
						}()
					}
					return full
				})()
				if write.Replace(root, "n.md", temp, []byte("old"), []byte("new")) == nil {
					t.Error("it is acknowledged")
				}
				must(t, <-wrote)
				holds(t, dir, c.want)
			})
		}
	}
}

// TestSRCH60_WhoReadsSeesOneTextOrTheOther while files are replaced.
func TestSRCH60_WhoReadsSeesOneTextOrTheOther(t *testing.T) {
	dir, root := folder(t, map[string]string{"n.md": ""})
	texts := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 70_000)}
	must(t, write.Replace(root, "n.md", temp, []byte{}, texts[0]))
	done := make(chan error)
	go func() {
		var err error
		for i := range 40 {
			err = errors.Join(err, write.Replace(root, "n.md", temp, texts[i%2], texts[1-i%2]))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			must(t, err)
			return
		default:
		}
		data, err := os.ReadFile(filepath.Join(dir, "n.md"))
		must(t, err)
		if !bytes.Equal(data, texts[0]) && !bytes.Equal(data, texts[1]) {
			t.Fatalf("%d bytes are read, which are neither text", len(data))
		}
	}
}
