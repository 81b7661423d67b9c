package books_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// badChild is the first argument of a child that behaves badly once, or twice where the second argument says so: it says how, the third
// names a file that tells who was the first.
const badChild = "bad-child"

// TestMain has this program read files as ctxd itself does, in processes of its own.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == books.ChildCommand:
		os.Exit(books.ServeChild(os.Stdin, os.Stdout))
	case len(os.Args) == 4 && os.Args[1] == badChild:
		os.Exit(behaveBadly(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func behaveBadly(how, marker string) int {
	first := func(marker string) (*os.File, error) {
		return os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	f, err := first(marker)
	if err != nil && strings.HasSuffix(how, "twice") {
		f, err = first(marker + "-again")
	}
	if err != nil {
		return books.ServeChild(os.Stdin, os.Stdout)
	}
	frame := func(kind byte, body string) {
		n := len(body)
		_, _ = os.Stdout.WriteString(string([]byte{kind, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}) + body)
	}
	frame('h', map[bool]string{true: "7", false: "1"}[how == "another version"])
	if _, err := io.ReadFull(os.Stdin, make([]byte, 5)); err != nil { // until it is asked
		return 1
	}
	switch how {
	case "exits":
		return 1
	case "is killed", "is killed twice":
		frame('d', `{"passages":900,"title":"Of the dead"}`)
		for range 500 { // more than are written at once
			frame('p', "{}\ntext of the dead")
		}
		self, _ := os.FindProcess(os.Getpid()) // it is there
		_ = self.Kill()
		select {}
	case "has no memory":
		fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory")
		return 2
	case "panics":
		fmt.Fprintln(os.Stderr, "panic: secret words")
		return 2
	case "babbles":
		fmt.Print(strings.Repeat("what? ", 100))
	case "passages first":
		frame('p', "{}\ntext")
	case "more than told":
		frame('d', `{"passages":1}`)
		frame('p', "{}\ntext")
		frame('p', "{}\ntext")
	case "less than told":
		frame('d', `{"passages":2}`)
		frame('p', "{}\ntext")
		frame('z', "{}")
	case "a long passage":
		frame('d', `{"passages":1}`)
		frame('p', "{}\n"+strings.Repeat("x", books.MaxPassage+1))
	case "a huge frame":
		_, _ = os.Stdout.WriteString("p\xFF\xFF\xFF\xFF")
	case "tells its environment":
		said := "the environment is empty"
		if os.Getenv("CTXD_PASSPHRASE") != "" {
			said = "it has the secret"
		}
		frame('z', `{"kind":"`+fault.Invalid.String()+`","msg":"`+said+`"}`)
	case "hangs behind its head":
		frame('d', `{"passages":2}`)
		frame('p', "{}\ntext")
	case "hangs":
		_, _ = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
	return 0
}

// TestREL15_AChildMayDie: whatever becomes of the process that reads a file, the error is typed, says what to do and nothing of the
// file, no passage is left, and the next file is read.
func TestREL15_AChildMayDie(t *testing.T) {
	for how, want := range map[string]fault.Kind{
		"exits": fault.Invalid, "is killed twice": fault.Invalid, "panics": fault.Invalid, "has no memory": fault.Limit, "babbles": fault.Invalid,
		"passages first": fault.Invalid, "more than told": fault.Invalid, "less than told": fault.Invalid, "a long passage": fault.Invalid,
		"a huge frame": fault.Invalid, "another version": fault.Unavailable,
	} {
		t.Run(how, func(t *testing.T) {
			h := with(t, []string{os.Args[0], badChild, how, filepath.Join(t.TempDir(), "first")})
			_, _, err := h.Put(t.Context(), h.local, textDraft("# One\n\nThe first."), nil)
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != want || e.Hint == "" || strings.Contains(fault.Message(err), "secret") {
				t.Fatalf("%v", err)
			}
			state, files := record.BookFailed, 0
			if want == fault.Unavailable {
				state, files = record.BookPending, 1 // it is read after the next start
			}
			if list := h.List(h.local, books.Filter{}); len(list) != 1 || list[0].State != state {
				t.Errorf("%+v", list)
			}
			if got := h.left(); got != fmt.Sprintf("1 books, 0 passages, %d files", files) {
				t.Error(got)
			}
			if b := h.put(textDraft("# Two\n\nThe second.")); b.State != record.BookReady || b.Title != "Two" {
				t.Errorf("%+v", b)
			}
		})
	}
}

// TestREL15_AKilledChildIsNotTheFilesFault: the system kills a child when memory is short, whatever it reads. Another one reads the
// file, and nothing is left of what the first has told.
func TestREL15_AKilledChildIsNotTheFilesFault(t *testing.T) {
	h := with(t, []string{os.Args[0], badChild, "is killed", filepath.Join(t.TempDir(), "first")})
	if b := h.put(textDraft("# One\n\nThe first.")); b.State != record.BookReady || b.Title != "One" || b.Passages != 1 {
		t.Errorf("%+v", b)
	}
	if got := h.left(); got != "1 books, 1 passages, 0 files" {
		t.Error(got)
	}
}

// TestREL15_TheFirstPDFOfAll is read where nothing has been compiled yet: what the compiler takes is not the file's.
func TestREL15_TheFirstPDFOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes memory that the child has to count as its own")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path, err := filepath.Abs(filepath.Join("convert", "testdata", "writer.pdf"))
	must(t, err)
	h := open(t)
	if b := h.put(books.Draft{Path: path}); b.State != record.BookReady || b.Passages == 0 {
		t.Errorf("%+v", b)
	}
}

func with(t *testing.T, command []string) *house {
	t.Helper()
	return over(t, kv.InMemory, t.TempDir(), command...)
}

// TestREL15_AChildMayFallSilent: one that has begun to tell passages and goes on no more is killed, and the next file is read.
func TestREL15_AChildMayFallSilent(t *testing.T) {
	h := with(t, []string{os.Args[0], badChild, "hangs behind its head", filepath.Join(t.TempDir(), "first")})
	undo := books.SetChildGrace(time.Millisecond)
	_, _, err := h.Put(t.Context(), h.local, textDraft("# One\n\nThe first."), nil)
	undo()
	if fault.KindOf(err) != fault.Limit {
		t.Errorf("%v", err)
	}
	if got := h.left(); got != "1 books, 0 passages, 0 files" {
		t.Error(got)
	}
	if b := h.put(textDraft("# Two\n\nThe second.")); b.State != record.BookReady {
		t.Errorf("%+v", b)
	}
}

// TestREL15_AChildHasNoSecrets: what stands in the environment of the daemon is not in that of who reads files.
func TestREL15_AChildHasNoSecrets(t *testing.T) {
	t.Setenv("CTXD_PASSPHRASE", "canary")
	h := with(t, []string{os.Args[0], badChild, "tells its environment", filepath.Join(t.TempDir(), "first")})
	_, _, err := h.Put(t.Context(), h.local, textDraft("# One\n\nThe first."), nil)
	if fault.KindOf(err) != fault.Invalid || fault.Message(err) != "the environment is empty" {
		t.Errorf("%v", err)
	}
}

// TestREL15_ACancelledCallKillsItsChild, and leaves nothing of the book.
func TestREL15_ACancelledCallKillsItsChild(t *testing.T) {
	h := with(t, []string{os.Args[0], badChild, "hangs", filepath.Join(t.TempDir(), "first")})
	marker := h.child[3] // tells who hangs, once he has been asked
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := h.Put(ctx, h.local, textDraft("hangs"), nil)
		ended <- err
	}()
	pid := 0
	for pid == 0 {
		text, err := os.ReadFile(marker)
		if line, whole := strings.CutSuffix(string(text), "\n"); err == nil && whole {
			pid, err = strconv.Atoi(line)
			must(t, err)
		}
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Error("the child lives")
	}
	if got := h.left(); got != "0 books, 0 passages, 0 files" {
		t.Error(got)
	}
}

// TestREL15_SeveralAtOnce: more files than there is room for are read, each in its turn.
func TestREL15_SeveralAtOnce(t *testing.T) {
	h := open(t)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			b, _, err := h.Put(t.Context(), h.local, textDraft(fmt.Sprintf("# Book %d\n\nIts text.", i)), nil)
			if err != nil || b.Title != fmt.Sprintf("Book %d", i) {
				t.Errorf("%+v %v", b, err)
			}
		})
	}
	all.Wait()
	if got := h.left(); got != "12 books, 12 passages, 0 files" {
		t.Error(got)
	}
}

