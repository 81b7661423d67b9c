package rpc

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// eventSubscription is what a connection has subscribed to: at first to nothing. It may be
// used concurrently.
type eventSubscription struct {
	hub     *eventHub
	conn    *jsonrpc.Conn
	reader  func() audience.Reader
	current atomic.Pointer[subscriber] // nil before the first topic; set by hub
}

// Of returns the subscription of a connection. reader says who reads it when an event is
// sent.
func (h *eventHub) Of(conn *jsonrpc.Conn, reader func() audience.Reader) *eventSubscription {
	return &eventSubscription{hub: h, conn: conn, reader: reader}
}

// Subscribe adds topics, and returns all that are then in effect.
func (s *eventSubscription) Subscribe(p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	if set.has(protocol.HealthTopic) {
		s.hub.begin()
	}
	return protocol.EventTopics{Topics: s.hub.change(s, func(had topicSet) topicSet { return had | set })}, nil
}

// Unsubscribe takes topics away, and returns those that are still in effect.
func (s *eventSubscription) Unsubscribe(p protocol.EventTopics) (protocol.EventTopics, error) {
	set, err := parseTopics(p.Topics)
	if err != nil {
		return protocol.EventTopics{}, err
	}
	return protocol.EventTopics{Topics: s.hub.change(s, func(had topicSet) topicSet { return had &^ set })}, nil
}

// Topics returns those that are in effect.
func (s *eventSubscription) Topics() []protocol.Topic { return s.current.Load().set().list() }

// Any reports whether a topic is in effect.
func (s *eventSubscription) Any() bool { return s.current.Load().set() != 0 }

// Drained is to be called when everything that waited for the client has gone out.
func (s *eventSubscription) Drained() {
	sub := s.current.Load()
	if sub != nil && sub.holding.Load() {
		s.hub.poke()
	}
}

// subscriber is a connection with at least one topic.
type subscriber struct {
	of      *eventSubscription
	topics  atomic.Uint32 // a topicSet; changed under Hub.mu
	held    *held         // events that wait; of the goroutine of the hub
	holding atomic.Bool   // held is not nil
}

// set returns the topics that the subscriber has; none of nil.
func (s *subscriber) set() topicSet {
	if s == nil {
		return 0
	}
	return topicSet(s.topics.Load())
}

// deliver sends an event to those that want it.
func (h *eventHub) deliver(ev *event, subs []*subscriber) {
	for _, reader := range readers {
		if ev.forReader(reader) {
			h.deliverTo(reader, ev, subs)
		}
	}
}

// deliverTo sends an event to those that want it and that are of one reader.
func (h *eventHub) deliverTo(reader audience.Reader, ev *event, subs []*subscriber) {
	var enc *jsonrpc.Buffer
	for _, sub := range subs {
		switch {
		case !sub.set().has(ev.topic) || sub.of.reader() != reader:
		case sub.mustHold():
			sub.held.add(ev)
		default:
			if enc == nil {
				var err error
				enc, err = h.encoder.Encode(ev.payload(reader))
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
	if s.of.conn.Active() {
		s.of.conn.Push(method, params)
	}
}

// mustHold reports whether events wait, and begins to hold them back when the
// connection has too much to read already.
func (s *subscriber) mustHold() bool {
	if s.held == nil {
		if s.of.conn.Backlog() <= s.of.hub.holds {
			return false
		}
		s.held = newHeld()
		s.holding.Store(true)
	}
	return true
}

// release sends what was held back when everything before it has gone out. Drained
// wakes the hub after the backlog became 0, so that either it or this call sees that.
func (s *subscriber) release() {
	if s.held == nil {
		return
	}
	if s.of.conn.Backlog() > 0 {
		return
	}
	list := s.held.events()
	s.held = nil
	s.holding.Store(false)
	for i := range list {
		s.of.hub.deliver(&list[i], []*subscriber{s})
	}
}

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
	return fault.Field(field, "%s is not a topic: %q", field, jsonrpc.ClipName(string(name))).
		WithHint("the topics are %s", strings.Join(names, ", "))
}
