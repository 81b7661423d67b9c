package kv

import (
	"errors"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// The methods of outbox.RunnerStore, which says what they do. One goroutine calls them all.

// maxGroup is about how many bytes of transactions go into one entry, unless one alone has
// more.
const maxGroup = 1 << 20

func (r *replica) At() Position { return r.at.Position }

func (r *replica) Done() int { return r.at.Done }

func (r *replica) Skip(at Position) { r.at = outbox.Applied{Position: at} }

func (r *replica) SetTrouble(trouble *fault.Error) {
	s, q := r.s, &r.s.queue
	q.mu.Lock()
	changed := (r.trouble == nil) != (trouble == nil)
	r.trouble, r.applied = trouble, r.at.Position
	reads := trouble == nil || errors.Is(trouble, outbox.ErrFull)
	due := reads && r.head.Waiting > 0 && !r.provisional && r.replayGate.Open()
	q.mu.Unlock()
	if due {
		s.replayAll()
	}
	if changed {
		r.s.statusChanged()
	}
}

func (r *replica) TakeGroup() (list []outbox.Transaction, ok bool) {
	q := &r.s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil, false
	}
	q.awaitGroup()
	n, size := 0, 0
	for ; n < len(q.list) && size < maxGroup; n++ {
		p := q.list[n]
		t := outbox.Transaction{Time: p.time.UnixNano()}
		for i := range p.writes {
			if w := &p.writes[i]; !p.provisional && w.isShared() {
				size += len(w.key) + len(w.raw)
				t.Writes = append(t.Writes, outbox.LogWrite{Key: w.key, Value: w.raw, Deleted: w.deleted})
			}
		}
		if len(t.Writes) > 0 {
			list = append(list, t)
		}
	}
	r.group = slices.Clone(q.list[:n])
	q.list = slices.Delete(q.list, 0, n)
	q.waiting.Store(int64(len(q.list)))
	q.groups = [2]int{q.groups[1], n}
	q.leading = true
	r.s.newest = r.group[n-1]
	return list, true
}

func (r *replica) Abort(err error) { r.abort(err, nil) }

// abort is Abort. own is why transactions of the group that are not in the log fail: the disk of this machine did not take
// them, and would not when they ran again.
func (r *replica) abort(err, own error) {
	s, q := r.s, &r.s.queue
	q.mu.Lock()
	if outbox.IsClosed(r.gate) {
		r.gate = make(chan struct{})
	}
	r.generation++
	for _, p := range slices.Concat(r.group, q.list) {
		p.err, p.done = errRerun, true
	}
	sent := 0
	for _, p := range r.group {
		switch {
		case err != nil && p.isShared():
			p.err = outbox.TransactionError(err, sent)
			sent++
		case own != nil:
			p.err = own
		}
	}
	r.group, q.list, q.leading = nil, nil, false
	r.provisional = r.head.Applied > 0
	q.waiting.Store(0)
	q.changed.Broadcast()
	q.mu.Unlock()
	// Who waited for one of these with the writer lock held, goes on now.
	if s.lockWriter(r.Context()) != nil {
		return // the store is being closed
	}
	s.overlay.Clear()
	s.written, s.format = s.seq.Load(), s.Format()
	s.unlockWriter()
}

func (r *replica) CloseGate() {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	if outbox.IsClosed(r.gate) {
		r.gate = make(chan struct{})
	}
}

func (r *replica) OpenGate() {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	if !outbox.IsClosed(r.gate) {
		close(r.gate)
	}
}

func (r *replica) WriteGroup(at Position, n int) error {
	s, q := r.s, &r.s.queue
	group := r.group
	kept, next, failed := r.journalGroup(at, n)
	took, broken := time.Duration(0), (*fault.Error)(nil)
	if kept > 0 {
		took, broken = s.flushAndApply(group[:kept])
	}
	q.mu.Lock()
	for _, p := range group[:kept] {
		if broken != nil && p.seq > s.seq.Load() {
			p.err = broken
		}
		p.done = true
	}
	q.flush, q.leading, r.group = took, false, group[kept:]
	r.readHead()
	if broken != nil {
		broken = s.failLocked(broken)
	}
	r.applied = next.Position
	q.changed.Broadcast()
	q.mu.Unlock()
	r.at = next
	switch {
	case broken != nil:
		r.abort(broken, broken)
		return broken
	case failed != nil:
		failed = s.writeFailed(failed)
		e := unavailable(failed, "the change has reached the shared log, and the disk of this machine did not take it").
			WithHint("free some disk space if it is full; the change is read from the log then")
		r.abort(e, failed)
		return e
	}
	r.group = nil
	return nil
}

