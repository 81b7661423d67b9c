package embed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

var _ embed.Reranker = (*embed.RerankEndpoint)(nil)

// judging starts a server and a reranker that asks it, which doesn't wait between
// tries and is asked again an hour after it failed.
func judging(t *testing.T, handle http.HandlerFunc, change ...func(*embed.RerankEndpointOptions)) *embed.RerankEndpoint {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	server := httptest.NewServer(handle)
	opts := embed.RerankEndpointOptions{
		EndpointOptions: embed.EndpointOptions{URL: server.URL, Model: "bge-reranker-v2-m3", Timeout: hang}, Scores: embed.Logits,
	}
	for _, c := range change {
		c(&opts)
	}
	r, err := embed.NewRerankEndpoint(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Hasten(time.Hour)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
		goleak.VerifyNone(t, leaks)
	})
	return r
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	}
}

// rankRequest is a request as a server reads it.
type rankRequest struct {
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

func readRanks(t *testing.T, r *http.Request) (a rankRequest) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Error(err)
	}
	return a
}

// sendRanks scores each text by its length, the longest first.
func sendRanks(w io.Writer, texts []string) {
	type entry struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	var list []entry
	for i := range texts {
		i = len(texts) - 1 - i
		list = append(list, entry{i, float64(len(texts[i]))})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": list}) // a caller that left is no fault
}

var near = cmp.Options{cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateNaNs()}

func rankGolden(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "rerank", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}

func TestMEM30_WireFormats(t *testing.T) {
	nine := float32(math.Log(9))
	for _, c := range []struct {
		name, path, request string
		scale               embed.ScoreScale
	}{
		{"llama-server.json", "/v1/rerank", "request.json", embed.Logits},
		{"jina.json", "/v1/rerank", "request.json", embed.Probabilities},
		{"cohere-v1.json", "/v1/rerank", "request.json", embed.Probabilities},
		{"cohere-v2.json", "/v2/rerank", "request-v2.json", embed.Probabilities},
		{"vllm.json", "/rerank", "request.json", embed.Probabilities},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judging(t, func(w http.ResponseWriter, q *http.Request) {
				body, err := io.ReadAll(q.Body)
				if diff := cmp.Diff(string(rankGolden(t, c.request)), string(body)); diff != "" || err != nil {
					t.Errorf("request: %v\n%s", err, diff)
				}
				if q.Method != http.MethodPost || q.URL.String() != c.path || q.Header.Get("Content-Type") != "application/json" || q.Header.Get("Authorization") != "Bearer "+canaryKey {
					t.Errorf("%s %s %v", q.Method, q.URL, q.Header)
				}
				_, _ = w.Write(rankGolden(t, c.name))
			}, func(o *embed.RerankEndpointOptions) { o.URL, o.Key, o.Scores = o.URL+c.path, canaryKey, c.scale })
			if s := r.Status(); s.State != embed.Idle || s.Kind != embed.KindHTTP || s.Remote || s.Model != nil {
				t.Errorf("before the first request: %+v", s)
			}
			got, err := r.Rerank(t.Context(), "who keeps <bees>?", []string{"the first <text>", "the \"second\"\nof them", " ", "ignored"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]float32{-nine, nine, embed.NoScore(), 0}, got, near); diff != "" {
				t.Error(diff)
			}
			if s := r.Status(); s.State != embed.Ready || s.Model == nil || s.Model.Name != "bge-reranker-v2-m3" || len(s.Model.SHA256) != 64 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Some of a reply may be odd; what is left of it is used.
func TestMEM30_OddReplies(t *testing.T) {
	none := embed.NoScore()
	for _, c := range []struct {
		about, body string
		want        []float32
	}{
		{"a text is missing", `{"results":[{"index":1,"relevance_score":2}]}`, []float32{none, 2, none}},
		{"an index is out of range", `{"results":[{"index":3,"relevance_score":9},{"index":-1,"relevance_score":9},{"index":0,"relevance_score":1}]}`, []float32{1, none, none}},
		{"an index is no number", `{"results":[{"index":"1","relevance_score":9},{"index":1.5,"relevance_score":9},{"relevance_score":9},{"index":0,"relevance_score":1}]}`, []float32{1, none, none}},
		{"a score is no number", `{"results":[{"index":0,"relevance_score":null},{"index":1,"relevance_score":"NaN"},{"index":2,"relevance_score":1}]}`, []float32{none, none, 1}},
		{"a score is beyond all numbers", `{"results":[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":1e30}]}`, []float32{none, embed.MaxLogit, none}},
		{"llama-server failed at a text", `{"results":[{"index":0,"relevance_score":-1000000.0},{"index":1,"relevance_score":-3}]}`, []float32{none, -3, none}},
		{"a text comes twice alike", `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`, []float32{1, none, none}},
		{"a text comes twice", `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":2},{"index":0,"relevance_score":1},{"index":1,"relevance_score":4}]}`, []float32{none, 4, none}},
		{"an entry is none", `{"results":[null,7,"x",[],{"index":2,"score":5}]}`, []float32{none, none, 5}},
	} {
		t.Run(c.about, func(t *testing.T) {
			got, err := judging(t, says(c.body)).Rerank(t.Context(), "q", []string{"a", "b", "c"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMEM30_WrongReplies(t *testing.T) {
	for _, c := range []struct{ about, body, want string }{
		{"an error with status 200", `{"error":{"message":"canary","code":500}}`, "without results"},
		{"no JSON", "canary", "without results"},
		{"a number that JSON has not", `{"results":[{"index":0,"relevance_score":NaN}]}`, "without results"},
		{"a page", "<html>canary</html>", "without results"},
		{"nothing", "", "without results"},
		{"another thing called results", `{"results":"canary"}`, "without results"},
		{"vectors", `{"data":[{"index":0,"embedding":[1,2]}]}`, "without results"},
		{"no results", `{"results":[]}`, "a score for none of 2 texts"},
		{"no score", `{"results":[{"index":0,"document":{"text":"canary"}}]}`, "a score for none of 2 texts"},
		{"too much", `{"results":[],"canary":"` + strings.Repeat("x", 4<<20) + `"}`, "more than 4 MiB"},
	} {
		t.Run(c.about, func(t *testing.T) {
			r := judging(t, says(c.body))
			got, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
			if got != nil || fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v, %v", got, err)
			}
			if s := r.Status(); s.State != embed.Failed || !strings.Contains(s.Why, c.want) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Logits where probabilities are expected are noticed; nothing is guessed.
func TestMEM30_TheScaleIsNamed(t *testing.T) {
	r := judging(t, says(`{"results":[{"index":0,"relevance_score":-4.5}]}`), func(o *embed.RerankEndpointOptions) { o.Scores = embed.Probabilities })
	_, err := r.Rerank(t.Context(), "q", []string{"a"})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no probabilities") || !strings.Contains(explainedBy(err), "rerank.scores: logits") {
		t.Errorf("%v: %s", err, explainedBy(err))
	}
}

func TestMEM30_OptionsOfAReranker(t *testing.T) {
	for _, c := range []struct {
		change func(*embed.RerankEndpointOptions)
		want   string
	}{
		{func(o *embed.RerankEndpointOptions) { o.Scores = "" }, "scale"},
		{func(o *embed.RerankEndpointOptions) { o.Scores = "percent" }, "scale"},
		{func(o *embed.RerankEndpointOptions) { o.URL = "" }, "URL"},
		{func(o *embed.RerankEndpointOptions) { o.URL = "http://10.0.0.5:8080" }, "not this machine"},
		{func(o *embed.RerankEndpointOptions) { o.Model = " " }, "name of a model"},
		{func(o *embed.RerankEndpointOptions) {
			o.URL, o.Key, o.AllowRemote = "http://10.0.0.5:8080", canaryKey, true
		}, "everybody"},
	} {
		o := embed.RerankEndpointOptions{EndpointOptions: embed.EndpointOptions{URL: "http://localhost:8080", Model: "m"}, Scores: embed.Logits}
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		c.change(&o)
		_, err := embed.NewRerankEndpoint(o)
		if said := fmt.Sprint(err, explainedBy(err)); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) || strings.Contains(said, "embedding") || strings.Contains(said, "canary") {
			t.Errorf("%v: %s", err, explainedBy(err))
		}
	}
}

// What fails for a moment is asked once more, and what is too long with less of it.
func TestMEM30_AnotherTry(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for _, c := range []struct {
		about  string
		status int
		body   string
		asked  int32
		want   fault.Kind // fault.Internal for none
	}{
		{"a model that is loaded", http.StatusServiceUnavailable, `{"error":{"message":"Loading model"}}`, 2, fault.Internal},
		{"a text too long for llama-server", http.StatusInternalServerError, `{"error":{"message":"input is too large to process"}}`, 2, fault.Internal},
		{"a text too long for others", http.StatusRequestEntityTooLarge, "", 2, fault.Internal},
		{"texts that are refused", http.StatusBadRequest, "canary", 1, fault.Invalid},
		{"no model", http.StatusNotFound, "canary", 1, fault.Unavailable},
		{"no reranking", http.StatusNotImplemented, "canary", 1, fault.Unavailable},
		{"a wrong key", http.StatusUnauthorized, "canary", 1, fault.Unavailable},
	} {
		t.Run(c.about, func(t *testing.T) {
			var asked atomic.Int32
			r := judging(t, func(w http.ResponseWriter, q *http.Request) {
				texts := readRanks(t, q).Documents
				if asked.Add(1) == 1 {
					http.Error(w, c.body, c.status)
					return
				}
				sendRanks(w, texts)
			})
			got, err := r.Rerank(t.Context(), "q", []string{"a", long})
			if asked.Load() != c.asked {
				t.Errorf("asked %d times", asked.Load())
			}
			if c.want != fault.Internal {
				if got != nil || fault.KindOf(err) != c.want || strings.Contains(err.Error()+explainedBy(err), "canary") || explainedBy(err) == "" {
					t.Errorf("%v, %v: %s", got, err, explainedBy(err))
				}
				return
			}
			// The score of a text is its length, at most MaxLogit.
			if diff := cmp.Diff([]float32{1, embed.MaxLogit}, got, near); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestMEM30_LongTextsAreCut(t *testing.T) {
	var lengths [][2]int
	r := judging(t, func(w http.ResponseWriter, q *http.Request) {
		a := readRanks(t, q)
		lengths = append(lengths, [2]int{len(a.Query), len(a.Documents[0])})
		if len(lengths) == 1 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		sendRanks(w, a.Documents)
	})
	if _, err := r.Rerank(t.Context(), strings.Repeat("q", 1<<20), []string{strings.Repeat("x", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	want := [][2]int{{embed.MaxRerankQuery, embed.MaxRerankText}, {embed.MaxRerankQuery / 4, embed.MaxRerankText / 4}}
	if diff := cmp.Diff(want, lengths); diff != "" {
		t.Error(diff)
	}
}

// Nobody is asked for nothing.
func TestMEM30_NothingToRank(t *testing.T) {
	r := judging(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	for _, c := range []struct {
		query string
		texts []string
	}{{"q", nil}, {"q", []string{"", "\n"}}, {" ", []string{"a"}}} {
		got, err := r.Rerank(t.Context(), c.query, c.texts)
		if err != nil || len(got) != len(c.texts) {
			t.Errorf("%v, %v", got, err)
		}
		for _, score := range got {
			if embed.HasScore(score) {
				t.Errorf("%v", got)
			}
		}
	}
	if _, err := r.Rerank(t.Context(), "q", make([]string, embed.MaxRerankTexts+1)); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

func TestMEM34_ASlowReranker(t *testing.T) {
	var asked atomic.Int32
	r := judging(t, func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		asked.Add(1)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the head is there, the body is not
		<-q.Context().Done()
	}, func(o *embed.RerankEndpointOptions) { o.Timeout = 20 * time.Millisecond })
	for i := range 6 {
		_, err := r.Rerank(t.Context(), "q", []string{"a"})
		want := "no scores within 20ms"
		if i > 2 {
			want = "left alone"
		}
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if asked.Load() > 3 {
		t.Errorf("asked %d times: nobody waits for what was too slow three times", asked.Load())
	}
	if s := r.Status(); s.State != embed.Failed || !strings.Contains(s.Why, "no scores within") {
		t.Errorf("%+v", s)
	}
}

// A caller's deadline is its own error, and a reranker that no caller waits for rests.
func TestMEM34_TheDeadlineOfACaller(t *testing.T) {
	r := judging(t, func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		<-q.Context().Done()
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := r.Rerank(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "left alone") {
		t.Error(err)
	}
}

func TestMEM34_ACallThatIsGivenUp(t *testing.T) {
	arrived, gone := make(chan struct{}, 9), make(chan struct{}, 9)
	r := judging(t, func(_ http.ResponseWriter, q *http.Request) {
		_ = readRanks(t, q)
		arrived <- struct{}{}
		<-q.Context().Done()
		gone <- struct{}{}
	})
	for range 5 { // it is no failure of the endpoint
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := r.Rerank(ctx, "q", []string{"a"})
			result <- err
		}()
		await(t, arrived, "the request")
		if s := r.Status(); s.State != embed.Starting {
			t.Errorf("%+v", s)
		}
		cancel()
		if err := await(t, result, "the answer"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		await(t, gone, "the end of the request")
	}
	if s := r.Status(); s.State != embed.Idle {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Rerank(ctx, "q", []string{"a"}); !errors.Is(err, context.Canceled) || len(arrived) > 0 {
		t.Error(err)
	}
}

// After a rest it is tried again beside a call, which does without it, and is ready when it answers.
func TestMEM81_ARerankerThatComesBack(t *testing.T) {
	var ill atomic.Bool
	ill.Store(true)
	r := judging(t, func(w http.ResponseWriter, q *http.Request) {
		if ill.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sendRanks(w, readRanks(t, q).Documents)
	})
	r.Hasten(time.Nanosecond)
	for range 5 {
		if _, err := r.Rerank(t.Context(), "q", []string{"a"}); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
	ill.Store(false)
	if _, err := r.Rerank(t.Context(), "q", []string{"ab"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a call waited for the try: %v", err)
	}
	for r.Status().State != embed.Ready { // the try beside it
		runtime.Gosched()
	}
	if got, err := r.Rerank(t.Context(), "q", []string{"ab"}); err != nil || got[0] != 2 || r.Status().State != embed.Ready {
		t.Errorf("%v, %v, %+v", got, err, r.Status())
	}
}

func TestMEM30_CloseEndsTheCallsThatWait(t *testing.T) {
	arrived := make(chan struct{}, 100)
	r := judging(t, func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // some calls end while they are sent
		arrived <- struct{}{}
		<-q.Context().Done()
	})
	results := make(chan error, 20)
	for range 20 {
		go func() {
			_, err := r.Rerank(context.Background(), "q", []string{"a"})
			results <- err
		}()
	}
	await(t, arrived, "a request")
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	for range 20 {
		if err := await(t, results, "an answer"); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	}
	if s := r.Status(); s.State != embed.Failed || s.Why != "closed" {
		t.Errorf("%+v", s)
	}
}

// Many callers at once get their own scores.
func TestMEM30_ConcurrentCalls(t *testing.T) {
	r := judging(t, func(w http.ResponseWriter, q *http.Request) { sendRanks(w, readRanks(t, q).Documents) })
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			text := strings.Repeat("x", n+1)
			got, err := r.Rerank(t.Context(), "q", []string{text, "xy", text + "y"})
			if diff := cmp.Diff([]float32{float32(n + 1), 2, float32(n + 2)}, got, near); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
			_ = r.Status()
		})
	}
	all.Wait()
}

func TestSEC4_ARerankerFollowsNobody(t *testing.T) {
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()
	r := judging(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, elsewhere.URL, http.StatusTemporaryRedirect)
	}, func(o *embed.RerankEndpointOptions) { o.Key = canaryKey })
	_, err := r.Rerank(t.Context(), "q", []string{"a"})
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(explainedBy(err), "not followed: set rerank.url") || reached.Load() > 0 {
		t.Errorf("%v: %s", err, explainedBy(err))
	}
}

// Neither errors nor the log show texts or keys, and only an endpoint that texts may
// leave to is remote.
func TestSEC4_ARerankerTellsNoTexts(t *testing.T) {
	var logged bytes.Buffer
	r := judging(t, func(w http.ResponseWriter, q *http.Request) {
		http.Error(w, "canary: "+q.Header.Get("Authorization"), http.StatusUnauthorized)
	}, func(o *embed.RerankEndpointOptions) {
		o.Key = canaryKey
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for range 5 {
		_, err := r.Rerank(t.Context(), "canary query", []string{"canary text"})
		if said := fmt.Sprintf("%v %+v %s %+v", err, err, explainedBy(err), r.Status()); strings.Contains(said, "canary") {
			t.Error(said)
		}
	}
	if strings.Contains(logged.String(), "canary") || !strings.Contains(logged.String(), "breaker=open") {
		t.Errorf("log: %s", logged.String())
	}
}

// A server on this machine may pass texts on, so only who says that it doesn't has one
// that is not remote.
func TestPRIV4_WhichRerankerIsRemote(t *testing.T) {
	for _, url := range []string{"https://api.example.com", "http://127.0.0.1:8080", "http://localhost:8080"} {
		for _, outside := range []bool{true, false} {
			o := embed.RerankEndpointOptions{EndpointOptions: embed.EndpointOptions{URL: url, Model: "m", AllowRemote: outside}, Scores: embed.Logits}
			r, err := embed.NewRerankEndpoint(o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status().Remote != outside {
				t.Errorf("%s: %+v", url, r.Status())
			}
			_ = r.Close()
		}
	}
}

func FuzzMEM30_Reply(f *testing.F) {
	for _, name := range []string{"llama-server.json", "jina.json", "cohere-v1.json", "cohere-v2.json", "vllm.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", "rerank", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 3, false)
		f.Add(text, 3, true)
	}
	f.Add([]byte(`{"results":[{"index":0,"relevance_score":1e999},{"index":0},null]}`), 1, false)
	f.Fuzz(func(t *testing.T, text []byte, count int, probabilities bool) {
		count = 1 + (count%embed.MaxRerankTexts+embed.MaxRerankTexts)%embed.MaxRerankTexts
		scale := embed.Logits
		if probabilities {
			scale = embed.Probabilities
		}
		scores := embed.DecodeRanks(text, count, scale)
		if scores == nil {
			return
		}
		given := 0
		for _, score := range scores {
			if embed.HasScore(score) {
				given++
				if score < -embed.MaxLogit || score > embed.MaxLogit {
					t.Errorf("a score of %v", score)
				}
			}
		}
		if len(scores) != count || given == 0 {
			t.Errorf("%d scores, %d given, for %d texts", len(scores), given, count)
		}
	})
}
