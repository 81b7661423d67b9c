//go:build unix

package shared_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

var ctx = context.Background()

const (
	writersEach   = 30 // clients of a daemon
	cellsEach     = 8  // of each kind, at a time
	refusedAgain  = 20 * time.Millisecond
	openForever   = math.MaxInt64
	callsEach     = 4000
	readsPerMille = 200
)

// history is what all clients were told.
type history struct {
	begun   time.Time
	clients atomic.Int64
	phase   atomic.Int64 // cells are others in each, so that no history of one is too long to check,
	drawn   atomic.Int64 // and after callsEach operations

	mu      sync.Mutex // of all below
	calls   map[string][]porcupine.Operation
	told    map[string]string // outcomes, by operation
	counts  map[string]int    // of outcomes
	reasons map[string]int    // of what was not done
	acks    []int64           // by daemon
	more    chan struct{}     // closed at the next acknowledgement
	lastAck time.Time
	longest time.Duration // without an acknowledgement, in all
	pause   time.Duration // the same, since disturb set it back
	wrong   []string
}

func newHistory() *history {
	return &history{
		begun: time.Now(), lastAck: time.Now(), calls: map[string][]porcupine.Operation{}, told: map[string]string{},
		counts: map[string]int{}, reasons: map[string]int{}, acks: make([]int64, daemons), more: make(chan struct{}),
	}
}

func (h *history) now() int64 { return int64(time.Since(h.begun)) }

// odd notes what must not happen.
func (h *history) odd(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = append(h.wrong, what)
}

// acknowledged returns how many writes of each daemon were acknowledged, and what is closed at
// the next one.
func (h *history) acknowledged() ([daemons]int64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return [daemons]int64(h.acks), h.more
}

// note keeps what a client was told.
func (h *history) note(client, daemon int, r request, out reply, call, end int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[out.Outcome]++
	if out.Error != "" {
		h.reasons[out.Outcome+": "+out.Error]++
	}
	if r.ID != "" {
		h.told[r.ID] = out.Outcome
	}
	switch out.Outcome {
	case refused, stale:
		return
	case wrong:
		h.wrong = append(h.wrong, r.Op+" "+r.Key+": "+out.Error)
		return
	case unknown:
		end = openForever // it may come at any time
	case done:
		if r.Op == "read" {
			h.counts["reads"]++
			break
		}
		h.acks[daemon]++
		h.pause = max(h.pause, time.Since(h.lastAck))
		h.longest = max(h.longest, h.pause)
		h.lastAck = time.Now()
		close(h.more)
		h.more = make(chan struct{})
	}
	h.calls[r.Key] = append(h.calls[r.Key], porcupine.Operation{ClientId: client, Input: r, Call: call, Output: out, Return: end})
}

// client does one operation after the other on a daemon until the end.
func (h *history) client(stop context.Context, daemon int, running func() *child, random *rand.Rand) {
	id := int(h.clients.Add(1))
	seen := map[string]int{} // versions of registers
	for n := 0; stop.Err() == nil; n++ {
		r := h.draw(random, seen)
		if r.Op != "read" {
			r.ID = fmt.Sprintf("%d-%d", id, n)
		}
		c := running()
		call := h.now()
		out, err := c.call(r)
		end := h.now()
		if err != nil {
			out = reply{Outcome: unknown, Error: err.Error()}
			if r.Op == "read" {
				out.Outcome = refused
			}
		}
		h.note(id, daemon, r, out, call, end)
		switch {
		case out.Outcome == done:
			seen[r.Key] = out.Cell.Version
			continue
		case out.Outcome == unknown: // this client says no more
			id, n = int(h.clients.Add(1)), 0
		case out.Outcome == differs:
			seen[r.Key] = out.Cell.Version
			continue
		}
		select {
		case <-time.After(refusedAgain):
		case <-stop.Done():
		}
	}
}

// draw chooses an operation.
func (h *history) draw(random *rand.Rand, seen map[string]int) request {
	cell := fmt.Sprintf("%d.%d/%d", h.phase.Load(), h.drawn.Add(1)/callsEach, random.IntN(cellsEach))
	r := request{Text: strconv.FormatUint(random.Uint64(), 36), Member: random.IntN(64)}
	switch random.IntN(8) {
	case 0, 1:
		r.Key, r.Op = "register "+cell, "write"
	case 2:
		r.Key, r.Op = "register "+cell, "swap"
		r.Version = seen[r.Key]
	case 3, 4:
		r.Key, r.Op = "set "+cell, "add"
	case 5:
		r.Key, r.Op = "set "+cell, "remove"
	default:
		r.Key, r.Op = "counter "+cell, "count"
	}
	if random.IntN(1000) < readsPerMille {
		r.Op = "read"
	}
	return r
}

// model says what one cell on one machine would answer.
var model = porcupine.Model{
	Init: func() any { return cell{} },
	Step: func(state, input, output any) (bool, any) {
		have, in, out := state.(cell), input.(request), output.(reply)
		next, changes := after(have, in)
		switch {
		case out.Outcome == unknown:
			return true, next
		case in.Op == "read":
			return out.Cell == have, have
		case out.Outcome == differs:
			return !changes, have
		default:
			return changes && out.Cell == next, next
		}
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(request), output.(reply)
		return strings.TrimSpace(fmt.Sprintf("%s %s v%d m%d -> %s %+v", in.Op, in.Text, in.Version, in.Member, out.Outcome, out.Cell))
	},
}
