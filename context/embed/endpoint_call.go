package embed

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/fault"
)

// maxReply bounds a reply in bytes: 32 vectors of embed.MaxDims numbers, each on a
// line of its own, take a third of it.
const maxReply = 16 << 20

// probe is what an endpoint is asked when nothing but its health, or the
// dimensions of its vectors, are to be learnt.
const probe = "ctxd"

var embeddingPace = pace{
	queryTries: 2, passageTries: 4, first: 200 * time.Millisecond, most: 10 * time.Second,
	rest: 30 * time.Second,
}

// newBreaker leaves an endpoint alone for a while that failed several times in
// a row, so that nobody waits for it. The request that probes whether it
// is back is one of texts that nobody waits for, or one in the background of a question (probeInBackground).
func (h *Endpoint) newBreaker() *gobreaker.CircuitBreaker[[][]float32] {
	return gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Name: h.at.Host, MaxRequests: 1, Timeout: h.pace.rest,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToRest },
		IsSuccessful: func(err error) bool { return fault.KindOf(err) != fault.Unavailable },
		IsExcluded: func(err error) bool {
			return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, outbound.ErrStale)
		},
		OnStateChange: func(host string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen || from == gobreaker.StateHalfOpen {
				h.log.Info("embedding endpoint", "host", host, "breaker", to.String())
			}
		},
	})
}

// exchange has a batch of texts embedded, none of them empty. Its errors are
// fault.Unavailable, fault.Invalid when the endpoint refuses these texts and
// takes others, and that of ctx.
func (h *Endpoint) exchange(ctx context.Context, p Purpose, texts []string) ([][]float32, error) {
	if err := h.gate.enter(ctx, p); err != nil {
		return nil, err
	}
	defer h.gate.leave(p)
	if p == Query && h.breaker.State() == gobreaker.StateHalfOpen {
		h.probeInBackground()
		return nil, h.leftAlone()
	}
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
		return nil, h.leftAlone()
	}
	return vectors, err
}

func (h *Endpoint) leftAlone() error {
	return h.failure("failed several times and is left alone for a while")
}

// probeInBackground asks an endpoint whose circuit breaker is half open, while the question that came does without it.
func (h *Endpoint) probeInBackground() {
	if !h.probing.CompareAndSwap(false, true) {
		return
	}
	if !h.begin() {
		return
	}
	go func() {
		defer h.running.Done()
		defer h.probing.Store(false)
		_, _ = h.breaker.Execute(func() ([][]float32, error) { // how it went is in the status
			vectors, err := h.insist(h.life, Query, []string{probe})
			if h.life.Err() != nil {
				return nil, h.life.Err()
			}
			h.settled(vectors, err)
			return vectors, err
		})
	}()
}

// insist repeats a request that fails for a while. When the texts may be the
// reason it asks for something harmless to tell.
func (h *Endpoint) insist(ctx context.Context, p Purpose, texts []string) ([][]float32, error) {
	tries := h.pace.passageTries
	if p == Query {
		tries = h.pace.queryTries
	}
	vectors, err := repeat(ctx, h.pace, tries, func() ([][]float32, error) { return h.post(ctx, texts) })
	var r *refusal
	if known := h.dims(); err == nil && known > 0 && len(vectors[0]) != known {
		// The model may be another one, or these texts are some that it makes no such vectors of.
		r = senseless("sent vectors of %d dimensions, which has %d", len(vectors[0]), known)
	} else if !errors.As(err, &r) {
		return vectors, err
	}
	if r.Texts && ctx.Err() == nil {
		harmless, ill := h.post(ctx, []string{probe})
		if err == nil && (ill != nil || len(harmless[0]) != h.dims()) { // it has another model now
			return vectors, nil //nolint:nilerr // of the model that it has now the vectors are right
		}
		if ill == nil {
			return nil, fault.New(fault.Invalid, "the %s %s %s", h.Noun, h.at.Host, r.Fault.Msg).
				WithHint("it takes other texts; this one may be too long for its model")
		}
	}
	return nil, h.failureOf(r)
}

// dims are those of the last vectors, 0 for none yet.
func (h *Endpoint) dims() int {
	h.statusMu.Lock()
	defer h.statusMu.Unlock()
	if h.known == nil {
		return 0
	}
	return h.known.Dims
}

// post sends one request. Its errors are *refusal and that of ctx.
func (h *Endpoint) post(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := encodeRequest(h.model, texts)
	if err != nil {
		return nil, err
	}
	reply, err := h.send(ctx, body, maxReply)
	if err != nil {
		return nil, err
	}
	vectors, bad := decodeReply(reply, len(texts))
	if bad != nil {
		return nil, bad
	}
	return vectors, nil
}
