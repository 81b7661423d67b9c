package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// trialTexts are what the reranker scores for trialText: one that answers, and one on
// another subject.
var trialTexts = []string{"The bridge weighs forty tons.", "Bees make honey in summer."}

// checkReranker has texts scored by the reranker of the configuration, as a daemon would
// that starts now; nothing where none is configured.
func checkReranker(x *examination) (*checkup, error) {
	conf := x.conf.Reranker
	r := daemon.OpenReranker(conf, x.conf.Embedder.Runner, trialLimit, slog.New(slog.DiscardHandler))
	if r == nil {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	c := &checkup{Name: "reranker", State: stateOK}
	err := c.tryReranker(x, r)
	if ranker, ok := r.(*embed.RerankRunner); ok && c.State == stateError {
		c.addLastWords(ranker.LastWords())
	}
	return c, errors.Join(err, r.Close())
}

// tryReranker times two calls: the first may have to load the model.
func (c *checkup) tryReranker(x *examination, r embed.Reranker) error {
	ctx, cancel := context.WithTimeout(x.app.Ctx, trialLimit)
	defer cancel()
	p := term.NewProgress(x.app.Err)
	p.Report("trying the reranker", 0, 0)
	defer p.Finish()
	var took [2]time.Duration
	var scores []float32
	for i := range took {
		start := time.Now()
		var err error
		scores, err = r.Rerank(ctx, trialText, trialTexts)
		took[i] = time.Since(start)
		switch {
		case x.app.Ctx.Err() != nil:
			return x.app.Ctx.Err()
		case err == nil && !(embed.HasScore(scores[0]) && embed.HasScore(scores[1])):
			err = fault.New(fault.Unavailable, "it gives no scores for plain English")
		case fault.KindOf(err) == fault.Deadline:
			err = fault.New(fault.Unavailable, "it did not answer within %s", trialLimit)
		}
		if err != nil {
			f := term.ExplainError(err)
			c.State, c.Found = stateError, string(r.Status().Kind)+": "+f.Message
			c.Hint = cmp.Or(f.Hint, "choose another reranker in "+x.conf.Path)
			return nil
		}
	}
	c.judgeReranker(x, r, scores, took)
	return nil
}

// judgeReranker says how a reranker is that answers.
func (c *checkup) judgeReranker(x *examination, r embed.Reranker, scores []float32, took [2]time.Duration) {
	st, limit := r.Status(), x.conf.Reranker.Timeout
	c.Found = string(st.Kind) + " is ready"
	if st.Model != nil {
		c.Found += ": " + st.Model.Name
	}
	if st.Device != "" {
		c.Found += ", on " + st.Device
	}
	switch {
	case scores[0] <= scores[1]:
		c.State = stateWarning
		c.Found += "; but it scores a text that answers a question no higher than one on another subject"
		c.Hint = "see whether rerank.model is a model for reranking"
	case took[1] > limit:
		c.State = stateWarning
		c.Found += fmt.Sprintf("; but two short texts take longer than rerank.timeout (%s)", limit)
		c.Hint = "take a smaller model, a GPU, or more time by rerank.timeout"
	}
	c.More = append(c.More, fmt.Sprintf("%s for two texts; the first call took %s", term.Elapsed(took[1]),
		term.Elapsed(took[0])))
	if st.Remote {
		c.More = append(c.More, "texts are sent to a server that may be on another machine; private ones never are")
	}
}
