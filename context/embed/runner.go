package embed

// runner*.go are the [Runner], an embedder that runs a transformer model in a child process, the
// [RerankRunner] that runs a cross-encoder in one, and what that child needs: the daemon holds a
// [Runner], cmd/ctxd-runner calls [DialParent] and [ServeVectors] or [ServeScores]. Native code
// that crashes ends the child and not the daemon, which starts it again, later each time it
// fails. A Runner is safe for concurrent use; Close ends it
// with its child.
//
// # The protocol
//
// [Runner] starts cmd/ctxd-runner and talks to it over a pair of sockets, one of
// which the child inherits as descriptor 3; on Windows it is a named pipe whose
// name the child is given. The child serves with [ServeVectors]. Each side writes
// frames; numbers are little-endian:
//
//	offset  bytes
//	0       4      n, length of what follows, at most 16 MiB
//	4       1      kind
//	5       n-1    body
//
// The child begins with a hello ('h', JSON of [RunnerHello]). The daemon then
// sends one request at a time ('e': id uint64, then for each text its length
// uint32 and its bytes). While the child works it beats ten times a second ('b':
// id, number of texts done uint32). It answers with vectors ('v': id, dimensions
// uint32, number uint32, then for each text a byte 0 for none or 1 and float32
// values) or refuses the texts ('x': id, reason).
//
// The child of a RerankRunner is one of its own, with a model of its own. Its hello says so. It
// is asked for scores ('r': as 'e', where the first text is the question) and answers with
// scores ('s': as 'v', one float32 value for each text).
//
// Whatever else comes, an answer to another request, another number of vectors
// or values, a vector that is not of length 1, is a [ProtocolError]: nothing of
// it is used, and the child is killed. So is one that does not beat for
// RunnerOptions.Stall, which a stopped one does not, or that takes longer than
// CallTimeout over one text. What it wrote to stderr last is part of the error.
//
// The child ends when the socket does, at once even if a text is at work; on
// Linux the kernel kills it with its parent. It leads a process group of its own,
// and what it started is killed with it.

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ctxd/ctxd/entities/fault"
)

// RunnerOptions say what to run and how long to wait for it. Durations of zero
// take the default that is named.
type RunnerOptions struct {
	Path      string // of ctxd-runner
	Library   string // folder of the native library; "" leaves it to the runner to look
	ModelFile string // GGUF
	GPULayers string // "auto" or "" for as many as fit, or a number; -1 is all
	Device    string // name of the GPU, "" for the best
	Threads   int    // 0: half of the cores, at most 4

	Stall        time.Duration // without a sign of life at work, 1 s: it is killed
	CallTimeout  time.Duration // for one text, 30 s
	StartTimeout time.Duration // until it says hello, 2 min: a GPU may have to compile its programs first
	StartWait    time.Duration // that a query waits for one that starts, 500 ms
	Idle         time.Duration // without a call until the model is unloaded, 10 min; below 0 never
	Cooldown     time.Duration // that is left in peace after tripAfter failures, 30 s

	Log  *slog.Logger // of starts and ends, never of texts; nil: none
	Args []string     // before the others; for tests
	Env  []string     // beside the environment's; for tests

	rank bool // the child is one that reranks
}

const (
	tripAfter    = 5 // failures in a row until the breaker opens
	firstBackoff = 100 * time.Millisecond
	settled      = 10 * time.Second // a runner that lived as long was none that fails at once
	strikes      = 3                // a text that crashed the runner as often is refused

	// A batch to the runner is small, so that a query waits little for passages.
	batchTexts = 16
	batchBytes = 2 << 10
)

