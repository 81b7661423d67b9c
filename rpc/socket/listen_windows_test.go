package socket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/socket"
)

// helperEnv makes the test binary a process that listens until it is killed.
const helperEnv = "CTXD_TEST_LISTEN"

// hangs is how long a test waits for what must come.
const hangs = time.Minute

func TestMain(m *testing.M) {
	if path := os.Getenv(helperEnv); path != "" {
		l, err := socket.Listen(path, socket.Options{})
		if err != nil {
			fmt.Println("lost", err)
			os.Exit(3)
		}
		fmt.Println("listening")
		_, _ = l.Accept() // nobody comes; the kill ends it
	}
	os.Exit(m.Run())
}

// pipe returns the name of a pipe that nobody has.
func pipe() string { return fmt.Sprintf(`\\.\pipe\ctxd-test-%d-%x`, os.Getpid(), rand.Uint64()) }

func listen(t *testing.T, path string) *socket.Listener {
	t.Helper()
	l, err := socket.Listen(path, socket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRPC1_Resolve(t *testing.T) {
	t.Setenv(socket.EnvPath, "")
	for flag, want := range map[string]socket.Source{"": socket.FromUser, `\\.\pipe\mine`: socket.FromFlag} {
		loc, err := socket.Resolve(flag)
		if err != nil || loc.Source != want || !strings.HasPrefix(loc.Path, `\\.\pipe\`) || strings.Count(loc.Path, `\`) != 4 {
			t.Errorf("%q: %+v, %v", flag, loc, err)
		}
	}
	_, err := socket.Resolve(`\\.\pipe\` + strings.Repeat("x", socket.MaxPath))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "103") {
		t.Errorf("a name that is too long: %v", err)
	}
}

// TestRPC1_EveryClientIsAnswered has clients come one after another from the first one on, and then all at once.
func TestRPC1_EveryClientIsAnswered(t *testing.T) {
	path := pipe()
	l := listen(t, path)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if pid := socket.PeerPID(conn); pid != os.Getpid() {
				t.Errorf("the client is process %d, want %d", pid, os.Getpid())
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	for i := range 5 {
		if err := echo(path, fmt.Sprint("client ", i)); err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
	}
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() {
			if err := echo(path, fmt.Sprint("client ", i)); err != nil {
				t.Errorf("client %d of many: %v", i, err)
			}
		})
	}
	clients.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

// echo sends text and wants it back.
func echo(path, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(hangs)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if string(got) != text {
		return fmt.Errorf("got %q", got)
	}
	return nil
}

func TestRPC1_NobodyListens(t *testing.T) {
	_, err := socket.Dial(context.Background(), pipe())
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable || f.Hint != "start one with: ctxd serve" {
		t.Errorf("%#v", f)
	}
}

// TestRPC1_NobodyAccepts has a client give up on a daemon that takes no connection.
func TestRPC1_NobodyAccepts(t *testing.T) {
	path := pipe()
	l := listen(t, path)
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if conn, err := socket.Dial(ctx, path); fault.KindOf(err) != fault.Deadline {
		t.Errorf("%v, %v", conn, err)
	}
}

// skipWithTwoOwners leaves out what Wine 8 can't do: go-winio's ListenPipe alone succeeds twice there for one name.
func skipWithTwoOwners(t *testing.T) {
	t.Helper()
	if os.Getenv("CTXD_WINE") != "" {
		t.Skip("not under Wine: two processes may listen on one pipe, as go-winio alone shows")
	}
}

func TestRPC2_SecondListenerIsTold(t *testing.T) {
	skipWithTwoOwners(t)
	path := pipe()
	l := listen(t, path)
	_, err := socket.Listen(path, socket.Options{})
	var owned *socket.OwnedError
	if !errors.As(err, &owned) || fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := listen(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestRPC2_FreeAfterKill(t *testing.T) {
	path := pipe()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("listening"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "listening" {
		t.Fatalf("%q %v", line, err)
	}
	if os.Getenv("CTXD_WINE") == "" { // see skipWithTwoOwners
		if _, err := socket.Listen(path, socket.Options{}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("while it listens: %v", err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := listen(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestREL5_OneOfManyWins(t *testing.T) {
	skipWithTwoOwners(t)
	path := pipe()
	for range 5 {
		var starts sync.WaitGroup
		won := make(chan *socket.Listener, 20)
		for range cap(won) {
			starts.Go(func() {
				l, err := socket.Listen(path, socket.Options{})
				if err == nil {
					won <- l
				} else if fault.KindOf(err) != fault.Conflict {
					t.Errorf("a loser is told %v", err)
				}
			})
		}
		starts.Wait()
		if n := len(won); n != 1 {
			t.Fatalf("%d listeners", n)
		}
		if err := (<-won).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWatchProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+pipe())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("listening"))); err != nil {
		t.Fatal(err)
	}
	wait, err := socket.WatchProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	if !wait(ctx) {
		t.Error("its end was not seen")
	}
	_ = cmd.Wait()
}
