package search

import (
	"context"
	"math"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/entities/fault"
)

// Likeness is what texts that are not stored mean. Index.Likeness makes one; every index that has the same
// model can be asked with it.
type Likeness struct {
	Model   embed.Model
	Vectors [][]float32 // by text, of length 1; nil for one of which the model knows no word
}

// Likeness makes the vectors of texts, in the background: it waits for the embedder as long as ctx allows, behind
// searches. The error is Unavailable without an embedder.
func (x *Index) Likeness(ctx context.Context, texts []string) (*Likeness, error) {
	if x.vectors == nil {
		return nil, fault.New(fault.Unavailable, "no embedder is configured").WithHint("set embedder in the configuration")
	}
	model, vectors, err := x.vectors.Vectors(ctx, texts)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		normalise(v)
	}
	return &Likeness{model, vectors}, nil
}

// Stored returns what a stored document means as a whole, the mean of its parts; ok is false while it has no vectors.
// Nothing is embedded.
func (x *Index) Stored(id string) (l *Likeness, ok bool) {
	if x.vectors == nil {
		return nil, false
	}
	model, v := x.vectors.Mean(id)
	if v == nil {
		return nil, false
	}
	normalise(v)
	return &Likeness{model, [][]float32{v}}, true
}

// normalise gives a vector the length 1, unless it has none.
func normalise(v []float32) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return
	}
	length := math.Sqrt(squares)
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
}

// Cosine returns how near two of the texts are; ok is false where the model knows no word of one of them.
func (l *Likeness) Cosine(i, j int) (cosine float64, ok bool) {
	a, b := l.Vectors[i], l.Vectors[j]
	if a == nil || b == nil {
		return 0, false
	}
	for k := range a {
		cosine += float64(a[k]) * float64(b[k])
	}
	return cosine, true
}

// mean returns the vector of all texts together, each of which counts the same; nil where none has one.
func (l *Likeness) mean() []float32 {
	var sum []float32
	for _, v := range l.Vectors {
		if v == nil {
			continue
		}
		if sum == nil {
			sum = make([]float32, len(v))
		}
		for i := range v {
			sum[i] += v[i]
		}
	}
	return sum
}

// Alike asks for the documents that are nearest to texts that are not stored.
type Alike struct {
	To    *Likeness // all of its texts together
	Limit int       // hits at most; less than 1: none
	// Least is the cosine that the nearest part of a hit exceeds.
	Least  float32
	Keep   func(text.Doc) bool // as in Request
	Public bool                // as in Request
}

// Alike returns the documents that mean what texts do, the nearest first. The error is Unavailable while there are
// no vectors of the model of the texts.
func (x *Index) Alike(ctx context.Context, a Alike) ([]Hit, error) {
	if x.vectors == nil {
		return nil, fault.New(fault.Unavailable, "no embedder is configured")
	}
	if a.Keep == nil {
		a.Keep = x.src.Usual
	}
	vector := a.To.mean()
	if vector == nil {
		return nil, ctx.Err()
	}
	hits, err := x.vectors.Alike(ctx, a.To.Model, vector, max(0, a.Limit), a.Least, a.Public, vectors.Filter{Keep: a.Keep})
	if err != nil {
		return nil, err
	}
	return semanticHits(hits), nil
}
