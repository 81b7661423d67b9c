package embed

import "context"

// Model is the identity of what made a vector. Vectors are comparable only if
// their models are equal.
type Model struct {
	Name string `json:"name"`
	Dims int    `json:"dims"`
	// SHA256 of the weights, in hex.
	SHA256 string `json:"sha256"`
}

// Embedder gives the vectors of texts. All methods may be called concurrently.
type Embedder interface {
	Model() Model
	// Embed gives one vector of Model().Dims values for each text, of length 1;
	// a text with nothing to embed has a nil vector. The vectors are the
	// caller's. It fails as a whole or not at all.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
