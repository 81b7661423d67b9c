package background

import (
	"slices"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// AnswerMeta says what an answer has to do with what is remembered; nil for one that used no memory. in is what is known of the
// answer, and tierOf returns the tier of a memory as the reader sees it, "" for none. O(references and stages).
func AnswerMeta(in *turn.ChatInspected, outcome string, tierOf func(id string) string) *record.MemoryMeta {
	of := MessageAnswer(in.Answer)
	if len(of.Shown) == 0 {
		return nil
	}
	m := &record.MemoryMeta{
		SchemaVersion: record.MetaVersion, Known: []record.MemoryKnown{}, Citations: []record.MemoryCited{},
		Retrieval: record.MemoryRetrieval{
			SortBy: "relevance", TiersConsidered: slices.Clone(record.Tiers), TiersUsed: []string{}, Fallbacks: []string{},
			StageMS: map[string]float64{},
		},
		Feedback: record.MemoryFeedback{Eligible: outcome == record.OutcomeUnscored, Related: of.Cited},
	}
	if q := in.Question; q != nil {
		m.Query = text.Prefix(q.Content, record.MaxMetaQuery)
	}
	for _, id := range of.Shown[:min(len(of.Shown), record.MaxMeta)] {
		tier := tierOf(id)
		m.Known = append(m.Known, record.MemoryKnown{ID: id, Tier: tier})
		if tier != "" && !slices.Contains(m.Retrieval.TiersUsed, tier) {
			m.Retrieval.TiersUsed = append(m.Retrieval.TiersUsed, tier)
		}
	}
	if len(of.Cited) == 0 {
		m.Feedback.Related = of.Shown
	}
	m.Feedback.Related = slices.Clone(m.Feedback.Related[:min(len(m.Feedback.Related), record.MaxMeta)])
	cite(m, in.Answer, of.Cited)
	traced(m, in.Trace)
	return m
}

// cite names the notes that the model has read, and the memories that the answer names.
func cite(m *record.MemoryMeta, answer *record.ChatMessage, cited []string) {
	add := func(kind, id string) {
		if c := (record.MemoryCited{Kind: kind, ID: id}); len(m.Citations) < record.MaxMeta && !slices.Contains(m.Citations, c) {
			m.Citations = append(m.Citations, c)
		}
	}
	for i := range answer.References {
		if r := &answer.References[i]; r.NoteID != "" && r.Used {
			add("note", r.NoteID)
		}
	}
	for _, id := range cited {
		add("memory", id)
	}
}

// traced takes what the trace of an answer tells of its prompt.
func traced(m *record.MemoryMeta, t *turn.ChatTrace) {
	if t == nil {
		return
	}
	for _, st := range t.Stages {
		m.Retrieval.StageMS[st.Name] += st.Ms
		if st.Skipped && len(m.Retrieval.Fallbacks) < record.MaxMeta {
			why := st.Name
			if st.Why != "" {
				why += ": " + st.Why
			}
			m.Retrieval.Fallbacks = append(m.Retrieval.Fallbacks, why)
		}
	}
}
