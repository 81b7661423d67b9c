package embed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
)

const tinyModel = "testdata/tiny.gguf"

var programFolder string

// removeProgram removes what the tests of the real runner built.
func removeProgram() {
	if programFolder != "" {
		os.RemoveAll(programFolder) //nolint:errcheck // a temporary folder
	}
}

var runnerProgram = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "ctxd-runner-test")
	if err != nil {
		return "", err
	}
	programFolder = folder
	path := filepath.Join(folder, "ctxd-runner")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/ctxd-runner").CombinedOutput(); err != nil {
		return "", errors.New("go build: " + err.Error() + ": " + string(out))
	}
	return path, nil
})

// built gives the real program, as anybody can build it.
func built(t testing.TB) string {
	t.Helper()
	path, err := runnerProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// native gives the options of the real runner, or skips the test where the
// native library was not built.
func native(t testing.TB, model string) embed.RunnerOptions {
	t.Helper()
	folder := os.Getenv("CTXD_LLAMA_DIR")
	if folder == "" {
		folder = filepath.Join("..", "..", "bin", "llama")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, embed.RunnerLibraryName())); err != nil {
		t.Skip("there is no native library; task runner builds it: ", err)
	}
	if _, err := os.Stat(model); err != nil {
		t.Skip("there is no model; task model makes it: ", err)
	}
	return embed.RunnerOptions{Path: built(t), Library: folder, ModelFile: model, StartWait: hangRunner, Stall: hangRunner, StartTimeout: hangRunner}
}

// converted is where task model puts its models.
func converted(name string) string {
	folder := os.Getenv("CTXD_RUNNER_MODELS")
	if folder == "" {
		folder = filepath.Join("..", "..", "bin", "models")
	}
	return filepath.Join(folder, name)
}

func run(t testing.TB, opt embed.RunnerOptions) *embed.Runner {
	t.Helper()
	r := embed.StartRunner(opt)
	t.Cleanup(func() { r.Close() })
	return r
}

// Without its library the program says so and does not panic, by hand and to
// the daemon.
func TestSRCH22_RunnerSaysWhatItLacks(t *testing.T) {
	program, empty, broken := built(t), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, embed.RunnerLibraryName()), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{empty: "no native library", broken: "cannot be loaded"} {
		cmd := exec.Command(program, "-model", tinyModel, "-check")
		cmd.Env = append(os.Environ(), "CTXD_LLAMA_DIR="+folder)
		var words bytes.Buffer
		cmd.Stderr = &words
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != embed.ExitNotReady || !strings.Contains(words.String(), want) ||
			!strings.Contains(words.String(), "task runner") || strings.Contains(words.String(), "goroutine") {
			t.Errorf("it ends with %v and says %s", err, words.String())
		}
		r := run(t, embed.RunnerOptions{Path: program, Library: folder, ModelFile: tinyModel, StartTimeout: hangRunner})
		if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

func TestSRCH21_Native(t *testing.T) {
	opt := native(t, tinyModel)
	opt.GPULayers = "0"
	r := run(t, opt)
	first, err := embedOne(t, r, "hello world")
	if err != nil {
		t.Fatal(err)
	}
	h, _ := r.Hello()
	if h.Name != "tiny" || h.Dims != 32 || h.Device != "cpu" || h.Layers != 3 || h.OffloadedLayers != 0 || h.MaxTokens != 512 || h.ContextLength != 512 {
		t.Errorf("it says of itself %+v", h)
	}
	var odd struct{ nul, broken, control []float32 }
	odd.nul, err = embedOne(t, r, "hello\x00 world")
	if err != nil || !nearVectors(odd.nul, first) {
		t.Errorf("NUL: %v", err)
	}
	odd.broken, err = embedOne(t, r, "hello \xc3\xff\xfeworld")
	if err != nil || !nearVectors(odd.broken, first) {
		t.Errorf("invalid UTF-8: %v", err)
	}
	odd.control, err = embedOne(t, r, "\x01\x02")
	if err != nil || odd.control != nil {
		t.Errorf("nothing but control characters: %v, %v", odd.control, err)
	}
	for _, long := range []string{
		strings.Repeat("word ", 509), strings.Repeat("word ", 510), strings.Repeat("word ", 511), strings.Repeat("a b, ", 3000),
		strings.Repeat("x", 1<<20), strings.Repeat("!", 5000), strings.Repeat("漢", 5000),
	} {
		if v, err := embedOne(t, r, long); err != nil || v == nil {
			t.Errorf("text of %d bytes: %v, %v", len(long), v, err)
		}
	}
	if again, err := embedOne(t, r, "hello world"); err != nil || !slices.Equal(again, first) {
		t.Errorf("the same text has another vector now: %v", err)
	}
	if n := r.Status().Restarts; n != 0 {
		t.Errorf("%d restarts", n)
	}
}

// Calls at once gave wrong vectors with the library alone.
func TestSRCH21_NativeCallsAtOnce(t *testing.T) {
	r := run(t, native(t, tinyModel))
	texts := strings.Fields("the note of a graph search index light wing flow heat time word")
	want := map[string][]float32{}
	for _, text := range texts {
		v, err := embedOne(t, r, text)
		if err != nil {
			t.Fatal(err)
		}
		want[text] = v
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 5 {
				_, got, err := r.Embed(t.Context(), embed.Passage, texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i, v := range got {
					if !slices.Equal(v, want[texts[i]]) {
						t.Errorf("%q has another vector", texts[i])
					}
				}
			}
		})
	}
	callers.Wait()
}

