package recall

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
)

// clearBest is how much better than the second the best hit has to be for a text to mean it.
const clearBest = 1.25

// Match returns the id of the memory that a text means, by relevance alone: no stage of the ranking, such as which of two is
// the newer one, decides what is written to. The errors are NotFound when nothing is about it,
// and Conflict, with the best as candidates, when no memory is clearly the best.
func (r *Ranker) Match(ctx context.Context, v *audience.View, text string) (id string, err error) {
	if strings.TrimSpace(text) == "" {
		return "", fault.Field("match", "match has no words").WithHint("say which memory is meant")
	}
	off := make(map[string]bool, len(Stages))
	for _, s := range Stages {
		off[s.Name] = false
	}
	res, err := r.Search(ctx, v, Request{Query: text, Kinds: []string{Memories}, Stages: off})
	if err != nil {
		return "", err
	}
	if len(res.Hits) == 0 || res.Confidence == search.Low {
		return "", fault.New(fault.NotFound, "no memory is about that").WithHint("find it with memory.search, and give its id")
	}
	if len(res.Hits) == 1 || res.Hits[0].Relevance >= clearBest*res.Hits[1].Relevance {
		return res.Hits[0].ID, nil
	}
	var list []fault.Candidate
	for _, h := range res.Hits {
		list = append(list, fault.Candidate{ID: h.ID, Name: h.Memory.Handle})
	}
	return "", fault.Clash(fault.Ambiguous, "several memories may be meant").WithHint("give the id of one of the candidates").
		WithCandidates(list)
}
