package rpc

// This file and events_*.go tell connections of what happens: of records that were changed, of vaults that are read,
// and of the health of the daemon. An [eventHub] tells, an [eventSubscription] is what one connection has subscribed
// to. protocol.TopicTable says what is told of each topic, and how it is merged.
//
// A commit leaves the ids and kinds of what it changed in a queue (this file): once for local readers, and once for
// remote ones where the two are told of different records, which the View of a remote reader decides. A goroutine that
// lives while anybody is subscribed encodes each event once and sends it to all (events_hub.go). It waits for nobody:
// a connection with much to read already gets its events merged when it has read the rest (events_subscription.go).
// What is held for one is bounded, by [MaxListedIDs] for each topic.
//
// The hub knows no method, no session and no gate. Of a connection it needs what [eventConnection] lists, and who
// reads it. The rooms of a store come and go, and subscriptions outlive them: only Commit sees a store, as what a
// transaction of it has changed. A hub and a subscription may be used concurrently. A commit waits while Commit runs,
// so that has to stay short.

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// event is one notification before it is encoded.
type event struct {
	topic protocol.TopicNumber
	// Of a topic that merges records.
	ids  []string
	kind string
	seq  uint64
	// Of a topic that merges to the latest: its parameter, and that for remote readers.
	params, remote any

	// only is whose event it is; "" for all. What happens to private records are two
	// events: of the records, and of those that are there for a remote reader.
	only audience.Reader
}

// forReader reports whether an event is for a reader. What counts records and has no
// form without the counts is for a local one.
func (e *event) forReader(r audience.Reader) bool {
	if e.only != "" {
		return e.only == r
	}
	uncounted := protocol.TopicTable[e.topic].Remote == protocol.RemoteUncounted
	return r == audience.Local || !uncounted || e.remote != nil
}

// storedMemory finds a memory as it is behind a commit, nil for none.
type storedMemory func(id string) *memory.Record

// recordTopic says how the events of a topic that merges records are made.
type recordTopic struct {
	topic   protocol.TopicNumber
	changes func(cs *kv.ChangeSet, remote *audience.View, stored storedMemory) []event
	payload func(ids []string, kind string, seq uint64) any
}

// recordTopics are the topics that merge records, in the order in which the events
// of one commit are sent.
var recordTopics = []recordTopic{
	{
		protocol.ChatTopic,
		func(cs *kv.ChangeSet, remote *audience.View, _ storedMemory) []event {
			shown := func(ch kv.Change) (old, now *chat.Record, ok bool) { return chat.VisibleChange(ch, remote) }
			return eventsOf(cs, chat.Conversations.Of, shown, protocol.ChatTopic)
		},
		func(ids []string, kind string, seq uint64) any {
			return protocol.ChatChanged{IDs: ids, Kind: kind, Seq: seq}
		},
	},
	{
		protocol.NotesTopic,
		func(cs *kv.ChangeSet, remote *audience.View, _ storedMemory) []event {
			return recordEvents(cs, notes.Records.Of, remote.SeesNote, protocol.NotesTopic)
		},
		func(ids []string, kind string, seq uint64) any {
			return protocol.NotesChanged{IDs: ids, Kind: kind, Seq: seq}
		},
	},
	{
		protocol.EntitiesTopic,
		func(cs *kv.ChangeSet, remote *audience.View, _ storedMemory) []event {
			return recordEvents(cs, entities.EntityRecords.Of, remote.SeesEntity, protocol.EntitiesTopic)
		},
		func(ids []string, kind string, seq uint64) any {
			return protocol.EntitiesChanged{IDs: ids, Kind: kind, Seq: seq}
		},
	},
	{
		protocol.MemoryTopic,
		func(cs *kv.ChangeSet, remote *audience.View, stored storedMemory) []event {
			return eventsOf(cs, memory.Records.Of, memory.ShownChanges(cs, remote, stored), protocol.MemoryTopic)
		},
		func(ids []string, kind string, seq uint64) any {
			return protocol.MemoryChanged{IDs: ids, Kind: kind, Seq: seq}
		},
	},
	{
		protocol.PersonalityTopic,
		func(cs *kv.ChangeSet, _ *audience.View, _ storedMemory) []event {
			var kinds changeKinds
			for _, ch := range cs.Changes {
				if _, now, ok := personality.Records.Of(ch); ok && now == nil {
					kinds.add(protocol.ChangeDelete, ch.ID)
				} else if ok {
					kinds.add(protocol.ChangePut, ch.ID)
				}
				old, now, _ := personality.Choices.Of(ch)
				if old != nil && (now == nil || now.ID != old.ID) {
					kinds.add(protocol.ChangeDeactivate, old.ID)
				}
				if now != nil && (old == nil || now.ID != old.ID) {
					kinds.add(protocol.ChangeActivate, now.ID)
				}
			}
			list := kinds.events(protocol.PersonalityTopic, cs.Seq)
			for i := range list {
				list[i].only = audience.Local
			}
			return list
		},
		func(ids []string, kind string, seq uint64) any {
			return protocol.PersonalityChanged{IDs: ids, Kind: kind, Seq: seq}
		},
	},
}

func (e *event) payload(r audience.Reader) any {
	ids := e.ids
	if ids == nil {
		ids = []string{}
	}
	for i := range recordTopics {
		if recordTopics[i].topic == e.topic {
			return recordTopics[i].payload(ids, e.kind, e.seq)
		}
	}
	if r == audience.Remote && e.remote != nil {
		return e.remote
	}
	return e.params
}

