package learn

// Events say what learning did to memories, so that a person can see it: one event for each change, written in the
// transaction of the change.
//
// An event has a kind, the ids of the memories that it is about, and of each the members that changed, before and
// after. It has no statement and no other text of a memory (MEM-5). A memory that is deleted is taken out of its events
// in the same transaction, by [ForgetInEvents]; an event about nothing else goes with it.
//
// The parts of learning append, inside transactions of memory.Store.Revise. The caller of a read passes the View of the
// reader: an event is there for a reader who sees all memories that it names, so that none tells a remote reader of a
// private one.
//
// The records are
//
//	learn-event       an event, by its number
//	learn-event-of    nothing, by the id of a memory and the number of an event that names it
//	learn-event-last  the number of the last event, which is never given again
//
// Lists begin with the newest event. The newest [maxKeptEvents] events are kept; each append deletes those that are
// older, which is one mostly. Append costs O(memories named), List O(events looked at), of one memory O(its events).
// Nothing is kept in memory. The errors are those of the store.

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// maxKeptEvents is how many events are kept, the newest ones.
const maxKeptEvents = 20_000

// Event is what learning did in one transaction.
type Event = record.LearnedEvent

var (
	records = kv.NewCollection[Event]("learn-event")
	byID    = kv.NewCollection("learn-event-of", kv.Codec[struct{}]{
		Encode: func(*struct{}) (string, error) { return "", nil },
		Decode: func(string) (*struct{}, error) { return new(struct{}), nil },
	})
	last = kv.NewCollection[int64]("learn-event-last")
)

const lastKey = "last"

var keep int64 = maxKeptEvents // tests keep fewer

func key(seq int64) string { return fmt.Sprintf("%012d", seq) }

func ofKey(id string, seq int64) string { return id + "/" + key(seq) }

// AppendEvent writes an event at the end, in the transaction of what it tells. It gives the number; the caller sets the rest.
// Members of Before and After whose memory changed nothing should be left out.
func AppendEvent(tx *kv.Tx, e *Event) error {
	n, err := last.Get(tx, lastKey)
	if err != nil {
		return err
	}
	e.Seq = 1
	if n != nil {
		e.Seq = *n + 1
	}
	e.At = e.At.UTC()
	if e.IDs == nil {
		e.IDs = []string{}
	}
	if err := records.Put(tx, key(e.Seq), e); err != nil {
		return err
	}
	for _, id := range named(e) {
		if err := byID.Put(tx, ofKey(id, e.Seq), &struct{}{}); err != nil {
			return err
		}
	}
	if err := last.Put(tx, lastKey, &e.Seq); err != nil {
		return err
	}
	return drop(tx, e.Seq-keep)
}

// drop deletes the events up to a number.
func drop(tx *kv.Tx, upTo int64) error {
	if upTo <= 0 {
		return nil
	}
	for k, e := range records.All(tx, "") {
		if e.Seq > upTo {
			break
		}
		if err := remove(tx, k, e); err != nil {
			return err
		}
	}
	return tx.Err()
}

func remove(tx *kv.Tx, k string, e *Event) error {
	for _, id := range named(e) {
		if err := byID.Delete(tx, ofKey(id, e.Seq)); err != nil {
			return err
		}
	}
	return records.Delete(tx, k)
}

