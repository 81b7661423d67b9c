package main

import (
	"encoding/json"
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

// interrupted runs a command line and interrupts it as soon as begun says so. It ends at once and without a word, or
// was done before, of which it tells.
func (p home) interrupted(t *testing.T, begun func() bool, args ...string) (done bool) {
	t.Helper()
	cmd := p.command(t, args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for began := time.Now(); !begun(); {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%q: %v\n%s", args, err, said.String())
			}
			return true
		default:
		}
		if time.Since(began) > hangs {
			t.Fatalf("%q does not begin", args)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted || said.String() != "":
		t.Errorf("%q: %v, and %q", args, err, said.String())
	}
	return false
}

// runs returns what a command line answers in JSON.
func (p home) runs(t *testing.T, args ...string) (out map[string]any) {
	t.Helper()
	text, err := p.command(t, append(args, "--json")...).Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return out
}

// TestMEM11_AnExportIsInterrupted: of what it had written nothing is left, neither under its name nor under another.
func TestMEM11_AnExportIsInterrupted(t *testing.T) {
	p, dir := newHome(t), t.TempDir()
	facts := filepath.Join(t.TempDir(), "facts.txt")
	if out, err := p.command(t, "stdio").CombinedOutput(); err != nil { // starts the daemon
		t.Fatalf("%v\n%s", err, out)
	}
	for n := 3000; ; n *= 3 {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "I know thing %d of %d\n", i, n)
		}
		if err := os.WriteFile(facts, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		p.runs(t, "memory", "import", facts)
		file := filepath.Join(dir, fmt.Sprintf("out-%d.jsonl", n))
		names := func() (list []string) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				list = append(list, e.Name())
			}
			return list
		}
		if p.interrupted(t, func() bool { return len(names()) > 0 }, "memory", "export", file) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if n > 20000 {
				t.Skip("every export was done before it was interrupted")
			}
			continue
		}
		for began := time.Now(); len(names()) > 0; { // the daemon stops between two memories
			if _, err := os.Stat(file); err == nil {
				t.Fatal("the export went on")
			}
			if time.Since(began) > hangs {
				t.Fatalf("%q are left", names())
			}
		}
		p.runs(t, "memory", "export", file)
		return
	}
}

// TestCHAT36_AnImportIsInterrupted when the first conversations are there: the next one takes in the others.
func TestCHAT36_AnImportIsInterrupted(t *testing.T) {
	const n = 3000
	p := newHome(t)
	file := filepath.Join(t.TempDir(), "conversations.json")
	if err := os.WriteFile(file, []byte(exportedTalks(n, 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.command(t, "stdio").CombinedOutput(); err != nil { // starts the daemon
		t.Fatalf("%v\n%s", err, out)
	}
	before := p.health().Store.Seq
	began := func() bool { return p.health().Store.Seq > before }
	if p.interrupted(t, began, "chat", "import", file) {
		t.Log("the import was over before it was interrupted")
	}
	out := p.runs(t, "chat", "import", file)
	again := p.runs(t, "chat", "import", file)
	t.Logf("after it was interrupted: %v new, %v there", out["conversations"], out["unchanged"])
	if out["conversations"].(float64)+out["unchanged"].(float64) != n || again["unchanged"].(float64) != n || again["messages"].(float64) != 0 {
		t.Errorf("%v, and again %v", out, again)
	}
}

// exportedTalks is a data export of Claude with so many conversations of so many messages, each said at a time of
// its own.
func exportedTalks(conversations, messages int) string {
	var b strings.Builder
	at := time.Date(2025, 5, 1, 8, 0, 0, 0, time.UTC)
	b.WriteByte('[')
	for i := range conversations {
		if i > 0 {
			b.WriteByte(',')
		}
		begun := at.Format(time.RFC3339)
		fmt.Fprintf(&b, `{"uuid":"talk-%d","name":"Talk %d","created_at":%q,"updated_at":%q,"chat_messages":[`, i, i, begun, begun)
		for j := range messages {
			if j > 0 {
				b.WriteByte(',')
			}
			sender := []string{"human", "assistant"}[j%2]
			fmt.Fprintf(&b, `{"uuid":"talk-%d-%d","sender":%q,"text":"token %d-%d %s","created_at":%q}`,
				i, j, sender, i, j, strings.Repeat("words ", i%20), at.Format(time.RFC3339))
			at = at.Add(time.Second)
		}
		b.WriteString("]}")
	}
	b.WriteByte(']')
	return b.String()
}