func (o RunnerOptions) withDefaults() RunnerOptions {
	or := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	or(&o.Stall, time.Second)
	or(&o.CallTimeout, 30*time.Second)
	or(&o.StartTimeout, 2*time.Minute)
	or(&o.StartWait, 500*time.Millisecond)
	or(&o.Idle, 10*time.Minute)
	or(&o.Cooldown, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Runner is an [Embedder] in a child process, which one goroutine starts, feeds
// and ends. It starts with the first call, and again after each idle time.
//
// Calls fail with fault.Unavailable while it is away: none waits for a dead
// runner. It is started again by itself, later each time, and after five
// failures in a row no more before Cooldown has passed and somebody asks.
type Runner struct {
	opt     RunnerOptions
	wake    chan struct{} // of one: there may be work
	closing chan struct{}
	ended   chan struct{}

	mu       sync.Mutex // guards all below
	closed   bool
	queues   [2][]*runnerJob // by purpose
	state    string
	why      error // of the last failure
	hello    RunnerHello
	known    bool                       // hello has been said once
	failures int                        // in a row
	backOff  backoff.ExponentialBackOff // after the next failure
	retryAt  time.Time
	restarts int
	current  *runnerChild
	suspects map[[sha256.Size]byte]int // texts at work when the runner crashed
}

// runnerJob is one call of Embed, Model or Rerank. The goroutine of the runner owns it
// until it has replied.
type runnerJob struct {
	ctx     context.Context
	purpose Purpose
	query   string // that texts are scored against
	texts   []string
	out     [][]float32 // as many as are done
	model   Model
	reply   chan error // of one
}

// StartRunner makes a runner. Nothing runs before the first call.
func StartRunner(opt RunnerOptions) *Runner {
	r := &Runner{
		opt: opt.withDefaults(), wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		state: Idle, suspects: map[[sha256.Size]byte]int{},
	}
	r.backOff = backoff.ExponentialBackOff{
		InitialInterval: min(firstBackoff, r.opt.Cooldown), Multiplier: 2,
		MaxInterval: r.opt.Cooldown,
	}
	go r.loop()
	return r
}

// Model is what the runner said of its model; it is started if it never was.
func (r *Runner) Model(ctx context.Context) (Model, error) {
	r.mu.Lock()
	if r.known && (r.state == Ready || r.state == Idle) && !r.closed {
		defer r.mu.Unlock()
		return r.hello.model(), nil
	}
	r.mu.Unlock()
	j := &runnerJob{ctx: ctx, purpose: Passage}
	if err := r.do(j); err != nil {
		return Model{}, err
	}
	return j.model, nil
}

// Embed gives the vectors of texts, see [Embedder]. Queries go before passages
// that wait; a passage at work is not interrupted.
func (r *Runner) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	if p != Query {
		p = Passage
	}
	j := &runnerJob{ctx: ctx, purpose: p, texts: make([]string, len(texts)), out: make([][]float32, 0, len(texts))}
	for i, text := range texts {
		j.texts[i] = readable(text)
	}
	if err := r.do(j); err != nil {
		return Model{}, nil, err
	}
	return j.model, j.out, nil
}

// do queues a job and waits for its end, or for that of its context.
func (r *Runner) do(j *runnerJob) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	j.reply = make(chan error, 1)
	if err := r.enqueue(j); err != nil {
		return err
	}
	var loading <-chan time.Time
	if j.purpose == Query {
		timer := time.NewTimer(r.opt.StartWait)
		defer timer.Stop()
		loading = timer.C
	}
	for {
		select {
		case err := <-j.reply:
			return err
		case <-j.ctx.Done():
			r.withdraw(j)
			return j.ctx.Err()
		case <-loading:
			if r.Status().State != Ready && r.withdraw(j) {
				return away("the model is being loaded", nil)
			}
		}
	}
}

func (r *Runner) enqueue(j *runnerJob) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return away("the model runner is closed", nil)
	case r.state == Failed && time.Now().Before(r.retryAt):
		return away("the model runner is away: "+reason(r.why), r.why)
	}
	r.queues[j.purpose] = append(r.queues[j.purpose], j)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return nil
}

// withdraw takes a job out of the queue. One at work is finished for nobody.
func (r *Runner) withdraw(j *runnerJob) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := &r.queues[j.purpose]
	at := slices.Index(*q, j)
	if at >= 0 {
		*q = slices.Delete(*q, at, at+1)
	}
	return at >= 0
}

func away(what string, cause error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Op: "embed", Msg: what, Retryable: true, Err: cause,
		Hint: "run ctxd doctor to see what is missing",
	}
}

func (h RunnerHello) model() Model { return Model{Name: h.Name, Dims: h.Dims, SHA256: h.SHA256} }

// Hello is what the runner said last, false if it never spoke.
func (r *Runner) Hello() (RunnerHello, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hello, r.known
}

