package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
)

// configured writes a configuration file and returns its path.
func configured(t testing.TB, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// unsetAll empties the environment of what configures ctxd.
func unsetAll(t *testing.T) {
	t.Helper()
	for _, s := range config.Default().Settings {
		t.Setenv(s.Env(), "")
	}
}
