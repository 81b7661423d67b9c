package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// How long a provider that fails is left alone. A library for this lets a request try whether it is over; here nobody
// waits for that: the server is looked for beside, which costs nothing.
const (
	failuresToRest = 3 // in a row
	restTime       = 30 * time.Second
	mostLooks      = 20 // in a row; behind them requests are let through again
)

// resting is a provider that is left alone for a while when it fails several times in a row.
type resting struct {
	Provider
	remote *remote
	time   Timing

	mu     sync.Mutex // guards what follows
	failed int        // in a row
	open   bool       // it is left alone
	last   error      // why
	until  time.Time  // of the next look
	looks  int        // since it is left alone
	stop   func() bool
	closed bool
}

func rest(p Provider, t Timing) Provider {
	r := remoteOf(p)
	if r == nil {
		return p
	}
	return &resting{Provider: p, remote: r, time: t.orSystem()}
}

// Stream asks, unless the provider is left alone: the error is then fault.Unavailable, which passes.
func (p *resting) Stream(ctx context.Context, r *Request, emit func(Delta) error) (Answer, error) {
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

// why is why the provider is left alone; nil when it is not.
func (p *resting) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		return nil
	}
	e := fault.New(fault.Unavailable, "the provider %s has failed %d times in a row, and is left alone for %d s: %s",
		p.remote.o.Name, failuresToRest, max(1, int(p.until.Sub(p.time.Now()).Seconds()+0.5)), fault.Message(p.last))
	e.Retryable = true
	return e.WithHint("%s", hintOr(p.last, fmt.Sprintf("it is looked for every %d s; ctxd chat providers --probe tells whether its server is there",
		int(restTime.Seconds()))))
}

func hintOr(err error, other string) string {
	if h := hintOf(err); h != "" {
		return h
	}
	return other
}

// fail counts a failure, and leaves the provider alone when it was the last one that is borne.
func (p *resting) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	p.last = err
	if p.failed < failuresToRest || p.open || p.closed {
		return
	}
	p.open, p.looks = true, 0
	p.lookLater()
}

// lookLater has the server be looked for behind the rest. It is called with mu held.
func (p *resting) lookLater() {
	p.until = p.time.Now().Add(restTime)
	p.stop = p.time.AfterFunc(restTime, p.look)
}

// look asks the server for its models. Whatever it says, it is there.
func (p *resting) look() {
	offer, _ := p.remote.offer(context.Background()) // bounded by probeTimeout
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	switch {
	case p.closed:
	case offer.Reached || p.looks >= mostLooks:
		p.open, p.failed = false, 0
	default:
		p.lookLater()
	}
}

// Close ends the looking as well.
func (p *resting) Close() {
	p.mu.Lock()
	p.closed = true
	if p.stop != nil {
		p.stop()
	}
	p.mu.Unlock()
	p.Provider.Close()
}
