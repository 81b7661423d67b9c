package embed

// endpoint_*.go are the [Endpoint], an embedder that asks a server which speaks the protocol of
// OpenAI's embeddings, as llama.cpp, Ollama and many others do; and the [RerankEndpoint], which
// asks one that has /v1/rerank.
//
// Without AllowRemote only this machine is dialled, whatever a name resolves to, and no proxy is
// asked. Questions go before passages; passages are sent in batches. What fails for a reason that
// passes is sent again after a growing pause, and an endpoint that goes on failing is left alone
// for a while (a circuit breaker). Replies are read strictly and within bounds: what does not fit
// is an error, and nothing of it is used. No text and no key is in an error or in the log.
//
// The two share how a server is reached and what is said of its failures (context/outbound), and
// nothing else: a reranker answers within its timeout or not at all, and a reply of which some
// entries are odd is used without them.
//
// Both are safe for concurrent use; Close ends them, with the calls that wait.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxEndpointBatch is how many texts one request to an endpoint holds at most.
const maxEndpointBatch = 32

// EndpointOptions say which endpoint embeds.
type EndpointOptions struct {
	// URL of an endpoint that speaks the protocol of OpenAI's embeddings: that of
	// the server, of its version, or in full: http://127.0.0.1:11434,
	// http://127.0.0.1:11434/v1 and http://127.0.0.1:11434/v1/embeddings are the
	// same.
	URL   string
	Model string // as the endpoint calls it
	// Key is sent as a bearer token, "" for none. Only https and this machine get
	// one.
	Key string
	// AllowRemote lets texts leave this machine.
	AllowRemote bool
	// Timeout of a request, 30 s unless set. A model that is loaded on demand is
	// loaded within it.
	Timeout time.Duration
	Logger  *slog.Logger // nil for none
}

const embeddingTimeout = 30 * time.Second

var embeddings = outbound.Service{
	Noun: "embedding endpoint", Setting: "embedding", Path: "embeddings", Example: "nomic-embed-text",
	Pull: ", as before ollama pull", Start: "start its server for embeddings, as llama-server --embeddings does",
	Outside: "allowRemote",
}

// Check says what is wrong with options, as fault.Invalid that names the field:
// url, model or key. It asks nobody.
func (o *EndpointOptions) Check() error {
	_, err := embeddings.Resolve(o.target())
	return err
}

func (o *EndpointOptions) target() outbound.Target {
	return outbound.Target{URL: o.URL, Model: o.Model, Key: o.Key, AllowRemote: o.AllowRemote}
}

// Endpoint embeds by an endpoint: Ollama, llama-server, LM Studio, or any that
// speaks the protocol of OpenAI's embeddings. Make one with [NewEndpoint].
//
// The identity of its model is a hash of the URL, the name of the model and its
// dimensions: the weights are out of reach, and another model under the same
// name is noticed only when its dimensions are others.
//
// A question whose caller has given up goes on to its end, one at a time: some
// endpoints load a model for a question and drop it again when the asker leaves,
// so one that nobody waited for would never be loaded.
type Endpoint struct {
	peer
	gate    gate
	breaker *gobreaker.CircuitBreaker[[][]float32]

	life     context.Context // of all calls; ends with Close
	end      context.CancelFunc
	probing  atomic.Bool  // see probeInBackground
	warming  atomic.Bool  // a question goes on that nobody waits for
	asking   atomic.Int32 // requests under way
	statusMu sync.Mutex   // guards what follows
	state    string
	why      string
	known    *Model // nil: not known yet
	closed   bool
	running  sync.WaitGroup // questions
}

// NewEndpoint returns an embedder that asks an endpoint. It does not reach for it
// yet. The errors are those of Check.
func NewEndpoint(o EndpointOptions) (*Endpoint, error) {
	p, err := newPeer(embeddings, &o, embeddingTimeout, embeddingPace)
	if err != nil {
		return nil, err
	}
	h := &Endpoint{peer: p, state: Idle}
	h.life, h.end = context.WithCancel(context.Background())
	h.breaker = h.newBreaker()
	return h, nil
}

// Model is the identity of what the endpoint computes. It is asked for one when
// none is known, or when the last request failed.
func (h *Endpoint) Model(ctx context.Context) (Model, error) {
	h.statusMu.Lock()
	known, state := h.known, h.state
	h.statusMu.Unlock()
	if known != nil && state != Failed {
		return *known, nil
	}
	m, _, err := h.Embed(ctx, Query, []string{probe})
	return m, err
}

