package embed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
)

var _ embed.Reranker = (*embed.RerankRunner)(nil)

const tinyRanker = "testdata/tiny-rank.gguf"

// ranking starts a reranker whose calls take as long as they may in a test.
func ranking(t *testing.T, opt embed.RunnerOptions, timeout time.Duration) *embed.RerankRunner {
	t.Helper()
	r := embed.StartRerankRunner(opt, timeout)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// fakeRanker starts a reranker that behaves like that.
func fakeRanker(t *testing.T, behaviour string, change func(*embed.RunnerOptions)) *embed.RerankRunner {
	t.Helper()
	return ranking(t, fakeOptions(t, behaviour, change), hangRunner)
}

func TestMEM30_RankerServes(t *testing.T) {
	r := fakeRanker(t, "ranks", nil)
	if s := r.Status(); s.Kind != embed.KindRunner || s.State != embed.Idle || s.Remote {
		t.Errorf("before the first call it is %+v", s)
	}
	none := embed.NoScore()
	for _, c := range []struct {
		query string
		texts []string
		want  []float32
	}{
		{"four", []string{"hello", "", " \n", "a\x00b", "\x00", "Zürich"}, []float32{3.95, none, none, 3.98, none, 3.93}},
		{"four", nil, []float32{}},
		{" ", []string{"a"}, []float32{none}},
		{"\x00", []string{"a"}, []float32{none}},
		{strings.Repeat("q", 1<<20), []string{strings.Repeat("x", 1<<20)}, []float32{embed.MaxLogit}},
	} {
		got, err := r.Rerank(t.Context(), c.query, c.texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateNaNs()); diff != "" {
			t.Error(diff)
		}
	}
	if s := r.Status(); s.State != embed.Ready || s.Model == nil || s.Model.Name != "fake" || s.Model.Dims != 1 || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := r.Rerank(t.Context(), "q", make([]string, embed.MaxRerankTexts+1)); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// Many texts go in many requests, and many calls wait for one child.
func TestMEM30_RankerManyTextsManyCallers(t *testing.T) {
	r := fakeRanker(t, "ranks", nil)
	texts, want := make([]string, embed.MaxRerankTexts), make([]float32, embed.MaxRerankTexts)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
		want[i] = 7 - float32(i+1)/100
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			got, err := r.Rerank(t.Context(), "queries", texts)
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-5)); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
	callers.Wait()
}

