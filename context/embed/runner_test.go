package embed_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
)

// hangRunner is how long a test waits for what must happen.
const hangRunner = embedtest.Hang

// fake starts a runner that behaves like that.
func fake(t *testing.T, behaviour string, change func(*embed.RunnerOptions)) *embed.Runner {
	t.Helper()
	r := embed.StartRunner(fakeOptions(t, behaviour, change))
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func fakeOptions(t *testing.T, behaviour string, change func(*embed.RunnerOptions)) embed.RunnerOptions {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opt := embed.RunnerOptions{
		Path: self, ModelFile: "none", Env: []string{fakeVariable + "=" + behaviour},
		// Machines that run tests are busy.
		Stall: 10 * time.Second, StartWait: hangRunner, StartTimeout: hangRunner, CallTimeout: hangRunner,
	}
	if change != nil {
		change(&opt)
	}
	return opt
}

func embedOne(t *testing.T, r *embed.Runner, text string) ([]float32, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangRunner)
	defer cancel()
	_, v, err := r.Embed(ctx, embed.Passage, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestSRCH21_RunnerServes(t *testing.T) {
	r := fake(t, "good", nil)
	if s := r.Status(); s.Kind != "runner" || s.State != embed.Idle || s.Remote {
		t.Errorf("before the first call it is %+v", s)
	}
	m, err := r.Model(t.Context())
	if want := (embed.Model{Name: "fake", Dims: fakeDims, SHA256: strings.Repeat("ab", 32)}); err != nil || m != want {
		t.Fatalf("model %+v, %v, want %+v", m, err, want)
	}
	texts := []string{"hello", "", " \n\t", "a\x00b", "\x00", "bro\xffken", "Zürich 漢字", "[CLS] text"}
	want := [][]float32{fakeVector("hello"), nil, nil, fakeVector("ab"), nil, fakeVector("broken"), fakeVector("Zürich 漢字"), fakeVector("[CLS] text")}
	for _, p := range []embed.Purpose{embed.Query, embed.Passage, embed.Purpose(77)} {
		model, got, err := r.Embed(t.Context(), p, texts)
		if err != nil || model != m {
			t.Fatalf("purpose %d: %v, %v", p, model, err)
		}
		for i := range want {
			if !nearVectors(got[i], want[i]) {
				t.Errorf("purpose %d: %q has another vector: %v, want %v", p, texts[i], got[i], want[i])
			}
		}
	}
	if s := r.Status(); s.State != embed.Ready || s.Device != "cpu" || s.Layers != 7 || s.Restarts != 0 || s.Model == nil || *s.Model != m {
		t.Errorf("status %+v", s)
	}
	if _, v, err := r.Embed(t.Context(), embed.Query, nil); err != nil || len(v) != 0 {
		t.Errorf("no texts give %v, %v", v, err)
	}
}

// nearVectors allows for the rounding of a vector that is brought to length 1 twice.
func nearVectors(a, b []float32) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-6 })
}

func TestSRCH21_ManyTextsKeepTheirOrder(t *testing.T) {
	r := fake(t, "good", nil)
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = strings.Repeat("word ", i%90) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
	}
	_, got, err := r.Embed(t.Context(), embed.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if !nearVectors(v, fakeVector(texts[i])) {
			t.Fatalf("text %d has the vector of another", i)
		}
	}
}

// A text of more tokens than the model takes at once is the mean over its parts.
func TestSRCH21_LongTextIsTheMeanOfItsParts(t *testing.T) {
	r := fake(t, "good", nil)
	left, right := strings.TrimSpace(strings.Repeat("left ", 400)), strings.TrimSpace(strings.Repeat("righ ", 400))
	got, err := embedOne(t, r, left+" "+right)
	if err != nil {
		t.Fatal(err)
	}
	want, squares := make([]float32, fakeDims), 0.0
	for i := range want {
		want[i] = fakeVector(left)[i] + fakeVector(right)[i]
		squares += float64(want[i]) * float64(want[i])
	}
	for i := range want {
		want[i] /= float32(math.Sqrt(squares))
	}
	if !nearVectors(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, long := range []string{
		strings.Repeat("a ", 1<<20), strings.Repeat("漢 ", 1<<16), strings.Repeat("x", 1<<20), strings.Repeat(strings.Repeat("é", 700)+" ", 600),
	} {
		if v, err := embedOne(t, r, long); err != nil || v == nil {
			t.Errorf("text of %d bytes: %v, %v", len(long), v, err)
		}
	}
	// What lies behind the limit is not read, and no character is cut.
	head := strings.Repeat("é", embed.MaxRunnerText/2-1)
	a, errA := embedOne(t, r, head+"x"+"漢 more")
	b, errB := embedOne(t, r, head+"x")
	if err := errors.Join(errA, errB); err != nil || !nearVectors(a, b) {
		t.Errorf("the text behind the limit counts: %v", err)
	}
}

// Whatever a runner answers that does not fit is an error of its own type, no
// vector, and its end.
func TestSRCH21_ProtocolViolations(t *testing.T) {
	for _, behaviour := range []string{
		"count", "dims", "short", "long", "nan", "zero", "id", "kind", "huge", "text", "beats", "version", "babble",
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			r := fake(t, behaviour, func(o *embed.RunnerOptions) { o.Cooldown = time.Hour })
			_, noHello := r.Model(t.Context())
			h, _ := r.Hello()
			v, err := embedOne(t, r, "hello")
			var protocol *embed.ProtocolError
			if v != nil || fault.KindOf(err) != fault.Unavailable || !errors.As(err, &protocol) {
				t.Fatalf("got %v, %v", v, err)
			}
			if noHello == nil { // it is another by now
				embedtest.Eventually(t, "the end of the runner", func() bool { return !alive(h.PID) })
			}
		})
	}
}

