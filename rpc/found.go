package rpc

// This file and found_*.go write what a search says of itself as the protocol has it: how the query was read, what
// counted, and what found a hit. found_memories.go has what memory.search asks for and answers. All functions are
// pure.

import (
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// searchUnderstood writes how a query was read, nil for nil.
func searchUnderstood(u *search.Understanding) *protocol.SearchUnderstood {
	if u == nil {
		return nil
	}
	out := &protocol.SearchUnderstood{
		Words: []protocol.SearchWord{}, Ignored: u.Ignored, Phrases: u.Phrases, Without: u.Without, Filters: u.Filters,
	}
	for _, w := range u.Words {
		out.Words = append(out.Words,
			protocol.SearchWord{
				Word: w.Word, Stem: w.Stem, As: string(w.As), Notes: w.Docs, Means: w.Means,
				MeansAll: w.MeansAll,
			})
	}
	out.Problems = make([]protocol.SearchProblem, 0, len(u.Problems))
	for _, p := range u.Problems {
		out.Problems = append(out.Problems, protocol.SearchProblem{Text: p.Text, Message: p.Message, Nearest: p.Nearest})
	}
	return out
}

// hitSignals writes what counted, by name.
func hitSignals(h *search.Hit) map[string]float64 {
	all := make(map[string]float64)
	h.EachSignal(func(name string, value float64) { all[name] = value })
	return all
}

// searchStages writes what took how long, nil for nil.
func searchStages(list []search.Stage) (out []protocol.SearchStage) {
	for _, st := range list {
		out = append(out, protocol.SearchStage{Stage: st.Name, US: st.Took.Microseconds()})
	}
	return out
}

// searchFused writes what each list counted, nil for nil.
func searchFused(f *search.Fused) *protocol.SearchFused {
	if f == nil {
		return nil
	}
	return &protocol.SearchFused{By: string(f.By), Words: f.Words, Meaning: f.Meaning, Known: f.Known}
}

// searchAnswer writes what says whether a hit answers, nil for nil.
func searchAnswer(a *search.Answer) *protocol.SearchAnswer {
	if a == nil {
		return nil
	}
	return &protocol.SearchAnswer{Likely: a.Likely, Floor: a.Floor, Matched: a.Matched, Unknown: a.Unknown, Near: a.Near, Words: a.Words}
}

// foundBy says what found a hit.
func foundBy(m search.Mode) string {
	switch m {
	case search.Semantic:
		return "meaning"
	case search.Hybrid:
		return "both"
	}
	return "words"
}