func TestMEM30_RankerProtocolViolations(t *testing.T) {
	for behaviour, want := range map[string]string{
		"rank count": "2 vectors for 1 texts", "rank nan": "score of NaN", "rank inf": "score of -Inf",
		"rank vectors": "frame of kind", "rank dims": "2 dimensions", "good": "another task",
	} {
		t.Run(behaviour, func(t *testing.T) {
			got, err := fakeRanker(t, behaviour, nil).Rerank(t.Context(), "q", []string{"hello"})
			if got != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	if _, err := embedOne(t, fake(t, "ranks", nil), "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "another task") {
		t.Errorf("vectors of a reranker: %v", err)
	}
}

func TestMEM30_RankerTextsThatAreRefused(t *testing.T) {
	r := fakeRanker(t, "ranks", nil)
	for _, text := range []string{"refuse this", "nan"} {
		if got, err := r.Rerank(t.Context(), "q", []string{"a", text}); got != nil || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := r.Rerank(t.Context(), "q", []string{"a"}); err != nil || len(got) != 1 || r.Status().Restarts != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// A child that dies is an error at once, told as that of a reranker; then there is
// another.
func TestMEM34_RankerThatDies(t *testing.T) {
	r := fakeRanker(t, "ranks", nil)
	_, err := r.Rerank(t.Context(), "q", []string{"crash"})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Op != "rerank" || !strings.Contains(f.Hint, "reranking") {
		t.Errorf("%+v", err)
	}
	embedtest.Eventually(t, "another child", func() bool {
		got, err := r.Rerank(t.Context(), "q", []string{"a"})
		return err == nil && embed.HasScore(got[0])
	})
}

func TestMEM34_RankerThatIsTooSlow(t *testing.T) {
	r := ranking(t, fakeOptions(t, "ranks", nil), 20*time.Millisecond)
	_, err := r.Rerank(t.Context(), "q", []string{"hang"})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no scores within 20ms") {
		t.Error(err)
	}
}

func TestMEM34_RankerCallsThatAreGivenUp(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	journal := filepath.Join(t.TempDir(), "journal")
	r := fakeRanker(t, "ranks", func(o *embed.RunnerOptions) {
		o.Env = append(o.Env, fakeGate+"="+gate, fakeJournal+"="+journal)
	})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := r.Rerank(ctx, "q", []string{"gate"})
		result <- err
	}()
	embedtest.Eventually(t, "the text to be at work", func() bool {
		said, err := os.ReadFile(journal)
		return err == nil && strings.Contains(string(said), "text gate")
	})
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := r.Rerank(ctx, "q", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"next"}); err != nil || r.Status().Restarts != 0 {
		t.Errorf("%v, %+v", err, r.Status())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// llama.cpp gives the scores that NumPy computes from the same weights.
func TestMEM30_NativeRanker(t *testing.T) {
	opt := native(t, tinyRanker)
	opt.GPULayers = "0"
	r := ranking(t, opt, hangRunner)
	f, err := os.Open("testdata/tiny-rank.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count := 0
	for lines := bufio.NewScanner(f); lines.Scan(); count++ {
		var want struct {
			Query, Text string
			Logit       float64
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		got, err := r.Rerank(t.Context(), want.Query, []string{want.Text, "note", want.Text})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(got[0])-want.Logit) > 0.02 || got[0] != got[2] || got[0] == got[1] {
			t.Errorf("%q and %q: %v, want %v", want.Query, want.Text, got, want.Logit)
		}
	}
	if count < 5 {
		t.Errorf("%d pairs", count)
	}
	odd := []string{strings.Repeat("word ", 2000), strings.Repeat("漢", 5000), "a\x00b", "bro\xffken", "[CLS] [SEP]", "\x01"}
	for _, query := range append(odd, "search") {
		got, err := r.Rerank(t.Context(), query, odd)
		if err != nil {
			t.Fatalf("%.20q: %v", query, err)
		}
		for i, score := range got {
			if !embed.HasScore(score) {
				t.Errorf("%.20q and %.20q have no score", query, odd[i])
			}
		}
	}
	if h, _ := embed.Underneath(r).Hello(); h.Name != "tiny-rank" || !h.Ranks || h.Dims != 1 || h.Device != "cpu" {
		t.Errorf("it says of itself %+v", h)
	}
}

// A model for one task is refused for the other, in words.
func TestMEM30_NativeModelsForOtherTasks(t *testing.T) {
	r := ranking(t, native(t, tinyModel), hangRunner)
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); fault.KindOf(err) != fault.Unavailable || !strings.Contains(r.LastWords(), "not made for reranking") {
		t.Errorf("%v: %s", err, r.LastWords())
	}
	e := run(t, native(t, tinyRanker))
	if _, err := embedOne(t, e, "a"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(e.LastWords(), "gives no vectors") {
		t.Errorf("%v: %s", err, e.LastWords())
	}
}

func FuzzMEM30_Scores(f *testing.F) {
	f.Add(embed.AppendVectors(1, 1, [][]float32{{3}, nil}))
	f.Add(embed.AppendVectors(1, 1, [][]float32{{float32(math.Inf(1))}, {0}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		scores, err := embed.ParseScores(body)
		if err != nil {
			return
		}
		for _, v := range scores {
			if v != nil && (len(v) != 1 || math.IsNaN(float64(v[0])) || math.IsInf(float64(v[0]), 0)) {
				t.Errorf("a score %v", v)
			}
		}
		if len(scores) != 2 {
			t.Errorf("%d scores", len(scores))
		}
	})
}
