//go:build unix

package socket_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/socket"
)

const (
	// helperEnv makes the test binary a process that listens until it is killed.
	helperEnv = "CTXD_TEST_LISTEN"
	// dialEnv makes it one that connects without a look at who listens, and says
	// what came of it.
	dialEnv = "CTXD_TEST_DIAL"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(dialEnv); path != "" {
		dialAnyway(path)
		return
	}
	if path := os.Getenv(helperEnv); path != "" {
		l, err := socket.Listen(path, socket.Options{Version: "9.9"})
		if err != nil {
			fmt.Println("lost", err)
			os.Exit(3)
		}
		fmt.Println("listening")
		for {
			conn, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			_ = conn.Close()
		}
	}
	goleak.VerifyTestMain(m)
}

func dialAnyway(path string) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("not connected:", err)
		return
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		fmt.Println("connected and served")
		return
	}
	fmt.Println("connected, then closed")
}

// private returns a short path of a folder of our own.
func private(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestRPC1_Resolve(t *testing.T) {
	tmp := private(t)
	uid := strconv.Itoa(os.Getuid())
	long := "/" + strings.Repeat("x", socket.MaxPath)
	for _, c := range []struct {
		name, flag, env, runtime string
		want                     string
		source                   socket.Source
		kind                     fault.Kind
	}{
		{"flag", "/a/s", "/b/s", "/run/u", "/a/s", socket.FromFlag, 0},
		{"environment", "", "/b/s", "/run/u", "/b/s", socket.FromEnv, 0},
		{"runtime", "", "", "/run/u", "/run/u/ctxd/ctxd.sock", socket.FromRuntime, 0},
		{"temporary", "", "", "", filepath.Join(tmp, "ctxd-"+uid, "ctxd.sock"), socket.FromTemp, 0},
		{"relative runtime is no runtime", "", "", "run", filepath.Join(tmp, "ctxd-"+uid, "ctxd.sock"), socket.FromTemp, 0},
		{"at the limit", long[:socket.MaxPath], "", "", long[:socket.MaxPath], socket.FromFlag, 0},
		{"over the limit", long, "", "", long, socket.FromFlag, fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(socket.EnvPath, c.env)
			t.Setenv("XDG_RUNTIME_DIR", c.runtime)
			t.Setenv("TMPDIR", tmp)
			got, err := socket.Resolve(c.flag)
			if got.Path != c.want || got.Source != c.source {
				t.Errorf("got %+v, want %s from %s", got, c.want, c.source)
			}
			if (err != nil) != (c.kind != 0) || err != nil && fault.KindOf(err) != c.kind {
				t.Errorf("error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "103") {
				t.Errorf("the limit is not in: %v", err)
			}
		})
	}
}

func TestRPC1_ModesUnderAWideUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(private(t), "a", "b", "s")
	l := listen(t, path)
	defer l.Close()
	for p, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + ".lock": 0o600} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(p), got, want)
		}
	}
	if got := syscall.Umask(0); got != 0 {
		t.Errorf("the umask is left at %o", got)
	}
}

