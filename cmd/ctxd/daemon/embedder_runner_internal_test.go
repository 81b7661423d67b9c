package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
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
		for kind, want := range map[embed.Kind]embed.Kind{config.Auto: embed.KindBuiltin, embed.KindRunner: embed.KindRunner, embed.KindBuiltin: embed.KindBuiltin} {
			if step.missing == "" && kind == config.Auto {
				want = embed.KindRunner
			}
			conf := config.Embedder{Kind: kind, Runner: config.Runner{Path: program, Idle: time.Minute}}
			e, err := OpenEmbedder(conf, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			st := e.Status()
			if st.Kind != want {
				t.Errorf("%s without %q is %s, want %s", kind, step.missing, st.Kind, want)
			}
			if kind == embed.KindRunner && step.missing != "" {
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
	full := config.Runner{Path: "p", Model: "m", GpuLayers: &layers, Device: "Vulkan0", Threads: &threads, Idle: time.Hour}
	if o := RunnerOptions(&full, nil); o.Path != "p" || o.ModelFile != "m" || o.GPULayers != "5" || o.Device != "Vulkan0" || o.Threads != 3 || o.Idle != time.Hour {
		t.Errorf("%+v", o)
	}
	least := config.Runner{Device: config.Auto}
	if o := RunnerOptions(&least, nil); o.GPULayers != "" || o.Device != "" || o.Threads != 0 || o.Idle != -1 {
		t.Errorf("%+v", o)
	}
}