func (e *event) method() string { return string(protocol.Topics[e.topic]) }

// liveRecord is a note, an entity, a memory or a conversation.
type liveRecord interface {
	comparable
	Live() bool
}

// recordsOf reads a change of one kind of record.
type recordsOf[R liveRecord] func(kv.Change) (old, now R, ok bool)

// recordEvents returns the events of one kind of record in a commit. sees reports whether
// a remote reader may know of a record; away and back are what it is called when a record
// stops and begins to be live.
func recordEvents[R liveRecord](
	cs *kv.ChangeSet, of recordsOf[R], sees func(R) bool, topic protocol.TopicNumber,
) []event {
	var none R
	hides := func(r R) bool { return r != none && !sees(r) }
	shown := func(ch kv.Change) (old, now R, ok bool) {
		old, now, ok = of(ch)
		if hides(old) {
			old = none
		}
		if hides(now) {
			now = none
		}
		return old, now, ok && (old != none || now != none)
	}
	return eventsOf(cs, of, shown, topic)
}

// eventsOf returns the events of one kind of record in a commit. shown reads a change as a remote reader
// is told of it: not at all when nothing changes for that reader.
func eventsOf[R liveRecord](cs *kv.ChangeSet, of, shown recordsOf[R], topic protocol.TopicNumber) []event {
	list := eventsFor(cs, of, topic)
	if !slices.ContainsFunc(cs.Changes, func(ch kv.Change) bool {
		old, now, ok := of(ch)
		oldShown, nowShown, okShown := shown(ch)
		return ok && (!okShown || old != oldShown || now != nowShown)
	}) {
		return list
	}
	for i := range list {
		list[i].only = audience.Local
	}
	for _, e := range eventsFor(cs, shown, topic) {
		e.only = audience.Remote
		list = append(list, e)
	}
	return list
}

func eventsFor[R liveRecord](cs *kv.ChangeSet, of recordsOf[R], topic protocol.TopicNumber) []event {
	var kinds changeKinds
	var none R
	for _, ch := range cs.Changes {
		old, now, ok := of(ch)
		if !ok {
			continue
		}
		kind := protocol.ChangePut
		switch {
		case now == none:
			kind = protocol.ChangeDelete
		case old == none || old.Live() == now.Live():
		case old.Live():
			kind = protocol.ChangeArchive
		default:
			kind = protocol.ChangeRestore
		}
		kinds.add(kind, ch.ID)
	}
	return kinds.events(topic, cs.Seq)
}

// changeKinds sorts the changes of one commit by kind, in the order in which
// the kinds first come.
type changeKinds []event

func (k *changeKinds) add(kind, id string) {
	at := slices.IndexFunc(*k, func(e event) bool { return e.kind == kind })
	if at < 0 {
		at = len(*k)
		*k = append(*k, event{kind: kind})
	}
	(*k)[at].ids = append((*k)[at].ids, id)
}

// events returns an event for each kind, or one without ids when there are too
// many to list.
func (k changeKinds) events(topic protocol.TopicNumber, seq uint64) []event {
	total := 0
	for i := range k {
		k[i].topic, k[i].seq = topic, seq
		total += len(k[i].ids)
	}
	if total > MaxListedIDs {
		return []event{{topic: topic, kind: protocol.ChangeMany, seq: seq}}
	}
	return k
}

// held are the events that wait for one subscriber, merged: an id stands there
// once, and of progress and health only the last.
type held struct {
	seq    uint64 // of the last commit
	kinds  [protocol.TopicCount]map[string]string
	many   topicSet
	latest [protocol.TopicCount]*event
}

func newHeld() *held {
	return new(held)
}

func (h *held) add(ev *event) {
	if ev.params != nil {
		last := *ev
		h.latest[ev.topic] = &last
		return
	}
	h.seq = ev.seq
	if h.many.has(ev.topic) {
		return
	}
	kinds := h.kinds[ev.topic]
	if kinds == nil {
		kinds = map[string]string{}
		h.kinds[ev.topic] = kinds
	}
	for _, id := range ev.ids {
		kinds[id] = mergeKinds(kinds[id], ev.kind)
	}
	if len(kinds) > MaxListedIDs || ev.kind == protocol.ChangeMany {
		h.many |= setOf(ev.topic)
		h.kinds[ev.topic] = nil
	}
}

// mergeKinds returns the kind of two changes of a record that follow each
// other: the later one, but that a record moved is not lost over an edit, since
// only the move says in which of a client's lists it belongs.
func mergeKinds(earlier, later string) string {
	if later != protocol.ChangePut || earlier == "" || earlier == protocol.ChangeDelete {
		return later
	}
	return earlier
}

// events returns what was merged, in the order of the topics.
func (h *held) events() []event {
	var out []event
	for topic := range protocol.TopicCount {
		if h.latest[topic] != nil {
			out = append(out, *h.latest[topic])
		}
		if h.many.has(topic) {
			out = append(out, event{topic: topic, kind: protocol.ChangeMany, seq: h.seq})
		}
		var kinds changeKinds
		for _, id := range slices.Sorted(maps.Keys(h.kinds[topic])) {
			kinds.add(h.kinds[topic][id], id)
		}
		slices.SortFunc(kinds, func(a, b event) int { return cmp.Compare(a.kind, b.kind) })
		out = append(out, kinds.events(topic, h.seq)...)
	}
	return out
}
