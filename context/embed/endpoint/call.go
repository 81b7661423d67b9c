package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// maxReply bounds a reply in bytes: 32 vectors of embed.MaxDims numbers, each on a
	// line of its own, take a third of it.
	maxReply = 16 << 20
	// maxComplaint is how much is read of a reply that tells of an error.
	maxComplaint = 4 << 10
	maxHeader    = 64 << 10
)

// probe is what an endpoint is asked when nothing but its health, or the
// dimensions of its vectors, are to be learnt.
const probe = "ctxd"

// pace is how often and how soon a request is repeated.
type pace struct {
	queryTries, passageTries uint
	first, most              time.Duration // between tries; Retry-After is bounded by most
	rest                     time.Duration // after some failures in a row, in which nothing is asked
}

var defaultPace = pace{
	queryTries: 2, passageTries: 4, first: 200 * time.Millisecond, most: 10 * time.Second,
	rest: 3 * time.Second,
}

// failuresToRest is after how many failures in a row an endpoint is left alone
// for a while.
const failuresToRest = 3

// newClient returns a client that follows no redirect, and what it dials with.
// One that is not remote dials only addresses of this machine, and asks no proxy.
func newClient(remote bool) (*http.Client, *net.Dialer) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &http.Transport{
		MaxIdleConnsPerHost: maxQueries + maxPassages, MaxConnsPerHost: maxQueries + maxPassages + 1,
		IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeader,
		DisableCompression: true, ForceAttemptHTTP2: true, // a small reply can't unpack into a large one
	}
	if remote {
		t.Proxy = http.ProxyFromEnvironment
	} else {
		dialer.ControlContext = onlyLoopback
	}
	t.DialContext = dialer.DialContext
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, CheckRedirect: follow}, dialer
}

var errNotLoopback = errors.New("not an address of this machine")

// onlyLoopback refuses to dial what is not this machine. The address is the one
// that a name was resolved to.
func onlyLoopback(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// newBreaker leaves an endpoint alone for a moment that failed several times in
// a row, so that nobody waits for it.
func (h *HTTP) newBreaker() *gobreaker.CircuitBreaker[[][]float32] {
	return gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Name: h.at.host, MaxRequests: 1, Timeout: h.pace.rest,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToRest },
		IsSuccessful: func(err error) bool { return fault.KindOf(err) != fault.Unavailable },
		IsExcluded: func(err error) bool {
			return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		},
		OnStateChange: func(host string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen || from == gobreaker.StateHalfOpen {
				h.log.Info("embedding endpoint", "host", host, "breaker", to.String())
			}
		},
	})
}

// failure is the error of an endpoint that can't serve now.
func (h *HTTP) failure(format string, args ...any) *fault.Error {
	e := fault.New(fault.Unavailable, "the embedding endpoint %s %s", h.at.host, fmt.Sprintf(format, args...))
	e.Retryable = true
	return e
}