// Status tells how the runner is; see [Embedder].
func (r *Runner) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Status{Kind: KindRunner, State: r.state, Restarts: r.restarts}
	if r.why != nil && r.state == Failed {
		s.Why = reason(r.why)
	}
	if r.known {
		m := r.hello.model()
		s.Model, s.Device, s.Layers, s.OffloadedLayers = &m, r.hello.Device, r.hello.Layers, r.hello.OffloadedLayers
	}
	return s
}

// reason leaves out the last words of a runner, which may hold paths.
func reason(err error) string {
	var e *runnerError
	if errors.As(err, &e) {
		return e.reason
	}
	return "it could not be started"
}

// LastWords is what the runner wrote to stderr before it failed last, at most
// 8 KiB; it may hold paths.
func (r *Runner) LastWords() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e *runnerError
	if errors.As(r.why, &e) {
		return e.words
	}
	return ""
}

// Close ends the runner once what is at work is done, or after two seconds.
// Calls that wait fail.
func (r *Runner) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	r.mu.Unlock()
	select {
	case <-r.ended:
		return nil
	case <-time.After(2 * time.Second):
	}
	r.mu.Lock()
	child := r.current
	r.mu.Unlock()
	if child != nil {
		child.kill()
	}
	<-r.ended
	return nil
}

// loop owns the child. It returns after Close.
func (r *Runner) loop() {
	defer close(r.ended)
	var child *runnerChild
	defer func() {
		r.setChild(nil)
		child.stop()
		r.failAll(away("the model runner is closed", nil))
	}()
	for {
		wait, unload := r.pause(child)
		timer := time.NewTimer(wait)
		select {
		case <-r.closing:
			timer.Stop()
			return
		case <-r.wake:
		case <-child.gone():
			child = r.down(child, child.obituary("it ended while it had nothing to do"))
		case <-timer.C:
			if unload {
				child = r.unload(child)
			} else {
				child = r.start(child)
			}
		}
		timer.Stop()
		for child = r.work(child); r.hasWork(); child = r.work(child) {
		}
		select {
		case <-r.closing:
			return
		default:
		}
	}
}

// pause says how long there is nothing to do but to wait for calls, and whether
// the model is unloaded then, or the runner started.
func (r *Runner) pause(child *runnerChild) (wait time.Duration, unload bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case child != nil && r.opt.Idle > 0:
		return r.opt.Idle, true
	case child == nil && r.state == Failed && r.failures < tripAfter:
		return time.Until(r.retryAt), false
	}
	return 24 * time.Hour, child != nil
}

func (r *Runner) unload(child *runnerChild) *runnerChild {
	r.mu.Lock()
	r.state, r.current = Idle, nil
	r.mu.Unlock()
	child.stop()
	r.opt.Log.Info("model unloaded", "idle", r.opt.Idle)
	return nil
}

func (r *Runner) hasWork() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && len(r.queues[Query])+len(r.queues[Passage]) > 0
}

func (r *Runner) setChild(c *runnerChild) {
	r.mu.Lock()
	r.current = c
	r.mu.Unlock()
}

// start gives the child that runs, or a new one, or nil after a failure.
func (r *Runner) start(child *runnerChild) *runnerChild {
	if child != nil {
		return child
	}
	r.mu.Lock()
	again := r.known && r.state == Failed
	r.state = Starting
	before := r.hello
	r.mu.Unlock()
	began := time.Now()
	child, err := spawnRunner(r.opt, r.closing, r.setChild)
	if err != nil {
		return r.down(child, err)
	}
	r.mu.Lock()
	r.state = Ready
	if again {
		r.restarts++
	}
	r.hello, r.known = child.hello, true
	r.mu.Unlock()
	r.opt.Log.Info("model runner started", "pid", child.hello.PID, "model", child.hello.Name, "device",
		child.hello.Device,
		"offloaded", child.hello.OffloadedLayers, "layers", child.hello.Layers, "took", time.Since(began).
			Round(time.Millisecond))
	if before.SHA256 != "" && before.model() != child.hello.model() {
		r.opt.Log.Warn("the model runner has another model than before", "was", before.Name, "is", child.hello.Name)
	}
	return child
}

