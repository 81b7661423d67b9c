package config

import (
	"cmp"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// Reranker is what reads a question together with each of the best hits.
type Reranker struct {
	Kind    embed.Kind // NoReranker, embed.KindRunner or embed.KindHTTP
	URL     string
	Model   string           // as the server calls it, or a GGUF
	Key     string           // where it is found: none, env:NAME, file:PATH or keyring:NAME
	Scores  embed.ScoreScale // of the server, "" until it is said: no reply tells it
	Timeout time.Duration
	Local   bool // the server is on this machine and passes nothing on
}

// NoReranker is the kind of none.
const NoReranker embed.Kind = "none"

// maxRerankTimeout is how long a search may take over all.
const maxRerankTimeout = 15 * time.Second

func (c *Config) rerankerSettings() []*Setting {
	r := &c.Reranker
	return []*Setting{
		{key: "reranker", about: "what reads the question together with each of the best hits and orders them anew: none; runner, a local model; http, a server", value: wordOf(&r.Kind, NoReranker, embed.KindRunner, embed.KindHTTP)},
		{key: "rerank.url", about: "http only: address of a server with /v1/rerank, such as llama-server, Jina or Cohere", value: stringOf(&r.URL, checkEmbeddingURL)},
		{key: "rerank.model", about: "http: name of the model on the server; runner: path of a cross-encoder (GGUF)", value: stringOf(&r.Model, notBlank)},
		{key: "rerank.key", about: "http only: where to find the API key, never the key itself: env:NAME, file:PATH, keyring:NAME or none", value: keyOf(&r.Key)},
		{key: "rerank.scores", about: "http only: what the server gives: logits, such as llama-server with bge-reranker; or probabilities, such as Cohere and vLLM", value: wordOf(&r.Scores, embed.ScoreScales...)},
		{key: "rerank.timeout", about: "how long a search waits for the reranker; then the hits keep their order", value: durationOf(&r.Timeout, 100*time.Millisecond, maxRerankTimeout)},
		{key: "rerank.local", about: "http only: true when the server runs on this machine and passes nothing on; otherwise nothing private is sent to it", value: yesOf(&r.Local)},
	}
}

// check finds what only shows when all is known. Its field is a setting of the
// section rerank.
func (r *Reranker) check() *fault.Error {
	switch r.Kind {
	case embed.KindHTTP:
		opts := r.Options()
		if r.Key != "" {
			opts.Key = "given" // not to be looked for before it is needed
		}
		return AsFault(opts.Check())
	case embed.KindRunner:
		if r.Model == "" {
			return fault.Field("model", "the runner needs a model that reranks").
				WithHint("give the path of a cross-encoder as a GGUF file, such as bge-reranker-v2-m3")
		}
		path, err := wholePath(r.Model)
		if err != nil {
			err.Field = "model"
			return err
		}
		r.Model = path
	}
	return nil
}

// Options are those of the server, but for the key.
func (r *Reranker) Options() embed.RerankEndpointOptions {
	return embed.RerankEndpointOptions{
		EndpointOptions: embed.EndpointOptions{URL: r.URL, Model: r.Model, AllowRemote: !r.Local, Timeout: r.Timeout},
		Scores:          r.Scores,
	}
}

// KeySource says where the key is found: none, env:NAME, file:PATH or keyring:NAME.
func (r *Reranker) KeySource() string { return cmp.Or(r.Key, outbound.KeyNone) }
