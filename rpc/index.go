package rpc

import (
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// index is an index that is served.
type index struct {
	*search.Index
	kind string // of its documents, "" for notes
}

// indexes returns those that are served: that of notes, then those of other documents.
func (r *Deps) indexes() (list []index) {
	for _, x := range []index{{r.Search, ""}, {r.Memories, "memories"}, {r.Messages, "messages"}, {r.Passages, "passages"}} {
		if x.Index != nil {
			list = append(list, x)
		}
	}
	return list
}

// embedderInfo says which model turns text into vectors, as far as that is known.
func (r *Deps) embedderInfo() (info protocol.EmbedderInfo) {
	if r.Search == nil {
		return info
	}
	st, ok := r.Search.Embedder()
	if !ok {
		return info
	}
	info = protocol.EmbedderInfo{
		Device: st.Device, Kind: string(st.Kind), State: st.State, Why: st.Why, Remote: st.Remote,
		Layers: st.Layers, OffloadedLayers: st.OffloadedLayers, Restarts: st.Restarts,
	}
	if st.Model != nil {
		info.Name, info.Dims = st.Model.Name, st.Model.Dims
	}
	return info
}

// embedderInfo is that of the rooms, empty while they are closed.
func (s *Server) embedderInfo() (info protocol.EmbedderInfo) {
	r, _ := s.visit()
	if r == nil {
		return info
	}
	defer s.gate.Leave()
	if r.refused != nil {
		return info
	}
	return r.embedderInfo()
}

// indexHealth says whether notes can be found.
func (r *Deps) indexHealth() protocol.IndexHealth {
	live, _, _ := r.Notes.Count()
	out := protocol.IndexHealth{Ready: true, Notes: live}
	if r.Search != nil {
		words, waiting := r.Search.Size()
		out.Ready, out.Notes, out.Queue, out.Waiting = waiting == 0, min(live, words), r.Search.Waiting(), waiting
		if waiting > 0 {
			out.Anew = r.Search.Anew()
		}
	}
	for _, x := range r.indexes() {
		_, waiting := x.Size()
		out.Ready = out.Ready && waiting == 0
	}
	return out
}

// indexStats counts what the indexes hold.
func (r *Deps) indexStats() protocol.IndexStats {
	st := r.Search.Stats()
	m := st.Meanings
	out := protocol.IndexStats{
		Queue: m.Waiting, Vectors: m.Vectors, Terms: st.Words.Terms,
		Words: protocol.WordStats{
			Notes: st.Words.Docs, Waiting: st.Words.Waiting, Terms: st.Words.Terms,
			Postings: st.Words.Postings, MemoryBytes: st.Words.MemoryBytes, DiskBytes: st.Words.DiskBytes,
			Kept: st.Words.Kept, Differed: st.Words.Differed, Anew: st.Words.Anew, Unsaved: st.Words.Unsaved,
		},
		Meanings: protocol.MeaningStats{
			Notes: m.Docs, Waiting: m.Waiting, OldestMS: m.Oldest.Milliseconds(), HeldBack: m.HeldBack, Refused: m.Refused,
			Vectors: m.Vectors, MemoryBytes: m.Size.Memory, DiskBytes: m.Size.Disk, DeadBytes: m.Size.Waste,
			RatePerSecond: m.Rate, Embedded: m.Embedded, Reused: m.Reused, LastError: m.Error, RetryMS: m.Retry.Milliseconds(),
			Weights: searchWeights(st),
		},
	}
	out.Others, out.Tokens = r.otherIndexes(), tokenStats(&st)
	if m.Model != nil {
		model := vectorModel(*m.Model)
		out.Meanings.Model = &model
	}
	if b := m.Building; b != nil {
		out.Meanings.Building = &protocol.VectorsAnew{Model: vectorModel(b.Model), Done: b.Done, Total: b.Total}
	}
	return out
}

// tokenStats counts what there is of token vectors, nil without the encoder.
func tokenStats(st *search.Stats) *protocol.TokenStats {
	m := st.Tokens
	if m == nil {
		return nil
	}
	out := &protocol.TokenStats{
		State: st.Encoder.State, Device: st.Encoder.Device, Notes: m.Docs, Waiting: m.Waiting, Passages: m.Vectors,
		MemoryBytes: m.Size.Memory, DiskBytes: m.Size.Disk, DeadBytes: m.Size.Waste, RatePerSecond: m.Rate, LastError: m.Error,
	}
	if m.Model != nil {
		model := vectorModel(*m.Model)
		out.Model = &model
	}
	if m.Waiting > 0 && m.Rate > 0 {
		passages := max(1, float64(m.Vectors)/float64(max(1, m.Docs))) // of a note
		out.LeftMS = int64(float64(m.Waiting) * passages / m.Rate * 1000)
	}
	return out
}

// otherIndexes counts what the indexes beside that of notes hold.
func (r *Deps) otherIndexes() []protocol.OtherIndex {
	list := []protocol.OtherIndex{}
	for _, x := range r.indexes() {
		if x.kind == "" {
			continue
		}
		st := x.Stats()
		w, m := st.Words, st.Meanings
		other := protocol.OtherIndex{
			Kind: x.kind, Documents: w.Docs, Waiting: w.Waiting,
			Queue: m.Waiting, Vectors: m.Vectors, HeldBack: m.HeldBack, Refused: m.Refused,
			MemoryBytes: w.MemoryBytes + m.Size.Memory, DiskBytes: w.DiskBytes + m.Size.Disk, LastError: m.Error,
		}
		if t := st.Tokens; t != nil {
			other.TokenQueue, other.MemoryBytes, other.DiskBytes = t.Waiting, other.MemoryBytes+t.Size.Memory, other.DiskBytes+t.Size.Disk
		}
		list = append(list, other)
	}
	return list
}

func searchWeights(st search.Stats) protocol.SearchWeights {
	return protocol.SearchWeights{Lexical: st.Weights.Lexical, Semantic: st.Weights.Semantic}
}

func vectorModel(m embed.Model) protocol.VectorModel {
	return protocol.VectorModel{Name: m.Name, Dims: m.Dims, SHA256: m.SHA256}
}
