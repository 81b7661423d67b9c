package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ctxd/ctxd/fixtures"
)

// editor is where the package of an editor is tried: a copy of the vault of the fixtures, a daemon of
// its own, and a home that has nothing of the person who runs the test.
type editor struct {
	ctxd  string // the program
	home  string
	vault string
	env   []string
}

// wantEditor skips the test where nobody asked for it or a program is missing.
func wantEditor(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv("CTXD_CONFORMANCE") == "" {
		t.Skip("set CTXD_CONFORMANCE=1 to try the packages for editors in these editors")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the editors are driven on Unix")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// newEditor starts a daemon with the vault. It is called as programs find ctxd: by its name, in $PATH.
func newEditor(t *testing.T) *editor {
	t.Helper()
	// Paths of sockets are short, so the folder of the test may not do.
	home, err := os.MkdirTemp("", "ctxd-ed-")
	if err != nil {
		t.Fatal(err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	e := &editor{ctxd: buildDaemon(t), home: home, vault: filepath.Join(home, "Notes")}
	if err := os.CopyFS(e.vault, fixtures.Vault()); err != nil {
		t.Fatal(err)
	}
	e.env = append(os.Environ(),
		"PATH="+filepath.Dir(e.ctxd)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+home, "CTXD_SOCKET="+filepath.Join(home, "s"), "CTXD_DATA="+filepath.Join(home, "data"),
		"XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home,
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TERM=xterm-256color",
	)
	e.run(t, "stdio", "--idle-exit", "never")
	t.Cleanup(func() {
		e.run(t, "stop")
		_ = os.RemoveAll(home)
	})
	e.run(t, "import", e.vault)
	return e
}

// run runs ctxd and returns what it prints.
func (e *editor) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := e.command(t, e.ctxd, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ctxd %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (e *editor) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...) //nolint:noctx // it ends with the test, after the context of the test has
	cmd.Env, cmd.Dir = e.env, e.vault
	return cmd
}

// note is the path of a note of the vault.
func (e *editor) note(elem ...string) string {
	return filepath.Join(append([]string{e.vault}, elem...)...)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
