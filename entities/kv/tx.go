package kv

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tidwall/btree"
	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// scanChunk is how many records a scan in Update fetches at a time.
const scanChunk = 256

// Tx is a transaction, valid inside the function that it was given to and
// used by one goroutine only. Collections read and write through it.
type Tx struct {
	s           *Store
	committed   *buntdb.Tx // of a View; an Update reads in short steps instead
	writable    bool
	over        bool
	accepted    bool  // what it wrote is queued
	shared      bool  // of a replica: other machines get something of it
	provisional bool  // of a replica: it is accepted here without the log, as part of an item of the outbox
	reads       uint8 // see read
	err         error

	writes []write
	index  map[string]int          // key to position in writes, once there are many
	sorted *btree.Map[string, int] // the same in key order, once a scan needed it
	read   [8]readKey              // what an Update read last; the next to be replaced is read[reads]

	now time.Time // see Now; zero until it is asked for

	generation uint64          // of a replica, when it began
	gate       *outbox.Gate    // of a replica: keeps records of what is about to be replayed; nil: not from this one
	kept       <-chan struct{} // it has touched such a record, and runs again when this is closed
	item       uint64          // of the outbox, when it is provisional
}

// readKey is what an Update found under a key before it wrote to it itself. Nobody else
// writes meanwhile.
type readKey struct {
	key, raw string
	had      bool
}

// errKept is what a transaction gets for a record of something that is about to be replayed.
var errKept = errors.New("a record waits for what is replayed")

// check returns errKept for a record that is kept from the transaction.
func (tx *Tx) check(key string) error {
	if tx.gate == nil {
		return nil
	}
	if kept := tx.gate.Keeps(key); kept != nil {
		tx.kept = kept
		return errKept
	}
	return nil
}

// latest is Store.latest, which takes a while, for what is read and then written.
func (tx *Tx) latest(key string) (raw string, had bool) {
	for i := range tx.read {
		if r := &tx.read[i]; r.key == key {
			return r.raw, r.had
		}
	}
	raw, had = tx.s.latest(key)
	tx.read[tx.reads] = readKey{key, raw, had}
	tx.reads = (tx.reads + 1) % uint8(len(tx.read))
	return raw, had
}

// write is the last state that a transaction gave to a key.
type write struct {
	key     string
	raw     string
	deleted bool
	old     string             // the state before the transaction
	had     bool               // whether there was one
	of      disk.AnyCollection // nil for keys of the store itself
	val     any                // raw, decoded
	put     any                // what was put, for Codec.Carry; nil where nothing is carried
}

// manyWrites is from where on a map beats walking the writes.
const manyWrites = 8

// Err returns the first error that a loop over All met.
func (tx *Tx) Err() error { return tx.err }

// Now returns what clock says when the transaction first asks it: records that are written
// together changed at one time, whatever that took.
func (tx *Tx) Now(clock func() time.Time) time.Time {
	if tx.now.IsZero() {
		tx.now = clock()
	}
	return tx.now
}

// View runs fn on a consistent state that is durable, and that every OnCommit
// handler has seen, for as long as fn runs: commits wait for it, so fn should
// be short. View must not be called inside View, nor Update inside View.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.view.RLock()
	defer s.view.RUnlock()
	if s.closed.Load() {
		return errClosed()
	}
	return s.db.View(func(b *buntdb.Tx) error {
		tx := Tx{s: s, committed: b}
		defer func() { tx.over = true }()
		if err := fn(&tx); err != nil {
			return err
		}
		return tx.err
	})
}

// Update runs fn and makes what it wrote durable as a whole; when fn returns
// an error or panics, nothing of it is kept. Update returns after the
// transaction is on disk and every OnCommit handler has seen it. Reads in fn
// see every earlier transaction, also those that are not durable yet; an
// Update that answers from those waits until they are, even when it wrote
// nothing itself.
//
// ctx is looked at until fn starts: a transaction that has started completes.
//
// An error of kind Unavailable is the disk's: with Retryable set nothing was
// written and the store goes on; without it the store is read-only until it
// is opened again, and only then is known whether the transaction survived.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	if s.replica != nil {
		return s.replica.update(ctx, fn)
	}
	tx := Tx{s: s, writable: true}
	p, err := s.accept(ctx, &tx, fn)
	if p == nil {
		return err
	}
	if len(p.writes) > 0 {
		p.prepare(s)
	}
	if werr := s.wait(p); werr != nil && err == nil {
		return werr
	}
	if tx.accepted { // else p is what it saw of others
		s.tellWritten(p)
	}
	return err
}

