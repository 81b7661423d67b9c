package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	// heldBytes is how much may wait for a subscriber to read before its events
	// are held back and merged, until all of it has gone out: far less than what
	// a connection is closed for, so that nobody is for being told of changes.
	heldBytes = 256 << 10
	// listedIDs is how many ids one notification lists at most.
	listedIDs = 10_000
	// healthRound is how often the daemon looks at itself while somebody has
	// subscribed to health.changed: nobody tells it of a disk that fills up.
	healthRound = 30 * time.Second
)

// topicSet is a set of topics by their places in protocol.Topics.
type topicSet uint32

func topicBit(t protocol.Topic) topicSet { return 1 << slices.Index(protocol.Topics, t) }

var (
	notesBit    = topicBit(protocol.TopicNotes)
	entitiesBit = topicBit(protocol.TopicEntities)
	indexBit    = topicBit(protocol.TopicIndex)
	healthBit   = topicBit(protocol.TopicHealth)
)

// list returns the topics of a set by name.
func (s topicSet) list() []protocol.Topic {
	out := []protocol.Topic{}
	for i, t := range protocol.Topics {
		if s&(1<<i) != 0 {
			out = append(out, t)
		}
	}
	return out
}

// events tells the connections that subscribed of what happens. A commit only
// notes what it changed; a goroutine, which lives while anybody is subscribed,
// encodes it once and sends it to all.
type events struct {
	wanted [4]atomic.Int32 // subscribers by topic
	round  time.Duration   // of looking at the health

	mu      sync.Mutex // guards what follows
	subs    []*subscriber
	queue   []event
	running bool
	suspect bool // the health may have changed
	told    verdict

	wake   chan struct{}
	assess func() protocol.Health
}

func newEvents(health func() protocol.Health) *events {
	return &events{wake: make(chan struct{}, 1), round: healthRound, assess: health}
}

// subscriber is a connection with at least one topic.
type subscriber struct {
	session *Session
	topics  atomic.Uint32 // a topicSet; changed under events.mu
	held    *held         // events that wait; of the goroutine of events
	holding atomic.Bool   // held is not nil
	poke    func()        // wakes that goroutine
}

// set returns the topics that the subscriber has; none of nil.
func (s *subscriber) set() topicSet {
	if s == nil {
		return 0
	}
	return topicSet(s.topics.Load())
}

// commit is the part of events in a commit: it is short. It is registered when
// every room that stands on the store is open, before the first change that is
// to be told of.
func (e *events) commit(cs *kv.ChangeSet) {
	var list []event
	if e.wants(notesBit) {
		list = noteEvents(cs)
	}
	if e.wants(entitiesBit) {
		list = append(list, entityEvents(cs)...)
	}
	e.publish(list...)
}

func (e *events) wants(topic topicSet) bool {
	for i := range e.wanted {
		if topic&(1<<i) != 0 && e.wanted[i].Load() > 0 {
			return true
		}
	}
	return false
}

// publish hands events to the goroutine that sends them.
func (e *events) publish(list ...event) {
	if len(list) == 0 {
		return
	}
	e.mu.Lock()
	if len(e.subs) > 0 {
		e.queue = append(e.queue, list...)
	}
	e.mu.Unlock()
	e.poke()
}

func (e *events) poke() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// allChanged tells that every record may be another than before.
func (e *events) allChanged(seq uint64) {
	for _, topic := range []topicSet{notesBit, entitiesBit} {
		e.publish(event{topic: topic, kind: protocol.ChangeMany, seq: seq})
	}
}

// suspectHealth has the health looked at soon, because it may be another.
func (e *events) suspectHealth() {
	if !e.wants(healthBit) {
		return
	}
	e.mu.Lock()
	e.suspect = true
	e.mu.Unlock()
	e.poke()
}

