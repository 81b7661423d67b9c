package audience

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
)

// references know which records may name what: an inverted index of the keys of names (see
// namedIn). It is made when it is asked for the first time; from then on the records that
// commits change are noted, and read behind the commit: nobody's turn to write lasts longer
// for a long text. Until then a record may name anything.
type references struct {
	reading sync.Mutex // held by who reads texts: the others wait for what it reads
	behind  sync.WaitGroup

	mu     sync.Mutex         // guards what follows
	begun  bool               // what changes is noted
	made   bool               // all others are due, or read
	first  chan struct{}      // closed when these are read; nil until it is begun
	due    map[string]*unread // the records that changed since they were read, by id
	busy   bool               // somebody reads behind a commit
	closed bool

	number map[string]uint32   // of records, by id
	list   []namer             // by number
	free   []uint32            // numbers without a record
	naming map[uint32][]uint32 // the records that may name a thing, sorted, by its key
}

// unread returns the keys of what a record may name; nil is a record that is gone.
type unread struct{ keys func() []uint32 }

// namer is a record with the keys of what it may name, sorted; none when it is gone.
type namer struct {
	id   string
	keys []uint32
}

// onReading is called before a text is read, for the test of when that is.
var onReading = func() {}

// over has the reading behind commits end before a store is closed.
func (r *references) over(db *kv.Store) {
	context.AfterFunc(db.Closing(), r.end)
	db.OnClose(func(bool) {
		r.end()
		r.behind.Wait()
	})
}

// end has who reads stop: what is not read is among all that is asked for.
func (r *references) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// make reads all records, once: note gets each of them. What is noted meanwhile is newer. O(all texts).
func (r *references) make(all func(note func(id string, keys func() []uint32))) {
	if r.isMade() {
		return // what is not read yet is among all that is asked for
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	if !r.begin() {
		return
	}
	defer close(r.first)
	all(func(id string, keys func() []uint32) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.due[id] == nil {
			r.due[strings.Clone(id)] = &unread{keys}
		}
	})
	r.mu.Lock()
	r.made = true
	r.mu.Unlock()
	r.read()
}

// makeAndWait is make, and waits for who does that: what he has not read yet would be among all that is asked for.
func (r *references) makeAndWait(all func(note func(id string, keys func() []uint32))) {
	r.make(all)
	r.mu.Lock()
	first := r.first
	r.mu.Unlock()
	<-first
}

func (r *references) isMade() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

func (r *references) begin() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.begun
	if first {
		r.begun, r.number, r.naming, r.due = true, make(map[string]uint32), make(map[uint32][]uint32), make(map[string]*unread)
		r.first = make(chan struct{})
	}
	return first
}

// changed notes that a record has changed, and has it read behind that. O(1).
func (r *references) changed(id string, keys func() []uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun || r.closed {
		return // it is read with all others
	}
	r.due[strings.Clone(id)] = &unread{keys} // it may be a part of a record
	if !r.busy {
		r.busy = true
		r.behind.Go(r.catchUp)
	}
}

// catchUp reads what changed until nothing is left.
func (r *references) catchUp() {
	for {
		r.settle()
		r.mu.Lock()
		if len(r.due) == 0 || r.closed {
			r.busy = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// settle reads what is due now.
func (r *references) settle() {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.read()
}

// read reads what is due. Nothing is locked meanwhile but who reads, too. The caller has reading.
func (r *references) read() {
	r.mu.Lock()
	due := make(map[string]*unread, len(r.due))
	maps.Copy(due, r.due)
	r.mu.Unlock()
	for id, u := range due {
		n := namer{id: id}
		if u.keys != nil {
			onReading()
			n.keys = u.keys()
		}
		if !r.take(n, u) {
			return
		}
	}
}

// enteredAtOnce is how many keys of a record are entered before others may look.
const enteredAtOnce = 1 << 10

// take takes in what a record may name now, unless it has changed since that was read. It reports false when the store
// is being closed. Until it is done the record is due, and so among all that is asked for.
func (r *references) take(n namer, u *unread) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.due[n.id] == u {
		r.enter(n)
	}
	if r.due[n.id] == u {
		delete(r.due, n.id)
	}
	return !r.closed
}

// enter is the work of take. It lets go of mu now and then: nobody else enters anything meanwhile.
func (r *references) enter(n namer) {
	at, known := r.number[n.id]
	switch {
	case known:
	case len(n.keys) == 0:
		return
	case len(r.free) > 0:
		at, r.free = r.free[len(r.free)-1], r.free[:len(r.free)-1]
	default:
		at = uint32(len(r.list))
		r.list = append(r.list, namer{})
	}
	old := r.list[at].keys
	r.number[n.id], r.list[at] = at, n
	for part := range slices.Chunk(old, enteredAtOnce) {
		for _, key := range part {
			if _, still := slices.BinarySearch(n.keys, key); !still {
				r.leave(key, at)
			}
		}
		r.yield()
	}
	for part := range slices.Chunk(n.keys, enteredAtOnce) {
		for _, key := range part {
			if place, found := slices.BinarySearch(r.naming[key], at); !found {
				r.naming[key] = slices.Insert(r.naming[key], place, at)
			}
		}
		r.yield()
	}
	if len(n.keys) == 0 {
		delete(r.number, n.id)
		r.list[at] = namer{}
		r.free = append(r.free, at)
	}
}

func (r *references) yield() {
	r.mu.Unlock()
	r.mu.Lock()
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

// of returns the ids of the records that may name any of some things, sorted. Those that were not read yet are among
// them.
func (r *references) of(keys map[uint32]bool) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range keys {
		for _, n := range r.naming[key] {
			if id := r.list[n].id; r.due[id] == nil { // else below
				ids = append(ids, id)
			}
		}
	}
	for id, u := range r.due {
		if u.keys != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
