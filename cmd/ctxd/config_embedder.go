package main

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// The embedders that can be chosen beside auto.
const (
	embedderBuiltin = "builtin"
	embedderRunner  = "runner"
	embedderHTTP    = "http"
)

// embedderConfig is what turns text into vectors.
type embedderConfig struct {
	kind     string // auto, or one of the embedders
	table    string // file of the builtin one, "": the table in the program
	endpoint endpointConfig
	runner   runnerConfig
}

// endpointConfig is an endpoint that embeds.
type endpointConfig struct {
	url, model  string
	key         string // where it is found: keyNone, env:NAME or file:PATH
	allowRemote bool
	timeout     time.Duration
}

// runnerConfig is how the child process is run that embeds.
type runnerConfig struct {
	path      string // of ctxd-runner, "": it is looked for
	model     string // GGUF, "": it is looked for
	gpuLayers *int   // -1 all, nil: as many as fit
	device    string // auto, or the name of a GPU
	threads   *int   // nil: by the number of cores
	idle      time.Duration
}

// searchWeights say what the two lists of a hybrid search count.
type searchWeights struct{ lexical, semantic float64 }

const (
	defaultEmbeddingTimeout = 30 * time.Second
	defaultRunnerIdle       = 10 * time.Minute
	defaultLexicalWeight    = 1
	defaultSemanticWeight   = 0.5
)

func (c *config) embedderSettings() []*setting {
	e, h, r := &c.embedder, &c.embedder.endpoint, &c.embedder.runner
	return []*setting{
		{key: "embedder", about: "what finds notes by their meaning: builtin; runner, a model of your own; http, a server; auto is runner where there is one, else builtin", value: wordOf(&e.kind, auto, embedderBuiltin, embedderRunner, embedderHTTP)},
		{key: "embedding.table", about: "of builtin: file of a table of vectors to take for the one in the program, such as the multilingual one; none for that", value: pathOrWord(&e.table, noLogFile)},
		{key: "embedding.url", about: "of http: server with OpenAI's /v1/embeddings, such as Ollama, llama-server or LM Studio", value: stringOf(&h.url, checkEmbeddingURL)},
		{key: "embedding.model", about: "of http: name of the model, as the server calls it", value: stringOf(&h.model, notBlank)},
		{key: "embedding.key", about: "of http: where the key is found, never the key itself: env:NAME, file:PATH or none", value: keyOf(&h.key)},
		{key: "embedding.allowRemote", about: "of http: whether the server may be another machine; notes that are private stay here", value: yesOf(&h.allowRemote)},
		{key: "embedding.timeout", about: "of http: how long one request may take, the loading of a model included", value: durationOf(&h.timeout, 100*time.Millisecond, 10*time.Minute)},
		{key: "runner.path", about: "of runner: the program ctxd-runner; auto looks beside ctxd and in $PATH", value: pathOrAuto(&r.path)},
		{key: "runner.model", about: "of runner: the model, a GGUF file; auto takes the first of the folder models beside the program", value: pathOrAuto(&r.model)},
		{key: "runner.gpuLayers", about: "of runner: layers of the model that go on the GPU; -1 for all, 0 for none", value: countOrAuto(&r.gpuLayers, -1, 1000)},
		{key: "runner.device", about: "of runner: name of the GPU; auto takes the best", value: deviceOf(&r.device)},
		{key: "runner.threads", about: "of runner: threads of the CPU; auto goes by the cores", value: countOrAuto(&r.threads, 1, 256)},
		{key: "runner.idle", about: "of runner: how long after the last text the model stays loaded", value: durationOrNever(&r.idle)},
		{key: "search.weights.lexical", about: "what a note's place in the list by words counts", value: numberOf(&c.weights.lexical, 0, 100)},
		{key: "search.weights.semantic", about: "what a note's place in the list by meaning counts", value: numberOf(&c.weights.semantic, 0, 100)},
	}
}

// check finds what only shows when all is known: whether the endpoint that was
// chosen can be asked. Its field is a setting of the section embedding.
func (e *embedderConfig) check() *fault.Error {
	if e.kind != embedderHTTP {
		return nil
	}
	opts := e.endpoint.options()
	if e.endpoint.keySource() != keyNone {
		opts.Key = "given" // not to be looked for before it is needed
	}
	return asFault(opts.Check())
}

// options are those of the embedder, but for the key.
func (h *endpointConfig) options() embed.HTTPOptions {
	return embed.HTTPOptions{URL: h.url, Model: h.model, AllowRemote: h.allowRemote, Timeout: h.timeout}
}

func asFault(err error) *fault.Error {
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		f = fault.Wrap(fault.Internal, err, "the setting can't be checked")
	}
	return f
}

// checkEmbeddingURL refuses what is no URL of an endpoint, wherever that is.
func checkEmbeddingURL(text string) *fault.Error {
	opts := embed.HTTPOptions{URL: text, Model: "any", AllowRemote: true}
	return asFault(opts.Check())
}

func notBlank(text string) *fault.Error {
	if strings.TrimSpace(text) == "" {
		return fault.New(fault.Invalid, "it is empty").WithHint("leave the setting out to have its default")
	}
	return nil
}

// deviceOf is the name of a device, or auto.
func deviceOf(at *string) value {
	v := stringOf(at, notBlank)
	take := v.set
	v.set = func(words []string) *fault.Error {
		err := take(words)
		if strings.EqualFold(*at, auto) {
			*at = ""
		}
		return err
	}
	v.text = func() string { return firstOf(*at, auto) }
	v.raw = func() any { return v.text() }
	return v
}

// Where a key is found.
const (
	keyNone = "none"
	keyEnv  = "env:"
	keyFile = "file:"
)

func (h *endpointConfig) keySource() string { return firstOf(h.key, keyNone) }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keyOf is where a key is found. Its errors never show what was given: that may
// be the key itself.
func keyOf(at *string) value {
	v := value{words: []string{keyNone}, text: func() string { return firstOf(*at, keyNone) }}
	v.raw = func() any { return v.text() }
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err != nil {
			return err
		}
		name, isEnv := strings.CutPrefix(w, keyEnv)
		path, isFile := strings.CutPrefix(w, keyFile)
		switch {
		case w == keyNone:
			w = ""
		case isEnv && variableName.MatchString(name):
		case isFile && checkPath(path) == nil:
			if path, err = wholePath(path); err != nil {
				return fault.New(fault.Invalid, "the file of the key needs a whole path").WithHint("write it as file:/home/you/.ctxd-key or file:~/.ctxd-key")
			}
			w = keyFile + path
		default:
			return fault.New(fault.Invalid, "it must say where the key is found, and not be the key").
				WithHint("write env:NAME for a variable, file:PATH for a file that only you can read, or none")
		}
		*at = w
		return nil
	}
	return v
}