// TestREL15_AChildEndsWithItsParent: its input ends when the daemon does, however that is.
func TestREL15_AChildEndsWithItsParent(t *testing.T) {
	child := exec.Command(os.Args[0], books.ChildCommand)
	in, err := child.StdinPipe()
	must(t, err)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
		t.Error(err)
	}
	must(t, in.Close())
	must(t, child.Wait())
}

// greedy is a document of Word that takes many times what it may to be read: a value of an attribute of 90 MB.
func greedy(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, text := range map[string][]byte{
		"noise": noise, "word/document.xml": []byte(`<w:document a="` + strings.Repeat("x", 90<<20) + `"><w:p><w:t>a</w:t></w:p></w:document>`),
	} {
		w, err := z.Create(name)
		must(t, err)
		_, err = w.Write(text)
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}

// TestREL15_AFileThatTakesTooMuch ends over its bound with an error that names it, and the next file is read.
func TestREL15_AFileThatTakesTooMuch(t *testing.T) {
	h := open(t)
	path := filepath.Join(t.TempDir(), "greedy.docx")
	must(t, os.WriteFile(path, greedy(t), 0o600))
	_, _, err := h.Put(t.Context(), h.local, books.Draft{Path: path}, nil)
	if fault.KindOf(err) != fault.Limit || !strings.Contains(fault.Message(err), "256 MiB of memory") {
		t.Errorf("%v", err)
	}
	if b := h.put(textDraft("# Two\n\nThe second.")); b.State != record.BookReady {
		t.Errorf("%+v", b)
	}
}

// TestREL15_AFileIsNotHeld: it goes from the disk to the child; this process holds none of it, packed or not.
func TestREL15_AFileIsNotHeld(t *testing.T) {
	h := open(t)
	h.put(textDraft("first")) // starts the child
	path := filepath.Join(t.TempDir(), "commas.csv")
	must(t, os.WriteFile(path, bytes.Repeat([]byte(","), maxBytes), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := h.Put(t.Context(), h.local, books.Draft{Path: path}, nil)
	runtime.ReadMemStats(&after)
	if fault.KindOf(err) != fault.Limit || !strings.Contains(fault.Message(err), "cells") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > maxBytes/4 {
		t.Errorf("a file of %d bytes took %d", maxBytes, took)
	}
}
