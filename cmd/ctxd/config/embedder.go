package config

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// Embedder is what turns text into vectors.
type Embedder struct {
	Kind     embed.Kind // Auto, or one of the embedders
	Table    string     // file of the builtin one, "": the table in the program
	Encoder  *int       // percent of the processors for the encoder beside the builtin one, 0: none; nil: by what feeds the machine
	Endpoint Endpoint
	Runner   Runner
}

// Endpoint is an endpoint that embeds.
type Endpoint struct {
	URL, Model  string
	Key         string // where it is found: none, env:NAME, file:PATH or keyring:NAME
	AllowRemote bool
	Timeout     time.Duration
}

// Runner is how the child process is run that embeds.
type Runner struct {
	Path      string // of ctxd-runner, "": it is looked for
	Model     string // GGUF, "": it is looked for
	GpuLayers *int   // -1 all, nil: as many as fit
	Device    string // auto, or the name of a GPU
	Threads   *int   // nil: by the number of cores
	Idle      time.Duration
}

// Weights say what the two lists of a hybrid search count.
type Weights struct{ Lexical, Semantic float64 }

// Fusions are the ways in which a hybrid search makes one list of two.
const (
	FusionByScore = "score"
	FusionByRank  = "rank"
)

const (
	defaultEmbeddingTimeout = 30 * time.Second
	defaultRunnerIdle       = 10 * time.Minute
	defaultLexicalWeight    = 1
	defaultSemanticWeight   = 0.7
)

func (c *Config) embedderSettings() []*Setting {
	e, h, r := &c.Embedder, &c.Embedder.Endpoint, &c.Embedder.Runner
	return []*Setting{
		{key: "embedder", about: "what makes the vectors for search by meaning: builtin; runner, a local model; http, a server; auto, runner if it is installed, else builtin", value: wordOf(&e.Kind, append([]embed.Kind{Auto}, embed.Kinds...)...)},
		{key: "embedding.table", about: "builtin only: file with another vector table, such as the multilingual one; none for the table in the program", value: pathOrWord(&e.Table, NoLogFile)},
		{key: "embedding.encoder", about: "builtin only: percent of the processors for the encoder, which reads texts in the background and ranks what is found; 0 turns it off; auto is 50, and 25 on battery", value: countOrAuto(&e.Encoder, 0, 100)},
		{key: "embedding.url", about: "http only: address of a server with /v1/embeddings, such as Ollama, llama-server or LM Studio", value: stringOf(&h.URL, checkEmbeddingURL)},
		{key: "embedding.model", about: "http only: name of the model on the server", value: stringOf(&h.Model, notBlank)},
		{key: "embedding.key", about: "http only: where to find the API key, never the key itself: env:NAME, file:PATH, keyring:NAME or none", value: keyOf(&h.Key)},
		{key: "embedding.allowRemote", about: "http only: whether the server may be on another machine; private notes are never sent there", value: yesOf(&h.AllowRemote)},
		{key: "embedding.timeout", about: "http only: timeout of a request, including the time to load the model", value: durationOf(&h.Timeout, 100*time.Millisecond, 10*time.Minute)},
		{key: "runner.path", about: "runner only: path of ctxd-runner; auto looks beside ctxd and in $PATH", value: pathOrAuto(&r.Path)},
		{key: "runner.model", about: "runner only: model file (GGUF); auto takes the first file in the folder models beside the program", value: pathOrAuto(&r.Model)},
		{key: "runner.gpuLayers", about: "runner only: number of layers on the GPU; -1 for all, 0 for none", value: countOrAuto(&r.GpuLayers, -1, 1000)},
		{key: "runner.device", about: "runner only: name of the GPU; auto takes the best one", value: deviceOf(&r.Device)},
		{key: "runner.threads", about: "runner only: number of CPU threads; auto uses the number of cores", value: countOrAuto(&r.Threads, 1, 256)},
		{key: "runner.idle", about: "runner only: how long an unused model stays loaded", value: durationOrNever(&r.Idle)},
		{key: "search.fusion", about: "how hybrid search combines its two lists: score adds scores; rank adds reciprocal ranks", value: wordOf(&c.Fusion, FusionByScore, FusionByRank)},
		{key: "search.weights.lexical", about: "weight of the search by words in hybrid search", value: numberOf(&c.Weights.Lexical, 0, 100)},
		{key: "search.weights.semantic", about: "weight of the search by meaning in hybrid search", value: numberOf(&c.Weights.Semantic, 0, 100)},
	}
}

