package logfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// private fails for a file or folder below dir that others can do anything with.
func private(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // old files are deleted meanwhile
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// allRecords returns the messages of a log, oldest first.
func allRecords(t *testing.T, path string, n int, f Filter) (msgs []string) {
	t.Helper()
	l, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Newest(n, f, func(r *Record) error {
		msgs = append(msgs, r.msg)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// nextMillisecond returns when a file may be full again: once a millisecond.
func nextMillisecond() {
	for begun := time.Now().UnixMilli(); time.Now().UnixMilli() == begun; {
		runtime.Gosched()
	}
}

// writeRecord writes a line as slog does.
func writeRecord(t *testing.T, w io.Writer, msg string) {
	t.Helper()
	_, err := fmt.Fprintf(w, "{\"time\":%q,\"level\":\"INFO\",\"msg\":%q}\n", time.Now().Format(time.RFC3339Nano), msg)
	if err != nil {
		t.Error(err)
	}
}

var everything = Filter{Level: slog.LevelDebug}

func TestSEC1_LogIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(dir, "ctxd.log")
	f := newFile(path, options{MaxSize: 4 << 10, Keep: 3})
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(f, nil))
	write := func(n int) {
		for i := range n {
			log.Info("line", "i", i, "pad", strings.Repeat("x", 200))
		}
	}
	write(10)
	private(t, dir)
	// A file that others can read is closed to them at the next start, and so
	// are those that come after it, also when the folder has gone.
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	write(200)
	private(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	write(200)
	private(t, dir)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLogRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctxd.log")
	f := newFile(path, options{MaxSize: 1 << 10, Keep: 100})
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 60 {
		nextMillisecond()
		want = append(want, fmt.Sprint(i))
		writeRecord(t, f, fmt.Sprint(i))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 1<<10 {
			t.Errorf("%s has %d bytes, %v", file, info.Size(), err)
		}
	}
	for n, want := range map[int][]string{0: want, 7: want[53:], 33: want[27:], 1000: want} {
		if got := allRecords(t, path, n, everything); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the last %d are %v", n, got)
		}
	}
}

// TestREL1_LogOfAClockThatWasSetBack begins with full files that have the names of a year
// to come: new ones come after them, and are not removed in their place.
func TestREL1_LogOfAClockThatWasSetBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctxd.log")
	began := time.Now()
	for i, at := range []time.Time{began.AddDate(-1, 0, 0), began.AddDate(1, 0, 0), began.AddDate(1, 0, 1), began.AddDate(70, 0, 0)} {
		if err := os.WriteFile(fullName(path, at), fmt.Appendf(nil, "{\"msg\":\"old-%d\"}\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(keep, n int, msg string) {
		f := newFile(path, options{MaxSize: 256, Keep: keep})
		if err := f.start(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			nextMillisecond()
			writeRecord(t, f, fmt.Sprintf("%s-%d", msg, i))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(100, 12, "new")
	want := "old-0 old-1 old-2 old-3 new-0 new-1 new-2 new-3 new-4 new-5 new-6 new-7 new-8 new-9 new-10 new-11"
	if got := strings.Join(allRecords(t, path, 0, everything), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	files := rotated(path)
	if last := files[len(files)-1]; last.full.After(time.Now()) {
		t.Errorf("%s has the name of a time to come", last.path)
	}
	write(2, 12, "last")
	for deadline := time.Now().Add(2 * time.Minute); len(rotated(path)) > 2 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond) // they are removed in the background
	}
	got := allRecords(t, path, 0, everything)
	if len(got) == 0 || strings.Contains(strings.Join(got, " "), "old-") || got[len(got)-1] != "last-11" {
		t.Errorf("of all, %v is left", got)
	}
}

// Before a daemon owns its data, the file may be another one's.
func TestLogIsHeldBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "ctxd.log")
	f := newFile(path, options{})
	log := slog.New(slog.NewJSONHandler(f, nil))
	log.Info("first")
	log.Info("second")
	if config.Exists(path) || config.Exists(filepath.Dir(path)) {
		t.Error("it was made at once")
	}
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	log.Info("third")
	if got := allRecords(t, path, 0, everything); strings.Join(got, " ") != "first second third" {
		t.Errorf("got %v", got)
	}
}

func TestLogFileCantBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "file", "ctxd.log")} {
		if err := newFile(path, options{}).start(); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
}