// Embed gives the vector of each text; see [Embedder].
func (h *Endpoint) Embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	if err := ctx.Err(); err != nil {
		return Model{}, nil, err
	}
	if !h.begin() {
		return Model{}, nil, errClosed()
	}
	if p == Query {
		return h.ask(ctx, texts)
	}
	defer h.running.Done()
	joined, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	m, vectors, err := h.embed(joined, Passage, texts)
	return m, vectors, h.ended(ctx, err)
}

// begin counts a call, unless the embedder is closed.
func (h *Endpoint) begin() bool {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	if !h.closed {
		h.running.Add(1)
	}
	return !h.closed
}

// ask embeds what somebody waits for.
func (h *Endpoint) ask(ctx context.Context, texts []string) (Model, [][]float32, error) {
	type answer struct {
		model   Model
		vectors [][]float32
		err     error
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // what ctx says of sending holds on
	forget := context.AfterFunc(h.life, cancel)
	answers := make(chan answer, 1)
	go func() {
		defer h.running.Done()
		defer cancel()
		defer forget()
		m, vectors, err := h.embed(work, Query, texts)
		answers <- answer{m, vectors, err}
	}()
	select {
	case a := <-answers:
		return a.model, a.vectors, h.ended(ctx, a.err)
	case <-ctx.Done():
		if h.warming.CompareAndSwap(false, true) {
			context.AfterFunc(work, func() { h.warming.Store(false) })
		} else {
			cancel()
		}
		return Model{}, nil, ctx.Err()
	}
}

// ended returns the error of a call: that of its context when it was withdrawn,
// and that it is closed when it was.
func (h *Endpoint) ended(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case h.life.Err() != nil:
		return errClosed()
	}
	return err
}

func errClosed() error {
	return fault.New(fault.Unavailable, "the embedder is closed")
}

// embed embeds texts, so many a request.
func (h *Endpoint) embed(ctx context.Context, p Purpose, texts []string) (Model, [][]float32, error) {
	var full []int // the texts that are not empty, which an endpoint refuses
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			full = append(full, i)
		}
	}
	if len(full) == 0 {
		m, err := h.anyModel(ctx, p)
		return m, make([][]float32, len(texts)), err
	}
	out, dims := make([][]float32, len(texts)), 0
	for batch := range slices.Chunk(full, maxEndpointBatch) {
		part := make([]string, len(batch))
		for i, at := range batch {
			part[i] = Clip(texts[at])
		}
		vectors, err := h.exchange(ctx, p, part)
		if err != nil {
			return Model{}, nil, err
		}
		if dims != 0 && dims != len(vectors[0]) {
			return Model{}, nil, h.failure("changed its model meanwhile").WithHint("try again")
		}
		dims = len(vectors[0])
		for i, at := range batch {
			out[at] = vectors[i]
		}
	}
	return h.identity(dims), out, nil
}

// anyModel is the model for texts that have nothing to embed.
func (h *Endpoint) anyModel(ctx context.Context, p Purpose) (Model, error) {
	h.statusMu.Lock()
	known := h.known
	h.statusMu.Unlock()
	if known != nil {
		return *known, nil
	}
	vectors, err := h.exchange(ctx, p, []string{probe})
	if err != nil {
		return Model{}, err
	}
	return h.identity(len(vectors[0])), nil
}

// identity is the model of vectors with these dimensions.
func (h *Endpoint) identity(dims int) Model {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", h.at.URL, h.model, dims))
	return Model{Name: h.model, Dims: dims, SHA256: hex.EncodeToString(sum[:])}
}

// Status says how the endpoint was when it was last asked.
func (h *Endpoint) Status() Status {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	s := Status{Kind: KindHTTP, State: h.state, Why: h.why, Device: h.at.Host, Remote: h.remote}
	if h.state == Idle && h.asking.Load() > 0 {
		s.State = Starting
	}
	if h.known != nil {
		m := *h.known
		s.Model = &m
	}
	return s
}

// settled remembers how a request ended.
func (h *Endpoint) settled(vectors [][]float32, err error) {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	switch {
	case errors.Is(err, outbound.ErrStale): // it was not asked
	case err == nil:
		m := h.identity(len(vectors[0]))
		if h.known != nil && *h.known != m {
			h.log.Warn("the endpoint has another model", "name", h.model, "dims", m.Dims, "before", h.known.Dims)
		}
		h.state, h.why, h.known = Ready, "", &m
	case fault.KindOf(err) == fault.Unavailable:
		h.state, h.why = Failed, fault.Message(err)
	}
}

// Close withdraws the calls under way and waits for them.
func (h *Endpoint) Close() error {
	h.statusMu.Lock()
	h.closed = true
	h.state, h.why = Failed, "closed"
	h.statusMu.Unlock()
	h.end()
	h.running.Wait()
	h.client.CloseIdleConnections()
	return nil
}
