package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// home is where the daemon of one test lives.
type home struct {
	socket, data string
	env          []string
}

func newHome(t *testing.T) home {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes can't be signalled there; fixtures/scripts/stdio.txtar runs everywhere")
	}
	dir, err := os.MkdirTemp("", "ctxd-t-") // a socket path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := home{socket: filepath.Join(dir, "s", "ctxd.sock"), data: filepath.Join(dir, "data")}
	p.env = append(os.Environ(), "CTXD_SOCKET="+p.socket, "CTXD_DATA="+p.data, "TMPDIR="+dir,
		"XDG_CONFIG_HOME="+dir, "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	t.Cleanup(func() { p.stop(t) })
	return p
}

// command returns a ctxd command, which is the test binary under that name.
func (p home) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: exe, Args: append([]string{"ctxd"}, args...), Env: p.env}
}

// health returns the health of the daemon, nil when none runs.
func (p home) health() *protocol.Health {
	h, err := connect.HealthFrom(context.Background(), p.socket, hangs)
	if err != nil {
		return nil
	}
	return h
}

// stop ends the daemon of a test that left it running, and waits for its end.
func (p home) stop(t *testing.T) {
	c, err := client.Dial(context.Background(), p.socket, client.Options{})
	if err != nil {
		return
	}
	defer c.Close()
	if err := c.Call(context.Background(), "admin.stop", nil, nil); err != nil {
		t.Errorf("the daemon can't be stopped: %v", err)
	}
	if h := p.health(); h != nil {
		connect.WaitForEnd(context.Background(), c, h.PID)
	}
	<-c.Done()
}

const askHealth = `{"jsonrpc":"2.0","id":1,"method":"admin.health"}` + "\n"

// pidOf returns the process that answered askHealth.
func pidOf(t *testing.T, reply []byte) int {
	t.Helper()
	var doc struct {
		Result protocol.Health `json:"result"`
	}
	if err := json.Unmarshal(reply, &doc); err != nil || doc.Result.PID == 0 {
		t.Fatalf("no reply: %v in %q", err, reply)
	}
	return doc.Result.PID
}

func TestStdioStartsOneDaemon(t *testing.T) {
	p := newHome(t)
	const many = 12
	var wg sync.WaitGroup
	pids, failures := make([]int, many), make([]string, many)
	for i := range many {
		cmd := p.command(t, "stdio", "--idle-exit", "10m")
		var out, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(askHealth), &out, &stderr
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := cmd.Run(); err != nil {
				failures[i] = err.Error()
				return
			}
			failures[i] = stderr.String()
			pids[i] = pidOf(t, out.Bytes())
		}()
	}
	wg.Wait()
	for i := range many {
		if failures[i] != "" || pids[i] != pids[0] {
			t.Errorf("%d: daemon %d, not %d; %s", i, pids[i], pids[0], failures[i])
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(p.data), "ctxd-start-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files of the start are left: %v %v", left, err)
	}
}

// talk starts ctxd stdio and waits until a daemon has answered over it.
func talk(t *testing.T, p home) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader, stderr *bytes.Buffer, pid int) {
	t.Helper()
	cmd, stderr = p.command(t, "stdio", "--idle-exit", "10m"), &bytes.Buffer{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	out = bufio.NewReader(stdout)
	if _, err := io.WriteString(in, askHealth); err != nil {
		t.Fatal(err)
	}
	reply, err := out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v; %s", err, stderr)
	}
	return cmd, in, out, stderr, pidOf(t, reply)
}

func TestStdioSaysThatTheDaemonIsGone(t *testing.T) {
	p := newHome(t)
	cmd, _, _, stderr, pid := talk(t, p)
	daemon, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitNoDaemon {
		t.Errorf("%v, want status %d", err, term.ExitNoDaemon)
	}
	if !strings.Contains(stderr.String(), "the daemon has stopped") {
		t.Errorf("it says %q", stderr)
	}
}

func TestStdioInterrupted(t *testing.T) {
	p := newHome(t)
	cmd, _, _, _, pid := talk(t, p)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted {
		t.Errorf("%v, want status %d", err, term.ExitInterrupted)
	}
	if h := p.health(); h == nil || h.PID != pid {
		t.Errorf("the daemon did not outlive it: %+v", h)
	}
}

// peer is a daemon that does what a test says with its one connection.
func peer(t *testing.T, serve func(conn *net.UnixConn)) (net.Conn, *socket.Listener) {
	t.Helper()
	p := newHome(t)
	ln, err := socket.Listen(p.socket, socket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	conn, err := socket.Dial(context.Background(), p.socket)
	if err != nil {
		t.Fatal(err)
	}
	served, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer served.Close()
		serve(served.(*net.UnixConn))
	}()
	return conn, ln
}

func TestStdioCarriesEveryByte(t *testing.T) {
	want := make([]byte, 5<<20)
	_, _ = rand.Read(want) // it never fails
	conn, _ := peer(t, func(c *net.UnixConn) {
		got, err := io.ReadAll(c) // half-closed: there is an end, and a way back
		if err == nil {
			_, err = c.Write(got)
		}
		if err != nil {
			t.Error(err)
		}
	})
	var got bytes.Buffer
	b := &bridge{conn: conn, in: bytes.NewReader(want), out: &got, patience: quietEnd}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes came back of %d, or others", got.Len(), len(want))
	}
}