// tellWritten calls the functions of OnWritten. p is durable and applied.
func (s *Store) tellWritten(p *pending) {
	s.view.RLock()
	list := s.afterward // it only grows
	s.view.RUnlock()
	for _, fn := range list {
		fn(p.cs.Seq)
	}
}

// accept runs fn under the writer lock and puts what it wrote into the
// journal and the queue of transactions to be made durable. It returns what
// the caller has to wait for, nil when there is nothing.
func (s *Store) accept(ctx context.Context, tx *Tx, fn func(*Tx) error) (*pending, error) {
	if err := s.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer s.unlockWriter()
	if err := s.writable(); err != nil {
		return nil, err
	}
	return s.run(tx, fn)
}

// run runs the function of a transaction and commits it. Called with the writer lock held.
func (s *Store) run(tx *Tx, fn func(*Tx) error) (*pending, error) {
	defer func() { tx.over = true }()
	if twice {
		s.rehearse(fn)
	}
	err := fn(tx)
	if err == nil {
		err = tx.err
	}
	if tx.kept != nil {
		return nil, errKept
	}
	if err != nil {
		return s.barrier(), err
	}
	return s.commit(tx)
}

// commit journals the writes of a finished transaction and queues it. Called
// with the writer lock held.
func (s *Store) commit(tx *Tx) (*pending, error) {
	writes := tx.writes[:0]
	for _, w := range tx.writes {
		if w.deleted && !w.had {
			continue
		}
		if !w.deleted && w.of != nil {
			// Reading back what is about to be stored keeps a record that
			// nobody could ever read out of the journal.
			v, err := w.of.Decode(w.raw)
			if err != nil {
				_, id := w.of.Split(w.key)
				return s.barrier(), fault.Wrap(fault.Internal, err, "a record can't be read back").WithRef(id)
			}
			w.of.Carry(w.put, v)
			w.val, w.put = v, nil
		}
		writes = append(writes, w)
	}
	if len(writes) == 0 {
		return s.barrier(), nil
	}
	// After a failure reads do not see what was queued before it, of which the next
	// start may find some in the journal: what was worked out from such reads must not
	// stand behind it. Until now nothing has failed, so they saw all of it.
	if err := s.readOnly(); err != nil {
		return nil, err
	}
	local := s.journal != nil && s.replica == nil // a replica writes what its log has taken
	if local {
		if err := s.attach(false); err != nil {
			return nil, err
		}
	}
	writes = s.stampFormat(writes)
	p := &pending{seq: s.written + 1, time: s.now(), writes: writes}
	if local {
		if err := s.journal.append(p, s.synced.Load()); err != nil {
			return nil, s.writeFailed(err)
		}
	}
	if err := s.enqueue(p, tx); err != nil {
		return nil, err
	}
	s.written, s.format = p.seq, s.opts.Format
	return p, nil
}

func (tx *Tx) get(key string) (string, bool, error) {
	if tx.over {
		return "", false, errTxOver()
	}
	if !tx.writable {
		raw, err := tx.committed.Get(key)
		return raw, err == nil, nil
	}
	if i, ok := tx.find(key); ok {
		return tx.writes[i].raw, !tx.writes[i].deleted, nil
	}
	if err := tx.check(key); err != nil {
		return "", false, err
	}
	raw, ok := tx.latest(key)
	return raw, ok, nil
}

func (tx *Tx) find(key string) (int, bool) {
	if tx.index != nil {
		i, ok := tx.index[key]
		return i, ok
	}
	for i := range tx.writes {
		if tx.writes[i].key == key {
			return i, true
		}
	}
	return 0, false
}

