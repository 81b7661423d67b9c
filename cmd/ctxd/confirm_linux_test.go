package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/notes"
)

// A restore asks on a terminal, and does nothing without a yes.
func TestREL12_RestoreAsks(t *testing.T) {
	p := newHome(t)
	p.make(t, "restored", "One")
	file := filepath.Join(t.TempDir(), "one.ctxdbackup")
	p.run(t, "backup", file)
	for _, c := range []struct {
		name, says string
		status     int
		restored   bool
	}{
		{"no", "n\n", term.ExitError, false},
		{"nothing", "\n", term.ExitError, false},
		{"end of the input", "\x04", term.ExitError, false},
		{"Ctrl-C", "\x03", term.ExitInterrupted, false},
		{"something else", "yesterday\n", term.ExitError, false},
		{"yes", "Yes\n", term.ExitOK, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.make(t, "replaced", "Two")
			shown, status := p.answer(t, c.says, "restore", file)
			if status != c.status {
				t.Errorf("exit status %d, want %d", status, c.status)
			}
			for _, want := range []string{
				"holds      1 note", "         now  after", "  notes    2      1", "Replace what is in " + p.data + " with the backup? [y/N] ",
			} {
				if !strings.Contains(strings.ReplaceAll(shown, "\r", ""), want) {
					t.Errorf("the terminal does not show %q", want)
				}
			}
			if got := !strings.Contains(p.run(t, "doctor", "store"), "2 notes"); got != c.restored {
				t.Errorf("restored: %v, want %v", got, c.restored)
			}
			if t.Failed() {
				t.Log(shown)
			}
		})
	}
}

// What deletes memories shows them and asks on a terminal, and does nothing without a yes.
func TestMEM5_DeletingAsks(t *testing.T) {
	p := newHome(t)
	p.run(t, "stdio", "--idle-exit", "never") // starts a daemon
	p.run(t, "memory", "add", "I live in Porto", "--handle", "home")
	for _, line := range []string{"memory delete home", "memory forget --all"} {
		for says, status := range map[string]int{"n\n": term.ExitError, "\x04": term.ExitError, "\x03": term.ExitInterrupted} {
			shown, got := p.answer(t, says, strings.Fields(line)...)
			if got != status || !strings.Contains(shown, "I live in Porto") {
				t.Errorf("ctxd %s answered with %q ends with %d, want %d:\n%s", line, says, got, status, shown)
			}
			p.run(t, "memory", "show", "home")
		}
	}
	for _, line := range []string{"memory delete home", "memory forget --all"} {
		if shown, got := p.answer(t, "y\n", strings.Fields(line)...); got != term.ExitOK {
			t.Errorf("ctxd %s answered with yes ends with %d:\n%s", line, got, shown)
		}
		if said := p.run(t, "memory", "stats"); !strings.Contains(said, "0 memories") {
			t.Errorf("after ctxd %s there are still memories:\n%s", line, said)
		}
		p.run(t, "memory", "add", "I live in Faro")
	}
}

// make puts a note into the store.
func (p home) make(t *testing.T, id, title string) {
	t.Helper()
	rooms, err := daemon.OpenRooms(p.data, slog.New(slog.DiscardHandler), config.Records{})
	if err == nil {
		_, err = rooms.Notes.Put(t.Context(), notes.Draft{ID: id, Title: title}, nil)
		err = errors.Join(err, rooms.KV.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p home) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.command(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ctxd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// answer runs a command on a terminal of 80 columns and types something once it
// has asked. It returns what the terminal showed, and the exit status.
func (p home) answer(t *testing.T, says string, args ...string) (shown string, status int) {
	t.Helper()
	person, program := openTerminal(t)
	defer person.Close()
	cmd := p.command(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.Env = append(cmd.Env, "TERM=dumb")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	var out bytes.Buffer
	for b, asked := make([]byte, 4096), false; ; {
		n, err := person.Read(b)
		if err != nil {
			break // the program has ended
		}
		out.Write(b[:n])
		if !asked && bytes.Contains(out.Bytes(), []byte("[y/N] ")) {
			asked = true
			if _, err := person.WriteString(says); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // its state says it
	return out.String(), cmd.ProcessState.ExitCode()
}

// openTerminal makes a pseudo-terminal: the side where a person sits, and that of
// a program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}
