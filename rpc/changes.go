package rpc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// event is one notification before it is encoded.
type event struct {
	topic topicSet // one
	// Of notes and entities.
	ids  []string
	kind string
	seq  uint64
	// Of the other topics: their parameter.
	params any
}

func (e *event) payload() any {
	ids := e.ids
	if ids == nil {
		ids = []string{}
	}
	switch e.topic {
	case notesBit:
		return protocol.NotesChanged{IDs: ids, Kind: e.kind, Seq: e.seq}
	case entitiesBit:
		return protocol.EntitiesChanged{IDs: ids, Kind: e.kind, Seq: e.seq}
	}
	return e.params
}

func (e *event) method() string { return string(e.topic.list()[0]) }

func noteEvents(cs *kv.ChangeSet) []event {
	return recordEvents(cs, notes.Records.Of, notesBit, protocol.ChangeArchive, protocol.ChangeUnarchive)
}

func entityEvents(cs *kv.ChangeSet) []event {
	return recordEvents(cs, entities.EntityRecords.Of, entitiesBit, protocol.ChangeTrash, protocol.ChangeRestore)
}

// recordEvents returns the events of one kind of record in a commit. away and
// back are what it is called when a record stops and begins to be live.
func recordEvents[R interface {
	comparable
	Live() bool
}](cs *kv.ChangeSet, of func(kv.Change) (old, now R, ok bool), topic topicSet, away, back string) []event {
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
			kind = away
		default:
			kind = back
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
func (k changeKinds) events(topic topicSet, seq uint64) []event {
	total := 0
	for i := range k {
		k[i].topic, k[i].seq = topic, seq
		total += len(k[i].ids)
	}
	if total > listedIDs {
		return []event{{topic: topic, kind: protocol.ChangeMany, seq: seq}}
	}
	return k
}

// held are the events that wait for one subscriber, merged: an id stands there
// once, and of progress and health only the last.
type held struct {
	seq    uint64 // of the last commit
	kinds  map[topicSet]map[string]string
	many   topicSet
	latest map[topicSet]event
}

func newHeld() *held {
	return &held{kinds: map[topicSet]map[string]string{}, latest: map[topicSet]event{}}
}

func (h *held) add(ev *event) {
	if ev.params != nil {
		h.latest[ev.topic] = *ev
		return
	}
	h.seq = ev.seq
	if h.many&ev.topic != 0 {
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
	if len(kinds) > listedIDs || ev.kind == protocol.ChangeMany {
		h.many |= ev.topic
		delete(h.kinds, ev.topic)
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
	for i := range protocol.Topics {
		topic := topicSet(1 << i)
		if ev, ok := h.latest[topic]; ok {
			out = append(out, ev)
		}
		if h.many&topic != 0 {
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