// check finds what only shows when all is known: whether the endpoint that was
// chosen can be asked. Its field is a setting of the section embedding.
func (e *Embedder) check() *fault.Error {
	if e.Kind != embed.KindHTTP {
		return nil
	}
	opts := e.Endpoint.Options()
	if e.Endpoint.KeySource() != outbound.KeyNone {
		opts.Key = "given" // not to be looked for before it is needed
	}
	return AsFault(opts.Check())
}

// Options are those of the embedder, but for the key.
func (h *Endpoint) Options() embed.EndpointOptions {
	return embed.EndpointOptions{URL: h.URL, Model: h.Model, AllowRemote: h.AllowRemote, Timeout: h.Timeout}
}

// AsFault returns an error of context/embed as a fault; nil stays nil.
func AsFault(err error) *fault.Error {
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		f = fault.Wrap(fault.Internal, err, "cannot check the setting")
	}
	return f
}

// checkEmbeddingURL refuses what is no URL of an endpoint, wherever that is.
func checkEmbeddingURL(text string) *fault.Error {
	opts := embed.EndpointOptions{URL: text, Model: "any", AllowRemote: true}
	return AsFault(opts.Check())
}

func notBlank(text string) *fault.Error {
	if strings.TrimSpace(text) == "" {
		return fault.New(fault.Invalid, "it is empty").WithHint("leave out the setting to use its default")
	}
	return nil
}

// deviceOf is the name of a device, or auto.
func deviceOf(at *string) value {
	v := stringOf(at, notBlank)
	take := v.set
	v.set = func(words []string) *fault.Error {
		err := take(words)
		if strings.EqualFold(*at, Auto) {
			*at = ""
		}
		return err
	}
	v.Text = func() string { return cmp.Or(*at, Auto) }
	v.raw = func() any { return v.Text() }
	return v
}

// KeySource says where the key is found: none, env:NAME, file:PATH or keyring:NAME.
func (h *Endpoint) KeySource() string { return cmp.Or(h.Key, outbound.KeyNone) }

// keyOf is where a key is found. Its errors never show what was given: that may
// be the key itself.
func keyOf(at *string) value {
	v := value{words: []string{outbound.KeyNone}, Text: func() string { return cmp.Or(*at, outbound.KeyNone) }}
	v.raw = func() any { return v.Text() }
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err != nil {
			return err
		}
		w, err = keySource(w)
		if err == nil {
			*at = w
		}
		return err
	}
	return v
}

// keySource reads where a key is found, "" for none.
func keySource(w string) (string, *fault.Error) {
	path, isFile := strings.CutPrefix(w, outbound.KeyFile)
	switch {
	case w == outbound.KeyNone:
		return "", nil
	case !outbound.IsKeySource(w) || isFile && checkPath(path) != nil:
		return "", fault.New(fault.Invalid, "it must say where to find the key, and not be the key").
			WithHint("write env:NAME for a variable, file:PATH for a file that only you can read, " +
				"keyring:NAME for the keyring of the system, or none")
	case isFile:
		whole, err := wholePath(path)
		if err != nil {
			return "", fault.New(fault.Invalid, "the file of the key needs an absolute path").
				WithHint("write it as file:/home/you/.ctxd-key or file:~/.ctxd-key")
		}
		return outbound.KeyFile + whole, nil
	}
	return w, nil
}
