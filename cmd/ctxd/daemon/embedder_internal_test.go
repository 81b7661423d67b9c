package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

const canaryKey = "sk-canary-77af"

func TestSRCH23_EmbedderIsConfigured(t *testing.T) {
	unsetAll(t)
	text := `
embedder: http
embedding:
  table: /opt/multilingual.bin
  url: https://api.example.com/v1
  model: text-embedding-3-small
  key: env:EXAMPLE_KEY
  allowRemote: true
  timeout: 5s
runner: {path: /opt/ctxd-runner, model: /opt/m.gguf, gpuLayers: -1, device: Vulkan0, threads: 3, idle: never}
search:
  weights: {lexical: 0.8, semantic: 1}
`
	conf, err := config.Load(configured(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	three, all := 3, -1
	want := config.Embedder{
		Kind:     "http",
		Table:    "/opt/multilingual.bin",
		Endpoint: config.Endpoint{URL: "https://api.example.com/v1", Model: "text-embedding-3-small", Key: "env:EXAMPLE_KEY", AllowRemote: true, Timeout: 5 * time.Second},
		Runner:   config.Runner{Path: "/opt/ctxd-runner", Model: "/opt/m.gguf", GpuLayers: &all, Device: "Vulkan0", Threads: &three},
	}
	if runtime.GOOS == "windows" { // has volumes
		want.Runner.Path, want.Runner.Model, want.Table = conf.Embedder.Runner.Path, conf.Embedder.Runner.Model, conf.Embedder.Table
	}
	if diff := cmp.Diff(want, conf.Embedder, cmp.AllowUnexported(config.Embedder{}, config.Endpoint{}, config.Runner{})); diff != "" {
		t.Error(diff)
	}
	if conf.Weights != (config.Weights{Lexical: 0.8, Semantic: 1}) {
		t.Errorf("%+v", conf.Weights)
	}
	t.Setenv("CTXD_EMBEDDER", "builtin")
	t.Setenv("CTXD_SEARCH_WEIGHTS_SEMANTIC", "0")
	t.Setenv("CTXD_RUNNER_GPU_LAYERS", "auto")
	t.Setenv("CTXD_EMBEDDING_TABLE", "none")
	conf, err = config.Load(configured(t, text), nil)
	if err != nil || conf.Embedder.Kind != "builtin" || conf.Embedder.Table != "" || conf.Weights.Semantic != 0 || conf.Embedder.Runner.GpuLayers != nil {
		t.Errorf("%+v, %v", conf, err)
	}
}

func TestSEC4_WhatIsWrongWithAnEmbedderIsSaidWithItsPlace(t *testing.T) {
	unsetAll(t)
	const local = "embedder: http\nembedding:\n  model: m\n"
	for _, c := range []struct {
		text, key string
		line      int
		want      string // of message and hint
	}{
		{"embedder: ollama", "embedder", 1, "not one of auto, builtin, runner, http"},
		{"embedder: http", "embedding.url", 0, "needs a URL.*http://127.0.0.1:11434/v1"},
		{"embedder: http\nembedding.url: http://localhost", "embedding.model", 0, "needs the name of a model"},
		{local + "  url: http://10.0.0.5:11434", "embedding.url", 4, "10.0.0.5:11434 is not this machine.*embedding.allowRemote"},
		{local + "  url: http://10.0.0.5:11434\n  allowRemote: true\n  key: env:K", "embedding.url", 4, "for everybody to read.*https"},
		{"embedding:\n  url: http://u:canary@h", "embedding.url", 2, "no user"},
		{"embedding:\n  url: http://h/?key=canary", "embedding.url", 2, "no question mark"},
		{"embedding:\n  url: ollama", "embedding.url", 2, "no URL of an endpoint"},
		{"embedding:\n  model: ' '", "embedding.model", 2, "is empty"},
		{"embedding:\n  key: " + canaryKey, "embedding.key", 2, "where to find the key.*env:NAME"},
		{"embedding:\n  key: env:" + canaryKey, "embedding.key", 2, "where to find the key"},
		{"embedding:\n  key: file:canary", "embedding.key", 2, "absolute path"},
		{"embedding:\n  allowRemote: maybe", "embedding.allowRemote", 2, "neither true nor false"},
		{"embedding:\n  table: multilingual.bin", "embedding.table", 2, "not an absolute path"},
		{"embedding:\n  timeout: 30", "embedding.timeout", 2, "no unit"},
		{"embedding: {urll: x}", "embedding.urll", 1, "did you mean embedding.url"},
		{"runner: {path: ctxd-runner}", "runner.path", 1, "not an absolute path"},
		{"runner: {gpuLayers: many}", "runner.gpuLayers", 1, "auto, or a number from -1"},
		{"runner: {threads: 0}", "runner.threads", 1, "out of range.*auto, or a number from 1"},
		{"search: {weights: {lexical: -1}}", "search.weights.lexical", 1, "out of range.*0 to 100"},
		{"search: {weights: {semantic: NaN}}", "search.weights.semantic", 1, "out of range"},
		{"search: {weights: {semantic: some}}", "search.weights.semantic", 1, "not a number"},
		{"search: {weights: {lexical: 0, semantic: 0}}", "search.weights.lexical", 1, "both 0"},
		{"search: {weight: 3}", "search.weight", 1, "did you mean search.weights"},
	} {
		_, err := config.Load(configured(t, c.text), nil)
		var e *config.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		said := e.Error() + " | " + e.Fault.Hint
		if e.Key != c.key || e.At.Line != c.line || e.Fault.Kind != fault.Invalid || !regexp.MustCompile(c.want).MatchString(said) || strings.Contains(said, "canary") {
			t.Errorf("%q: key %q, line %d: %s\nwant %q, %d: %s", c.text, e.Key, e.At.Line, said, c.key, c.line, c.want)
		}
	}
}

// An embedder that can't be had is no reason for a daemon not to start: it fails
// with the reason when it is asked.
func TestSRCH23_AnEmbedderThatCantBeHad(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	conf := config.Embedder{Kind: "http", Endpoint: config.Endpoint{URL: "http://127.0.0.1:1", Model: "m", Key: "env:CTXD_TEST_EMPTY"}}
	t.Setenv("CTXD_TEST_EMPTY", "")
	e, err := OpenEmbedder(conf, log)
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Status(); s.Kind != "http" || s.State != embed.Failed || !strings.Contains(s.Why, "CTXD_TEST_EMPTY") {
		t.Errorf("%+v", s)
	}
	_, none := e.Model(t.Context())
	if _, _, err := e.Embed(t.Context(), embed.Query, []string{"a"}); fault.KindOf(err) != fault.Unavailable || fault.KindOf(none) != fault.Unavailable || term.ExplainError(err).Hint == "" {
		t.Errorf("%v %v", err, none)
	}
	t.Setenv("CTXD_TEST_EMPTY", canaryKey)
	e, err = OpenEmbedder(conf, log)
	if err != nil || e.Status().Kind != "http" || e.Status().State != embed.Idle || strings.Contains(fmt.Sprintf("%+v %+v", e.Status(), conf), "canary") {
		t.Errorf("%+v %v", e.Status(), err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