func (tx *Tx) put(key, raw string, of disk.AnyCollection) error {
	return tx.write(key, raw, false, of, nil)
}

func (tx *Tx) delete(key string, of disk.AnyCollection) error {
	return tx.write(key, "", true, of, nil)
}

func (tx *Tx) write(key, raw string, deleted bool, of disk.AnyCollection, put any) error {
	switch {
	case tx.over:
		return errTxOver()
	case !tx.writable:
		return fault.New(fault.Internal, "a record was written in a View")
	}
	if i, ok := tx.find(key); ok {
		tx.writes[i].raw, tx.writes[i].deleted, tx.writes[i].put = raw, deleted, put
		return nil
	}
	if err := tx.check(key); err != nil {
		return err
	}
	old, had := tx.latest(key)
	if deleted && !had {
		return nil
	}
	i := len(tx.writes)
	tx.writes = append(tx.writes, write{key: key, raw: raw, deleted: deleted, old: old, had: had, of: of, put: put})
	if tx.index != nil {
		tx.index[key] = i
	} else if len(tx.writes) > manyWrites {
		tx.index = make(map[string]int, 4*manyWrites)
		for i := range tx.writes {
			tx.index[tx.writes[i].key] = i
		}
	}
	if tx.sorted != nil {
		tx.sorted.Set(key, i)
	}
	return nil
}

// scan calls fn with every key that begins with prefix, in order, until it
// returns false or an error.
func (tx *Tx) scan(prefix string, fn func(key, raw string) (bool, error)) error {
	if tx.over {
		return errTxOver()
	}
	if tx.gate != nil {
		if kept := tx.gate.KeepsAny(prefix); kept != nil {
			tx.kept = kept
			return errKept
		}
	}
	if tx.writable {
		return tx.scanWritable(prefix, fn)
	}
	var ferr error
	err := tx.committed.AscendGreaterOrEqual("", prefix, func(key, raw string) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		var more bool
		more, ferr = fn(key, raw)
		return more && ferr == nil
	})
	return errors.Join(err, ferr)
}

// scanWritable merges, a chunk at a time and holding no lock while fn runs,
// what is committed, what is queued and what the transaction wrote.
func (tx *Tx) scanWritable(prefix string, fn func(key, raw string) (bool, error)) error {
	if tx.sorted == nil {
		tx.sorted = new(btree.Map[string, int])
		for i := range tx.writes {
			tx.sorted.Set(tx.writes[i].key, i)
		}
	}
	var chunk []disk.Pair
	for from := prefix; ; {
		var to string
		var last bool
		chunk, to, last = tx.s.latestRange(chunk[:0], from, prefix)
		chunk = tx.mergeOwn(chunk, from, to, last, prefix)
		for i := range chunk {
			key, raw := chunk[i].Key, chunk[i].Value
			if w, ok := tx.find(key); ok {
				if tx.writes[w].deleted {
					continue
				}
				raw = tx.writes[w].raw
			}
			if more, err := fn(key, raw); err != nil || !more {
				return err
			}
		}
		if last {
			return nil
		}
		from = to
	}
}

// mergeOwn adds to a chunk that covers the keys of [from, to), or up to the
// end of the prefix, the keys that the transaction itself put there.
func (tx *Tx) mergeOwn(chunk []disk.Pair, from, to string, last bool, prefix string) []disk.Pair {
	var own []disk.Pair
	tx.sorted.Ascend(from, func(key string, i int) bool {
		if !last && key >= to || !strings.HasPrefix(key, prefix) {
			return false
		}
		if !tx.writes[i].deleted {
			own = append(own, disk.Pair{Key: key})
		}
		return true
	})
	return mergePairs(chunk, own)
}

func errTxOver() error {
	return fault.New(fault.Internal, "a transaction was used after its function returned")
}

// rehearse runs a function and forgets what it wrote, see twice.
func (s *Store) rehearse(fn func(*Tx) error) {
	tx := Tx{s: s, writable: true}
	defer func() { tx.over = true }()
	_ = fn(&tx)
}