func TestSRCH22_ModelMissingOrBroken(t *testing.T) {
	opt := native(t, tinyModel)
	folder := t.TempDir()
	opt.ModelFile = filepath.Join(folder, "broken.gguf")
	data, err := os.ReadFile(tinyModel)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(opt.ModelFile, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{opt.ModelFile, filepath.Join(folder, "none.gguf"), folder} {
		opt.ModelFile = file
		r := run(t, opt)
		if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("got %v", err)
		}
		embedtest.Eventually(t, "its status to say so", func() bool { return strings.Contains(r.Status().Why, "can't be loaded") })
	}
}

// The converted model agrees with the original.
func TestSRCH22_ModelAgreesWithTheOriginal(t *testing.T) {
	for name, goal := range map[string]float64{"all-MiniLM-L6-v2-f16.gguf": 0.99, "all-MiniLM-L6-v2-q8_0.gguf": 0.98} {
		t.Run(name, func(t *testing.T) {
			r := run(t, native(t, converted(name)))
			n, least, sum := 0, 1.0, 0.0
			embedtest.EachLine(t, "testdata/minilm.jsonl", func(line string) {
				var want struct {
					Text   string
					Vector []float32
				}
				if err := json.Unmarshal([]byte(line), &want); err != nil {
					t.Fatal(err)
				}
				got, err := embedOne(t, r, want.Text)
				if err != nil {
					t.Fatal(err)
				}
				c := embedtest.Cosine(got, want.Vector)
				if c < goal {
					t.Errorf("%.60q: cosine %.5f, want %.2f", want.Text, c, goal)
				}
				n, least, sum = n+1, min(least, c), sum+c
			})
			if n != 50 {
				t.Errorf("%d texts", n)
			}
			t.Logf("cosine with the original: at least %.5f, mean %.5f", least, sum/float64(n))
		})
	}
}

// A GPU that is asked for by name and is not there is no reason to compute with
// another.
func TestSRCH21_NoSuchGPU(t *testing.T) {
	opt := native(t, tinyModel)
	opt.Device = "Abacus"
	if _, err := embedOne(t, run(t, opt), "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no GPU is called Abacus") {
		t.Errorf("got %v", err)
	}
	opt.Device, opt.GPULayers = "", "many"
	if _, err := embedOne(t, run(t, opt), "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "neither auto nor a number") {
		t.Errorf("got %v", err)
	}
}

// The path over a GPU, without a GPU: on Mesa's Vulkan for the processor, where
// that and a library built with BACKEND=vulkan are there. It compiles its
// programs for about a minute.
func TestSRCH22_SoftwareVulkan(t *testing.T) {
	const driver = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
	opt := native(t, tinyModel)
	if backends, err := filepath.Glob(filepath.Join(opt.Library, "libggml-vulkan*")); err != nil || len(backends) == 0 {
		t.Skip("the native library was not built with BACKEND=vulkan")
	}
	if _, err := os.Stat(driver); err != nil || testing.Short() {
		t.Skip("Debian's mesa-vulkan-drivers are not installed, or the run is short")
	}
	opt.StartTimeout, opt.CallTimeout = 10*time.Minute, 10*time.Minute
	gpu, cpu := opt, opt
	gpu.Env = []string{"VK_ICD_FILENAMES=" + driver, "GGML_VK_VISIBLE_DEVICES=0"}
	cpu.GPULayers = "0"
	texts := []string{"hello world", "a note on the flow of heat in a wing", strings.Repeat("word ", 500)}
	r := run(t, gpu)
	_, got, err := r.Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := r.Hello(); !strings.Contains(h.Device, "Vulkan0") || h.OffloadedLayers != 3 || h.Layers != 3 {
		t.Errorf("%d of %d layers on %s", h.OffloadedLayers, h.Layers, h.Device)
	}
	_, want, err := run(t, cpu).Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if c := embedtest.Cosine(got[i], want[i]); c < 0.999 {
			t.Errorf("text %d: cosine %.5f with the vector of the processor", i, c)
		}
	}
}
