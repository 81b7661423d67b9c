package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// OpenReranker returns what scores hits anew, nil for none. It reaches for nothing yet.
// How it is run has the settings of the runner, but for its model. A call takes at most
// the configured time, or patience unless that is 0: a model is loaded in it then. One
// that can't be had fails, and says why, as one of OpenEmbedder does.
func OpenReranker(
	conf config.Reranker, run config.Runner, patience time.Duration, log *slog.Logger,
) embed.Reranker {
	if patience > 0 {
		conf.Timeout = patience
	}
	switch conf.Kind {
	case embed.KindHTTP:
		opts := conf.Options()
		opts.Logger = log
		var err error
		opts.Key, err = outbound.LoadKey(conf.KeySource(), "rerank.key")
		if err != nil {
			return &absentReranker{kind: conf.Kind, remote: !conf.Local, why: config.AsFault(err)}
		}
		r, err := embed.NewRerankEndpoint(opts)
		if err != nil {
			return &absentReranker{kind: conf.Kind, remote: !conf.Local, why: config.AsFault(err)}
		}
		return r
	case embed.KindRunner:
		run.Model = conf.Model
		opt, parts := embed.FindRunner(RunnerOptions(&run, log))
		if !embed.HasAllParts(parts) {
			return &absentReranker{kind: conf.Kind, why: missingToRerank(parts)}
		}
		opt.StartWait = patience
		return embed.StartRerankRunner(opt, conf.Timeout)
	}
	return nil
}

// missingToRerank is missingOf for a model that no command makes.
func missingToRerank(parts []embed.RunnerPart) *fault.Error {
	why := missingOf(parts, "choose another reranker: none or http")
	if parts[0].Found && parts[1].Found {
		why.Msg, why.Hint = "the model of the reranker is missing", "correct rerank.model"
	}
	return why
}

// absentReranker is one that was chosen and can't be had.
type absentReranker struct {
	kind   embed.Kind
	remote bool
	why    *fault.Error
}

func (a *absentReranker) Rerank(context.Context, string, []string) ([]float32, error) {
	return nil, fault.Wrap(fault.Unavailable, a.why, "%s", a.why.Msg).WithHint("%s", a.why.Hint)
}

func (a *absentReranker) Status() embed.Status {
	return embed.Status{Kind: a.kind, State: embed.Failed, Why: a.why.Msg, Remote: a.remote}
}

func (a *absentReranker) Close() error { return nil }
