package words

import (
	"math"
	"math/bits"
)

// The parameters of BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009): how soon a word that is repeated stops to count, and how
// much a long text is held against a document.
const (
	bm25K1 = 1.6  // how soon a repeated word stops to count
	bm25B  = 0.75 // how much length counts
)

// Lengths are kept in a byte: exactly below 64, then in twelfths of a doubling.
const exactLengths = 64

// lengthCode returns the code of a length.
func lengthCode(words uint32) uint8 {
	if words < exactLengths {
		return uint8(words)
	}
	octave := bits.Len32(words) - bits.Len32(exactLengths)
	within := float64(words) / float64(uint64(exactLengths)<<octave)
	return uint8(min(255, exactLengths+12*octave+int(12*math.Log2(within))))
}

var codeLengths = func() (l [256]float64) {
	for c := range l {
		l[c] = float64(c)
		if c >= exactLengths {
			l[c] = exactLengths * math.Exp2(float64(c-exactLengths)/12)
		}
	}
	return l
}()

// knownTF is up to which frequency saturation is worked out before.
const knownTF = 8

// saturation is how much of its full weight a word has in a document: from 0 to
// 1, by how often it is there and by what the length counts.
func saturation(tf uint32, norm float32) float32 { return float32(tf) / (float32(tf) + norm) }

// saturationTable are how much of its full weight a word has in a document, for one average
// length of documents.
type saturationTable struct {
	norms [256]float32          // what a length counts, by its code
	known [knownTF][256]float32 // saturation of small frequencies, by frequency and code
}

// Of is the saturation of a word that stands so often in a document of that length.
func (s *saturationTable) Of(tf uint32, code uint8) float32 { return saturation(tf, s.norms[code]) }

// Fill works them out for an average length.
func (s *saturationTable) Fill(average float64) {
	fillNorms(&s.norms, average)
	for tf := range s.known {
		for code, norm := range s.norms {
			s.known[tf][code] = saturation(uint32(tf), norm)
		}
	}
}

// fillNorms works out what lengths count, by their codes, for an average length.
func fillNorms(norms *[256]float32, average float64) {
	for c := range norms {
		norms[c] = float32(bm25K1 * (1 - bm25B + bm25B*codeLengths[c]/average))
	}
}
