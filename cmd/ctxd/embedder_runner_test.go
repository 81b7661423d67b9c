package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// Auto takes the runner only where all that it needs is there; a runner that was
// chosen and lacks something says what.
func TestSRCH22_RunnerIsTakenWhereItIsWhole(t *testing.T) {
	t.Setenv("CTXD_LLAMA_DIR", "")
	t.Setenv("PATH", "")
	folder := t.TempDir()
	program := filepath.Join(folder, "ctxd-runner")
	for _, step := range []struct{ file, missing string }{
		{"", "program"},
		{program, "library"},
		{filepath.Join(folder, "llama", embed.RunnerLibraryName()), "model"},
		{filepath.Join(folder, "models", "m.gguf"), ""},
	} {
		if step.file != "" {
			if err := os.MkdirAll(filepath.Dir(step.file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(step.file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for kind, want := range map[string]string{auto: "builtin", embedderRunner: "runner", embedderBuiltin: "builtin"} {
			if step.missing == "" && kind == auto {
				want = "runner"
			}
			conf := embedderConfig{kind: kind, runner: runnerConfig{path: program, idle: time.Minute}}
			e, err := openEmbedder(conf, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			st := e.Status()
			if st.Kind != want {
				t.Errorf("%s without %q is %s, want %s", kind, step.missing, st.Kind, want)
			}
			if kind == embedderRunner && step.missing != "" {
				_, err := e.Model(t.Context())
				if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Message(err), "the "+step.missing+" of") {
					t.Errorf("without %s it says %v", step.missing, err)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSRCH21_OptionsOfTheRunner(t *testing.T) {
	layers, threads := 5, 3
	full := runnerConfig{path: "p", model: "m", gpuLayers: &layers, device: "Vulkan0", threads: &threads, idle: time.Hour}
	if o := full.options(nil); o.Path != "p" || o.ModelFile != "m" || o.GPULayers != "5" || o.Device != "Vulkan0" || o.Threads != 3 || o.Idle != time.Hour {
		t.Errorf("%+v", o)
	}
	least := runnerConfig{device: auto}
	if o := least.options(nil); o.GPULayers != "" || o.Device != "" || o.Threads != 0 || o.Idle != -1 {
		t.Errorf("%+v", o)
	}
}

// The doctor tells what a runner needs where a part of one is there, and says
// nothing of it where nobody has one.
func TestSRCH22_DoctorTellsOfTheRunner(t *testing.T) {
	t.Setenv("CTXD_LLAMA_DIR", "")
	t.Setenv("PATH", "")
	program := filepath.Join(t.TempDir(), "ctxd-runner")
	c := &checkup{State: stateOK}
	c.judgeRunner(embedderConfig{kind: auto, runner: runnerConfig{path: program}}, nil)
	if len(c.More) != 0 {
		t.Errorf("without any part it says %v", c.More)
	}
	if err := os.WriteFile(program, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.judgeRunner(embedderConfig{kind: auto, runner: runnerConfig{path: program}}, nil)
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
	c.judgeRunner(embedderConfig{kind: embedderRunner, runner: runnerConfig{path: program}}, e)
	if !strings.Contains(c.Hint, "task runner") {
		t.Errorf("it hints %q", c.Hint)
	}
}
