package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

var reranking = outbound.Service{
	Noun: "reranking endpoint", Setting: "rerank", Path: "rerank", Example: "bge-reranker-v2-m3",
	Start:   "start its server for reranking, as llama-server --reranking does",
	Outside: "local to false",
}

// rerankPace fits into RerankTimeout: somebody waits.
var rerankPace = pace{queryTries: 2, first: 100 * time.Millisecond, most: time.Second, rest: 30 * time.Second}

// RerankEndpointOptions say which endpoint reranks.
type RerankEndpointOptions struct {
	// EndpointOptions say where it is, as for an embedder: http://127.0.0.1:8080,
	// http://127.0.0.1:8080/v1 and http://127.0.0.1:8080/v1/rerank are the same.
	// Timeout is that of a whole call, RerankTimeout unless set. With AllowRemote it
	// counts as one on another machine wherever it is: a server on this machine may
	// pass the texts on.
	EndpointOptions
	// Scores is the scale of the numbers that it gives. There is no default: a reply
	// does not tell it.
	Scores ScoreScale
}

// Check says what is wrong with options, as fault.Invalid that names the field:
// url, model, key or scores. It asks nobody.
func (o *RerankEndpointOptions) Check() error {
	if _, err := reranking.Resolve(o.target()); err != nil {
		return err
	}
	if !slices.Contains(ScoreScales, o.Scores) {
		return fault.Field("scores", "an endpoint that reranks needs the scale of its scores").WithHint(
			"write logits for llama-server with a BERT such as bge-reranker, probabilities for Cohere and vLLM")
	}
	return nil
}

// RerankEndpoint asks an endpoint: llama-server, Jina, Cohere, or any that speaks as they
// do. Make one with [NewRerankEndpoint].
//
// A call that its caller has given up is withdrawn from the endpoint at once. An
// endpoint that fails three times in a row, or is too slow as often, is left alone for
// 30 s, in which calls fail at once; so does the next one, while a probe in the background asks whether it is back.
type RerankEndpoint struct {
	peer
	scale   ScoreScale
	outside bool // texts may leave this machine
	breaker *gobreaker.CircuitBreaker[[]float32]

	life    context.Context // of all calls; ends with Close
	end     context.CancelFunc
	probing atomic.Bool    // see probeInBackground
	asking  atomic.Int32   // calls under way
	running sync.WaitGroup // calls

	mu     sync.Mutex // guards what follows
	state  string
	why    string
	closed bool
}

// NewRerankEndpoint returns a reranker that asks an endpoint. It does not reach for it yet.
// The errors are those of Check.
func NewRerankEndpoint(o RerankEndpointOptions) (*RerankEndpoint, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	p, err := newPeer(reranking, &o.EndpointOptions, RerankTimeout, rerankPace)
	if err != nil {
		return nil, err
	}
	r := &RerankEndpoint{peer: p, scale: o.Scores, outside: o.AllowRemote, state: Idle}
	r.life, r.end = context.WithCancel(context.Background())
	r.breaker = r.newBreaker()
	return r, nil
}

// newBreaker leaves an endpoint alone for a while that fails, so that nobody waits for it. One
// that is too slow fails as well; a caller that leaves is no failure.
func (r *RerankEndpoint) newBreaker() *gobreaker.CircuitBreaker[[]float32] {
	return gobreaker.NewCircuitBreaker[[]float32](gobreaker.Settings{
		Name: r.at.Host, MaxRequests: 1, Timeout: r.pace.rest,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToRest },
		IsSuccessful: func(err error) bool { return err == nil || fault.KindOf(err) == fault.Invalid },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, outbound.ErrStale) },
		OnStateChange: func(host string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen || from == gobreaker.StateHalfOpen {
				r.log.Info("reranking endpoint", "host", host, "breaker", to.String())
			}
		},
	})
}

// Rerank scores texts; see [RerankEndpoint].
func (r *RerankEndpoint) Rerank(ctx context.Context, query string, texts []string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	job, err := PrepareRerank(query, texts)
	if err != nil {
		return nil, err
	}
	if !r.begin() {
		return nil, errRerankerClosed()
	}
	defer r.running.Done()
	if len(job.Texts) == 0 {
		return job.Scores(nil), nil
	}
	if r.breaker.State() == gobreaker.StateHalfOpen {
		r.probeInBackground()
		return nil, r.failure("failed several times and is left alone for a while")
	}
	scores, err := r.ask(ctx, job)
	switch {
	case errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests):
		return nil, r.failure("failed several times and is left alone for a while")
	case err != nil:
		return nil, err
	}
	return job.Scores(scores), nil
}

