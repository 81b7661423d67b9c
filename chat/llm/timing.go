package llm

import (
	"context"
	"math/rand/v2"
	"time"
)

// How long a provider may take. What takes longer ends as fault.Deadline.
const (
	connectTimeout         = 5 * time.Second
	firstByteTimeout       = 30 * time.Second
	firstByteOnThisMachine = 120 * time.Second // a model may have to be loaded
	idleTimeout            = 60 * time.Second  // between two pieces of an answer
	totalTimeout           = 300 * time.Second // of a call, with all its tries
)

// How a request is repeated.
const (
	tries        = 3
	firstPause   = 500 * time.Millisecond // at most; twice as long after each try
	longestPause = 8 * time.Second
	longestAsked = 30 * time.Second // that a provider may ask for by Retry-After
)

// Timing is time as providers see it. The zero value is that of the machine.
type Timing struct {
	Now func() time.Time
	// AfterFunc calls f in a goroutine of its own after d, unless stop is called before.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
	// Sleep waits for d or for the end of ctx, whose error it returns then.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter gives numbers from 0 to below 1.
	Jitter func() float64
}

// orSystem fills in what is not given.
func (t Timing) orSystem() Timing {
	if t.Now == nil {
		t.Now = time.Now
	}
	if t.AfterFunc == nil {
		t.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	if t.Sleep == nil {
		t.Sleep = Sleep
	}
	if t.Jitter == nil {
		t.Jitter = rand.Float64
	}
	return t
}

// Sleep waits, or returns the error of ctx when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause is how long to wait after a try, from 1: what the provider asks for, else any time
// up to a bound that doubles ("full jitter": many clients that failed together don't come
// back together).
func (t *Timing) pause(try int, asked *time.Duration) time.Duration {
	if asked != nil {
		return *asked
	}
	most := min(firstPause<<(try-1), longestPause)
	return time.Duration(t.Jitter() * float64(most))
}
