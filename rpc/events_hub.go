package rpc

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	// MaxHeldEventBytes is how much may wait for a subscriber to read before its events
	// are held back and merged, until all of it has gone out: far less than what
	// a connection is closed for, so that being told of changes closes none.
	MaxHeldEventBytes = 256 << 10
	// MaxListedIDs is how many ids one notification lists at most.
	MaxListedIDs = 10_000
	// healthRound is how often the daemon looks at itself while somebody has
	// subscribed to health.changed: nobody tells it of a disk that fills up.
	healthRound = 30 * time.Second
)

// eventHub tells the connections that subscribed of what happens. A commit only
// notes what it changed; a goroutine, which lives while anybody is subscribed,
// encodes it once and sends it to all.
type eventHub struct {
	// Health finds out how the daemon is, as a reader is told of it, and Round is how
	// often it is asked while somebody has subscribed to health.changed. They may be
	// set before anybody subscribes.
	Health func(audience.Reader) protocol.Health
	Round  time.Duration

	encoder *jsonrpc.Encoder
	holds   int64                             // the bytes that may wait before events are held back
	wanted  [protocol.TopicCount]atomic.Int32 // subscribers

	mu      sync.Mutex // guards what follows
	subs    []*subscriber
	queue   []event
	running bool
	suspect bool // the health may have changed
	told    map[audience.Reader]verdict

	wake chan struct{}
}

// newEventHub returns a hub without subscribers. The encoder is that of replies, outbound how
// many bytes may wait on a connection before it is closed, and health finds out how the
// daemon is.
func newEventHub(encoder *jsonrpc.Encoder, outbound int64, health func(audience.Reader) protocol.Health) *eventHub {
	return &eventHub{
		Health: health, Round: healthRound, encoder: encoder, holds: min(MaxHeldEventBytes, outbound/4),
		told: make(map[audience.Reader]verdict), wake: make(chan struct{}, 1),
	}
}

// Commit is the part of events in a commit: it is short. It is registered when
// every room that stands on the store is open, before the first change that is
// to be told of. remote is what a remote reader may see.
func (h *eventHub) Commit(cs *kv.ChangeSet, remote *audience.View, stored storedMemory) {
	var list []event
	for i := range recordTopics {
		if h.wants(recordTopics[i].topic) {
			list = append(list, recordTopics[i].changes(cs, remote, stored)...)
		}
	}
	h.publish(list...)
}

func (h *eventHub) wants(topic protocol.TopicNumber) bool { return h.wanted[topic].Load() > 0 }

// publish hands events to the goroutine that sends them.
func (h *eventHub) publish(list ...event) {
	if len(list) == 0 {
		return
	}
	h.mu.Lock()
	if len(h.subs) > 0 {
		h.queue = append(h.queue, list...)
	}
	h.mu.Unlock()
	h.poke()
}

func (h *eventHub) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Subscribers returns how many connections have a topic.
func (h *eventHub) Subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subs)
}

// AllChanged tells that every record may be another than before.
func (h *eventHub) AllChanged(seq uint64) {
	for i := range recordTopics {
		h.publish(event{topic: recordTopics[i].topic, kind: protocol.ChangeMany, seq: seq})
	}
}

// SuspectHealth has the health looked at soon, because it may be another. It may be
// called at any time, and waits for nothing.
func (h *eventHub) SuspectHealth() {
	if !h.wants(protocol.HealthTopic) {
		return
	}
	h.mu.Lock()
	h.suspect = true
	h.mu.Unlock()
	h.poke()
}

// change gives a subscription other topics: those that it has, as edit makes of
// them. It returns what is then in effect.
func (h *eventHub) change(s *eventSubscription, edit func(topicSet) topicSet) []protocol.Topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub := s.current.Load()
	old := sub.set()
	now := edit(old)
	if s.conn.Context().Err() != nil {
		now = 0 // its end may have been seen to already
	}
	h.count(old, now)
	switch {
	case old == 0 && now != 0:
		h.add(s, now)
	case old != 0:
		sub.topics.Store(uint32(now))
		if now == 0 {
			h.subs = slices.DeleteFunc(slices.Clone(h.subs), func(other *subscriber) bool { return other == sub })
			h.poke()
		}
	}
	return now.list()
}

