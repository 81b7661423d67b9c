package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// maxSubscriptions is how many resources a host may follow.
const maxSubscriptions = 1_000

// topics are those that tell of changes of resources.
var topics = []protocol.Topic{protocol.TopicNotes, protocol.TopicEntities}

// subscriptions are the resources that a host follows. What the daemon tells of them
// waits here until it is sent, each address once: nothing waits for a slow host.
type subscriptions struct {
	wake chan struct{} // holds a token when changed is not empty

	mu      sync.Mutex     // guards what follows
	uris    map[string]int // how many times each is followed: over HTTP hosts share a server
	changed map[string]bool
	dialled bool // there was a connection before
}

func newSubscriptions() *subscriptions {
	return &subscriptions{wake: make(chan struct{}, 1), uris: make(map[string]int), changed: make(map[string]bool)}
}

// add follows an address.
func (s *subscriptions) add(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.uris) >= maxSubscriptions && s.uris[uri] == 0 {
		return fault.New(fault.Limit, "at most %d resources can be followed", maxSubscriptions).
			WithHint("unsubscribe from others first")
	}
	s.uris[uri]++
	return nil
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris[uri]--; s.uris[uri] > 0 {
		return
	}
	delete(s.uris, uri)
	delete(s.changed, uri)
}

func (s *subscriptions) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uris) > 0
}

// notified takes a notification of the daemon.
func (s *server) notified(method string, params json.RawMessage) {
	switch protocol.Topic(method) {
	case protocol.TopicMemory:
		s.hidden.suspect(memories)
	case protocol.TopicEntities:
		s.hidden.suspect(entities)
	}
	s.followed.notified(method, params)
}

// notified takes a notification of the daemon. It runs where replies are read and does
// not block.
func (s *subscriptions) notified(method string, params json.RawMessage) {
	prefix := map[string]string{string(protocol.TopicNotes): record.NoteAddress, string(protocol.TopicEntities): record.EntityAddress}[method]
	var event struct {
		IDs  []string `json:"ids"`
		Kind string   `json:"kind"`
	}
	if prefix == "" || json.Unmarshal(params, &event) != nil {
		return
	}
	s.mark(func(uri string) bool {
		a, _ := record.ParseAddress(uri)
		return a.Kind == prefix && (event.Kind == protocol.ChangeMany || slices.Contains(event.IDs, a.ID))
	})
}

// mark has the addresses told of that are chosen.
func (s *subscriptions) mark(chosen func(uri string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.uris {
		if chosen(uri) {
			s.changed[uri] = true
		}
	}
	if len(s.changed) > 0 {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// follow has a new connection tell of changes. What was changed while there was none is
// not known: then all addresses are told of.
func (s *subscriptions) follow(ctx context.Context, c *client.Client, more []protocol.Topic) error {
	s.mu.Lock()
	again := s.dialled
	s.dialled = true
	s.mu.Unlock()
	if s.any() {
		more = slices.Concat(more, topics)
	}
	if len(more) == 0 {
		return nil
	}
	err := c.Call(ctx, "events.subscribe", protocol.EventTopics{Topics: more}, nil)
	if err == nil && again {
		s.mark(func(string) bool { return true })
	}
	return err
}

// take returns what was changed since it was called last.
func (s *subscriptions) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	uris := slices.Sorted(maps.Keys(s.changed))
	clear(s.changed)
	return uris
}

// tell sends the host what was changed, and that there are other tools, until ctx ends.
func (s *server) tell(ctx context.Context) {
	for {
		select {
		case <-s.followed.wake:
		case <-s.hidden.wake:
			s.tellTools(ctx)
		case <-ctx.Done():
			return
		}
		for _, uri := range s.followed.take() {
			_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// subscribe answers resources/subscribe.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	if _, ok := record.ParseAddress(uri); !ok {
		return noResource(uri)
	}
	if err := s.followed.add(uri); err != nil {
		return s.wireError(err)
	}
	err := s.begin(ctx).ask("events.subscribe", protocol.EventTopics{Topics: topics}, nil)
	if err != nil {
		s.followed.remove(uri)
		return s.wireError(err)
	}
	return nil
}

// unsubscribe answers resources/unsubscribe.
func (s *server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.followed.remove(req.Params.URI)
	return nil
}