func listen(t testing.TB, path string) *socket.Listener {
	t.Helper()
	l, err := socket.Listen(path, socket.Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRPC1_UnsafePlacesAreRefused(t *testing.T) {
	dir := private(t)
	wide := filepath.Join(dir, "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(wide, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(wide, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"wide directory":         filepath.Join(wide, "s"),
		"link to a wide one":     filepath.Join(dir, "link", "s"),
		"directory is a file":    filepath.Join(dir, "file", "s"),
		"a file is in the place": filepath.Join(dir, "file"),
		"another's directory":    "/proc/s",
		"too long":               filepath.Join(dir, strings.Repeat("x", 120)),
	} {
		l, err := socket.Listen(path, socket.Options{})
		if err == nil {
			_ = l.Close()
		}
		var f *fault.Error
		if !errors.As(err, &f) || f.Hint == "" || strings.Contains(f.Msg, dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != "precious" {
		t.Errorf("the file was touched: %q %v", data, err)
	}
}

func TestRPC2_SecondListenerIsToldWhoOwnsIt(t *testing.T) {
	path := filepath.Join(private(t), "s")
	l := listen(t, path)
	later := func() time.Time { return time.Now().Add(90 * time.Second) }
	_, err := socket.Listen(path, socket.Options{Now: later})
	var owned *socket.OwnedError
	if !errors.As(err, &owned) || fault.KindOf(err) != fault.Conflict {
		t.Fatalf("%v", err)
	}
	if o := owned.Owner; o.PID != os.Getpid() || o.Version != "1.2.3" || owned.Uptime < 89*time.Second || owned.Uptime > 100*time.Second {
		t.Errorf("%+v", owned)
	}
	for _, part := range []string{"pid " + strconv.Itoa(os.Getpid()), "version 1.2.3", "up 1m"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Error("the socket is left over")
	}
	if err := listen(t, path).Close(); err != nil {
		t.Error(err)
	}
}

// An owner without the lock, such as one whose lock file was deleted, is found
// by asking the socket.
func TestRPC2_AnsweringSocketIsNotStolen(t *testing.T) {
	path := filepath.Join(private(t), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := socket.Listen(path, socket.Options{}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error("the socket of another is gone")
	}
}

func TestRPC2_StaleSocketAfterKill(t *testing.T) {
	path := filepath.Join(private(t), "s")
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
	if _, err := out.Read(line); err != nil || string(line) != "listening" {
		t.Fatalf("%q %v", line, err)
	}
	_, err = socket.Listen(path, socket.Options{})
	var owned *socket.OwnedError
	if !errors.As(err, &owned) || owned.Owner.PID != cmd.Process.Pid || owned.Owner.Version != "9.9" {
		t.Errorf("%v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the kill left no socket, so the test shows nothing")
	}
	if _, err := socket.Dial(context.Background(), path); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("dial: %v", err)
	}
	start := time.Now()
	l := listen(t, path)
	defer l.Close()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the restart took %v", took)
	}
}

func TestREL5_OneOfManyWins(t *testing.T) {
	path := filepath.Join(private(t), "s")
	const starts, rounds = 20, 5
	for range rounds {
		var wg sync.WaitGroup
		won := make(chan *socket.Listener, starts)
		for range starts {
			wg.Go(func() {
				l, err := socket.Listen(path, socket.Options{Version: "1"})
				if err == nil {
					won <- l
					return
				}
				var owned *socket.OwnedError
				if !errors.As(err, &owned) || owned.Owner.PID != os.Getpid() {
					t.Errorf("a loser is told %v", err)
				}
			})
		}
		wg.Wait()
		if n := len(won); n != 1 {
			t.Fatalf("%d listeners", n)
		}
		l := <-won
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The lock file of a process that was killed still names it when the next owner
// has the lock and has not written yet. Whoever comes then waits for the new
// name.
func TestREL5_LoserIsNotToldOfTheDead(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(private(t), "s")
	winner := flock.New(path + ".lock")
	if ok, err := winner.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer winner.Close()
	write := func(pid int) {
		text := fmt.Sprintf(`{"pid":%d,"version":"1","started":"2026-01-31T09:30:00Z"}`, pid)
		if err := os.WriteFile(path+".lock", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(dead.Process.Pid)
	lost := make(chan error, 1)
	go func() {
		_, err := socket.Listen(path, socket.Options{})
		lost <- err
	}()
	select {
	case err := <-lost:
		t.Fatalf("told at once: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	write(os.Getpid())
	var owned *socket.OwnedError
	if err := <-lost; !errors.As(err, &owned) || owned.Owner.PID != os.Getpid() {
		t.Errorf("told %v", err)
	}
}

func TestCloseLeavesTheSocketOfASuccessor(t *testing.T) {
	path := filepath.Join(private(t), "s")
	l := listen(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error("the socket of the successor is gone")
	}
}

func TestRPC3_SameUserIsServed(t *testing.T) {
	path := filepath.Join(private(t), "s")
	l := listen(t, path)
	defer l.Close()
	conn, err := socket.Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = served.Close()
}

func TestDialErrors(t *testing.T) {
	dir := private(t)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name      string
		ctx       context.Context
		path      string
		kind      fault.Kind
		retryable bool
	}{
		{"nobody", context.Background(), filepath.Join(dir, "none"), fault.Unavailable, true},
		{"cancelled", done, filepath.Join(dir, "none"), fault.Cancelled, false},
		{"too long", context.Background(), strings.Repeat("x", 200), fault.Invalid, false},
	} {
		_, err := socket.Dial(c.ctx, c.path)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Retryable != c.retryable || strings.Contains(f.Msg, dir) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRPC3_AnotherUserIsRefused(t *testing.T) {
	for _, c := range []struct {
		uid   int
		known bool
		ok    bool
	}{{os.Getuid(), true, true}, {os.Getuid() + 1, true, false}, {0, false, true}} {
		if err := socket.SameUser(c.uid, c.known); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Who has a socket is known without asking, so that ctxd stop can end a daemon that
// serves nobody.
func TestREL7_TheHolderOfASocketIsKnown(t *testing.T) {
	path := filepath.Join(private(t), "s")
	if o, held := socket.Holder(path); held {
		t.Errorf("a socket that is not there is held by %+v", o)
	}
	ln := listen(t, path)
	o, held := socket.Holder(path)
	if !held || o.PID != os.Getpid() {
		t.Errorf("the holder is %+v, %v, want this process", o, held)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if o, held := socket.Holder(path); held {
		t.Errorf("a socket that was closed is held by %+v", o)
	}
	// What one that was killed has written is no proof.
	text := fmt.Sprintf(`{"pid":%d}`, os.Getpid())
	if err := os.WriteFile(path+".lock", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, held := socket.Holder(path); held {
		t.Errorf("a socket that nobody has locked is held by %+v", o)
	}
}