// exchange has a batch of texts embedded, none of them empty. Its errors are
// fault.Unavailable, fault.Invalid when the endpoint refuses these texts and
// takes others, and that of ctx.
func (h *HTTP) exchange(ctx context.Context, p embed.Purpose, texts []string) ([][]float32, error) {
	if err := h.gate.enter(ctx, p); err != nil {
		return nil, err
	}
	defer h.gate.leave(p)
	h.asking.Add(1)
	defer h.asking.Add(-1)
	vectors, err := h.breaker.Execute(func() ([][]float32, error) {
		vectors, err := h.insist(ctx, p, texts)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h.settled(vectors, err)
		return vectors, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, h.failure("failed several times and is left alone for a moment")
	}
	return vectors, err
}

// insist repeats a request that fails for a while. When the texts may be the
// reason it asks for something harmless to tell.
func (h *HTTP) insist(ctx context.Context, p embed.Purpose, texts []string) ([][]float32, error) {
	tries := h.pace.passageTries
	if p == embed.Query {
		tries = h.pace.queryTries
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = h.pace.first, h.pace.most
	vectors, err := backoff.Retry(ctx, func() ([][]float32, error) {
		vectors, err := h.post(ctx, texts)
		var r *refusal
		if errors.As(err, &r) && !r.passing {
			return nil, backoff.Permanent(err)
		}
		return vectors, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	var r *refusal
	if !errors.As(err, &r) {
		return vectors, err
	}
	if r.texts && ctx.Err() == nil {
		if _, ill := h.post(ctx, []string{probe}); ill == nil {
			return nil, fault.New(fault.Invalid, "the embedding endpoint %s %s", h.at.host, r.fault.Msg).
				WithHint("it takes other texts; this one may be too long for its model")
		}
	}
	f := h.failure("%s", r.fault.Msg)
	f.Hint, f.Err = r.fault.Hint, r.fault.Err
	return nil, f
}

// refusal is a request without vectors. The message of its fault goes on behind
// the name of the endpoint.
type refusal struct {
	fault   *fault.Error
	passing bool                     // trying again may help
	texts   bool                     // the texts may be the reason
	after   *backoff.RetryAfterError // what the endpoint said, nil for nothing
}

func (r *refusal) Error() string { return r.fault.Error() }

// Unwrap has the wait that an endpoint asks for found.
func (r *refusal) Unwrap() error {
	if r.after == nil {
		return nil
	}
	return r.after
}

func refused(format string, args ...any) *refusal {
	return &refusal{fault: fault.New(fault.Unavailable, format, args...)}
}

func (r *refusal) hint(format string, args ...any) *refusal {
	r.fault.Hint = fmt.Sprintf(format, args...)
	return r
}

// post sends one request. Its errors are *refusal and that of ctx.
func (h *HTTP) post(ctx context.Context, texts []string) ([][]float32, error) {
	limited, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	body, err := encodeRequest(h.name, texts)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(limited, http.MethodPost, h.at.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "ctxd")
	if h.key != "" {
		req.Header.Set("Authorization", "Bearer "+h.key)
	}
	res, err := h.client.Do(req)
	if err != nil {
		return nil, h.unreached(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that counts
	if res.StatusCode != http.StatusOK {
		return nil, h.complaint(res)
	}
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, h.unreached(ctx, err)
	case len(reply) > maxReply:
		return nil, refused("sent more than %d MiB", maxReply>>20)
	}
	vectors, bad := decodeReply(reply, len(texts))
	if bad != nil {
		return nil, bad
	}
	return vectors, nil
}

// unreached is the refusal of an endpoint that gave no whole reply.
func (h *HTTP) unreached(ctx context.Context, err error) error {
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotLoopback):
		return refused("is not this machine").
			hint("set embedding.allowRemote when the texts of your notes may leave this machine")
	case errors.Is(err, syscall.ECONNREFUSED):
		r := refused("takes no connection").hint("start its server, or correct embedding.url")
		r.passing = true
		return r
	case errors.As(err, &dns):
		return refused("has a name that leads nowhere").hint("correct embedding.url")
	case errors.As(err, &timeout) && timeout.Timeout():
		return refused("gave no answer within %s", h.timeout).hint("embedding.timeout gives it longer")
	}
	r := refused("broke the connection")
	r.fault.Err, r.passing = withoutURL(err), true
	return r
}

// withoutURL is the reason in an error of the client.
func withoutURL(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// complaint is the refusal in a reply that is no success. What the endpoint
// wrote is not passed on: it may quote the texts.
func (h *HTTP) complaint(res *http.Response) *refusal {
	said, _ := io.ReadAll(io.LimitReader(res.Body, maxComplaint)) // what is missing says nothing
	r := refused("answered with status %d", res.StatusCode)
	switch s := res.StatusCode; {
	case s >= 300 && s < 400:
		return r.hint("it sends elsewhere, which is not followed: set embedding.url to the place itself")
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return r.hint("it wants a key: embedding.key says where one is found")
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed:
		return r.hint("its model %q may be missing, as before ollama pull, or embedding.url be wrong", h.name)
	case s == http.StatusNotImplemented:
		return r.hint("start its server for embeddings, as llama-server --embeddings does")
	case s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge || s == http.StatusUnprocessableEntity:
		r.texts = true
		return r.hint("look into the log of its server; a model %q may not be there", h.name)
	case s == http.StatusInternalServerError:
		r.texts = true
		r.passing = !tooLong(said)
	case s >= 500 || s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s == http.StatusTooEarly:
		r.passing = true
	}
	if r.passing {
		r.after = retryAfter(res.Header.Get("Retry-After"), time.Now(), h.pace.most)
	}
	return r.hint("look into the log of its server")
}

// tooLong reports whether a complaint is of a text that is too long for the
// model, which llama-server calls a fault of its own.
func tooLong(said []byte) bool {
	text := strings.ToLower(string(said))
	return strings.Contains(text, "too large") || strings.Contains(text, "context")
}

// retryAfter reads a Retry-After, in seconds or as a date, bounded.
func retryAfter(text string, now time.Time, most time.Duration) *backoff.RetryAfterError {
	text = strings.TrimSpace(text)
	if s, err := strconv.ParseUint(text, 10, 32); err == nil {
		return &backoff.RetryAfterError{Duration: min(time.Duration(s)*time.Second, most)}
	}
	if at, err := http.ParseTime(text); err == nil {
		return &backoff.RetryAfterError{Duration: max(0, min(at.Sub(now), most))}
	}
	return nil
}
