package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

func TestCall_InterruptEndsTheProgram(t *testing.T) {
	p := newHome(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	cmd := p.command(t, "call", "notes.search", "-")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = r, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What is read shows that the program waits for more: a pipe says no more
	// of its reader than that it took something.
	if _, err := w.WriteString(strings.Repeat(" ", 256<<10)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted || stderr.String() != "" {
		t.Errorf("%v, and %q", err, stderr.String())
	}
}
