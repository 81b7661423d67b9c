package daemon

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestMEM30_RerankerIsConfigured(t *testing.T) {
	unsetAll(t)
	conf, err := config.Load(configured(t, ""), nil)
	if err != nil || conf.Reranker != (config.Reranker{Kind: config.NoReranker, Timeout: embed.RerankTimeout}) {
		t.Fatalf("%+v, %v", conf.Reranker, err)
	}
	text := `
reranker: http
rerank: {url: "http://127.0.0.1:8080", model: bge, key: env:K, scores: logits, timeout: 2s, local: true}
`
	conf, err = config.Load(configured(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Reranker{
		Kind: embed.KindHTTP, URL: "http://127.0.0.1:8080", Model: "bge", Key: "env:K", Scores: embed.Logits,
		Timeout: 2 * time.Second, Local: true,
	}
	if diff := cmp.Diff(want, conf.Reranker); diff != "" {
		t.Error(diff)
	}
	t.Setenv("CTXD_RERANKER", "runner")
	t.Setenv("CTXD_RERANK_MODEL", "~/m.gguf")
	conf, err = config.Load(configured(t, text), nil)
	if err != nil || conf.Reranker.Kind != embed.KindRunner || !filepath.IsAbs(conf.Reranker.Model) {
		t.Errorf("%+v, %v", conf, err)
	}
}

func TestMEM30_WhatIsWrongWithARerankerIsSaidWithItsPlace(t *testing.T) {
	unsetAll(t)
	const http = "reranker: http\nrerank:\n  model: m\n  scores: logits\n"
	for _, c := range []struct {
		text, key string
		line      int
		want      string // of message and hint
	}{
		{"reranker: jina", "reranker", 1, "not one of none, runner, http"},
		{"reranker: http", "rerank.url", 0, "needs a URL"},
		{"reranker: http\nrerank.url: http://localhost", "rerank.model", 0, "name of a model"},
		{"reranker: http\nrerank: {url: http://localhost, model: m}", "rerank.scores", 0, "scale of its scores.*logits"},
		{"rerank: {scores: percent}", "rerank.scores", 1, "not one of logits, probabilities"},
		{http + "  url: http://10.0.0.5:8080\n  local: true", "rerank.url", 5, "10.0.0.5:8080 is not this machine.*rerank.local to false"},
		{http + "  url: http://10.0.0.5:8080\n  key: env:K", "rerank.url", 5, "for everybody to read.*https"},
		{"rerank:\n  key: " + canaryKey, "rerank.key", 2, "where to find the key"},
		{"rerank: {timeout: 16s}", "rerank.timeout", 1, "out of range"},
		{"rerank: {local: maybe}", "rerank.local", 1, "neither true nor false"},
		{"reranker: runner", "rerank.model", 0, "needs a model that reranks"},
		{"reranker: runner\nrerank: {model: m.gguf}", "rerank.model", 2, "not an absolute path"},
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

// What is private may go only to a reranker that is on this machine, and is said to pass
// nothing on.
func TestPRIV4_WhichConfiguredRerankerIsRemote(t *testing.T) {
	t.Setenv("CTXD_TEST_EMPTY", "")
	for _, c := range []struct {
		url, key string
		local    bool
		remote   bool
	}{
		{"https://api.example.com", "", false, true},
		{"http://127.0.0.1:8080", "", false, true},
		{"http://127.0.0.1:8080", "", true, false},
		{"http://127.0.0.1:8080", "env:CTXD_TEST_EMPTY", false, true},
		{"http://127.0.0.1:8080", "env:CTXD_TEST_EMPTY", true, false},
	} {
		r := OpenReranker(config.Reranker{
			Kind: embed.KindHTTP, URL: c.url, Model: "m", Key: c.key, Scores: embed.Logits, Timeout: time.Second, Local: c.local,
		}, config.Runner{}, 0, slog.New(slog.DiscardHandler))
		if st := r.Status(); st.Remote != c.remote || st.Kind != embed.KindHTTP {
			t.Errorf("%+v: %+v", c, st)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A reranker that can't be had is no reason for a daemon not to start.
func TestMEM30_ARerankerThatCantBeHad(t *testing.T) {
	t.Setenv("CTXD_LLAMA_DIR", "")
	t.Setenv("PATH", "")
	log := slog.New(slog.DiscardHandler)
	if r := OpenReranker(config.Reranker{Kind: config.NoReranker}, config.Runner{}, 0, log); r != nil {
		t.Errorf("%+v", r)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "ctxd-runner")
	model := filepath.Join(folder, "rank.gguf")
	for _, step := range []struct{ file, missing, hint string }{
		{"", "program", "task runner"},
		{program, "library", "task runner"},
		{filepath.Join(folder, "llama", embed.RunnerLibraryName()), "model", "correct rerank.model"},
		{model, "", ""},
	} {
		if step.file != "" {
			if err := errors.Join(os.MkdirAll(filepath.Dir(step.file), 0o700), os.WriteFile(step.file, []byte("x"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		r := OpenReranker(config.Reranker{Kind: embed.KindRunner, Model: model}, config.Runner{Path: program}, 0, log)
		st := r.Status()
		switch {
		case step.missing == "" && st.State != embed.Idle:
			t.Errorf("%+v", st)
		case step.missing != "":
			_, err := r.Rerank(t.Context(), "q", []string{"a"})
			if f := term.ExplainError(err); fault.KindOf(err) != fault.Unavailable || !strings.Contains(f.Message, "the "+step.missing+" of") || !strings.Contains(f.Hint, step.hint) || st.State != embed.Failed || st.Remote {
				t.Errorf("without %s: %v, %s, %+v", step.missing, err, f.Hint, st)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
