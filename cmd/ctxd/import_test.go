package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// TestSRCH30_AnImportIsInterrupted ends an import when the first notes are there:
// at once, without a word, and the next one takes in the others.
func TestSRCH30_AnImportIsInterrupted(t *testing.T) {
	const n = 3000
	p, dir := newHome(t), filepath.Join(t.TempDir(), "v")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := fmt.Sprintf("# Note %d\nto [[n%d]]\n", i, (i+1)%n)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := p.command(t, "stdio").CombinedOutput(); err != nil { // starts the daemon
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := p.command(t, "import", dir)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	notes := func() int64 {
		h := p.health()
		if h == nil {
			t.Fatalf("%+v", h)
		}
		return int64(h.Index.Notes)
	}
	for began := time.Now(); notes() == 0; {
		if time.Since(began) > hangs {
			t.Fatal("no note came")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err == nil {
		t.Log("the import was over before it was interrupted")
	} else if !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted || said.String() != "" {
		t.Errorf("%v, and %q", err, said.String())
	}
	for { // what the daemon was at may take it a moment to end
		out, err := p.command(t, "import", dir).CombinedOutput()
		if err == nil {
			break
		}
		if !strings.Contains(string(out), "is being imported") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if got := notes(); got != n {
		t.Errorf("%d notes, want %d", got, n)
	}
}
