package rpc

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// phase is where a connection stands in its life.
type phase uint8

const (
	fresh  phase = iota // before initialize
	active              // after it
	ending              // after shutdown
)

// Session is what handlers know of the connection that a call came on. It may
// be used concurrently.
type Session struct {
	id   uint64
	conn *connection

	mu        sync.Mutex // guards what follows
	phase     phase
	client    protocol.PeerInfo
	processID int
	framing   string

	subscribed atomic.Pointer[subscriber] // nil before events.subscribe; set by events
}

// ID returns the number of the connection, unique while the daemon runs.
func (s *Session) ID() uint64 { return s.id }

// Client returns the program at the other end as it named itself, the zero
// value before initialize.
func (s *Session) Client() protocol.PeerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// ProcessID returns the client's process, 0 when it did not say.
func (s *Session) ProcessID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processID
}

// describe fills in what the client said of itself.
func (s *Session) describe(out *protocol.Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Client, out.PID, out.Framing = s.client, s.processID, s.framing
}

// Done is closed when the connection ends.
func (s *Session) Done() <-chan struct{} { return s.conn.ctx.Done() }

// Notify sends a notification to the client. It does not wait for the client
// to read it, and drops it when the connection has not been initialized or has
// ended. The error is that of encoding params.
func (s *Session) Notify(method string, params any) error {
	if s.current() == fresh {
		return nil
	}
	return s.conn.notify(method, params)
}

func (s *Session) current() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase
}

// enter moves the session to a phase and reports whether it was in from.
func (s *Session) enter(from, to phase) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != from {
		return false
	}
	s.phase = to
	return true
}

// progressGap is the least time between two reports of one call, so that a job
// that reports every record does not fill the socket.
const progressGap = 50 * time.Millisecond

type progressKey struct{}

// progress sends $/progress for one call.
type progress struct {
	call  *call
	token json.RawMessage

	mu          sync.Mutex // guards what follows
	last        time.Time
	done, total int64
	message     string
}

func newProgress(k *call, token []byte) *progress {
	return &progress{call: k, token: token}
}

// Report tells the caller how far a call has come: what is being done, how many
// units are done and how many there are in all (0: unknown). It costs nothing
// when the caller did not ask with a progressToken, and drops reports that
// follow each other within 50 ms.
func Report(ctx context.Context, message string, done, total int64) {
	p, ok := ctx.Value(progressKey{}).(*progress)
	if !ok {
		return
	}
	now := time.Now()
	p.mu.Lock()
	p.message, p.done, p.total = message, done, total
	due := now.Sub(p.last) >= progressGap
	if due {
		p.last = now
	}
	p.mu.Unlock()
	if due {
		p.send(protocol.ProgressReport, message, done, total)
	}
}

// end closes the row of reports with the last figures, dropped ones included.
func (p *progress) end() {
	p.mu.Lock()
	message, done, total := p.message, p.done, p.total
	p.mu.Unlock()
	p.send(protocol.ProgressEnd, message, done, total)
}

func (p *progress) send(kind, message string, done, total int64) {
	// Encoding plain values can't fail; a connection that ended needs no report.
	_ = p.call.conn.notify(protocol.NotifyProgress, protocol.Progress{
		Token: p.token, Kind: kind, Message: message, Done: done, Total: total,
	})
}
