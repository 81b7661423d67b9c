package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// Batch is how many texts one request to an endpoint holds at most.
const Batch = 32

// Options say which endpoint embeds.
type Options struct {
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

var embeddings = service{
	noun: "embedding endpoint", setting: "embedding", path: "embeddings", example: "nomic-embed-text",
	pull: ", as before ollama pull", start: "start its server for embeddings, as llama-server --embeddings does",
	outside: "allowRemote",
}

// endpoint is what a URL stands for.
type endpoint struct {
	url    string     // of what is asked for
	host   string     // with its port, for people
	addr   netip.Addr // when it is named by one
	secure bool
	local  bool // by its name; where a name leads is seen when it is dialled
}

// Check says what is wrong with options, as fault.Invalid that names the field:
// url, model or key. It asks nobody.
func (o *Options) Check() error {
	_, err := o.endpoint(embeddings)
	return err
}

func (o *Options) endpoint(s service) (*endpoint, error) {
	e, err := parseEndpoint(o.URL, s.path)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(o.Model) == "":
		return nil, fault.Field("model", "an endpoint needs the name of a model").
			WithHint("name it as the endpoint does, such as %s", s.example)
	case len(o.Model) > 256 || strings.ContainsFunc(o.Model, isControl):
		return nil, fault.Field("model", "this is no name of a model")
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fault.Field("key", "the key has characters that no key has").
			WithHint("it must be one line of letters, digits and signs")
	}
	if e.addr.IsValid() && !e.local && !o.AllowRemote {
		hint := s.allowing()
		if e.addr.IsUnspecified() {
			hint = "write 127.0.0.1 when you mean this machine"
		}
		return nil, fault.Field("url", "%s is not this machine", e.host).WithHint("%s", hint)
	}
	if o.Key != "" && !e.secure && e.remote(o.AllowRemote) {
		return nil, fault.Field("url", "a key would go to %s for everybody to read", e.host).
			WithHint("begin the URL with https://")
	}
	return e, nil
}

// parseEndpoint reads a URL that leads to the path of a service, or to its server.
// Its errors don't show it: a wrong one may hold a key.
func parseEndpoint(text, path string) (*endpoint, error) {
	bad := func(why string) error {
		return fault.Field("url", "%s", why).WithHint("write it as http://127.0.0.1:11434/v1")
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
		return nil, bad("an endpoint needs a URL")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, bad("this is no URL of an endpoint")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fault.Field("url", "the URL of an endpoint has no user, no question mark and no fragment").
			WithHint("give a key by the setting of its own")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch p := strings.TrimRight(u.Path, "/"); {
	case p == "":
		u.Path = "/v1/" + path
	case strings.HasSuffix(p, "/"+path):
		u.Path = p
	default:
		u.Path = p + "/" + path
	}
	u.RawPath = ""
	e := &endpoint{url: u.String(), host: u.Host, secure: u.Scheme == "https"}
	name := u.Hostname()
	e.addr, err = netip.ParseAddr(name)
	e.local = err == nil && e.addr.Unmap().IsLoopback() || name == "localhost" || strings.HasSuffix(name, ".localhost")
	return e, nil
}

// remote reports whether texts may leave this machine. Where they may not, only
// addresses of this machine are dialled, wherever a name leads.
func (e *endpoint) remote(allowed bool) bool { return allowed && !e.local }

// HTTP embeds by an endpoint: Ollama, llama-server, LM Studio, or any that
// speaks the protocol of OpenAI's embeddings. Make one with [New].
//
// The identity of its model is a hash of the URL, the name of the model and its
// dimensions: the weights are out of reach, and another model under the same
// name is noticed only when its dimensions are others.
//
// A question whose caller has given up goes on to its end, one at a time: some
// endpoints load a model for a question and drop it again when the asker leaves,
// so one that nobody waited for would never be loaded.
type HTTP struct {
	peer
	gate    gate
	breaker *gobreaker.CircuitBreaker[[][]float32]

	life     context.Context // of all calls; ends with Close
	end      context.CancelFunc
	warming  atomic.Bool  // a question goes on that nobody waits for
	asking   atomic.Int32 // requests under way
	statusMu sync.Mutex   // guards what follows
	state    string
	why      string
	known    *embed.Model // nil: not known yet
	closed   bool
	running  sync.WaitGroup // questions
}

// New returns an embedder that asks an endpoint. It does not reach for it
// yet. The errors are those of Check.
func New(o Options) (*HTTP, error) {
	p, err := newPeer(embeddings, &o, embeddingTimeout, embeddingPace)
	if err != nil {
		return nil, err
	}
	h := &HTTP{peer: p, state: embed.Idle}
	h.life, h.end = context.WithCancel(context.Background())
	h.breaker = h.newBreaker()
	return h, nil
}

// Model is the identity of what the endpoint computes. It is asked for one when
// none is known, or when the last request failed.
func (h *HTTP) Model(ctx context.Context) (embed.Model, error) {
	h.statusMu.Lock()
	known, state := h.known, h.state
	h.statusMu.Unlock()
	if known != nil && state != embed.Failed {
		return *known, nil
	}
	m, _, err := h.Embed(ctx, embed.Query, []string{probe})
	return m, err
}

// Embed gives the vector of each text; see [Embedder].
func (h *HTTP) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	if err := ctx.Err(); err != nil {
		return embed.Model{}, nil, err
	}
	if !h.begin() {
		return embed.Model{}, nil, errClosed()
	}
	if p == embed.Query {
		return h.ask(ctx, texts)
	}
	defer h.running.Done()
	joined, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	m, vectors, err := h.embed(joined, embed.Passage, texts)
	return m, vectors, h.ended(ctx, err)
}