// change gives a session other topics: those that it has, as edit makes of
// them. It returns what is then in effect.
func (e *events) change(s *Session, edit func(topicSet) topicSet) []protocol.Topic {
	e.mu.Lock()
	defer e.mu.Unlock()
	sub := s.subscribed.Load()
	old := sub.set()
	now := edit(old)
	if s.conn.ctx.Err() != nil {
		now = 0 // its end may have been seen to already
	}
	e.count(old, now)
	switch {
	case old == 0 && now != 0:
		e.add(s, now)
	case old != 0:
		sub.topics.Store(uint32(now))
		if now == 0 {
			e.subs = slices.DeleteFunc(slices.Clone(e.subs), func(other *subscriber) bool { return other == sub })
			e.poke()
		}
	}
	return now.list()
}

// add makes a subscriber of a session. mu is held.
func (e *events) add(s *Session, topics topicSet) {
	sub := &subscriber{session: s, poke: e.poke}
	sub.topics.Store(uint32(topics))
	e.subs = append(slices.Clip(e.subs), sub)
	if s.subscribed.Swap(sub) == nil {
		// Runs at once when the connection is gone already, and waits for mu.
		context.AfterFunc(s.conn.ctx, func() { e.change(s, func(topicSet) topicSet { return 0 }) })
	}
	if !e.running {
		e.running = true
		go e.run()
	}
	e.poke()
}

// count keeps the numbers of subscribers. mu is held.
func (e *events) count(old, now topicSet) {
	for i := range e.wanted {
		switch bit := topicSet(1 << i); {
		case now&bit > old&bit:
			e.wanted[i].Add(1)
		case now&bit < old&bit:
			e.wanted[i].Add(-1)
		}
	}
}

// run sends events until nobody is subscribed.
func (e *events) run() {
	ticker := time.NewTicker(e.round)
	defer ticker.Stop()
	for {
		queue, subs, suspect := e.take()
		if subs == nil {
			return
		}
		for i := range queue {
			deliver(&queue[i], subs)
		}
		for _, sub := range subs {
			sub.release()
		}
		if suspect {
			e.look()
			continue
		}
		var tick <-chan time.Time
		if e.wants(healthBit) {
			tick = ticker.C
		}
		select {
		case <-e.wake:
		case <-tick:
			e.suspectHealth()
		}
	}
}

// take returns what there is to do, nil without subscribers: run then ends.
func (e *events) take() (queue []event, subs []*subscriber, suspect bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	queue, suspect = e.queue, e.suspect
	e.queue, e.suspect = nil, false
	if len(e.subs) == 0 {
		e.running = false
		return nil, nil, false
	}
	return queue, e.subs, suspect
}

// deliver sends an event to those that want it.
func deliver(ev *event, subs []*subscriber) {
	var enc *encoder
	for _, sub := range subs {
		switch {
		case sub.set()&ev.topic == 0:
		case sub.mustHold():
			sub.held.add(ev)
		default:
			if enc == nil {
				var err error
				if enc, err = encode(ev.payload()); err != nil {
					return // plain values can be encoded
				}
			}
			sub.send(ev.method(), enc.bytes())
		}
	}
	if enc != nil {
		enc.release()
	}
}

func (s *subscriber) send(method string, params []byte) {
	if s.session.current() == active {
		s.session.conn.push(method, params)
	}
}

// mustHold reports whether events wait, and begins to hold them back when the
// connection has too much to read already.
func (s *subscriber) mustHold() bool {
	if s.held == nil {
		c := s.session.conn
		if waiting, _ := c.out.backlog(); waiting <= min(heldBytes, c.srv.limits.OutboundBytes/4) {
			return false
		}
		s.held = newHeld()
		s.holding.Store(true)
	}
	return true
}

// release sends what was held back when everything before it has gone out. The
// outbound pokes when it runs empty, after which its backlog is none: one of
// the two sees the other.
func (s *subscriber) release() {
	if s.held == nil {
		return
	}
	if waiting, _ := s.session.conn.out.backlog(); waiting > 0 {
		return
	}
	list := s.held.events()
	s.held = nil
	s.holding.Store(false)
	for i := range list {
		deliver(&list[i], []*subscriber{s})
	}
}