// work serves one batch of the most urgent job.
func (r *Runner) work(child *runnerChild) *runnerChild {
	if !r.hasWork() {
		return child
	}
	child = r.start(child)
	if child == nil { // those that wait have been told
		return nil
	}
	j, batch, err := r.next()
	if j == nil {
		return child
	}
	if err != nil {
		j.reply <- err
		return child
	}
	model := child.hello.model()
	if j.model != (Model{}) && j.model != model {
		j.reply <- away("the model changed meanwhile", nil)
		return child
	}
	j.model = model
	vectors, err := child.exchange(j.query, batch, r.opt)
	var refused *refusedError
	switch {
	case err == nil:
		j.out = append(j.out, vectors...)
		r.served(j, len(batch) > 0)
	case errors.As(err, &refused):
		j.reply <- &fault.Error{Kind: fault.Invalid, Op: "embed", Msg: "the model refuses a text", Err: err}
	default:
		r.suspect(batch, err)
		child = r.down(child, err)
		j.reply <- r.failure()
	}
	return child
}

// next takes the first query, or else the first passage, and the texts of it
// that go to the runner at once.
func (r *Runner) next() (*runnerJob, []string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.queues {
		for len(r.queues[p]) > 0 {
			j := r.queues[p][0]
			r.queues[p] = r.queues[p][1:]
			if err := j.ctx.Err(); err != nil {
				j.reply <- err
				continue
			}
			batch, err := r.batch(j.texts[len(j.out):])
			return j, batch, err
		}
	}
	return nil, nil, nil
}

// batch cuts off what goes to the runner at once: a text that is suspected of
// crashing it goes alone, and one that did so too often does not go.
func (r *Runner) batch(texts []string) ([]string, error) {
	bytes := 0
	for i, text := range texts {
		bytes += len(text)
		n := 0
		if len(r.suspects) > 0 {
			n = r.suspects[sha256.Sum256([]byte(text))]
		}
		switch {
		case n >= strikes && i == 0:
			return nil, fault.New(fault.Invalid, "the model runner crashed %d times over a text", n)
		case i > 0 && (n > 0 || i == batchTexts || bytes > batchBytes):
			return texts[:i], nil
		case n > 0:
			return texts[:1], nil
		}
	}
	return texts, nil
}

// suspect remembers the texts that were at work when the runner crashed of
// itself: not when somebody killed or stopped it.
func (r *Runner) suspect(batch []string, err error) {
	var e *runnerError
	if !errors.As(err, &e) || !e.crashed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.suspects) > 1000 {
		clear(r.suspects)
	}
	for _, text := range batch {
		key := sha256.Sum256([]byte(text))
		if n := r.suspects[key]; n == 0 || len(batch) == 1 {
			r.suspects[key] = n + 1
		}
	}
}

// served puts a job with texts left back to the front of its queue.
func (r *Runner) served(j *runnerJob, worked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if worked {
		r.recovered()
	}
	switch {
	case len(j.out) == len(j.texts):
		j.reply <- nil
	case r.closed:
		j.reply <- away("the model runner is closed", nil)
	default:
		r.queues[j.purpose] = slices.Insert(r.queues[j.purpose], 0, j)
	}
}

// recovered forgets the failures. It is called with the lock held.
func (r *Runner) recovered() {
	r.failures = 0
	r.backOff.Reset()
}

// down ends a child that failed, and all calls that wait.
func (r *Runner) down(child *runnerChild, err error) *runnerChild {
	r.setChild(nil)
	child.kill()
	r.mu.Lock()
	if child != nil && time.Since(child.born) > settled {
		r.recovered()
	}
	r.failures++
	r.state, r.why = Failed, err
	delay := r.backOff.NextBackOff()
	if r.failures >= tripAfter {
		delay = r.opt.Cooldown
	}
	delay += time.Duration(rand.Int64N(int64(delay)/4 + 1)) //nolint:gosec // not in step with others, no secret
	r.retryAt = time.Now().Add(delay)
	closed := r.closed
	r.mu.Unlock()
	if !closed {
		r.opt.Log.Warn("model runner failed", "reason", reason(err), "again", delay.Round(time.Millisecond))
	}
	r.failAll(r.failure())
	return nil
}

func (r *Runner) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return away("the model runner is closed", r.why)
	}
	return away("the model runner is away: "+reason(r.why), r.why)
}

func (r *Runner) failAll(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.queues {
		for _, j := range r.queues[p] {
			j.reply <- err
		}
		r.queues[p] = nil
	}
}
