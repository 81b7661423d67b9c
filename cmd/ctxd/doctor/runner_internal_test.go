package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/embed"
)

// The doctor tells what a runner needs where a part of one is there, and says
// nothing of it where nobody has one.
func TestSRCH22_DoctorTellsOfTheRunner(t *testing.T) {
	t.Setenv("CTXD_LLAMA_DIR", "")
	t.Setenv("PATH", "")
	program := filepath.Join(t.TempDir(), "ctxd-runner")
	c := &checkup{State: stateOK}
	c.judgeRunner(config.Embedder{Kind: config.Auto, Runner: config.Runner{Path: program}}, nil)
	if len(c.More) != 0 {
		t.Errorf("without any part it says %v", c.More)
	}
	if err := os.WriteFile(program, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.judgeRunner(config.Embedder{Kind: config.Auto, Runner: config.Runner{Path: program}}, nil)
	said := strings.Join(c.More, "\n")
	for _, want := range []string{program, "task runner makes it", "task model makes it"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	e := embed.StartRunner(embed.RunnerOptions{Path: program})
	defer e.Close()
	if _, err := e.Model(t.Context()); err == nil {
		t.Fatal("a runner that is none starts")
	}
	c = &checkup{State: stateError}
	c.judgeRunner(config.Embedder{Kind: embed.KindRunner, Runner: config.Runner{Path: program}}, e)
	if !strings.Contains(c.Hint, "task runner") {
		t.Errorf("it hints %q", c.Hint)
	}
}
