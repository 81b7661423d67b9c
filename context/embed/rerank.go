package embed

// A [Reranker] reads a question together with each of some texts and scores how well the
// text answers it. It is slower than comparing vectors and tells more, so a search gives it
// only the best of what it found. Nothing of it is stored, and an index never waits for one.
//
// [RerankEndpoint] asks a server that has /v1/rerank; [RerankRunner] is a child process with a
// cross-encoder.
//
// # Scores
//
// A score is a logit: any number, 0 for a text that is as likely to answer as not. The
// sigmoid of it is a probability, and the caller takes that sigmoid. Some models and
// servers give the probability itself, and nothing in a reply tells which it is, so the
// caller of an endpoint names the [ScoreScale]. [ReadScore] turns both into logits.
//
// A text without a score has [NoScore]: an empty one, one that the server left out, one
// with a score that is no number, or one with two different scores. Check a score with
// [HasScore] before you compute with it: NoScore is not a number.

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// The bounds of a call. Most models for reranking read 512 tokens of a question and a
// text together, some 2,000 bytes of English.
const (
	MaxRerankTexts = 100
	MaxRerankQuery = 1 << 10 // bytes of a question that are read
	MaxRerankText  = 2 << 10 // bytes of a text that are read
)

// RerankTimeout is how long a call takes at most unless an implementation is told
// otherwise. A search keeps its order when it passes.
const RerankTimeout = 3 * time.Second

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
	Status() Status
	// Close ends it, with the calls that wait. Calls after it fail with
	// fault.Unavailable.
	Close() error
}

// MaxLogit is the greatest score either way. What is beyond is as certain.
const MaxLogit = 50

// NoScore is the score of a text that has none.
func NoScore() float32 { return float32(math.NaN()) }

// HasScore says whether there is a score.
func HasScore(score float32) bool { return !math.IsNaN(float64(score)) }

// ScoreScale is what the scores of a model or a server are.
type ScoreScale string

// The scales.
const (
	// Logits are any numbers: what llama-server gives with a BERT, such as
	// bge-reranker.
	Logits ScoreScale = "logits"
	// Probabilities lie between 0 and 1: what Cohere, vLLM, and llama-server with a
	// Qwen3 give.
	Probabilities ScoreScale = "probabilities"
)

// ScoreScales lists all of them, in the order of the documentation.
var ScoreScales = []ScoreScale{Logits, Probabilities}

const (
	// failed is what llama-server gives for a text that it could not read: -1e6.
	failed = -1e5
	// rounded is how far a probability may be beyond 0 and 1.
	rounded = 1e-3
	// nearest is how near to 0 and 1 a probability is told apart from them. The
	// difference of float32 numbers below 1 is of this size.
	nearest = 1e-7
)

// ReadScore turns a number on a scale into a logit. It gives None for what is no finite
// number, and false for a number that does not lie on the scale.
func ReadScore(s ScoreScale, x float64) (float32, bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || s == Logits && x < failed:
		return NoScore(), true
	case s == Logits:
		return float32(max(-MaxLogit, min(x, MaxLogit))), true
	case x < -rounded || x > 1+rounded:
		return NoScore(), false
	}
	p := max(nearest, min(x, 1-nearest))
	return float32(math.Log(p / (1 - p))), true
}

// RerankJob is what a call comes down to: the texts that are worth asking for, cut to
// what is read.
type RerankJob struct {
	Query string
	Texts []string
	at    []int
	count int
}

// PrepareRerank checks and cuts the arguments of a call. A job without texts needs no
// asking. The error is fault.Invalid.
func PrepareRerank(query string, texts []string) (RerankJob, error) {
	if len(texts) > MaxRerankTexts {
		return RerankJob{}, fault.New(fault.Invalid, "%d texts are more than the %d that one call reranks", len(texts), MaxRerankTexts)
	}
	j := RerankJob{Query: clipBytes(strings.TrimSpace(query), MaxRerankQuery), count: len(texts)}
	if j.Query == "" {
		return j, nil
	}
	for i, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			j.Texts, j.at = append(j.Texts, clipBytes(text, MaxRerankText)), append(j.at, i)
		}
	}
	return j, nil
}

// Shorter is the job with a quarter of each text and of the question, for a server that
// finds one of them too long.
func (j RerankJob) Shorter() RerankJob {
	texts := make([]string, len(j.Texts))
	for i, text := range j.Texts {
		texts[i] = clipBytes(text, MaxRerankText/4)
	}
	j.Query, j.Texts = clipBytes(j.Query, MaxRerankQuery/4), texts
	return j
}

// Scores puts the scores of a job's texts where the texts of the call were.
func (j RerankJob) Scores(scores []float32) []float32 {
	out := make([]float32, j.count)
	for i := range out {
		out[i] = NoScore()
	}
	for i, at := range j.at {
		out[at] = scores[i]
	}
	return out
}

// clipBytes cuts a text at so many bytes, not within a character.
func clipBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > most-4 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}