func TestSRCH21_LastWords(t *testing.T) {
	r := fake(t, "lacks", nil)
	_, err := embedOne(t, r, "hello")
	if fault.KindOf(err) != fault.Unavailable || !strings.HasSuffix(err.Error(), "no native library here") {
		t.Errorf("got %.200s", err)
	}
	if n := len(err.Error()); n > 9<<10 {
		t.Errorf("%d bytes of last words", n)
	}
	embedtest.Eventually(t, "it to be at rest", func() bool { return embed.Tripped(r) })
	if s := r.Status(); s.State != embed.Failed || !strings.Contains(s.Why, "missing") || strings.Contains(s.Why, "noise") {
		t.Errorf("status %+v", s)
	}
}

func TestSRCH21_NoProgram(t *testing.T) {
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Path = filepath.Join(t.TempDir(), "none") })
	if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestSRCH21_HandshakeHasADeadline(t *testing.T) {
	r := fake(t, "silent", func(o *embed.RunnerOptions) { o.StartTimeout = 50 * time.Millisecond })
	if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "hello") {
		t.Errorf("got %v", err)
	}
}

// A query does not wait for a model that is being loaded, a passage does.
func TestSRCH21_QueryDoesNotWaitForALoad(t *testing.T) {
	r := fake(t, "silent", func(o *embed.RunnerOptions) { o.StartWait = time.Millisecond })
	if _, _, err := r.Embed(t.Context(), embed.Query, []string{"hello"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	if s := r.Status(); s.State != embed.Starting {
		t.Errorf("it is %s", s.State)
	}
}

func TestSRCH21_StallAndCallDeadlines(t *testing.T) {
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.CallTimeout = time.Second })
	_, err := embedOne(t, r, "hang in native code")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "over one text") {
		t.Errorf("got %v", err)
	}
	comesBack(t, r)
}

// comesBack polls until the runner serves again, and holds the vector against
// what it must be.
func comesBack(t *testing.T, r *embed.Runner) {
	t.Helper()
	embedtest.Eventually(t, "the runner to come back", func() bool {
		v, err := embedOne(t, r, "back")
		if err == nil && !nearVectors(v, fakeVector("back")) {
			t.Fatalf("wrong vector %v", v)
		}
		return err == nil
	})
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestSRCH21_QueriesGoBeforePassages(t *testing.T) {
	log, gate := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "gate")
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Env = append(o.Env, fakeJournal+"="+log, fakeGate+"="+gate) })
	ended := make(chan error, 3)
	call := func(p embed.Purpose, texts ...string) {
		go func() {
			_, _, err := r.Embed(t.Context(), p, texts)
			ended <- err
		}()
	}
	// Big texts go one at a time.
	big := strings.Repeat(" x", 1500)
	call(embed.Passage, "gate"+big, "second"+big, "third"+big)
	embedtest.Eventually(t, "the first text to be at work", func() bool { return strings.Contains(strings.Join(lines(t, log), "\n"), "text gate") })
	call(embed.Passage, "other"+big)
	embedtest.Eventually(t, "the other passage to be queued", func() bool { return embed.Waiting(r, embed.Passage) == 1 })
	call(embed.Query, "query")
	embedtest.Eventually(t, "the query to be queued", func() bool { return embed.Waiting(r, embed.Query) == 1 })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	var order []string
	for _, line := range lines(t, log) {
		if word, ok := strings.CutPrefix(line, "text "); ok {
			word = strings.Fields(word)[0]
			if word != "x" && !slices.Contains(order, word) { // parts of a long text
				order = append(order, word)
			}
		}
	}
	if want := []string{"gate", "query", "second", "third", "other"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// Native code has no business with the keys of the daemon.
func TestSEC2_RunnerGetsNoSecrets(t *testing.T) {
	t.Setenv("CTXD_TEST_API_KEY", "canary")
	log := filepath.Join(t.TempDir(), "log")
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Env = append(o.Env, fakeJournal+"="+log) })
	comesBack(t, r)
	if got := lines(t, log); !slices.Equal(got, []string{"start", "text back"}) {
		t.Errorf("journal %v", got)
	}
}

