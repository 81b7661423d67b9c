package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/rpc/socket"
)

// otherDaemon listens as a daemon does that speaks another version of the protocol, and
// refuses whoever is newer. It returns the socket, and the methods that it was asked for.
func otherDaemon(t *testing.T, speaks string, refuses bool) (path string, asked func() []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxd-v-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	if runtime.GOOS == "windows" {
		path = `\\.\pipe\` + filepath.Base(dir)
	}
	ln, err := socket.Listen(path, socket.Options{Version: "0.0.7"})
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		methods []string
		serving sync.WaitGroup
	)
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return // the test is over
			}
			serving.Go(func() {
				defer conn.Close()
				answerAs(conn, speaks, refuses, func(method string) {
					mu.Lock()
					defer mu.Unlock()
					methods = append(methods, method)
				})
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		serving.Wait()
	})
	return path, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return methods
	}
}

// answerAs answers one client in the name of a daemon of another time.
func answerAs(conn net.Conn, speaks string, refuses bool, asked func(method string)) {
	in := bufio.NewScanner(conn)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		asked(m.Method)
		reply := `"error":{"code":-32601,"message":"there is no method","data":{"kind":"method_not_found","retryable":false}}`
		switch m.Method {
		case "initialize":
			reply = fmt.Sprintf(`"result":{"serverInfo":{"name":"ctxd","version":"0.0.7"},"protocolVersion":%q}`, speaks)
			if refuses && m.Params.ProtocolVersion != "" {
				reply = `"error":{"code":1003,"message":"no","data":{"kind":"unavailable","retryable":false}}`
			}
		case "rpc.discover":
			reply = fmt.Sprintf(`"result":{"info":{"version":%q}}`, speaks)
		case "admin.health":
			reply = `"result":{"version":"0.0.7","pid":2147483000}`
		case "admin.stop":
			reply = `"result":{"stopping":true,"brokenOff":[]}`
		}
		if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, reply); err != nil || m.Method == "admin.stop" {
			return
		}
	}
}

// runAt runs the program with a socket and returns what it said and its exit status.
func runAt(t *testing.T, path, input string, args ...string) (output string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ctxd", args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "CTXD_SOCKET="+path, "CTXD_DATA="+filepath.Join(home, "data"), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestCLI6_DaemonOfAnotherTime: commands, and a check, say which is older and what to do;
// ctxd stop ends such a daemon all the same.
func TestCLI6_DaemonOfAnotherTime(t *testing.T) {
	const (
		newer = "Error: this program is older than the daemon (version 0.0.7): it speaks protocol 2.0, the daemon 3.0\nTry: update this program\n"
		older = "Error: the daemon (version 0.0.7) is older than this program: it speaks protocol 0.9, this program 2.0\n" +
			"Try: restart the daemon with a newer ctxd: ctxd stop, then ctxd serve\n"
	)
	for _, c := range []struct {
		speaks  string
		refuses bool
		said    string
		checked string
	}{
		{"3.0", false, newer, "Error: the client is older than the daemon that runs (version 0.0.7): it speaks protocol 2.0, the daemon that runs 3.0\nTry: update the client\n"},
		{"0.9", true, older, "Error: the daemon that runs (version 0.0.7) is older than the client: it speaks protocol 0.9, the client 2.0\n" +
			"Try: restart it with this ctxd: ctxd stop, then ctxd serve\n"},
	} {
		path, asked := otherDaemon(t, c.speaks, c.refuses)
		for _, args := range [][]string{{"search", "x"}, {"import", "."}} {
			if out, status := runAt(t, path, "", args...); out != c.said || status != 1 {
				t.Errorf("%s: %v: status %d\n%s", c.speaks, args, status, out)
			}
		}
		out, _ := runAt(t, path, hostSession, "mcp", "--tools", "all")
		told, _, _ := strings.Cut(strings.TrimPrefix(c.said, "Error: "), "\nTry: ")
		if !strings.Contains(out, `"text":"`+told+`\nTry: tell the user: `) || strings.Contains(out, "cannot connect") {
			t.Errorf("%s: ctxd mcp:\n%s", c.speaks, out)
		}
		if out, status := runAt(t, path, "", "version", "--check", "2.0"); out != c.checked || status != 1 {
			t.Errorf("%s: --check: status %d\n%s", c.speaks, status, out)
		}
		if out, status := runAt(t, path, "", "stop"); !strings.HasPrefix(out, "the daemon has stopped") || status != 0 {
			t.Errorf("%s: stop: status %d\n%s", c.speaks, status, out)
		}
		if list := asked(); list[len(list)-1] != "admin.stop" {
			t.Errorf("%s: %v", c.speaks, list)
		}
	}
}

// TestCLI6_MinorVersions: a daemon that is newer by a minor version serves, and one that is
// older by one is said to lack what a client may need.
func TestCLI6_MinorVersions(t *testing.T) {
	path, _ := otherDaemon(t, "2.99", false)
	if out, status := runAt(t, path, "", "version", "--check", "2.0", "--json"); status != 0 || !strings.Contains(out, `"daemon":{"version":"0.0.7","protocol":"2.99"}`) {
		t.Errorf("status %d\n%s", status, out)
	}
	out, status := runAt(t, path, "", "search", "x")
	if status != 1 || !strings.Contains(out, "; the daemon is older than this program\nTry: restart the daemon") {
		t.Errorf("status %d\n%s", status, out)
	}
}
