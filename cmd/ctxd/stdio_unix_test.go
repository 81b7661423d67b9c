//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A daemon that a client starts has nothing of the client's: not its terminal,
// whose Ctrl-C would end it, and not the files that it was started with, which
// somebody may wait to see closed.
func TestStdioDaemonStandsAlone(t *testing.T) {
	p := newHome(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := p.command(t, "stdio", "--idle-exit", "10m")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(askHealth), &out, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, out.Bytes())
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("the daemon %d is in session %d, %v", pid, session, err)
	}
	if err := r.SetReadDeadline(time.Now().Add(hangs)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the pipe is still open: %v", err)
	}
	if h := p.health(); h == nil || h.PID != pid {
		t.Errorf("the daemon has stopped: %+v", h)
	}
}
