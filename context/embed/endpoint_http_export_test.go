package embed

import (
	"net"
	"time"

	"github.com/ctxd/ctxd/context/outbound"
)

// Hasten has failed requests repeated, and a failing endpoint asked again, after
// next to no time. Call it before the first request.
func (h *Endpoint) Hasten() {
	h.pace = pace{queryTries: 2, passageTries: 4, first: time.Millisecond, most: 5 * time.Millisecond, rest: time.Millisecond}
	h.breaker = h.newBreaker()
}

// RetryAfter reads the header of that name.
func RetryAfter(text string, now time.Time, most time.Duration) (time.Duration, bool) {
	wait := outbound.RetryAfter(text, now, most)
	if wait == nil {
		return 0, false
	}
	return *wait, true
}

// Rest sets how long an endpoint that failed is left alone.
func (h *Endpoint) Rest(d time.Duration) {
	h.pace.rest = d
	h.breaker = h.newBreaker()
}

// DecodeReply reads the vectors of a reply, nil when it is wrong.
func DecodeReply(body []byte, count int) [][]float32 {
	vectors, err := decodeReply(body, count)
	if err != nil {
		return nil
	}
	return vectors
}

// ResolveBy has names looked up by r. Call it before the first request.
func (h *Endpoint) ResolveBy(r *net.Resolver) { h.dialer.Resolver = r }

// Hasten has failed requests repeated after next to no time, and a failing endpoint
// left alone for so long. Call it before the first request.
func (r *RerankEndpoint) Hasten(rest time.Duration) {
	r.pace.first, r.pace.most, r.pace.rest = time.Millisecond, 5*time.Millisecond, rest
	r.breaker = r.newBreaker()
}

// DecodeRanks reads the scores of a reply, nil when it is wrong.
func DecodeRanks(body []byte, count int, scale ScoreScale) []float32 {
	scores, err := decodeRanks(body, count, scale)
	if err != nil {
		return nil
	}
	return scores
}
