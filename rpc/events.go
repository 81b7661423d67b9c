package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/wirejson"
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

// topicSet is a set of topics, a bit for each number.
type topicSet uint32

func setOf(t protocol.TopicNumber) topicSet { return 1 << t }

func (s topicSet) has(t protocol.TopicNumber) bool { return s&setOf(t) != 0 }

// list returns the topics of a set by name.
func (s topicSet) list() []protocol.Topic {
	out := []protocol.Topic{}
	for i, t := range protocol.Topics {
		if s.has(protocol.TopicNumber(i)) {
			out = append(out, t)
		}
	}
	return out
}

// events tells the connections that subscribed of what happens. A commit only
// notes what it changed; a goroutine, which lives while anybody is subscribed,
// encodes it once and sends it to all.
type events struct {
	wanted [protocol.TopicCount]atomic.Int32 // subscribers
	round  time.Duration                     // of looking at the health

	mu      sync.Mutex // guards what follows
	subs    []*subscriber
	queue   []event
	running bool
	suspect bool // the health may have changed
	told    map[audience.Reader]verdict

	wake   chan struct{}
	assess func(audience.Reader) protocol.Health
}

func newEvents(health func(audience.Reader) protocol.Health) *events {
	return &events{
		wake: make(chan struct{}, 1), round: healthRound, assess: health,
		told: make(map[audience.Reader]verdict),
	}
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
// to be told of. remote is what a remote reader may see.
func (e *events) commit(cs *kv.ChangeSet, remote *audience.View) {
	var list []event
	for i := range recordTopics {
		if e.wants(recordTopics[i].topic) {
			list = append(list, recordTopics[i].changes(cs, remote)...)
		}
	}
	e.publish(list...)
}

func (e *events) wants(topic protocol.TopicNumber) bool { return e.wanted[topic].Load() > 0 }

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
	for i := range recordTopics {
		e.publish(event{topic: recordTopics[i].topic, kind: protocol.ChangeMany, seq: seq})
	}
}

// suspectHealth has the health looked at soon, because it may be another.
func (e *events) suspectHealth() {
	if !e.wants(protocol.HealthTopic) {
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
	if s.conn.Context().Err() != nil {
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
		context.AfterFunc(s.conn.Context(), func() { e.change(s, func(topicSet) topicSet { return 0 }) })
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
		bit := setOf(protocol.TopicNumber(i))
		switch {
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
		if e.wants(protocol.HealthTopic) {
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
	for _, reader := range readers {
		if ev.forReader(reader) {
			deliverTo(reader, ev, subs)
		}
	}
}

// deliverTo sends an event to those that want it and that are of one reader.
func deliverTo(reader audience.Reader, ev *event, subs []*subscriber) {
	var enc *wirejson.Buffer
	for _, sub := range subs {
		switch {
		case !sub.set().has(ev.topic) || sub.session.Reader() != reader:
		case sub.mustHold():
			sub.held.add(ev)
		default:
			if enc == nil {
				var err error
				enc, err = encoder.Encode(ev.payload(reader))
				if err != nil {
					return // plain values can be encoded
				}
			}
			sub.send(ev.method(), enc.Bytes())
		}
	}
	if enc != nil {
		enc.Release()
	}
}

func (s *subscriber) send(method string, params []byte) {
	if s.session.conn.Active() {
		s.session.conn.Push(method, params)
	}
}

// mustHold reports whether events wait, and begins to hold them back when the
// connection has too much to read already.
func (s *subscriber) mustHold() bool {
	if s.held == nil {
		if s.session.conn.Backlog() <= min(heldBytes, s.session.srv.wire.Limits().OutboundBytes/4) {
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
	if s.session.conn.Backlog() > 0 {
		return
	}
	list := s.held.events()
	s.held = nil
	s.holding.Store(false)
	for i := range list {
		deliver(&list[i], []*subscriber{s})
	}
}

// drained is called when everything that waited for the client has gone out.
func (s *Session) drained() {
	sub := s.subscribed.Load()
	if sub != nil && sub.holding.Load() {
		sub.poke()
	}
}

// readers are all kinds of reader.
var readers = [...]audience.Reader{audience.Local, audience.Remote}

// verdict is the part of the health whose change is told.
type verdict struct {
	status   string
	warnings []string
}

// look tells the subscribers when the health is not what they know.
func (e *events) look() {
	for _, reader := range readers {
		h := e.assess(reader)
		v := verdict{h.Status, h.Warnings}
		e.mu.Lock()
		told := e.told[reader]
		e.told[reader] = v
		e.mu.Unlock()
		if v.status != told.status || !slices.Equal(v.warnings, told.warnings) {
			e.publish(event{topic: protocol.HealthTopic, params: h, only: reader})
		}
	}
}

// begin notes what the first subscriber to the health can find out by itself.
func (e *events) begin() {
	for _, reader := range readers {
		h := e.assess(reader)
		e.mu.Lock()
		if !e.wants(protocol.HealthTopic) {
			e.told[reader] = verdict{h.Status, h.Warnings}
		}
		e.mu.Unlock()
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
		if !e.wants(protocol.IndexTopic) {
			return
		}
		now := time.Now()
		if p.Stage == last.Stage && p.Done != p.Total && now.Sub(at) < indexGap {
			return
		}
		last, at = p, now
		e.publish(event{
			topic: protocol.IndexTopic, params: p,
			remote: protocol.IndexProgress{Stage: p.Stage, Vault: p.Vault, Kind: p.Kind},
		})
	}
}

// reading returns what the followers of vaults are to call as they read. It may
// be used concurrently.
func (e *events) reading() func(vault, stage string, done, total int) {
	var mu sync.Mutex
	tell := make(map[string]func(protocol.IndexProgress)) // by vault
	return func(vault, stage string, done, total int) {
		if !e.wants(protocol.IndexTopic) {
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
		set |= setOf(protocol.TopicNumber(at))
	}
	return set, nil
}

func unknownTopic(i int, name protocol.Topic) error {
	names := make([]string, len(protocol.Topics))
	for i, t := range protocol.Topics {
		names[i] = string(t)
	}
	field := fmt.Sprintf("topics[%d]", i)
	return fault.Field(field, "%s is not a topic: %q", field, wirejson.Clip(string(name))).
		WithHint("the topics are %s", strings.Join(names, ", "))
}

func eventsSubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	if set.has(protocol.HealthTopic) {
		s.srv.events.begin()
	}
	return protocol.EventTopics{Topics: s.srv.events.change(s, func(had topicSet) topicSet { return had | set })}, nil
}

func eventsUnsubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	return protocol.EventTopics{Topics: s.srv.events.change(s, func(had topicSet) topicSet { return had &^ set })}, nil
}

// HealthChanged has those who subscribed to health.changed told soon, if the
// health is another than they know. It may be called at any time, and waits for
// nothing.
func (s *Server) HealthChanged() { s.events.suspectHealth() }
