package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/shell"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// seat is a terminal with a program on it and a person before it.
type seat struct {
	t      *testing.T
	person *os.File
	cmd    *exec.Cmd

	began  time.Time
	mu     sync.Mutex // guards shown, pieces and over
	pieces []piece    // shown, as it came
	shown  bytes.Buffer
	over   bool
	more   chan struct{} // gets something when more is shown
	read   int           // what a wait has seen already
}

// piece is what a terminal showed at once, a time after its program began.
type piece struct {
	after time.Duration
	text  string
}

// sit starts a command on a terminal of 100 columns.
func (p home) sit(t *testing.T, env []string, args ...string) *seat {
	t.Helper()
	person, program := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, person: person, cmd: p.command(t, args...), more: make(chan struct{}, 1), began: time.Now()}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1"), env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	go s.watch()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = person.Close()
	})
	return s
}

func (s *seat) watch() {
	for b := make([]byte, 4096); ; {
		n, err := s.person.Read(b)
		s.mu.Lock()
		s.shown.Write(b[:n])
		s.pieces = append(s.pieces, piece{time.Since(s.began), string(b[:n])})
		s.over = err != nil
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// see waits until the terminal shows a text behind what was seen before.
func (s *seat) see(want string) {
	s.t.Helper()
	hang := time.After(hangs)
	for {
		s.mu.Lock()
		all, over := s.shown.String(), s.over
		s.mu.Unlock()
		if i := strings.Index(all[s.read:], want); i >= 0 {
			s.read += i + len(want)
			return
		}
		select {
		case <-s.more:
			if over {
				s.t.Fatalf("the program has ended, and %q was not shown behind\n%q", want, all[s.read:])
			}
		case <-hang:
			s.t.Fatalf("%q is not shown behind\n%q", want, all[s.read:])
		}
	}
}

func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits until the program has ended, and returns its status.
func (s *seat) ends() int {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(hangs):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Fatalf("the program does not end; shown is %q", s.shown.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

// served is a home in which a daemon has the sample vault.
func served(t *testing.T) home {
	t.Helper()
	p := newHome(t)
	vault := filepath.Join(t.TempDir(), "Notes")
	if err := fixtures.CopyVault(vault); err != nil {
		t.Fatal(err)
	}
	p.serve(t, vault)
	return p
}

// serve starts a daemon, which is stopped when the test ends.
func (p home) serve(t *testing.T, vault string) {
	t.Helper()
	daemon := p.command(t, "serve", "--vault", vault)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
	})
	hang := time.After(hangs)
	for answers(t.Context(), p.socket, 1) != nil {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-hang:
			t.Fatal("the daemon does not answer")
		}
	}
}

func TestWQL10_Prompt(t *testing.T) {
	p := served(t)
	s := p.sit(t, nil, "wql")
	s.see(`72 entities of 8 types; \? helps, \q leaves`)
	s.see("wql> ")

	// A whole line, a line that is not, and several.
	s.press("SELECT COUNT(*) FROM Person\r")
	s.see("COUNT(*)\r\n      25\r\n")
	s.see("wql> ")
	s.press("SELECT COUNT(*) FROM\r")
	s.see("...> ")
	s.press("Team;\r")
	s.see("       6\r\n")
	s.press("SELECT COUNT(*) FROM OKR; SELECT MAX(hives)\rFROM Customer;\r")
	s.see("       8\r\n")
	s.see("      1240\r\n")
	s.see("wql> ")

	// Tab, for a type, a field behind a reference, and a name.
	s.press("SELECT p FROM Per\t WHERE p.te\t.le\t.name = 'Ali\t")
	s.see("FROM Person WHERE p.team.lea")
	s.press("\x15SELECT p FROM Person WHERE p.manager.name = 'Ali\t LIMIT 1\r")
	s.see("'Alice Novak' LIMIT 1")
	s.see("Alan Osei")
	s.see("(1 of 6 rows)")

	// All that is wrong, at once.
	s.press("SELECT p FROM Persn WHERE p.name = \r")
	s.see("Error: there is no type Persn\r\n")
	s.see("              ^\r\n")
	s.see("Try: did you mean Person?")
	s.see("Error: expected a field or a value")
	s.see("wql> ")

	// {this}, which the prompt shows, and what it is for.
	s.press("SELECT p FROM Person WHERE p.manager = {this};\r")
	s.see(`\this NAME`)
	s.press(`\this Ali` + "\t\r")
	s.see("{this} is @Alice Novak (Person)")
	s.see("wql @Alice Novak> ")
	s.press("SELECT COUNT(*) FROM Person WHERE manager = {this}\r")
	s.see("       6\r\n")
	s.press("\\this\r")
	s.see("{this} is not set")

	s.press("\\e on\r\\x on\r\\timing off\rSELECT p FROM Person WHERE p.name = 'Alan Osei'\r")
	s.see("-- 1 Alan Osei\r\n")
	s.see("(1 row)\r\n")
	s.see("Plan")
	s.press("\\d Persn\r")
	s.see(`Try: \d Person`)
	s.see("wql> ")

	// What was entered before, also from another prompt.
	s.press("\x1b[A\x1b[A")
	s.see("SELECT p FROM Person WHERE p.name = 'Alan Osei'")
	s.press("\x15\x12MAX\r")
	s.see("      1240\r\n")
	s.see("wql> ") // typed ahead, the end of the input is none
	s.press("\x04")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
	path := filepath.Join(p.data, config.HistoryFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v, %v", info, err)
	}
	s = p.sit(t, nil, "wql")
	s.see("wql> ")
	s.press("\x1b[A")
	s.see(`FROM Customer;`)
	s.press("\x03")
	s.see("wql> ")
	s.press("\\q\r")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
}

func TestWQL10_PromptWithoutHistory(t *testing.T) {
	p := served(t)
	s := p.sit(t, []string{"CTXD_WQL_HISTORY=none"}, "wql")
	s.see("wql> ")
	s.press("SELECT COUNT(*) FROM Person\r")
	s.see("25\r\n")
	s.see("wql> ")
	s.press("\x1b[A\x05 \x7f\r") // it is there while the prompt is
	s.see("25\r\n")
	s.see("wql> ")
	s.press("\\q\r")
	s.ends()
	if _, err := os.Stat(filepath.Join(p.data, config.HistoryFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the history: %v", err)
	}
	// A file that can't be written is said once, and keeps nobody from asking.
	s = p.sit(t, []string{"CTXD_WQL_HISTORY=" + p.data}, "wql")
	s.see("Error: cannot keep the history")
	s.press("SELECT COUNT(*) FROM Person\r")
	s.see("25\r\n")
	s.see("wql> ")
	s.press("\x04")
	s.ends()
}

func TestWQL10_PromptInterrupted(t *testing.T) {
	p := served(t)
	s := p.sit(t, nil, "wql")
	s.see("wql> ")
	s.press("SELECT p FROM (\rand more\x03")
	s.see("^C\r\n")
	s.see("wql> ")
	s.press("SELECT COUNT(*) FROM Person\r")
	s.see("25\r\n")
	s.see("wql> ")
	// Ended from outside it gives the terminal back.
	before, err := unix.IoctlGetTermios(int(s.person.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if before.Lflag&unix.ICANON != 0 {
		t.Error("the terminal is not in raw mode while a text is edited")
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.see(shell.UnmarkPaste)
	if status := s.ends(); status != term.ExitInterrupted {
		t.Errorf("exit status %d", status)
	}
	after, err := unix.IoctlGetTermios(int(s.person.Fd()), unix.TCGETS)
	if err == nil && after.Lflag&unix.ICANON == 0 {
		t.Error("the terminal is left in raw mode")
	}
}

// The prompt says that the daemon has gone, and finds the next one.
func TestWQL10_PromptOutlivesTheDaemon(t *testing.T) {
	p := served(t)
	s := p.sit(t, nil, "wql", "--this", "@Alice")
	s.see("wql @Alice Novak> ")
	p.run(t, "stop")
	s.press("SELECT COUNT(*) FROM Person\r")
	s.see("Error: no daemon listens")
	s.see("wql @Alice Novak> ")
	vault := t.TempDir()
	if err := os.WriteFile(filepath.Join(vault, "One.md"), []byte("---\ntype: Person\n---\n# Somebody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.serve(t, vault)
	s.press("SELECT COUNT(*) FROM Person WHERE manager = {this}\r")
	s.see("       6\r\n")
	s.see("wql @Alice Novak> ")
	s.press("\x04")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
}

// On a terminal that can move no cursor lines are read as they come.
func TestWQL10_PromptOnADumbTerminal(t *testing.T) {
	p := served(t)
	s := p.sit(t, []string{"TERM=dumb"}, "wql")
	s.see("wql> ")
	s.press("SELECT COUNT(*)\n")
	s.see("...> ")
	s.press("FROM Team;\n")
	s.see("       6\r\n")
	s.see("wql> ")
	s.press("SELECT nothing\n")
	s.see("...> ")
	s.press("at all\x03")
	s.see("\nwql> ")
	s.press("SELECT COUNT(*) FROM OKR\n")
	s.see("       8\r\n")
	s.see("wql> ")
	s.press("\x04")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(s.shown.String(), "\x1b") {
		t.Errorf("the terminal got an escape: %q", s.shown.String())
	}
}

// A query that runs is cancelled by Ctrl-C, and the prompt goes on. The daemon is
// a script that answers no query before it is told to cancel it.
func TestWQL10_CtrlCCancelsTheQuery(t *testing.T) {
	p := newHome(t)
	if err := os.Mkdir(filepath.Dir(p.socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	queried := make(chan struct{}, 1)
	go stubbornDaemon(listener, queried)
	s := p.sit(t, nil, "wql")
	s.see("wql> ")
	s.press("SELECT p FROM Person;\r")
	select {
	case <-queried:
	case <-time.After(hangs):
		t.Fatalf("no query was sent; shown is %q", s.shown.String())
	}
	s.press("\x03")
	s.see("cancelled\r\n")
	s.see("wql> ")
	s.press("\\t\r")
	s.see("type  entities  fields")
	s.see("wql> ")
	s.press("\x04")
	if status := s.ends(); status != term.ExitOK {
		t.Errorf("exit status %d", status)
	}
}

func stubbornDaemon(listener net.Listener, queried chan<- struct{}) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	waiting := json.RawMessage("null")
	for in := bufio.NewScanner(conn); in.Scan(); {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			return
		}
		result := `"result":{}`
		switch m.Method {
		case "initialized":
			continue
		case "wql.check":
			result = `"result":{"ok":true,"diagnostics":[]}`
		case "types.list":
			result = `"result":{"types":[]}`
		case "wql.query":
			waiting = m.ID
			queried <- struct{}{}
			continue
		case protocol.NotifyCancel:
			m.ID = waiting
			result = fmt.Sprintf(`"error":{"code":%d,"message":"cancelled","data":{"kind":"cancelled"}}`, protocol.CodeCancelled)
		}
		fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, result)
	}
}
