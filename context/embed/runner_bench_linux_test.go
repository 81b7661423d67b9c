package embed_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
)

// commonWords are one token each in BERT's vocabulary.
var commonWords = strings.Fields("the note of a graph search index light wing flow heat time word river stone house garden winter")

// textOf gives a text of that many tokens, the two around it counted.
func textOf(tokens, seed int) string {
	words := make([]string, tokens-2)
	for i := range words {
		words[i] = commonWords[(i*7+i/5+seed)%len(commonWords)]
	}
	return strings.Join(words, " ")
}

// One text a call through the runner, beside llama.cpp in one process with the
// same library and threads, one text a call and eight. CTXD_RUNNER_GPU=auto
// measures a GPU: all layers on it, in both.
func BenchmarkPERF15_Embed(b *testing.B) {
	opt := native(b, converted("all-MiniLM-L6-v2-f16.gguf"))
	opt.GPULayers, opt.Threads = "0", 1
	directLayers := "0"
	if gpu := os.Getenv("CTXD_RUNNER_GPU"); gpu != "" {
		opt.GPULayers, directLayers = gpu, "-1"
	}
	r := run(b, opt)
	direct := filepath.Join(opt.Library, "llama-direct")
	for _, tokens := range []int{16, 64, 256, 510} {
		b.Run(fmt.Sprintf("tokens=%d/ctxd", tokens), func(b *testing.B) {
			if _, err := r.Model(b.Context()); err != nil {
				b.Fatal(err)
			}
			h, _ := r.Hello()
			var took []time.Duration
			before := processorTime(b, os.Getpid()) + processorTime(b, h.PID)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if _, _, err := r.Embed(b.Context(), embed.Query, []string{textOf(tokens, i)}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			cpu := processorTime(b, os.Getpid()) + processorTime(b, h.PID) - before
			report(b, took, cpu/time.Duration(len(took)))
		})
		for name, batch := range map[string]int{"llama.cpp": 1, "llama.cpp-batched": 8} {
			b.Run(fmt.Sprintf("tokens=%d/%s", tokens, name), func(b *testing.B) {
				took, cpu := runDirect(b, direct, opt.ModelFile, batch, directLayers, tokens)
				report(b, took, cpu)
			})
		}
	}
}

// processorTime is what all threads of a process have run.
func processorTime(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range threads {
		var ns int64
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if _, err := fmt.Sscan(string(data), &ns); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// report gives the middle and the quickest by the clock, and the mean of the
// processor's time, which a busy machine does not lengthen.
func report(b *testing.B, took []time.Duration, cpu time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[0]), "best-ns")
	b.ReportMetric(float64(cpu), "cpu-ns")
	b.ReportMetric(1e9/float64(took[len(took)/2]), "texts/s")
}

// runDirect has llama.cpp embed b.N texts and gives the time of each, or of one
// in a batch, and what the processor needed for one.
func runDirect(b *testing.B, program, model string, batch int, layers string, tokens int) (took []time.Duration, cpu time.Duration) {
	b.Helper()
	if _, err := os.Stat(program); err != nil {
		b.Skip("there is no llama-direct; task runner builds it")
	}
	texts := make([]string, batch)
	for i := range texts {
		texts[i] = textOf(tokens, i)
	}
	cmd := exec.Command(program, model, "1", strconv.Itoa(max(1, b.N/batch)), strconv.Itoa(batch), layers)
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n"))
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		b.Fatal(err, words.String())
	}
	for line := range strings.Lines(out.String()) {
		var clock, processor int64
		if _, err := fmt.Sscan(line, &clock, &processor); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Duration(clock))
		cpu += time.Duration(processor)
	}
	return took, cpu / time.Duration(len(took))
}