// journalGroup writes the transactions of the group to the journal, until that fails. It returns
// how many are there, and how far the log is applied with them.
func (r *replica) journalGroup(at Position, n int) (kept int, next outbox.Applied, err error) {
	s := r.s
	next = r.at
	if s.journal != nil {
		if err := s.reattach(); err != nil {
			return 0, next, err
		}
	}
	for _, p := range r.group {
		to := next
		if p.isShared() {
			to.Done++
			if to.Done == n {
				to = outbox.Applied{Position: at}
			}
			p.writes = append(p.writes, write{key: logKey, raw: to.String()})
		}
		if s.journal != nil {
			if err := s.journal.append(p, s.synced.Load()); err != nil {
				return kept, next, err
			}
		}
		next = to
		kept++
	}
	return kept, next, nil
}

// Apply gives entries of others to the journal, the views and the handlers as the store's own
// are. One that can't be read as a whole is not applied, nor anything behind it.
func (r *replica) Apply(list []outbox.ForeignEntry) error {
	s := r.s
	if err := s.lockWriter(r.Context()); err != nil {
		return errClosed()
	}
	defer s.unlockWriter()
	if err := s.writable(); err != nil {
		return err
	}
	if s.journal != nil {
		if err := s.attach(false); err != nil {
			return err
		}
	}
	var group []*pending
	var failed error
	next := r.at
	back, err := r.takeBack()
	if err == nil && back != nil && s.journal != nil {
		err = s.journal.append(back, s.synced.Load())
	}
	if err != nil {
		return s.writeFailed(err)
	}
	if back != nil {
		s.queueWrites(back)
		s.written, group = back.seq, append(group, back)
	}
	for _, f := range list {
		var journaled []*pending
		journaled, next, failed = r.journalForeign(f, next)
		group = append(group, journaled...)
		if failed != nil {
			break
		}
	}
	if len(group) > 0 {
		if _, broken := s.flushAndApply(group); broken != nil {
			s.overlay.Clear()
			return s.fail(broken)
		}
	}
	r.at = next
	s.queue.mu.Lock()
	r.readHead()
	r.provisional = r.head.Applied > 0
	s.queue.mu.Unlock()
	if back != nil {
		group = group[1:]
		s.replayAll()
	}
	r.foreign.Add(uint64(len(group)))
	return failed
}

// journalForeign writes the transactions of an entry of another machine that are not applied yet to
// the journal, and returns them with how far the log is applied then.
func (r *replica) journalForeign(f outbox.ForeignEntry, next outbox.Applied) (group []*pending, to outbox.Applied, err error) {
	s := r.s
	if err := r.check(f.Entry); err != nil {
		return nil, next, err
	}
	n := len(f.Entry.Transactions)
	for i := next.Done; i < n; i++ {
		to := outbox.Applied{Position: next.Position, Done: i + 1}
		if to.Done == n {
			to = outbox.Applied{Position: f.At}
		}
		p := r.pendingOf(&f.Entry.Transactions[i], s.written+1, to)
		if err := r.endItem(p, outbox.SentTransaction{Entry: f.Entry.ID, Index: i}); err != nil {
			return group, next, err
		}
		if s.journal != nil {
			if err := s.journal.append(p, s.synced.Load()); err != nil {
				return group, next, s.writeFailed(err)
			}
		}
		s.queueWrites(p)
		s.written, s.format = p.seq, s.opts.Format
		group, next = append(group, p), to
	}
	return group, outbox.Applied{Position: f.At}, nil
}

// pendingOf makes a transaction of another machine one of this store.
func (r *replica) pendingOf(t *outbox.Transaction, seq uint64, to outbox.Applied) *pending {
	s := r.s
	p := &pending{seq: seq, time: time.Unix(0, t.Time), writes: make([]write, 0, len(t.Writes)+2)}
	for _, w := range t.Writes {
		own := write{key: w.Key, raw: w.Value, deleted: w.Deleted, of: disk.FindCollection(w.Key)}
		own.old, own.had = s.latest(w.Key)
		if own.deleted && !own.had {
			continue
		}
		if own.of != nil && !own.deleted {
			own.val, _ = decodeSafely(own.of, own.raw) // check has read it already
		}
		p.writes = append(p.writes, own)
	}
	p.writes = s.stampFormat(p.writes)
	p.writes = append(p.writes, write{key: logKey, raw: to.String()})
	return p
}

// check refuses an entry that holds what a store would not have written.
func (r *replica) check(e *outbox.Entry) error {
	for i := range e.Transactions {
		for _, w := range e.Transactions[i].Writes {
			if err := disk.CheckForeignWrite(w.Key, w.Value, w.Deleted); err != nil {
				return err
			}
		}
	}
	return nil
}