func TestSRCH21_IdleUnloadsAndWarmStart(t *testing.T) {
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Idle = 20 * time.Millisecond })
	for range 3 {
		if v, err := embedOne(t, r, "hello"); err != nil || !nearVectors(v, fakeVector("hello")) {
			t.Fatal(v, err)
		}
		h, _ := r.Hello()
		embedtest.Eventually(t, "the model to be unloaded", func() bool { return r.Status().State == embed.Idle && !alive(h.PID) })
		if m, err := r.Model(t.Context()); err != nil || m.Name != "fake" {
			t.Errorf("model while idle: %v, %v", m, err)
		}
	}
	if n := r.Status().Restarts; n != 0 {
		t.Errorf("%d restarts counted, but it never died", n)
	}
}

// Five failures in a row, then peace; one trial after the cooldown.
func TestSRCH21_BreakerOpens(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	r := fake(t, "lacks", func(o *embed.RunnerOptions) { o.Env, o.Cooldown = append(o.Env, fakeJournal+"="+log), time.Hour })
	if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable {
		t.Fatal(err)
	}
	// Four more by itself, and then no more: the next is an hour away.
	embedtest.Eventually(t, "the fifth start", func() bool { return len(lines(t, log)) == 5 && embed.Tripped(r) })
	for range 100 {
		if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no native library here") {
			t.Fatal(err)
		}
	}
	if n := len(lines(t, log)); n != 5 {
		t.Errorf("%d starts, want 5", n)
	}
	embed.CoolDown(r)
	if _, err := embedOne(t, r, "hello"); fault.KindOf(err) != fault.Unavailable {
		t.Fatal(err)
	}
	if n := len(lines(t, log)); n != 6 {
		t.Errorf("%d starts after the cooldown, want 6", n)
	}
}

// A text that crashes the runner is tried three times, alone after the first,
// and then refused: the texts beside it are served.
func TestSRCH21_CrashingTextIsRefused(t *testing.T) {
	r := fake(t, "good", nil)
	texts := []string{"one", "crash", "two"}
	var err error
	embedtest.Eventually(t, "the text to be refused", func() bool {
		_, _, err = r.Embed(t.Context(), embed.Passage, texts)
		if fault.KindOf(err) == fault.Unavailable {
			comesBack(t, r)
			return false
		}
		return true
	})
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("got %v", err)
	}
	for _, text := range []string{"one", "two"} {
		if v, err := embedOne(t, r, text); err != nil || !nearVectors(v, fakeVector(text)) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
	if n := r.Status().Restarts; n != 3 {
		t.Errorf("%d restarts, want 3", n)
	}
}

func TestSRCH21_RefusedTextLeavesTheRunnerAlive(t *testing.T) {
	r := fake(t, "good", nil)
	if _, err := embedOne(t, r, "refuse"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
	if v, err := embedOne(t, r, "hello"); err != nil || !nearVectors(v, fakeVector("hello")) || r.Status().Restarts != 0 {
		t.Errorf("afterwards: %v, %v, %+v", v, err, r.Status())
	}
}

func TestSRCH21_CallersThatLeave(t *testing.T) {
	log, gate := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "gate")
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Env = append(o.Env, fakeJournal+"="+log, fakeGate+"="+gate) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	call := func(text string) {
		_, _, err := r.Embed(ctx, embed.Passage, []string{text})
		ended <- err
	}
	go call("gate")
	embedtest.Eventually(t, "one to be at work", func() bool { return slices.Contains(lines(t, log), "text gate") })
	go call("never")
	embedtest.Eventually(t, "one to wait", func() bool { return embed.Waiting(r, embed.Passage) == 1 })
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := embedOne(t, r, "hello"); err != nil || !nearVectors(v, fakeVector("hello")) {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

func TestSRCH21_CloseDrains(t *testing.T) {
	log, gate := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "gate")
	r := fake(t, "good", func(o *embed.RunnerOptions) { o.Env = append(o.Env, fakeJournal+"="+log, fakeGate+"="+gate) })
	work, wait := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := embedOne(t, r, "gate")
		work <- err
	}()
	embedtest.Eventually(t, "the text to be at work", func() bool { return slices.Contains(lines(t, log), "text gate") })
	go func() {
		_, err := embedOne(t, r, "wait")
		wait <- err
	}()
	embedtest.Eventually(t, "another to wait", func() bool { return embed.Waiting(r, embed.Passage) == 1 })
	h, _ := r.Hello()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-work; err != nil {
		t.Errorf("what was at work: %v", err)
	}
	<-wait // served or not, as the two raced; it must end
	if _, err := embedOne(t, r, "late"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("after the end: %v", err)
	}
	if alive(h.PID) {
		t.Error("the process is still there")
	}
}

