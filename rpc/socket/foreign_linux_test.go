package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/socket"
)

// nobody is a user that is not us.
const nobody = 65534

// asNobody returns a command that runs this test binary as another user, in a
// folder that belongs to that user.
func asNobody(t *testing.T, env ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	dir = private(t)
	program := filepath.Join(dir, "program")
	in, err := os.Open(os.Args[0]) // that of the go command lies where only we can go
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close(), os.Chmod(program, 0o500), os.Chown(program, nobody, nobody), os.Chown(dir, nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd, dir
}

// Another user who gets as far as to connect, because somebody has opened the
// folder and the socket, is not served. Our own connection after it is.
func TestSEC1_AnotherUsersDialIsRefused(t *testing.T) {
	path := filepath.Join(private(t), "s")
	cmd, _ := asNobody(t, dialEnv+"="+path)
	l := listen(t, path)
	defer l.Close()
	if err := errors.Join(os.Chmod(filepath.Dir(path), 0o711), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 2)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "connected, then closed\n" {
		t.Errorf("%v: %s", err, out)
	}
	conn, err := socket.Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served := <-accepted
	defer served.Close()
	if n := len(accepted); n != 0 {
		t.Errorf("%d more connections were accepted", n)
	}
	_ = l.Close()
	if _, more := <-accepted; more {
		t.Error("the connection of another user was accepted")
	}
}

// A client that was led to the socket of another user says nothing to it.
func TestSEC1_AnotherUsersDaemonIsNotSpokenTo(t *testing.T) {
	cmd, dir := asNobody(t)
	path := filepath.Join(dir, "s")
	cmd.Env = append(cmd.Env, helperEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line := make([]byte, len("listening"))
	if _, err := io.ReadFull(out, line); err != nil {
		t.Fatalf("%q %v", line, err)
	}
	conn, err := socket.Dial(context.Background(), path)
	if err == nil {
		_ = conn.Close()
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Retryable || !strings.Contains(f.Msg, "65534") {
		t.Errorf("%v", err)
	}
	if l, err := socket.Listen(filepath.Join(dir, "t"), socket.Options{}); err == nil {
		_ = l.Close()
		t.Error("a socket can be made in the folder of another user")
	}
}
