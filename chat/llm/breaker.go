package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// When a circuit breaker opens, and for how long. A library for this lets a request probe whether the provider is back;
// here no request waits for a probe: the server is asked for its models in the background, which costs nothing.
const (
	failuresToOpen = 3 // in a row
	openTime       = 30 * time.Second
	mostProbes     = 20 // in a row; after them requests are let through again
)

// breaker is a provider that is not asked for a while when it fails several times in a row.
type breaker struct {
	Provider
	remote *remote
	time   Timing

	mu     sync.Mutex // guards what follows
	failed int        // in a row
	open   bool       // it is not asked
	last   error      // why
	until  time.Time  // of the next probe
	probes int        // since it is open
	stop   func() bool
	closed bool
}

func newBreaker(p Provider, t Timing) Provider {
	r := remoteOf(p)
	if r == nil {
		return p
	}
	return &breaker{Provider: p, remote: r, time: t.orSystem()}
}

// Stream asks, unless the breaker is open: the error is then fault.Unavailable, which passes.
func (p *breaker) Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error) {
	if err := p.why(); err != nil {
		return Answer{Finish: Interrupted}, err
	}
	a, err := p.Provider.Stream(ctx, r, emit)
	var f *fault.Error
	passes := errors.As(err, &f) && f.Retryable || fault.KindOf(err) == fault.Deadline
	switch {
	case err == nil && !a.NoProvider:
		p.mu.Lock()
		p.failed = 0
		p.mu.Unlock()
	case a.Finish == Interrupted && passes: // a key that is wrong, or a model that is not there, is no failure of it
		p.fail(err)
	}
	return a, err
}

// why is why the provider is not asked; nil when it is.
func (p *breaker) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		return nil
	}
	e := fault.New(fault.Unavailable, "the provider %s has failed %d times in a row, and is not asked for %d s: %s",
		p.remote.o.Name, failuresToOpen, max(1, int(p.until.Sub(p.time.Now()).Seconds()+0.5)), fault.Message(p.last))
	e.Retryable = true
	return e.WithHint("%s", hintOr(p.last, fmt.Sprintf("a probe is made every %d s; ctxd chat providers --probe tells whether its server is there",
		int(openTime.Seconds()))))
}

func hintOr(err error, other string) string {
	if h := hintOf(err); h != "" {
		return h
	}
	return other
}

// fail counts a failure, and opens the breaker after the third.
func (p *breaker) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	p.last = err
	if p.failed < failuresToOpen || p.open || p.closed {
		return
	}
	p.open, p.probes = true, 0
	p.probeLater()
}

// probeLater probes after openTime. It is called with mu held.
func (p *breaker) probeLater() {
	p.until = p.time.Now().Add(openTime)
	p.stop = p.time.AfterFunc(openTime, p.probe)
}

// probe asks the server for its models, and closes the breaker when it answers, whatever it says.
func (p *breaker) probe() {
	offer, _ := p.remote.offer(context.Background()) // bounded by probeTimeout
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probes++
	switch {
	case p.closed:
	case offer.Reached || p.probes >= mostProbes:
		p.open, p.failed = false, 0
	default:
		p.probeLater()
	}
}

// Close ends the probes as well.
func (p *breaker) Close() {
	p.mu.Lock()
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
	p.mu.Unlock()
	p.Provider.Close()
}