// add makes a subscriber of a subscription. mu is held.
func (h *eventHub) add(s *eventSubscription, topics topicSet) {
	sub := &subscriber{of: s}
	sub.topics.Store(uint32(topics))
	h.subs = append(slices.Clip(h.subs), sub)
	if s.current.Swap(sub) == nil {
		// Runs at once when the connection is gone already, and waits for mu.
		context.AfterFunc(s.conn.Context(), func() { h.change(s, func(topicSet) topicSet { return 0 }) })
	}
	if !h.running {
		h.running = true
		go h.run()
	}
	h.poke()
}

// count keeps the numbers of subscribers. mu is held.
func (h *eventHub) count(old, now topicSet) {
	for i := range h.wanted {
		bit := setOf(protocol.TopicNumber(i))
		switch {
		case now&bit > old&bit:
			h.wanted[i].Add(1)
		case now&bit < old&bit:
			h.wanted[i].Add(-1)
		}
	}
}

// run sends events until nobody is subscribed.
func (h *eventHub) run() {
	ticker := time.NewTicker(h.Round)
	defer ticker.Stop()
	for {
		queue, subs, suspect := h.take()
		if subs == nil {
			return
		}
		for i := range queue {
			h.deliver(&queue[i], subs)
		}
		for _, sub := range subs {
			sub.release()
		}
		if suspect {
			h.look()
			continue
		}
		var tick <-chan time.Time
		if h.wants(protocol.HealthTopic) {
			tick = ticker.C
		}
		select {
		case <-h.wake:
		case <-tick:
			h.SuspectHealth()
		}
	}
}

// take returns what there is to do, nil without subscribers: run then ends.
func (h *eventHub) take() (queue []event, subs []*subscriber, suspect bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue, suspect = h.queue, h.suspect
	h.queue, h.suspect = nil, false
	if len(h.subs) == 0 {
		h.running = false
		return nil, nil, false
	}
	return queue, h.subs, suspect
}

// readers are all kinds of reader.
var readers = [...]audience.Reader{audience.Local, audience.Remote}

// verdict is the part of the health whose change is told.
type verdict struct {
	status   string
	warnings []string
}

// look tells the subscribers when the health is not what they know.
func (h *eventHub) look() {
	for _, reader := range readers {
		now := h.Health(reader)
		v := verdict{now.Status, now.Warnings}
		h.mu.Lock()
		told := h.told[reader]
		h.told[reader] = v
		h.mu.Unlock()
		if v.status != told.status || !slices.Equal(v.warnings, told.warnings) {
			h.publish(event{topic: protocol.HealthTopic, params: now, only: reader})
		}
	}
}

// begin notes what the first subscriber to the health can find out by itself.
func (h *eventHub) begin() {
	for _, reader := range readers {
		now := h.Health(reader)
		h.mu.Lock()
		if !h.wants(protocol.HealthTopic) {
			h.told[reader] = verdict{now.Status, now.Warnings}
		}
		h.mu.Unlock()
	}
}

// indexGap is the least time between two reports of a stage.
const indexGap = 100 * time.Millisecond

// Indexing returns what the reading of one vault is to call as it comes on. It
// may not be used concurrently.
func (h *eventHub) Indexing() func(protocol.IndexProgress) {
	var last protocol.IndexProgress
	var at time.Time
	return func(p protocol.IndexProgress) {
		if !h.wants(protocol.IndexTopic) {
			return
		}
		now := time.Now()
		if p.Stage == last.Stage && p.Done != p.Total && now.Sub(at) < indexGap {
			return
		}
		last, at = p, now
		// Without its counts it would still tell a remote reader when something private is read.
		h.publish(event{topic: protocol.IndexTopic, params: p, only: audience.Local})
	}
}

// Reading returns what the followers of vaults are to call as they read. It may
// be used concurrently.
func (h *eventHub) Reading() func(vault, stage string, done, total int) {
	var mu sync.Mutex
	tell := make(map[string]func(protocol.IndexProgress)) // by vault
	return func(vault, stage string, done, total int) {
		if !h.wants(protocol.IndexTopic) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if tell[vault] == nil {
			tell[vault] = h.Indexing()
		}
		tell[vault](protocol.IndexProgress{Stage: stage, Done: int64(done), Total: int64(total), Vault: vault})
	}
}