// A close does not wait for a text that never ends.
func TestSRCH21_CloseEndsWhatHangs(t *testing.T) {
	for _, behaviour := range []string{"good", "silent"} {
		r := fake(t, behaviour, nil)
		ended := make(chan error, 1)
		go func() {
			_, err := embedOne(t, r, "hang")
			ended <- err
		}()
		embedtest.Eventually(t, "it to be at work", func() bool { return r.Status().State != embed.Idle })
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: got %v", behaviour, err)
		}
	}
}

func FuzzSRCH21_Answers(f *testing.F) {
	f.Add(embed.AppendVectors(1, 4, [][]float32{{0, 1, 0, 0}, nil}))
	f.Add(embed.AppendVectors(1, 4, [][]float32{{0.5, 0.5, 0.5, 0.5}, {1, 0, 0, 0}}))
	f.Add(embed.AppendVectors(2, 4, [][]float32{nil, nil}))
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := embed.ParseVectors(body)
		var protocol *embed.ProtocolError
		if err != nil {
			if v != nil || !errors.As(err, &protocol) {
				t.Fatalf("%v, %v", v, err)
			}
			return
		}
		if again := embed.AppendVectors(1, 4, v); len(v) != 2 || !bytes.Equal(again, body) {
			t.Fatalf("%x is read as %v", body, v)
		}
	})
}

func FuzzSRCH21_Requests(f *testing.F) {
	f.Add(embed.AppendRequest(1, []string{"a text", "", "another"}))
	f.Fuzz(func(t *testing.T, body []byte) {
		id, texts, err := embed.ParseRequest(body)
		if err == nil && !bytes.Equal(embed.AppendRequest(id, texts), body) {
			t.Fatalf("%x is read as %d, %q", body, id, texts)
		}
	})
}

func TestSRCH22_FindRunner(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("CTXD_LLAMA_DIR", "")
	t.Setenv("PATH", "")
	missing := func(opt embed.RunnerOptions) (names []string) {
		_, parts := embed.FindRunner(opt)
		for _, p := range parts {
			if !p.Found {
				names = append(names, p.Name)
				if p.Mend == "" || p.What == "" {
					t.Errorf("%s says nothing of how to mend it", p.Name)
				}
			}
		}
		if embed.HasAllParts(parts) != (names == nil) {
			t.Errorf("complete without %v", names)
		}
		return names
	}
	program := write("ctxd-runner")
	for _, step := range []struct {
		file string
		opt  embed.RunnerOptions
		want []string
	}{
		{"", embed.RunnerOptions{}, []string{"program", "library", "model"}},
		{"", embed.RunnerOptions{Path: filepath.Join(folder, "none")}, []string{"program", "library", "model"}},
		{"", embed.RunnerOptions{Path: program}, []string{"library", "model"}},
		{"llama/" + embed.RunnerLibraryName(), embed.RunnerOptions{Path: program}, []string{"model"}},
		{"models/b.gguf", embed.RunnerOptions{Path: program}, nil},
		{"models/a.gguf", embed.RunnerOptions{Path: program, Library: folder}, []string{"library"}},
		{embed.RunnerLibraryName(), embed.RunnerOptions{Path: program, ModelFile: "none"}, []string{"model"}},
	} {
		if step.file != "" {
			write(step.file)
		}
		if got := missing(step.opt); !slices.Equal(got, step.want) {
			t.Errorf("%+v with %q: missing %v, want %v", step.opt, step.file, got, step.want)
		}
	}
	if opt, _ := embed.FindRunner(embed.RunnerOptions{Path: program}); opt.ModelFile != filepath.Join(folder, "models", "a.gguf") || opt.Library != folder {
		t.Errorf("found %+v", opt)
	}
}