// ask asks the endpoint, unless it is left alone.
func (r *RerankEndpoint) ask(ctx context.Context, job RerankJob) ([]float32, error) {
	work, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	r.asking.Add(1)
	defer r.asking.Add(-1)
	return r.breaker.Execute(func() ([]float32, error) {
		scores, err := r.insist(work, job)
		err = r.ended(ctx, work, err)
		r.settled(err)
		return scores, err
	})
}

// probeInBackground asks an endpoint whose circuit breaker is half open, while the call that came does without it.
func (r *RerankEndpoint) probeInBackground() {
	if !r.probing.CompareAndSwap(false, true) {
		return
	}
	if !r.begin() {
		return
	}
	go func() {
		defer r.running.Done()
		defer r.probing.Store(false)
		if job, err := PrepareRerank(probe, []string{probe}); err == nil {
			_, _ = r.ask(r.life, job) // how it went is in the status
		}
	}()
}

// begin counts a call, unless the reranker is closed.
func (r *RerankEndpoint) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Add(1)
	}
	return !r.closed
}

func errRerankerClosed() error { return fault.New(fault.Unavailable, "the reranker is closed") }

// insist asks once more when the first try fails for a reason that may pass, and once
// with less of the texts when they are too long.
func (r *RerankEndpoint) insist(ctx context.Context, job RerankJob) ([]float32, error) {
	try := func() ([]float32, error) { return r.post(ctx, job) }
	scores, err := repeat(ctx, r.pace, r.pace.queryTries, try)
	var no *refusal
	if errors.As(err, &no) && no.Long {
		job = job.Shorter()
		scores, err = repeat(ctx, r.pace, r.pace.queryTries, try)
	}
	return scores, err
}

// post sends one request. Its errors are *refusal and that of ctx.
func (r *RerankEndpoint) post(ctx context.Context, job RerankJob) ([]float32, error) {
	body, err := encodeRerank(r.at.URL, r.model, job)
	if err != nil {
		return nil, err
	}
	reply, err := r.send(ctx, body, maxRanks)
	if err != nil {
		return nil, err
	}
	scores, bad := decodeRanks(reply, len(job.Texts), r.scale)
	if bad != nil {
		return nil, bad
	}
	return scores, nil
}

// ended is what a call fails with: the error of its context when its caller left.
func (r *RerankEndpoint) ended(ctx, work context.Context, err error) error {
	var no *refusal
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case r.life.Err() != nil:
		return errRerankerClosed()
	case work.Err() != nil:
		return r.failure("gave no scores within %s", r.timeout).WithHint("%s.timeout gives it longer", r.Setting)
	case !errors.As(err, &no):
		return err
	case no.Texts && !no.Passing:
		return fault.New(fault.Invalid, "the %s %s %s", r.Noun, r.at.Host, no.Fault.Msg).WithHint("%s", no.Fault.Hint)
	}
	return r.failureOf(no)
}

// settled remembers how a call ended.
func (r *RerankEndpoint) settled(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed || errors.Is(err, context.Canceled) || errors.Is(err, outbound.ErrStale):
	case err == nil:
		r.state, r.why = Ready, ""
	case errors.Is(err, context.DeadlineExceeded):
		r.state, r.why = Failed, "its last caller did not wait for it"
	default:
		r.state, r.why = Failed, fault.Message(err)
	}
}

// Status says how the endpoint was when it was last asked. The identity of its model
// is a hash of the URL and the name: the weights are out of reach.
func (r *RerankEndpoint) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Status{Kind: KindHTTP, State: r.state, Why: r.why, Device: r.at.Host, Remote: r.outside}
	if s.State == Idle && r.asking.Load() > 0 {
		s.State = Starting
	}
	if s.State == Ready {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", r.at.URL, r.model))
		s.Model = &Model{Name: r.model, Dims: 1, SHA256: hex.EncodeToString(sum[:])}
	}
	return s
}

// Close withdraws the calls under way and waits for them.
func (r *RerankEndpoint) Close() error {
	r.mu.Lock()
	r.closed = true
	r.state, r.why = Failed, "closed"
	r.mu.Unlock()
	r.end()
	r.running.Wait()
	r.client.CloseIdleConnections()
	return nil
}
