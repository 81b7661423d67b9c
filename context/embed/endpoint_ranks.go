package embed

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxRanks bounds a reply in bytes. A server that sends the texts back, escaped, stays
// below it.
const maxRanks = 4 << 20

// rerankRequest is what an endpoint is sent. All scores are asked for, whatever the
// server would leave out by itself.
type rerankRequest struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
	// Jina sends the texts back otherwise. Version 2 of Cohere has no such field.
	ReturnDocuments *bool `json:"return_documents,omitempty"`
}

func encodeRerank(url, model string, job RerankJob) ([]byte, error) {
	r := rerankRequest{Model: model, Query: job.Query, Documents: job.Texts, TopN: len(job.Texts)}
	if !strings.HasSuffix(url, "/v2/"+reranking.Path) {
		r.ReturnDocuments = new(bool)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// ranks are what is read of a reply. Each entry is read by itself, so that an odd one
// costs no other.
type ranks struct {
	Results []json.RawMessage `json:"results"`
}

type rank struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
	Short *float64 `json:"score"` // as some servers call it
}

// decodeRanks reads the scores of count texts, in the order of the texts. An entry
// without the index of a text, or without a number, is passed over, and a text with two
// different scores has none. What is wrong with a reply says nothing of what is in it.
func decodeRanks(body []byte, count int, scale ScoreScale) ([]float32, *refusal) {
	var r ranks
	if err := json.Unmarshal(body, &r); err != nil || r.Results == nil {
		return nil, refused("sent a reply without results").
			WithHint("correct %s.url: it may not be one for reranking", reranking.Setting)
	}
	out := make([]float32, count)
	for i := range out {
		out[i] = NoScore()
	}
	seen, given := make([]bool, count), 0
	for _, raw := range r.Results {
		var entry rank
		if json.Unmarshal(raw, &entry) != nil || entry.Index == nil || *entry.Index < 0 || *entry.Index >= count {
			continue
		}
		at, x := *entry.Index, entry.Score
		if x == nil {
			x = entry.Short
		}
		if x == nil {
			continue
		}
		score, fits := ReadScore(scale, *x)
		if !fits {
			return nil, refused("sent scores that are no probabilities").
				WithHint("set %s.scores: logits", reranking.Setting)
		}
		if !HasScore(score) || seen[at] && out[at] != score {
			score = NoScore()
		}
		seen[at], out[at] = true, score
	}
	for _, score := range out {
		if HasScore(score) {
			given++
		}
	}
	if given == 0 {
		return nil, refused("sent a score for none of %d texts", count).WithHint("its model may be none for reranking")
	}
	return out, nil
}
