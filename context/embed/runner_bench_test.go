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
			took := make([]time.Duration, 0, b.N)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if _, _, err := r.Embed(b.Context(), embed.Query, []string{textOf(tokens, i)}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			report(b, took)
		})
		for name, batch := range map[string]int{"llama.cpp": 1, "llama.cpp-batched": 8} {
			b.Run(fmt.Sprintf("tokens=%d/%s", tokens, name), func(b *testing.B) {
				report(b, runDirect(b, direct, opt.ModelFile, batch, directLayers, tokens))
			})
		}
	}
}

// report gives the middle and the quickest: a busy machine delays both sides by
// what neither has to do with.
func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[0]), "best-ns")
	b.ReportMetric(1e9/float64(took[len(took)/2]), "texts/s")
}

// runDirect has llama.cpp embed b.N texts and gives the time of each, or of one
// in a batch.
func runDirect(b *testing.B, program, model string, batch int, layers string, tokens int) []time.Duration {
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
	var took []time.Duration
	for line := range strings.Lines(out.String()) {
		ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Duration(ns))
	}
	return took
}
