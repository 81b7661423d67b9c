package main

import (
	"bufio"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogFollowedUntilInterrupted(t *testing.T) {
	p := newHome(t)
	path := filepath.Join(t.TempDir(), "ctxd.log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := slog.New(slog.NewJSONHandler(f, nil))
	log.Info("before")
	cmd := p.command(t, "inspect", "log", "--follow", "--json", "--log-file", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for _, want := range []string{"before", "after", "after that"} {
		if want != "before" {
			log.Info(want) //nolint:sloglint // the lines are told apart by it
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), `"msg":"`+want+`"`) {
			t.Fatalf("got %q, want %s", lines.Text(), want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: Ctrl-C is how it ends", err)
	}
}