// push sends a notification whose params are JSON already.
func (c *connection) push(method string, params []byte) {
	c.emit(func(b []byte) []byte {
		b = append(b, `{"jsonrpc":"2.0","method":`...)
		b = appendText(b, method)
		b = append(b, `,"params":`...)
		b = append(b, params...)
		return append(b, '}')
	})
}

// emptied is called when everything that waited for the client has gone out.
func (c *connection) emptied() {
	c.checkDrained()
	if sub := c.session.subscribed.Load(); sub != nil && sub.holding.Load() {
		sub.poke()
	}
}

// verdict is the part of the health whose change is told.
type verdict struct {
	status   string
	warnings []string
}

// look tells the subscribers when the health is not what they know.
func (e *events) look() {
	h := e.assess()
	v := verdict{h.Status, h.Warnings}
	e.mu.Lock()
	changed := v.status != e.told.status || !slices.Equal(v.warnings, e.told.warnings)
	e.told = v
	e.mu.Unlock()
	if changed {
		e.publish(event{topic: healthBit, params: h})
	}
}

// begin notes what the first subscriber to the health can find out by itself.
func (e *events) begin() {
	h := e.assess()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.wants(healthBit) {
		e.told = verdict{h.Status, h.Warnings}
	}
}

// indexGap is the least time between two reports of a stage.
const indexGap = 100 * time.Millisecond

// indexing returns what the reading of one vault is to call as it comes on. It
// may not be used concurrently.
func (e *events) indexing() func(protocol.IndexProgress) {
	var last protocol.IndexProgress
	var at time.Time
	return func(p protocol.IndexProgress) {
		if !e.wants(indexBit) {
			return
		}
		now := time.Now()
		if p.Stage == last.Stage && p.Done != p.Total && now.Sub(at) < indexGap {
			return
		}
		last, at = p, now
		e.publish(event{topic: indexBit, params: p})
	}
}

// reading returns what the followers of vaults are to call as they read. It may
// be used concurrently.
func (e *events) reading() func(vault, stage string, done, total int) {
	var mu sync.Mutex
	tell := make(map[string]func(protocol.IndexProgress)) // by vault
	return func(vault, stage string, done, total int) {
		if !e.wants(indexBit) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if tell[vault] == nil {
			tell[vault] = e.indexing()
		}
		tell[vault](protocol.IndexProgress{Stage: stage, Done: int64(done), Total: int64(total), Vault: vault})
	}
}

// parseTopics returns the set that a client names.
func parseTopics(names []protocol.Topic) (set topicSet, err error) {
	for i, name := range names {
		at := slices.Index(protocol.Topics, name)
		if at < 0 {
			return 0, unknownTopic(i, name)
		}
		set |= 1 << at
	}
	return set, nil
}

func unknownTopic(i int, name protocol.Topic) error {
	names := make([]string, len(protocol.Topics))
	for i, t := range protocol.Topics {
		names[i] = string(t)
	}
	field := fmt.Sprintf("topics[%d]", i)
	return fault.Field(field, "%s is no topic: %q", field, clip(string(name))).WithHint("the topics are %s", strings.Join(names, ", "))
}

func eventsSubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	if set&healthBit != 0 {
		s.conn.srv.events.begin()
	}
	return protocol.EventTopics{Topics: s.conn.srv.events.change(s, func(had topicSet) topicSet { return had | set })}, nil
}

func eventsUnsubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	return protocol.EventTopics{Topics: s.conn.srv.events.change(s, func(had topicSet) topicSet { return had &^ set })}, nil
}

// HealthChanged has those who subscribed to health.changed told soon, if the
// health is another than they know. It may be called at any time, and waits for
// nothing.
func (s *Server) HealthChanged() { s.events.suspectHealth() }