// begin counts a call, unless the embedder is closed.
func (h *HTTP) begin() bool {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	if !h.closed {
		h.running.Add(1)
	}
	return !h.closed
}

// ask embeds what somebody waits for.
func (h *HTTP) ask(ctx context.Context, texts []string) (embed.Model, [][]float32, error) {
	type answer struct {
		model   embed.Model
		vectors [][]float32
		err     error
	}
	work, cancel := context.WithCancel(h.life)
	answers := make(chan answer, 1)
	go func() {
		defer h.running.Done()
		defer cancel()
		m, vectors, err := h.embed(work, embed.Query, texts)
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
		return embed.Model{}, nil, ctx.Err()
	}
}

// ended returns the error of a call: that of its context when it was withdrawn,
// and that it is closed when it was.
func (h *HTTP) ended(ctx context.Context, err error) error {
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
func (h *HTTP) embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
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
	for batch := range slices.Chunk(full, Batch) {
		part := make([]string, len(batch))
		for i, at := range batch {
			part[i] = embed.Clip(texts[at])
		}
		vectors, err := h.exchange(ctx, p, part)
		if err != nil {
			return embed.Model{}, nil, err
		}
		if dims != 0 && dims != len(vectors[0]) {
			return embed.Model{}, nil, h.failure("changed its model meanwhile").WithHint("try again")
		}
		dims = len(vectors[0])
		for i, at := range batch {
			out[at] = vectors[i]
		}
	}
	return h.identity(dims), out, nil
}

// anyModel is the model for texts that have nothing to embed.
func (h *HTTP) anyModel(ctx context.Context, p embed.Purpose) (embed.Model, error) {
	h.statusMu.Lock()
	known := h.known
	h.statusMu.Unlock()
	if known != nil {
		return *known, nil
	}
	vectors, err := h.exchange(ctx, p, []string{probe})
	if err != nil {
		return embed.Model{}, err
	}
	return h.identity(len(vectors[0])), nil
}

// identity is the model of vectors with these dimensions.
func (h *HTTP) identity(dims int) embed.Model {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", h.at.url, h.model, dims))
	return embed.Model{Name: h.model, Dims: dims, SHA256: hex.EncodeToString(sum[:])}
}

// Status says how the endpoint was when it was last asked.
func (h *HTTP) Status() embed.Status {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	s := embed.Status{Kind: embed.HTTP, State: h.state, Why: h.why, Device: h.at.host, Remote: h.remote}
	if h.state == embed.Idle && h.asking.Load() > 0 {
		s.State = embed.Starting
	}
	if h.known != nil {
		m := *h.known
		s.Model = &m
	}
	return s
}

// settled remembers how a request ended.
func (h *HTTP) settled(vectors [][]float32, err error) {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	switch {
	case err == nil:
		m := h.identity(len(vectors[0]))
		if h.known != nil && *h.known != m {
			h.log.Warn("the endpoint has another model", "name", h.model, "dims", m.Dims, "before", h.known.Dims)
		}
		h.state, h.why, h.known = embed.Ready, "", &m
	case fault.KindOf(err) == fault.Unavailable:
		h.state, h.why = embed.Failed, fault.Message(err)
	}
}

// Close withdraws the calls under way and waits for them.
func (h *HTTP) Close() error {
	h.statusMu.Lock()
	h.closed = true
	h.state, h.why = embed.Failed, "closed"
	h.statusMu.Unlock()
	h.end()
	h.running.Wait()
	h.client.CloseIdleConnections()
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