func TestStdioEnds(t *testing.T) {
	exit := `{"jsonrpc":"2.0","method" : "exit"}` + "\n"
	hold := func() io.Reader { r, _ := io.Pipe(); return r } // an input without an end
	for _, c := range []struct {
		name   string
		in     io.Reader
		out    io.Writer
		serve  func(c *net.UnixConn, ln func())
		says   string // in the error; "" for none
		status int
	}{
		{"the client said exit", io.MultiReader(strings.NewReader(exit), hold()), io.Discard, func(c *net.UnixConn, _ func()) {
			_, _ = bufio.NewReader(c).ReadString('\n')
		}, "", term.ExitOK},
		{"the daemon dies", hold(), io.Discard, func(_ *net.UnixConn, close func()) { close() }, "the daemon has stopped", term.ExitNoDaemon},
		{"nobody reads", hold(), failing{}, func(c *net.UnixConn, _ func()) {
			_, _ = c.Write([]byte("x"))
			_, _ = c.Read(make([]byte, 1))
		}, "cannot write standard output", term.ExitError},
		{"nobody writes", failing{}, io.Discard, func(c *net.UnixConn, _ func()) { _, _ = c.Read(make([]byte, 1)) }, "cannot read standard input", term.ExitError},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ln *socket.Listener
			ready := make(chan struct{})
			conn, ln := peer(t, func(conn *net.UnixConn) {
				<-ready
				c.serve(conn, func() { _ = ln.Close() })
			})
			close(ready)
			b := &bridge{conn: conn, in: c.in, out: c.out, patience: quietEnd}
			err := b.run(t.Context())
			if f := explainAny(err); f.Code != c.status || !strings.Contains(f.Message, c.says) {
				t.Errorf("status %d, %q", f.Code, f.Message)
			}
		})
	}
}

// A connection that the daemon cut is told from a daemon that died.
func TestStdioSaysThatItWasCut(t *testing.T) {
	p := newHome(t)
	cmd, in, out, stderr, _ := talk(t, p)
	if _, err := io.WriteString(in, strings.Repeat("[", 1000)+"\n"); err != nil { // nested too deeply
		t.Fatal(err)
	}
	if _, err := io.ReadAll(out); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitError || !strings.Contains(stderr.String(), "has closed the connection") {
		t.Errorf("%v %q", err, stderr)
	}
}

// When another daemon has the data there is nothing to wait for.
func TestStdioSaysAtOnceWhoHasTheData(t *testing.T) {
	p := newHome(t)
	talk(t, p)
	begun := time.Now()
	out, err := p.command(t, "stdio", "--socket", p.socket+"2").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != term.ExitOwned || !strings.Contains(string(out), "already owns this data") {
		t.Errorf("%v: %s", err, out)
	}
	if took := time.Since(begun); took >= connect.StartLimit {
		t.Errorf("that took %v", took)
	}
}

func TestStdioPassesOnWhatItWasTold(t *testing.T) {
	for _, c := range []struct {
		flags connect.AttachFlags
		want  string
	}{
		{connect.AttachFlags{}, "--idle-exit 10m"},
		{connect.AttachFlags{IdleExit: "never"}, "--idle-exit never"},
		{connect.AttachFlags{IdleExit: "90s", Data: "/d"}, "--data /d --idle-exit 1m30s"},
	} {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		a := &connect.Link{Flags: &config.Flags{Socket: "/s"}}
		conf, err := a.Load(c.flags.Options().Given)
		if err != nil {
			t.Fatal(err)
		}
		args, err := a.DaemonArgs(conf)
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, "serve --detached --json --socket /s ") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, %v", c.flags, got, err)
		}
	}
}

func explainAny(err error) term.Failure {
	if err == nil {
		return term.Failure{}
	}
	return term.ExplainError(err)
}

// failing is a stream that is broken.
type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("broken") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("broken") }

// A named pipe can't be closed by halves: the replies are over when none comes
// any more.
func TestStdioWithoutHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 4))
			for range 3 {
				time.Sleep(quietEnd * 9 / 10) //nolint:forbidigo // the clock is not the real one
				_, _ = theirs.Write([]byte("pong"))
			}
		}()
		var got bytes.Buffer
		b := &bridge{conn: ours, in: strings.NewReader("ping"), out: &got, patience: quietEnd}
		if err := b.run(t.Context()); err != nil || got.String() != "pongpongpong" {
			t.Errorf("%q %v", got.String(), err)
		}
	})
}

func TestStdioWithdrawn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	conn, _ := peer(t, func(c *net.UnixConn) {
		cancel()
		_, _ = c.Read(make([]byte, 1))
	})
	r, _ := io.Pipe()
	err := (&bridge{conn: conn, in: r, out: io.Discard, patience: quietEnd}).run(ctx)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
}
