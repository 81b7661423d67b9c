//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// slowStart is a daemon that can't go on opening its store before it is let: one
// of the files that it reads is a pipe.
type slowStart struct {
	home
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// startSlowly starts it over the given files.
func startSlowly(t *testing.T, files map[string]string) *slowStart {
	t.Helper()
	s := &slowStart{home: newHome(t), t: t}
	if err := os.Mkdir(s.data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(s.data, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(s.pipe(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = s.command(t, "serve")
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // it has ended
	s.until("it answers", func() bool { return s.health() != nil })
	return s
}

func (s *slowStart) pipe() string { return filepath.Join(s.data, "clean") }

// goOn lets the store be opened.
func (s *slowStart) goOn() {
	s.t.Helper()
	w, err := os.OpenFile(s.pipe(), os.O_WRONLY, 0)
	if err == nil {
		err = os.Remove(s.pipe())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	_ = w.Close() // nothing was written
}

// ended waits for the end of the process and returns its exit status.
func (s *slowStart) ended() int {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the state says it
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(hangs):
		s.t.Fatal("it does not end")
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *slowStart) until(what string, done func() bool) {
	s.t.Helper()
	timeout := time.After(hangs)
	for !done() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-timeout:
			s.t.Fatalf("%s: it did not come to that\n%s", what, s.stderr.String())
		}
	}
}

// waiting starts a command that calls the daemon, and waits until its call waits
// there. It returns what the command ends with.
func (s *slowStart) waiting(args ...string) chan string {
	s.t.Helper()
	ended := make(chan string, 1)
	cmd := s.command(s.t, args...)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = append(out, err.Error()...)
		}
		ended <- string(out)
	}()
	c, err := client.Dial(s.t.Context(), s.socket, client.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	s.until("a call waits", func() bool {
		var all protocol.Connections
		return c.Call(s.t.Context(), "admin.connections", nil, &all) == nil && all.Totals.Queued > 0
	})
	return ended
}

func TestServeAnswersWhileItStarts(t *testing.T) {
	s := startSlowly(t, nil)
	h := s.health()
	if h.Loading == nil || h.Loading.Phase != protocol.LoadStarting || h.Status != protocol.Warning || h.PID != s.cmd.Process.Pid {
		t.Errorf("%+v", h)
	}
	out, err := s.command(t, "inspect", "status").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "starting") || !strings.Contains(string(out), "reading the records") {
		t.Errorf("inspect status: %v\n%s", err, out)
	}
	var st inspect.Status
	out, err = s.command(t, "inspect", "status", "--json").Output()
	if err != nil || json.Unmarshal(out, &st) != nil || st.Stats != nil || st.Health.Loading == nil {
		t.Errorf("inspect status --json: %v\n%s", err, out)
	}
	ended := s.waiting("call", "notes.put", "title=Early")
	s.goOn()
	if out := <-ended; !strings.Contains(out, `"version": 1`) && !strings.Contains(out, `"version":1`) {
		t.Errorf("the call that waited: %s", out)
	}
	if h := s.health(); h == nil || h.Status != protocol.Healthy || h.Loading != nil {
		t.Errorf("%+v", h)
	}
}

// A daemon that is to end before its store is open ends well, and keeps nobody
// waiting until then.
func TestServeEndsWhileItStarts(t *testing.T) {
	for name, end := range map[string]func(*slowStart) error{
		"Ctrl-C": func(s *slowStart) error { return s.cmd.Process.Signal(syscall.SIGINT) },
		"stop": func(s *slowStart) error {
			c, err := client.Dial(s.t.Context(), s.socket, client.Options{})
			if err != nil {
				return err
			}
			defer c.Close()
			return c.Call(s.t.Context(), "admin.stop", nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSlowly(t, nil)
			waited := s.waiting("call", "notes.list")
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			if out := <-waited; !strings.Contains(out, "the daemon is stopping") {
				t.Errorf("the call that waited: %s", out)
			}
			s.goOn()
			if code := s.ended(); code != term.ExitOK {
				t.Errorf("exit status %d\n%s", code, s.stderr.String())
			}
			if log := s.stderr.String(); !strings.Contains(log, "stopped before the store was open") {
				t.Errorf("logged:\n%s", log)
			}
			for _, left := range []string{s.socket, filepath.Join(s.data, daemon.Signature)} {
				if _, err := os.Stat(left); err == nil {
					t.Errorf("%s is left", left)
				}
			}
			if d := serveOnce(t, s.home); d == nil || d.Status != protocol.Healthy {
				t.Errorf("started again: %+v", d)
			}
		})
	}
}

// serveOnce starts a daemon anew and returns how it is.
func serveOnce(t *testing.T, p home) *protocol.Health {
	t.Helper()
	cmd := p.command(t, "stdio", "--idle-exit", "1s")
	cmd.Stdin = strings.NewReader(askHealth)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Result *protocol.Health }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Result
}

// A start that fails tells those who wait why, and ends as it would without them.
func TestServeFailsWhileItIsCalled(t *testing.T) {
	s := startSlowly(t, map[string]string{"snapshot-0000000000000001-0000000000000001": "nothing that is known"})
	waited := s.waiting("call", "notes.list")
	s.goOn()
	code := s.ended()
	out := <-waited
	var reason string
	for l := range strings.Lines(s.stderr.String()) {
		if rest, ok := strings.CutPrefix(l, "Error: "); ok {
			reason = strings.TrimSpace(rest)
		}
	}
	if code != term.ExitError || reason == "" || !strings.Contains(out, "the daemon cannot start: "+reason) || !strings.Contains(out, "Try: ") {
		t.Errorf("exit status %d, because %q; the call that waited is told\n%s\n%s", code, reason, out, s.stderr.String())
	}
}
