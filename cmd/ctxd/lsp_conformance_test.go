package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConformance_LSP has the protocol library of VS Code, unmodified, speak to ctxd lsp,
// which starts a daemon and imports a folder. What it does lies in
// fixtures/clients/vscode-languageserver.
func TestConformance_LSP(t *testing.T) {
	dir := foreignHost(t, "vscode-languageserver", "node", "npm")
	install(t, dir, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error")
	program, err := exec.LookPath("ctxd") // TestMain has put this test there
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "ctxd-l-") // that of t.TempDir has a long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	notes := filepath.Join(home, "Notes")
	for name, text := range map[string]string{
		"Project Alpha.md":   "---\naliases: [p-alpha]\n---\n# Project Alpha\n\n## Goals\n\nShip it.\n",
		"202601311200.md":    "# Beta\n\nSee [[p-alpha]].\n",
		".obsidian/app.json": "{}", // so that it is a vault
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(notes, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(notes, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environment := append(os.Environ(), "CTXD_SOCKET="+filepath.Join(home, "s"), "CTXD_DATA="+filepath.Join(home, "data"),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home)
	t.Cleanup(func() {
		stop := inFolder(t, dir, program, "stop")
		stop.Env = environment
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	cmd := inFolder(t, dir, "node", "client.js", program, notes)
	cmd.Env = environment
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"handshake", "import", "completion", "hover", "navigation", "cancel", "shutdown"} {
		if !strings.Contains("\n"+string(out), "\nok "+step+": ") {
			t.Errorf("the step %q is missing", step)
		}
	}
}
