package learn

// SimilarityLevels are the cosines of an embedder that mean something, for statements of one sentence.
type SimilarityLevels struct {
	Far  float64 // of statements that have nothing to do with each other
	Same float64 // from which on two statements say nearly the same
}

// Likeness brings a cosine between 0 and 1: 0 for Far, 1 for Same.
func (l SimilarityLevels) Likeness(cosine float64) float64 {
	return min(1, max(0, (cosine-l.Far)/(l.Same-l.Far)))
}

// Cosine is the inverse of Likeness.
func (l SimilarityLevels) Cosine(likeness float64) float64 { return l.Far + likeness*(l.Same-l.Far) }

// levels are those of the models that were measured on the pairs of testdata/pairs.tsv, by the names of the models: Far
// is the median cosine of statements of different pairs, Same that of the duplicates among the English ones.
var levels = map[string]SimilarityLevels{
	BuiltInModel:          {Far: 0.18, Same: 0.84},
	"ctxd-multilingual-1": {Far: 0.06, Same: 0.91},
	"all-MiniLM-L6-v2":    {Far: 0.40, Same: 0.93}, // by the runner, at 16 bits
}

// ModelLevels returns the levels of a model by its name. One that was not measured has those of the built-in table.
func ModelLevels(model string) SimilarityLevels {
	if l, ok := levels[model]; ok {
		return l
	}
	return levels[BuiltInModel]
}

// BuiltInModel is the name of the built-in model.
const BuiltInModel = "ctxd-static-1"
