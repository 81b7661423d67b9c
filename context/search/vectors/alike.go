package vectors

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// Vectors makes the vectors of texts that are not stored, by the model of those that are, nil for a text of which
// the model knows nothing. It takes its turn among the indexes that share the embedder, and waits as long as ctx
// allows: for who has nobody waiting. The error is Unavailable without an embedder that has that model, or that
// of a context that has ended.
func (x *Index) Vectors(ctx context.Context, texts []string) (embed.Model, [][]float32, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	g, e, err := x.embedding(ctx)
	if err != nil {
		return embed.Model{}, nil, err
	}
	done := x.turns.take(ctx, x, true)
	model, vectors, err := e.Embed(ctx, embed.Passage, texts)
	done()
	switch {
	case ctx.Err() != nil:
		return model, nil, ctx.Err()
	case err != nil:
		return model, nil, err
	case model != g.model || len(vectors) != len(texts):
		x.ask()
		return model, nil, fault.New(fault.Unavailable, "the embedder has changed its model; vectors of it are being made")
	}
	return model, vectors, nil
}

// embedding returns the generation that searches ask, and the embedder of its model. While the vectors are read,
// or the embedder starts, it waits.
func (x *Index) embedding(ctx context.Context) (*generation, embed.Embedder, error) {
	for {
		x.mu.RLock()
		g, failed, learnt := x.serving, x.retry.why, x.learnt
		var e embed.Embedder
		ready := g != nil && g.ready
		if ready {
			e = g.embedder
		}
		x.mu.RUnlock()
		switch {
		case e != nil:
			return g, e, nil
		case failed != "":
			return nil, nil, fault.New(fault.Unavailable, "%s", failed)
		case ready && learnt:
			return nil, nil, fault.New(fault.Unavailable,
				"the vectors are of the model %s, which is not at hand; those of another are being made", g.model.Name)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(patientFor):
		}
	}
}

// Alike returns the k documents that are nearest to a vector of a model, as Question.Nearest does. The error is
// Unavailable while there are no vectors of that model.
func (x *Index) Alike(ctx context.Context, model embed.Model, vector []float32, k int, least float32, public bool, f Filter,
) ([]Hit, error) {
	x.mu.RLock()
	g := x.serving
	ready := g != nil && g.ready
	x.mu.RUnlock()
	if !ready || g.model != model {
		return nil, fault.New(fault.Unavailable, "no %s has vectors of the model %s", x.src.Kind().One, model.Name)
	}
	return x.nearest(ctx, &nearSearch{
		g: g, vector: vector, k: k, least: least, public: public, filter: f, undecided: firstUndecided,
	})
}
