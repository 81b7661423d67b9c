package embed

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// RerankRunner is a [Reranker] in a child process: a cross-encoder that llama.cpp reads
// with the pooling "rank" and that ends in one number, such as bge-reranker. It lives as a
// Runner does: it starts with the first call, and calls fail at once while it is away.
//
// llama.cpp knows no types of tokens: a model that was trained with another type for the
// text than for the question, as BERT's own are, gives other scores than its original.
type RerankRunner struct {
	runner  *Runner
	timeout time.Duration
}

// StartRerankRunner makes a reranker. Nothing runs before the first call. A call takes at most
// timeout, RerankTimeout if that is 0.
func StartRerankRunner(opt RunnerOptions, timeout time.Duration) *RerankRunner {
	opt.rank = true
	if timeout <= 0 {
		timeout = RerankTimeout
	}
	return &RerankRunner{runner: StartRunner(opt), timeout: timeout}
}

// Rerank scores texts; see [Reranker]. A call that is given up ends after the few
// texts that are at work.
func (r *RerankRunner) Rerank(ctx context.Context, query string, texts []string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	job, err := PrepareRerank(query, texts)
	if err != nil {
		return nil, err
	}
	if len(job.Texts) == 0 {
		return job.Scores(nil), nil
	}
	work, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	j := &runnerJob{ctx: work, purpose: Query, query: readable(job.Query), out: make([][]float32, 0, len(job.Texts))}
	for _, text := range job.Texts {
		j.texts = append(j.texts, readable(text))
	}
	if err := r.runner.do(j); err != nil {
		return nil, r.failed(ctx, work, err)
	}
	scores := make([]float32, len(j.out))
	for i, v := range j.out {
		scores[i] = NoScore()
		if v != nil {
			scores[i], _ = ReadScore(Logits, float64(v[0]))
		}
	}
	return job.Scores(scores), nil
}

// failed words an error of the runner for a reranker.
func (r *RerankRunner) failed(ctx, work context.Context, err error) error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case work.Err() != nil:
		f = fault.New(fault.Unavailable, "the model for reranking gave no scores within %s", r.timeout)
		f.Retryable = true
	case !errors.As(err, &f):
		return err
	}
	own := *f
	own.Op = "rerank"
	if own.Kind == fault.Unavailable {
		own.Hint = "see that ctxd-runner, its library and a model for reranking are there"
	}
	return &own
}

// Status tells how it is; see [Reranker].
func (r *RerankRunner) Status() Status { return r.runner.Status() }

// LastWords is what its child wrote to stderr before it failed last; it may hold paths.
func (r *RerankRunner) LastWords() string { return r.runner.LastWords() }

// Close ends it with its child. Calls that wait fail.
func (r *RerankRunner) Close() error { return r.runner.Close() }