// named are the ids of all that an event names, each once: its memories, and what those pointed to.
func named(e *Event) []string {
	list := slices.Clone(e.IDs)
	for _, states := range [][]record.LearnedMemory{e.Before, e.After} {
		for i := range states {
			m := &states[i]
			list = slices.Concat(list, []string{m.ID}, m.Evidence, m.Supersedes, m.Contradicts)
			for _, id := range []*string{m.SupersededBy, m.MergedInto} {
				if id != nil {
					list = append(list, *id)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(id string) bool { return id == "" })
}

// ForgetInEvents takes memories that are deleted out of all events, in the transaction that deletes them. An event about nothing
// else is deleted. O(events that name them).
func ForgetInEvents(tx *kv.Tx, ids []string) error {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	for _, id := range ids {
		var seqs []string
		for k := range byID.All(tx, id+"/") {
			seqs = append(seqs, k[len(id)+1:])
		}
		if err := tx.Err(); err != nil {
			return err
		}
		for _, k := range seqs {
			e, err := records.Get(tx, k)
			if err != nil {
				return err
			}
			if e == nil {
				continue
			}
			if err := remove(tx, k, e); err != nil {
				return err
			}
			if without(e, gone); len(e.IDs) == 0 {
				continue
			}
			if err := records.Put(tx, k, e); err != nil {
				return err
			}
			for _, other := range named(e) {
				if err := byID.Put(tx, ofKey(other, e.Seq), &struct{}{}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// without takes ids out of an event.
func without(e *Event, gone map[string]bool) {
	is := func(id string) bool { return gone[id] }
	e.IDs = slices.DeleteFunc(e.IDs, is)
	for _, states := range []*[]record.LearnedMemory{&e.Before, &e.After} {
		*states = slices.DeleteFunc(*states, func(m record.LearnedMemory) bool { return gone[m.ID] })
		for i := range *states {
			m := &(*states)[i]
			m.Evidence, m.Supersedes = slices.DeleteFunc(m.Evidence, is), slices.DeleteFunc(m.Supersedes, is)
			m.Contradicts = slices.DeleteFunc(m.Contradicts, is)
			for _, to := range []**string{&m.SupersededBy, &m.MergedInto} {
				if *to != nil && gone[**to] {
					*to = nil
				}
			}
		}
	}
}

// EventQuery says which events are listed.
type EventQuery struct {
	ID     string    // about or naming this memory; empty: all
	Since  time.Time // not before it
	Before int64     // with smaller numbers; 0: from the newest on
	Limit  int
}

// EventLog reads events. Store has the memories that they are about.
type EventLog struct {
	DB    *kv.Store
	Store *memory.Store
}

// List returns the newest events that a reader sees, the newest first, and whether there are more.
func (l *EventLog) List(ctx context.Context, v *audience.View, q EventQuery) (list []Event, more bool, err error) {
	list = []Event{}
	err = l.DB.View(ctx, func(tx *kv.Tx) error {
		for k, err := range candidates(tx, &q) {
			if err != nil {
				return err
			}
			e, err := records.Get(tx, k)
			if err != nil {
				return err
			}
			if e == nil || e.At.Before(q.Since) || !l.sees(v, e) {
				continue
			}
			if len(list) == q.Limit {
				more = true
				return nil
			}
			list = append(list, shown(v, *e))
		}
		return nil
	})
	return list, more, err
}

// candidates are the keys of events that a query may mean, the newest first.
func candidates(tx *kv.Tx, q *EventQuery) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		n, err := last.Get(tx, lastKey)
		if err != nil || n == nil {
			if err != nil {
				yield("", err)
			}
			return
		}
		from := *n
		if q.Before > 0 {
			from = min(from, q.Before-1)
		}
		if q.ID == "" {
			for seq := from; seq > 0 && seq > *n-keep; seq-- {
				if !yield(key(seq), nil) {
					return
				}
			}
			return
		}
		var keys []string
		for k := range byID.All(tx, q.ID+"/") {
			if k = k[len(q.ID)+1:]; k <= key(from) {
				keys = append(keys, k)
			}
		}
		if err := tx.Err(); err != nil {
			yield("", err)
			return
		}
		for _, k := range slices.Backward(keys) {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// sees reports whether a reader sees all memories that an event names. What is no memory, as a message that supports
// one, is not asked about; a remote reader is shown no evidence at all (see shown).
func (l *EventLog) sees(v *audience.View, e *Event) bool {
	if !v.Hides() {
		return true
	}
	for _, id := range named(e) {
		if m := l.Store.Stored(id); m != nil && !memory.Sees(v, m) {
			return false
		}
	}
	return true
}

// shown returns an event as a reader may see it: a remote one is not shown what supported a memory, which may be messages
// that he does not see.
func shown(v *audience.View, e Event) Event {
	if !v.Hides() {
		return e
	}
	e.Before, e.After = slices.Clone(e.Before), slices.Clone(e.After)
	for _, states := range [][]record.LearnedMemory{e.Before, e.After} {
		for i := range states {
			states[i].Evidence = nil
		}
	}
	return e
}

// CheckEvents tells what does not fit together in the records of the room.
func CheckEvents(tx *kv.Tx) (problems []string, err error) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	n, err := last.Get(tx, lastKey)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	for k, e := range records.All(tx, "") {
		if key(e.Seq) != k || n == nil || e.Seq > *n {
			say("event %d of learning is filed as %s", e.Seq, k)
		}
		if !slices.Contains(record.LearnedKinds, e.Kind) {
			say("event %d of learning is of no known kind", e.Seq)
		}
		for _, id := range e.IDs {
			if has, err := memory.Records.Has(tx, id); err != nil {
				return nil, err
			} else if !has {
				say("event %d of learning is about memory %s, which is not there", e.Seq, id)
			}
		}
		for _, id := range named(e) {
			known[ofKey(id, e.Seq)] = true
			if has, err := byID.Has(tx, ofKey(id, e.Seq)); err != nil {
				return nil, err
			} else if !has {
				say("event %d of learning is not found by %s, which it names", e.Seq, id)
			}
		}
	}
	for k := range byID.All(tx, "") {
		if !known[k] {
			id, seq, _ := strings.Cut(k, "/")
			number, _ := strconv.ParseInt(strings.TrimLeft(seq, "0"), 10, 64)
			say("event %d of learning does not name %s, by which it is found", number, id)
		}
	}
	return problems, tx.Err()
}

// MendEvents has events fit the memories that are there, in a store that has lost transactions.
func MendEvents(tx *kv.Tx) error {
	var gone []string
	highest := int64(0)
	all := make(map[string]bool)
	for _, e := range records.All(tx, "") {
		highest = max(highest, e.Seq)
		for _, id := range e.IDs {
			if has, err := memory.Records.Has(tx, id); err != nil {
				return err
			} else if !has {
				gone = append(gone, id)
			}
		}
		for _, id := range named(e) {
			all[ofKey(id, e.Seq)] = true
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for k := range byID.All(tx, "") {
		if !all[k] {
			if err := byID.Delete(tx, k); err != nil {
				return err
			}
		}
	}
	for k := range all {
		if err := byID.Put(tx, k, &struct{}{}); err != nil {
			return err
		}
	}
	if n, err := last.Get(tx, lastKey); err != nil {
		return err
	} else if highest > 0 && (n == nil || *n < highest) {
		if err := last.Put(tx, lastKey, &highest); err != nil {
			return err
		}
	}
	slices.Sort(gone)
	return ForgetInEvents(tx, slices.Compact(gone))
}