// A follower gets each line once and in order, however often the file changes
// under it.
func TestLogFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctxd.log")
	f := newFile(path, options{MaxSize: 256, Keep: 1000})
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	writeRecord(t, f, "old")
	l, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Watch(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const last = 400
	seen := 0
	err = l.Follow(ctx, everything, func(r *Record) error {
		if want := fmt.Sprint(seen); r.msg != want && r.msg != "old" {
			t.Errorf("got %s, want %s", r.msg, want)
		}
		if r.msg != "old" {
			seen++
		}
		if seen == last {
			cancel()
			return nil
		}
		if seen%10 == 0 { // ten at a time, so that several files are full when the reader looks again
			for i := range 10 {
				nextMillisecond()
				writeRecord(t, f, fmt.Sprint(seen+i))
			}
		}
		return nil
	}, func() error { return nil })
	if err != nil || seen != last {
		t.Errorf("%d lines of %d, %v", seen, last, err)
	}
	if len(l.rotated()) == 0 {
		t.Error("no file was full")
	}
}

func TestLogFollowedWhenEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.log")
	if err := os.WriteFile(path, []byte("a long line of some other program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got []string
	take := func(line []byte) error {
		got = append(got, string(line))
		return nil
	}
	if err := l.catchUp(take); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half "), 0o600); err != nil { // emptied first
		t.Fatal(err)
	}
	if err := l.catchUp(take); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half a line\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.catchUp(take); err != nil {
		t.Fatal(err)
	}
	if want := "a long line of some other program|half a line|more"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestLogShown(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 8, 7, 6e6, time.Local).Format(time.RFC3339Nano)
	for _, c := range []struct{ line, want string }{
		{
			`{"time":"` + at + `","level":"WARN","msg":"connection closed","conn":3,"client":"","reason":"too slow"}`,
			"2026-11-21 09:08:07.006  WARN   connection closed  conn=3  client=\"\"  reason=\"too slow\"\n",
		},
		{
			`{"time":"` + at + `","level":"DEBUG","msg":"call","method":"notes.get","took":1234567,"more":{"a":[1,null]}}`,
			"2026-11-21 09:08:07.006  DEBUG  call  method=notes.get  took=1.2 ms  more={\"a\":[1,null]}\n",
		},
		{
			`{"time":"` + at + `","level":"ERROR","msg":"internal error","stack":"goroutine 1:\n\tmain.go:3\n","method":"x"}`,
			"2026-11-21 09:08:07.006  ERROR  internal error  method=x\n    stack:\n      goroutine 1:\n        main.go:3\n",
		},
		{"panic: \x1b[31mred", "panic: \u241b[31mred\n"},
		{`["no", "object"]`, `["no", "object"]` + "\n"},
		{`{"level":"LOUD","msg":"x"}`, `{"level":"LOUD","msg":"x"}` + "\n"},
		{`{"msg":"cut of`, `{"msg":"cut of` + "\n"},
	} {
		var out strings.Builder
		p := &Printer{out: &term.Screen{Writer: &out}}
		if err := p.Print(parseLogLine([]byte(c.line))); err != nil || out.String() != c.want {
			t.Errorf("%s\n got %q %v\nwant %q", c.line, out.String(), err, c.want)
		}
	}
}

func TestLogFilter(t *testing.T) {
	lines := []string{
		`{"level":"DEBUG","msg":"a","conn":1}`, `{"level":"INFO","msg":"b","conn":12}`,
		`{"level":"WARN","msg":"c","conn":1}`, `{"level":"ERROR","msg":"d"}`, `plain`,
	}
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{everything, "a b c d plain"},
		{Filter{Level: slog.LevelInfo}, "b c d"},
		{Filter{Level: slog.LevelWarn}, "c d"},
		{Filter{Level: slog.LevelDebug, Conn: 1}, "a c"},
		{Filter{Level: slog.LevelInfo, Conn: 12}, "b"},
	} {
		var got []string
		for _, l := range lines {
			if r := parseLogLine([]byte(l)); c.f.Wants(r) {
				got = append(got, cmp.Or(r.msg, string(r.raw)))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.f, got, c.want)
		}
	}
}

// A terminal forgets: the file has what a daemon says there, too.
func TestLogOnATerminalIsKept(t *testing.T) {
	var out bytes.Buffer
	stderr := &term.Screen{Writer: &out, Terminal: true}
	conf := &config.Config{Data: t.TempDir()}
	l, err := New(stderr, conf, false)
	if err != nil {
		t.Fatal(err)
	}
	l.Info("both")
	l.ToFile.Info("file alone")
	if err := errors.Join(l.Open(), l.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = debug.SetCrashOutput(nil, debug.CrashOptions{}) })
	path, err := conf.LogPath()
	if err != nil {
		t.Fatal(err)
	}
	if got := allRecords(t, path, 0, everything); strings.Join(got, ", ") != "both, file alone" {
		t.Errorf("the file has %q", got)
	}
	if s := out.String(); !strings.Contains(s, "msg=both") || strings.Contains(s, "alone") {
		t.Errorf("the terminal has %q", s)
	}
}
