package embedtest

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// Bags is an embedder for tests: the vector of a text is the sum of those of its
// words, so that texts with a word in common are near.
type Bags struct {
	Name string
	Held atomic.Int32 // calls that the gate has kept

	mu      sync.Mutex // guards what follows
	Fail    error      // of the next calls
	Refuse  string     // texts with it are refused
	Remote  bool
	Gate    chan struct{} // nil, or closed to let calls go on
	texts   []string      // passages that were embedded
	Asked   int           // queries
	Changed string        // another name of its model
}

// Dims is how long the vectors are.
const Dims = 96

// Of returns its model. The caller has the lock, or nobody changes it.
func (b *Bags) Of() embed.Model {
	return embed.Model{Name: b.Name + b.Changed, Dims: Dims, SHA256: "5e"}
}

// Model returns its model, or the failure that was set.
func (b *Bags) Model(context.Context) (embed.Model, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Of(), b.Fail
}

// Embed gives the vectors of texts.
func (b *Bags) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	b.mu.Lock()
	gate := b.Gate
	b.mu.Unlock()
	if gate != nil {
		b.Held.Add(1)
		select {
		case <-gate:
		case <-ctx.Done():
			return embed.Model{}, nil, ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Fail != nil {
		return embed.Model{}, nil, b.Fail
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if b.Refuse != "" && strings.Contains(text, b.Refuse) {
			return embed.Model{}, nil, fault.New(fault.Invalid, "that text is refused")
		}
		out[i] = b.Vector(text)
	}
	if p == embed.Passage {
		b.texts = append(b.texts, texts...)
	} else {
		b.Asked++
	}
	return b.Of(), out, nil
}

// Vector is nil for a text without words.
func (b *Bags) Vector(text string) (sum []float32) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notWord) {
		h := fnv.New64()
		_, _ = h.Write([]byte(b.Name + w))
		r := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // the same for every run, no secret
		if sum == nil {
			sum = make([]float32, Dims)
		}
		for i := range sum {
			sum[i] += float32(r.NormFloat64())
		}
	}
	return sum
}

// Status says that it is ready.
func (b *Bags) Status() embed.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.Of()
	return embed.Status{Kind: "http", State: embed.Ready, Model: &m, Remote: b.Remote}
}

// Close does nothing.
func (b *Bags) Close() error { return nil }

// Set has something changed under the lock.
func (b *Bags) Set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// Taken returns the passages that were embedded since it was asked last.
func (b *Bags) Taken() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.texts
	b.texts = nil
	return out
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// Words is the embedder of bags that gives codes for each word as well.
type Words struct{ *Bags }

// EmbedTokens gives the vectors of Bags with the codes of their words.
func (w Words) EmbedTokens(ctx context.Context, texts []string) (embed.Model, []embed.Tokens, error) {
	m, vectors, err := w.Embed(ctx, embed.Passage, texts)
	if err != nil {
		return m, nil, err
	}
	all := make([]embed.Tokens, len(texts))
	for i, v := range vectors {
		all[i] = embed.Tokens{Pooled: v, Codes: w.Codes(texts[i])}
	}
	return m, all, nil
}

// EmbedQuestion gives the vector of each word.
func (w Words) EmbedQuestion(ctx context.Context, text string) (embed.Model, embed.QuestionTokens, error) {
	m, _, err := w.Embed(ctx, embed.Query, []string{text})
	var q embed.QuestionTokens
	for _, word := range strings.FieldsFunc(text, notWord) {
		q.Words = append(q.Words, strings.ToLower(word))
		q.Vectors = append(q.Vectors, embed.MeanOf([][]float32{w.Vector(word)}))
	}
	return m, q, err
}

// Codes are those of the words of a text: bytes that the word decides.
func (w Words) Codes(text string) (codes []byte) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), notWord) {
		h := fnv.New64()
		_, _ = h.Write([]byte(w.Name + word))
		sum := h.Sum(nil)
		for range Dims / 4 / len(sum) {
			codes = append(codes, sum...)
		}
	}
	return codes
}
