package client_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConformance_CLI2_Emacs runs the tests of ctxd.el in a real Emacs against a real daemon.
func TestConformance_CLI2_Emacs(t *testing.T) {
	wantEditor(t, "emacs", "go")
	e := newEditor(t)
	t.Run("CompilesWithoutAWarning", e.emacsCompiles)
	t.Run("Tests", func(t *testing.T) {
		cmd := e.command(t, "emacs", "-q", "--no-site-file", "--batch", "-L", emacsFolder(t), "-l", "ctxd-test", "-f", "ert-run-tests-batch-and-exit")
		cmd.Env = append(cmd.Env, "CTXD_TEST_VAULT="+e.vault)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			if regexp.MustCompile(`^ *(passed|skipped|SKIPPED|Ran) `).MatchString(line) {
				t.Log(strings.TrimSpace(line))
			}
		}
	})
}

func emacsFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("emacs")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// emacsCompiles compiles a copy and has its documentation checked.
func (e *editor) emacsCompiles(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "ctxd.el")
	writeFile(t, copied, readFile(t, filepath.Join("emacs", "ctxd.el")))
	for what, expression := range map[string]string{
		"byte-compilation": `(progn (setq byte-compile-error-on-warn t) (unless (byte-compile-file "` + copied + `") (kill-emacs 1)))`,
		"checkdoc":         `(checkdoc-file "` + copied + `")`,
	} {
		out, err := e.command(t, "emacs", "-Q", "--batch", "--eval", expression).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}
