package audience

import (
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// references know which notes may name what: an inverted index of the keys of names (see
// namedIn). It is made when it is asked for the first time; from then on the notes that
// commits change are noted, and read when it is asked again.
type references struct {
	reading sync.Mutex // held by who reads notes: the others wait for what it reads
	mu      sync.Mutex // guards what follows
	made    bool
	due     map[string]struct{} // ids of notes that changed since they were read

	number map[string]uint32   // of notes, by id
	notes  []namer             // by number
	free   []uint32            // numbers without a note
	naming map[uint32][]uint32 // the notes that may name a thing, sorted, by its key
}

// namer is a note with the keys of what it may name, sorted; none when it is gone.
type namer struct {
	id   string
	keys []uint32
}

// changed notes which notes a commit changes.
func (r *references) changed(cs *kv.ChangeSet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.made {
		return
	}
	for _, ch := range cs.Changes {
		_, _, ok := notes.Records.Of(ch)
		if ok {
			r.due[strings.Clone(ch.ID)] = struct{}{} // it may be a part of a record
		}
	}
}

// catchUp reads the notes that changed since the last time, all of them the first time.
// Nothing is locked meanwhile but who catches up, too. O(texts of those notes).
func (r *references) catchUp(ns *notes.Store) {
	r.reading.Lock()
	defer r.reading.Unlock()
	due := r.take(ns)
	for i := range due {
		note := ns.Get(due[i].id)
		if note != nil {
			due[i].keys = namedIn(note)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range due {
		r.enter(n)
	}
}

// take returns the notes that are due, without keys, and has none be due.
func (r *references) take(ns *notes.Store) (due []namer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.made {
		r.made, r.number, r.naming = true, make(map[string]uint32), make(map[uint32][]uint32)
		for n := range ns.All() {
			due = append(due, namer{id: strings.Clone(n.ID)})
		}
	}
	for id := range r.due {
		due = append(due, namer{id: id})
	}
	r.due = make(map[string]struct{})
	return due
}

// enter takes in what a note may name now.
func (r *references) enter(n namer) {
	at, known := r.number[n.id]
	switch {
	case known:
	case len(n.keys) == 0:
		return
	case len(r.free) > 0:
		at, r.free = r.free[len(r.free)-1], r.free[:len(r.free)-1]
	default:
		at = uint32(len(r.notes))
		r.notes = append(r.notes, namer{})
	}
	old := r.notes[at].keys
	for _, key := range old {
		_, still := slices.BinarySearch(n.keys, key)
		if !still {
			r.leave(key, at)
		}
	}
	for _, key := range n.keys {
		place, found := slices.BinarySearch(r.naming[key], at)
		if !found {
			r.naming[key] = slices.Insert(r.naming[key], place, at)
		}
	}
	if len(n.keys) > 0 {
		r.number[n.id], r.notes[at] = at, n
		return
	}
	delete(r.number, n.id)
	r.notes[at] = namer{}
	r.free = append(r.free, at)
}

func (r *references) leave(key, note uint32) {
	list := r.naming[key]
	at, found := slices.BinarySearch(list, note)
	switch {
	case !found:
	case len(list) == 1:
		delete(r.naming, key)
	default:
		r.naming[key] = slices.Delete(list, at, at+1)
	}
}

// of returns the ids of the notes that may name any of some things, sorted.
func (r *references) of(keys map[uint32]bool) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range keys {
		for _, note := range r.naming[key] {
			ids = append(ids, r.notes[note].id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
