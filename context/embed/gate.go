package embed

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// Behind puts a gate before an Embedder. While that is on another machine, texts pass the gate on their way; what may not
// leave this machine is refused with fault.Unavailable, and found by its words alone. nil stays nil.
func Behind(e Embedder, gate outbound.Gate) Embedder {
	if e == nil {
		return nil
	}
	return &gatedEmbedder{e, gate}
}

type gatedEmbedder struct {
	Embedder
	gate outbound.Gate
}

// Embed is that of the Embedder, of texts as they may leave this machine.
func (g *gatedEmbedder) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	if g.Status().Remote {
		passes := g.gate.Pass
		if p == Query {
			passes = g.gate.Questions
		}
		passed, ok := passes(ctx, texts)
		if !ok {
			return Model{}, nil, staysHere("embedder")
		}
		ctx = whilePasses(ctx, passes, texts, passed)
		texts = passed
	}
	return g.Embedder.Embed(ctx, p, texts)
}

// RerankBehind is Behind for a Reranker.
func RerankBehind(r Reranker, gate outbound.Gate) Reranker {
	if r == nil {
		return nil
	}
	return &gatedReranker{r, gate}
}

type gatedReranker struct {
	Reranker
	gate outbound.Gate
}

// Rerank is that of the Reranker, of texts as they may leave this machine.
func (g *gatedReranker) Rerank(ctx context.Context, query string, texts []string) ([]float32, error) {
	if g.Status().Remote {
		asked, ok := g.gate.Question(ctx, query)
		passed, also := g.gate.Pass(ctx, texts)
		if !ok || !also {
			return nil, staysHere("reranker")
		}
		ctx = whilePasses(ctx, g.gate.Questions, []string{query}, []string{asked})
		ctx = whilePasses(ctx, g.gate.Pass, texts, passed)
		query, texts = asked, passed
	}
	return g.Reranker.Rerank(ctx, query, texts)
}

// whilePasses returns a context by which nothing is posted once texts no longer pass a gate as they did: a request waits for
// its turn, and is repeated.
func whilePasses(ctx context.Context, gate func(context.Context, []string) ([]string, bool), texts, passed []string) context.Context {
	return outbound.Unless(ctx, func(context.Context) (bool, error) {
		now, ok := gate(ctx, texts)
		return !ok || !slices.Equal(now, passed), nil
	})
}

func staysHere(who string) error {
	return fault.New(fault.Unavailable, "what is asked is private, and the %s is on another machine", who)
}
