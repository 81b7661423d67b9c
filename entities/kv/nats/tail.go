package nats

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What of the newest messages is kept, so that reading them asks nobody.
const (
	keptMessages = 256
	keptBytes    = 16 << 20
)

// How the consumer of the newest messages is watched.
const (
	heartbeat  = time.Second      // how often a server says that nothing is new
	followIdle = 30 * time.Second // after so long a server forgets a consumer that nobody asks
)

// tail keeps the newest messages and wakes who waits for more.
type tail struct {
	mu    sync.Mutex // of all below
	kept  map[uint64][]byte
	order []uint64
	bytes int
	more  chan struct{} // closed at the next message

	follows bool   // there was a consumer
	newest  uint64 // sequence behind which it brings everything, or of what it has brought
}

func newTail() *tail { return &tail{kept: make(map[uint64][]byte), more: make(chan struct{})} }

// add keeps a message and wakes who waits.
func (t *tail) add(seq uint64, message []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = max(t.newest, seq)
	if _, there := t.kept[seq]; !there {
		t.kept[seq] = message
		t.order = append(t.order, seq)
		t.bytes += len(message)
	}
	for len(t.order) > keptMessages || t.bytes > keptBytes && len(t.order) > 1 {
		oldest := t.order[0]
		t.order = t.order[1:]
		t.bytes -= len(t.kept[oldest])
		delete(t.kept, oldest)
	}
	close(t.more)
	t.more = make(chan struct{})
}

// get returns a message that is kept.
func (t *tail) get(seq uint64) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.kept[seq]
	return m, ok
}

// begin notes that everything behind a sequence is on its way.
func (t *tail) begin(seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follows, t.newest = true, max(t.newest, seq)
}

// isEnd reports whether nothing is known behind a sequence, and what comes will be brought.
func (t *tail) isEnd(seq uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.follows && seq >= t.newest
}

// next is closed when another message comes.
func (t *tail) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more
}

// follow signals new messages until ctx ends. A consumer that breaks is made anew where the
// last one ended.
func (l *Log) follow(ctx context.Context) {
	var from uint64
	for ctx.Err() == nil {
		l.followOnce(ctx, &from)
		wait := time.NewTimer(reconnectWait)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// followOnce follows from a sequence, 0 for the end as it is, until the consumer breaks or is
// not heard. One of the client that repairs itself takes half a minute for that, in which every
// message would be asked for when it is needed: a machine that has to do so comes too late with
// everything that it appends, as long as others write.
func (l *Log) followOnce(ctx context.Context, from *uint64) {
	if !l.Connected() {
		return
	}
	begin, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	s, err := l.js.Stream(begin, l.id.names().stream)
	if err != nil {
		return // the next try finds out; who reads or writes is told
	}
	if *from == 0 {
		*from = s.CachedInfo().State.LastSeq + 1
	}
	c, err := s.CreateConsumer(begin, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: *from, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: followIdle,
	})
	if err != nil {
		return
	}
	messages, err := c.Messages(jetstream.PullMaxBytes(keptBytes), jetstream.PullExpiry(followIdle), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	defer messages.Stop()
	l.tail.begin(*from - 1)
	l.follows.Store(true)
	defer l.follows.Store(false)
	l.signal()
	for {
		m, err := messages.Next() // an error, too, when nothing was heard for two heartbeats
		if err != nil {
			return
		}
		meta, err := m.Metadata()
		if err != nil {
			return
		}
		*from = meta.Sequence.Stream + 1
		l.tail.add(meta.Sequence.Stream, m.Data())
		l.signal()
	}
}
