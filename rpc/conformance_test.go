package rpc_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc"
)

// The daemon is driven by a client that we did not write, unmodified. It comes
// from npm, so the test runs only when it is asked to (CTXD_CONFORMANCE=1) and
// is skipped where the client can't be installed.
func TestConformance_VSCodeJSONRPC(t *testing.T) {
	if os.Getenv("CTXD_CONFORMANCE") == "" {
		t.Skip("set CTXD_CONFORMANCE=1 to install the client from npm and run it")
	}
	dir := installNode(t, filepath.Join("testdata", "vscode-jsonrpc"))
	b := serve(t, rpc.Limits{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "client.js", b.path)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// installNode copies a package into a folder of the test and installs what it
// depends on there.
func installNode(t *testing.T, source string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the client can't be installed: %v\n%s", err, out)
	}
	return dir
}
