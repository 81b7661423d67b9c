package search

import "github.com/ctxd/ctxd/context/search/words"

// LexicalSignal is what the words of a query gave a hit.
type LexicalSignal struct {
	Rank  int     // in the list by words, from 1
	Score float64 // BM25
	// With Explain: what each word gave, which adds up to Score, and how Score divides
	// among the fields.
	Terms  []words.Term
	Fields []FieldShare
}

// FieldShare is a part of a score.
type FieldShare struct {
	Field string // its name in Source.Fields
	Share float64
}

// SemanticSignal is what the meaning of a query gave a hit.
type SemanticSignal struct {
	Rank   int     // in the list by meaning, from 1
	Cosine float64 // how near it is: the mean of Part.Cosine and Whole
	Whole  float64 // the cosine of the mean of its chunks
	Part   Part
}

// Part is the chunk of a hit that is nearest.
type Part struct {
	Chunk  int // from 0
	Cosine float64
}

// FusedSignal is what the two lists add to the score of a hit in a hybrid search. A hit
// that is absent from a full list has at most what its last has, and counts so.
type FusedSignal struct {
	Lexical, Semantic float64
	// Assumed says that nothing is known of its meaning, and that it has what its words
	// are worth for that too.
	Assumed bool
}

// Signal is one thing that counts in a ranking, as it is called where a ranking is
// explained.
type Signal struct {
	// Name is that of the value; with a colon at its end, that of values for several
	// words or fields, each with its own name behind it.
	Name  string
	Means string
	each  func(h *Hit, give func(name string, value float64))
}

// Signals are all that count, in the order in which they are told. A new one is added here
// and nowhere else: EachSignal and the descriptions in the contract follow.
var Signals = []Signal{
	{"lexical", "score of its words (BM25)", func(h *Hit, give func(string, float64)) {
		if h.Lexical != nil {
			give("", h.Lexical.Score)
		}
	}},
	termSignal(words.AsWord, "what a word of the query gave"),
	termSignal(words.AsPrefix, "what the words gave that a word of the query begins"),
	termSignal(words.AsMistaken, "what the words gave that differ from one of the query by one edit"),
	{"field:", "the part of the score of its words that a field gave", func(h *Hit, give func(string, float64)) {
		if h.Lexical == nil {
			return
		}
		for _, f := range h.Lexical.Fields {
			give(f.Field, f.Share)
		}
	}},
	semanticSignal("semantic", "how near it is: the mean of part and whole",
		func(s *SemanticSignal) float64 { return s.Cosine }),
	semanticSignal("part", "the cosine of its nearest part", func(s *SemanticSignal) float64 { return s.Part.Cosine }),
	semanticSignal("whole", "the cosine of all of its parts together",
		func(s *SemanticSignal) float64 { return s.Whole }),
	semanticSignal("chunk", "its nearest part, from 1",
		func(s *SemanticSignal) float64 { return float64(s.Part.Chunk + 1) }),
	{
		"late", "late interaction: the mean, over the words of the question, of the cosine of the nearest word of its nearest part",
		func(h *Hit, give func(string, float64)) {
			if h.Late != nil {
				give("", h.Late.Nearness)
			}
		},
	},
	{"rank:lexical", "its place in the list by words, from 1", func(h *Hit, give func(string, float64)) {
		if h.Lexical != nil {
			give("", float64(h.Lexical.Rank))
		}
	}},
	semanticSignal("rank:semantic", "its place in the list by meaning, from 1",
		func(s *SemanticSignal) float64 { return float64(s.Rank) }),
	{"fused:lexical", "what its words add to the score of a hybrid search", func(h *Hit, give func(string, float64)) {
		if h.Fused != nil && (h.Lexical != nil || h.Fused.Lexical > 0) {
			give("", h.Fused.Lexical)
		}
	}},
	{"fused:semantic", "what its meaning adds", func(h *Hit, give func(string, float64)) {
		if h.Fused != nil && !h.Fused.Assumed && (h.Semantic != nil || h.Late != nil || h.Fused.Semantic > 0) {
			give("", h.Fused.Semantic)
		}
	}},
	{"fused:assumed", "what is added when nothing is known of its meaning", func(h *Hit, give func(string, float64)) {
		if h.Fused != nil && h.Fused.Assumed {
			give("", h.Fused.Semantic)
		}
	}},
}

func termSignal(how words.How, means string) Signal {
	return Signal{string(how) + ":", means, func(h *Hit, give func(string, float64)) {
		if h.Lexical == nil {
			return
		}
		for _, t := range h.Lexical.Terms {
			if t.How == how {
				give(t.Word, t.Score)
			}
		}
	}}
}

func semanticSignal(name, means string, value func(*SemanticSignal) float64) Signal {
	return Signal{name, means, func(h *Hit, give func(string, float64)) {
		if h.Semantic != nil {
			give("", value(h.Semantic))
		}
	}}
}

// EachSignal gives the signals of a hit by their names.
func (h *Hit) EachSignal(give func(name string, value float64)) {
	for _, s := range Signals {
		s.each(h, func(of string, value float64) { give(s.Name+of, value) })
	}
}
