package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
)

// trialMemories are what the distiller is tried with, for trialText: one that matters, and one that does not.
var trialMemories = []gather.Excerpt{
	{Ref: "m1", Text: "The bridge weighs forty tons, as the sign beside the road to the mill says"},
	{Ref: "m2", Text: "Bees make honey in summer"},
}

// checkDistiller has the model of memory.distill shorten two texts, as a daemon would that starts now; nothing where
// none is configured.
func checkDistiller(x *examination) (*checkup, error) {
	conf := &x.conf.Chat
	if _, _, on := conf.Distiller(); !on {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	c := &checkup{Name: "distiller", State: stateOK}
	providers, err := daemon.OpenProviders(conf)
	if err != nil {
		return nil, err
	}
	defer providers.Close()
	d, err := daemon.OpenDistiller(conf, providers, prompts.Open(x.conf.Prompts, slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	return c, c.tryDistiller(x, d)
}

// tryDistiller asks a model on this machine twice: the first question may have to load it. Another one costs money.
func (c *checkup) tryDistiller(x *examination, d gather.Distiller) error {
	ctx, cancel := context.WithTimeout(x.app.Ctx, trialLimit)
	defer cancel()
	p := term.NewProgress(x.app.Err)
	p.Report("trying the distiller", 0, 0)
	defer p.Finish()
	times := 1
	if d.Local() {
		times = 2
	}
	var took time.Duration
	var said []gather.Excerpt
	for range times {
		start := time.Now()
		var err error
		said, err = d.Distill(ctx, trialText, trialMemories)
		took = time.Since(start)
		switch {
		case x.app.Ctx.Err() != nil:
			return x.app.Ctx.Err()
		case fault.KindOf(err) == fault.Deadline:
			err = fault.New(fault.Unavailable, "it did not answer within %s", trialLimit)
		}
		if err != nil {
			f := term.ExplainError(err)
			c.State, c.Found = stateError, d.Name()+": "+f.Message
			c.Hint = cmp.Or(f.Hint, "choose another model by memory.distill in "+x.conf.Path+", or off")
			return nil
		}
	}
	c.judgeDistiller(d, said, took)
	return nil
}

// judgeDistiller says how a distiller is that answers.
func (c *checkup) judgeDistiller(d gather.Distiller, said []gather.Excerpt, took time.Duration) {
	c.Found = d.Name() + " is ready"
	switch {
	case !useful(said):
		c.State = stateWarning
		c.Found = d.Name() + " answers; but of two texts it does not keep the one that matters, with words left out alone"
		c.Hint = "choose a larger model by memory.distill: what it says otherwise is not used"
	case took > gather.DistillTime:
		c.State = stateWarning
		c.Found += fmt.Sprintf("; but two short texts take longer than the %s that a prompt waits", gather.DistillTime)
		c.Hint = "choose a smaller model by memory.distill, or off"
	}
	c.More = append(c.More, term.Elapsed(took)+" for two texts")
	if !d.Local() {
		c.More = append(c.More, "memories are sent to a server that may be on another machine, for prompts of remote models; private ones never are")
	}
}

// useful reports whether the memory that matters is there, and each is an excerpt of what it was.
func useful(said []gather.Excerpt) bool {
	kept := false
	for _, s := range said {
		switch s.Ref {
		case trialMemories[0].Ref:
			kept = s.Text != "" && memory.IsExcerpt(s.Text, trialMemories[0].Text)
		case trialMemories[1].Ref:
			if !memory.IsExcerpt(s.Text, trialMemories[1].Text) {
				return false
			}
		default:
			return false
		}
	}
	return kept
}
