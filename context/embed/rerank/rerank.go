package rerank

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// The bounds of a call. Most models for reranking read 512 tokens of a question and a
// text together, some 2,000 bytes of English.
const (
	MaxTexts = 100
	MaxQuery = 1 << 10 // bytes of a question that are read
	MaxText  = 2 << 10 // bytes of a text that are read
)

// Timeout is how long a call takes at most unless an implementation is told
// otherwise. A search keeps its order when it passes.
const Timeout = 3 * time.Second

// Reranker scores texts. All methods may be called concurrently.
type Reranker interface {
	// Rerank gives one score for each text, in the order of the texts, as a logit or
	// as None. It fails with the error of ctx; with fault.Unavailable when the
	// reranker is away or too slow, which is worth another try later; and with
	// fault.Invalid when this question or these texts are refused, which is not.
	// It never gives some scores and an error.
	Rerank(ctx context.Context, query string, texts []string) ([]float32, error)
	// Status tells people how it is, at once and without reaching for anything. With
	// Remote set, texts leave this machine: none that is private may be given to it.
	Status() embed.Status
	// Close ends it, with the calls that wait. Calls after it fail with
	// fault.Unavailable.
	Close() error
}

// MaxLogit is the greatest score either way. What is beyond is as certain.
const MaxLogit = 50

// None is the score of a text that has none.
func None() float32 { return float32(math.NaN()) }

// Given says whether there is a score.
func Given(score float32) bool { return !math.IsNaN(float64(score)) }

// Scale is what the scores of a model or a server are.
type Scale string

// The scales.
const (
	// Logits are any numbers: what llama-server gives with a BERT, such as
	// bge-reranker.
	Logits Scale = "logits"
	// Probabilities lie between 0 and 1: what Cohere, vLLM, and llama-server with a
	// Qwen3 give.
	Probabilities Scale = "probabilities"
)

// Scales lists all of them, in the order of the documentation.
var Scales = []Scale{Logits, Probabilities}

const (
	// failed is what llama-server gives for a text that it could not read: -1e6.
	failed = -1e5
	// rounded is how far a probability may be beyond 0 and 1.
	rounded = 1e-3
	// nearest is how near to 0 and 1 a probability is told apart from them. The
	// difference of float32 numbers below 1 is of this size.
	nearest = 1e-7
)

// Read turns a number on a scale into a logit. It gives None for what is no finite
// number, and false for a number that does not lie on the scale.
func Read(s Scale, x float64) (float32, bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || s == Logits && x < failed:
		return None(), true
	case s == Logits:
		return float32(max(-MaxLogit, min(x, MaxLogit))), true
	case x < -rounded || x > 1+rounded:
		return None(), false
	}
	p := max(nearest, min(x, 1-nearest))
	return float32(math.Log(p / (1 - p))), true
}

// Job is what a call comes down to: the texts that are worth asking for, cut to
// what is read.
type Job struct {
	Query string
	Texts []string
	at    []int
	count int
}

// Prepare checks and cuts the arguments of a call. A job without texts needs no
// asking. The error is fault.Invalid.
func Prepare(query string, texts []string) (Job, error) {
	if len(texts) > MaxTexts {
		return Job{}, fault.New(fault.Invalid, "%d texts are more than the %d that one call reranks", len(texts), MaxTexts)
	}
	j := Job{Query: Clip(strings.TrimSpace(query), MaxQuery), count: len(texts)}
	if j.Query == "" {
		return j, nil
	}
	for i, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			j.Texts, j.at = append(j.Texts, Clip(text, MaxText)), append(j.at, i)
		}
	}
	return j, nil
}

// Shorter is the job with a quarter of each text and of the question, for a server that
// finds one of them too long.
func (j Job) Shorter() Job {
	texts := make([]string, len(j.Texts))
	for i, text := range j.Texts {
		texts[i] = Clip(text, MaxText/4)
	}
	j.Query, j.Texts = Clip(j.Query, MaxQuery/4), texts
	return j
}

// Scores puts the scores of a job's texts where the texts of the call were.
func (j Job) Scores(scores []float32) []float32 {
	out := make([]float32, j.count)
	for i := range out {
		out[i] = None()
	}
	for i, at := range j.at {
		out[at] = scores[i]
	}
	return out
}

// Clip cuts a text at so many bytes, not within a character.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > most-4 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}
