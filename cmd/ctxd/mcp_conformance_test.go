package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// TestConformance_MCP has the client of the official TypeScript SDK, unmodified,
// speak to ctxd mcp. What it does lies in fixtures/clients/mcp-sdk.
func TestConformance_MCP(t *testing.T) {
	dir := foreignHost(t, "mcp-sdk", "node", "npm")
	install(t, dir, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error")
	driveMCP(t, dir, []string{"node", "client.js"}, "handshake", "call", "follow", "error", "cancel",
		"notification", "half-close", "10 MB message")
}

// TestConformance_MCPOfPython is TestConformance_MCP for the official SDK for Python, in
// fixtures/clients/mcp-python.
func TestConformance_MCPOfPython(t *testing.T) {
	dir := foreignHost(t, "mcp-python", "python3")
	install(t, dir, "python3", "-m", "venv", "venv")
	python := filepath.Join(dir, "venv", "bin", "python3")
	if runtime.GOOS == "windows" {
		python = filepath.Join(dir, "venv", "Scripts", "python.exe")
	}
	install(t, dir, python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt")
	driveMCP(t, dir, []string{python, "client.py"}, "handshake", "call", "follow", "progress", "error", "cancel")
}

// foreignHost returns a copy of the folder of a client that others wrote. The test is
// skipped when nobody asks for it, and without the programs that the client needs.
func foreignHost(t *testing.T, client string, programs ...string) (dir string) {
	t.Helper()
	if os.Getenv("CTXD_CONFORMANCE") == "" {
		t.Skip("set CTXD_CONFORMANCE=1 to drive ctxd mcp with the official SDKs")
	}
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "fixtures", "clients", client))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// install runs a command without which the client can't be had: then the test is skipped.
func install(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if out, err := inFolder(t, dir, name, args...).CombinedOutput(); err != nil {
		t.Skipf("the SDK can't be installed: %v\n%s", err, out)
	}
}

// driveMCP has a client drive ctxd mcp. It has to tell of each of the steps, one of which
// withdraws a call.
func driveMCP(t *testing.T, dir string, command []string, steps ...string) {
	t.Helper()
	program, err := exec.LookPath("ctxd") // TestMain has put this test there
	if err != nil {
		t.Fatal(err)
	}
	path, withdrawn := serveForHost(t)
	cmd := inFolder(t, dir, command[0], append(command[1:], program)...)
	cmd.Env = append(os.Environ(), "CTXD_SOCKET="+path, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if !strings.Contains("\n"+string(out), "\nok "+step+": ") {
			t.Errorf("the client says nothing of the step %q", step)
		}
	}
	select {
	case <-withdrawn:
	default:
		t.Error("the daemon has not heard that a call was withdrawn")
	}
}

// inFolder is a command that is ended when it takes too long.
func inFolder(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd
}

// serveForHost runs a daemon in this process, with a note and an entity. Its
// types.list waits until it is withdrawn, and says so.
func serveForHost(t *testing.T) (path string, withdrawn <-chan struct{}) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxd-mcp") // that of t.TempDir has a long path
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	db, err := kv.Open(kv.InMemory, kv.Options{})
	check(err)
	rooms, err := daemon.RoomsOver(db, config.Records{}, daemon.Finding{}, nil)
	check(err)
	ctx := t.Context()
	_, err = rooms.Notes.Put(ctx, notes.Draft{ID: "kickoff", Title: "Kickoff", Body: "About scales."}, nil)
	check(err)
	_, _, err = rooms.Entities.PutType(ctx, entities.Type{Name: "Person", Fields: []entities.Field{{Name: "file", Type: record.NoteRef}}}, nil, false)
	check(err)
	_, err = rooms.Entities.Put(ctx, entities.Entity{ID: "alice", Type: "Person", Name: "Alice", Fields: entities.Values{"file": "kickoff"}}, nil)
	check(err)
	ended := make(chan struct{})
	wait := func(ctx context.Context, _ *rpc.Session, _ protocol.Empty) (protocol.TypeList, error) {
		<-ctx.Done()
		close(ended)
		return protocol.TypeList{}, ctx.Err()
	}
	srv := rpc.New(rpc.Options{Rooms: rooms, Methods: append(rpc.Methods(), rpc.Define("types.list", protocol.Read, wait))})
	ln, err := socket.Listen(filepath.Join(dir, "s"), socket.Options{})
	check(err)
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hangs)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		check(db.Close())
		_ = os.RemoveAll(dir)
	})
	return ln.Path(), ended
}
