package rpc_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
)

// The daemon is driven by clients that we did not write, unmodified. They come
// from npm and from the system's packages, so these tests run only when they are
// asked to (CTXD_CONFORMANCE=1), and are skipped where a client can't be had.
// What each does lies in a folder of fixtures/clients.

func TestConformance_VSCodeJSONRPC(t *testing.T) { conformNode(t, "vscode-jsonrpc") }

func TestConformance_Jayson(t *testing.T) { conformNode(t, "jayson") }

func TestConformance_JSONRPC20(t *testing.T) { conformNode(t, "json-rpc-2.0") }

func TestConformance_Emacs(t *testing.T) {
	wantConformance(t, "emacs")
	b := serve(t, rpc.Limits{})
	conform(t, b, command(t, "emacs", "-Q", "--batch", "--load", clientFile("emacs", "client.el"), b.path))
}

// Neovim speaks to the standard input and output of a process, which is our own
// bridge to the socket.
func TestConformance_Neovim(t *testing.T) {
	wantConformance(t, "nvim", "go")
	b := serve(t, rpc.Limits{})
	ctxd := buildProgram(t)
	cmd := command(t, "nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+clientFile("neovim", "client.lua"))
	cmd.Env = append(environment(t, b.path), "CTXD="+ctxd)
	conform(t, b, cmd)
}

// buildProgram builds ctxd and returns its path.
func buildProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ctxd")
	if out, err := command(t, "go", "build", "-o", path, "../cmd/ctxd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// environment is that of a client that starts ctxd itself: nothing of the person who
// runs the tests is read or written.
func environment(t *testing.T, socket string) []string {
	t.Helper()
	home := t.TempDir()
	return append(os.Environ(), "CTXD_SOCKET="+socket, "CTXD_DATA="+filepath.Join(home, "data"),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home)
}

// TestConformance_TheSnippetsOfTheREADME runs what rpc/README.md shows for editors,
// against a daemon that holds a note which both complete.
func TestConformance_TheSnippetsOfTheREADME(t *testing.T) {
	for _, c := range []struct {
		language, program, ending string
		args                      func(file string) []string
	}{
		{"lua", "nvim", "\nvim.wait(60000, function() return done end, 5)\nvim.cmd('qa!')\n", func(file string) []string {
			return []string{"--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile " + file}
		}},
		{"elisp", "emacs", "", func(file string) []string { return []string{"-Q", "--batch", "--load", file} }},
	} {
		t.Run(c.program, func(t *testing.T) {
			wantConformance(t, c.program, "go")
			text, err := os.ReadFile("README.md")
			must(t, err)
			_, rest, found := strings.Cut(string(text), "```"+c.language+"\n")
			code, _, ends := strings.Cut(rest, "```\n")
			if !found || !ends {
				t.Fatalf("README.md has no snippet in %s", c.language)
			}
			file := filepath.Join(t.TempDir(), "snippet."+c.language)
			// The editor must not end before the answer is there: a snippet in a plugin
			// has no end.
			code = strings.Replace(code, "    end\n  end)\nend)\n", "    end\n    done = true\n  end)\nend)\n", 1)
			must(t, os.WriteFile(file, []byte(code+c.ending), 0o600))
			d := start(t)
			d.do("notes.put", `{"title":"Kickoff of Project Alpha","path":"Meetings/Kickoff.md"}`)
			cmd := command(t, c.program, c.args(file)...)
			cmd.Env = append(environment(t, d.path), "PATH="+filepath.Dir(buildProgram(t))+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "Kickoff of Project Alpha") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// clientFile returns the path of a file of a client, as its program sees it: it runs
// in the folder of this package.
func clientFile(elem ...string) string {
	return filepath.Join(append([]string{"..", "fixtures", "clients"}, elem...)...)
}

func conformNode(t *testing.T, name string) {
	t.Helper()
	wantConformance(t, "node", "npm")
	dir := installNode(t, clientFile(name))
	b := serve(t, rpc.Limits{})
	cmd := command(t, "node", "client.js", b.path)
	cmd.Dir = dir
	conform(t, b, cmd)
}

// wantConformance skips the test when nobody asked for it or a program that it
// needs is missing.
func wantConformance(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv("CTXD_CONFORMANCE") == "" {
		t.Skip("set CTXD_CONFORMANCE=1 to drive the daemon with foreign clients")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// steps are what every client has to do. It prints a line for each.
var steps = []string{"handshake", "call", "error", "cancel", "notification", "half-close", "10 MB message"}

// conform runs a client to its end and checks that it did every step and that
// the daemon had nothing to object to.
func conform(t *testing.T, b *bench, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nlog of the daemon:\n%s", err, out, objections(b))
	}
	t.Logf("%s", out)
	for _, step := range steps {
		if !strings.Contains("\n"+string(out), "\nok "+step+": ") {
			t.Errorf("the client says nothing of the step %q", step)
		}
	}
	if text := objections(b); text != "" {
		t.Errorf("the daemon objects:\n%s", text)
	}
	// Whatever a client left behind, such as a call that waits for ever, keeps
	// the server of the test from shutting down in time.
}

// command is a command that is ended when it takes too long.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

// objections are what the daemon warns of in its log.
func objections(b *bench) string {
	var lines []string
	for line := range strings.Lines(b.log.String()) {
		if !strings.Contains(line, " level=DEBUG ") && !strings.Contains(line, " level=INFO ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// installNode copies a package into a folder of the test and installs what it
// depends on there.
func installNode(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the client can't be installed: %v\n%s", err, out)
	}
	return dir
}
