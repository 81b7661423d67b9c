package daemon

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// OpenEmbedder returns what turns text into vectors. It reaches for nothing yet.
// One that was chosen and can't be had is no reason not to start: what is
// returned then fails, and says why when it is asked how it is.
func OpenEmbedder(conf config.Embedder, log *slog.Logger) (embed.Embedder, error) {
	switch conf.Kind {
	case embed.KindHTTP:
		h, err := openEndpoint(&conf.Endpoint, log)
		if err != nil {
			return &absentEmbedder{kind: conf.Kind, why: config.AsFault(err)}, nil
		}
		return h, nil
	case embed.KindRunner, config.Auto:
		opt, parts := embed.FindRunner(RunnerOptions(&conf.Runner, log))
		if embed.HasAllParts(parts) {
			return embed.StartRunner(opt), nil
		}
		if conf.Kind == embed.KindRunner {
			return &absentEmbedder{kind: conf.Kind, why: missingOf(parts, "choose another embedder: builtin or http")}, nil
		}
	}
	return embed.LazyTable(conf.Table, log), nil
}

// OpenEncoder returns what ranks what is found beside an embedder; nil where that is not the table in the program (the encoder is
// English), where it is turned off or nothing is configured, as in a demo, whose hits are not to change while it runs, or where this
// processor can't have one, which the log says.
func OpenEncoder(conf *config.Embedder, beside embed.Embedder, log *slog.Logger) embed.TokenEmbedder {
	if conf.Kind == "" || beside.Status().Kind != embed.KindBuiltin || conf.Table != "" || conf.Encoder != nil && *conf.Encoder == 0 {
		return nil
	}
	share := 0.0
	if conf.Encoder != nil {
		share = float64(*conf.Encoder) / 100
	}
	encoder, err := embed.OpenEncoder(share)
	if err != nil {
		log.Info("search ranks without the encoder", "error", fault.Message(err))
		return nil
	}
	return encoder
}

// RunnerOptions are those of the runner, as far as they are set.
func RunnerOptions(c *config.Runner, log *slog.Logger) embed.RunnerOptions {
	opt := embed.RunnerOptions{Path: c.Path, ModelFile: c.Model, Idle: c.Idle, Log: log}
	if c.GpuLayers != nil {
		opt.GPULayers = strconv.Itoa(*c.GpuLayers)
	}
	if c.Device != config.Auto {
		opt.Device = c.Device
	}
	if c.Idle == 0 { // never
		opt.Idle = -1
	}
	if c.Threads != nil {
		opt.Threads = *c.Threads
	}
	return opt
}

// missingOf says what a runner lacks first, without the paths that were looked
// at, and what mends it.
func missingOf(parts []embed.RunnerPart, otherwise string) *fault.Error {
	for _, p := range parts {
		if !p.Found {
			return fault.New(fault.Unavailable, "the %s of the model runner is missing", p.Name).
				WithHint("%s in a clone of the repository, or %s", p.Mend, otherwise)
		}
	}
	return fault.New(fault.Internal, "nothing is missing")
}

func openEndpoint(conf *config.Endpoint, log *slog.Logger) (embed.Embedder, error) {
	opts := conf.Options()
	opts.Logger = log
	var err error
	opts.Key, err = outbound.LoadKey(conf.KeySource(), "embedding.key")
	if err != nil {
		return nil, err
	}
	return embed.NewEndpoint(opts)
}

// absentEmbedder is one that was chosen and can't be had.
type absentEmbedder struct {
	kind embed.Kind
	why  *fault.Error
}

func (a *absentEmbedder) Model(context.Context) (embed.Model, error) {
	return embed.Model{}, a.error()
}

func (a *absentEmbedder) Embed(context.Context, embed.Purpose, []string) (embed.Model, [][]float32, error) {
	return embed.Model{}, nil, a.error()
}

// error is what calls fail with: it is away, whatever the reason is.
func (a *absentEmbedder) error() error {
	return fault.Wrap(fault.Unavailable, a.why, "%s", a.why.Msg).WithHint("%s", a.why.Hint)
}

func (a *absentEmbedder) Status() embed.Status {
	return embed.Status{Kind: a.kind, State: embed.Failed, Why: a.why.Msg}
}

func (a *absentEmbedder) Close() error { return nil }
