package kv

import (
	"encoding/binary"
	"errors"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// journal is the newest segment, to which transactions are appended. All but the counter is
// guarded by the writer lock, except that the segment may be flushed while the
// next transaction is written: flusher.segment keeps it from being replaced. A replica writes
// while everybody waits for it who would do so with the writer lock.
type journal struct {
	*disk.Segment
	bytes atomic.Int64 // in all segments since the last snapshot
}

// rotate begins a new segment. Every transaction must be durable and applied.
func (s *Store) rotate(seq uint64) error {
	next, err := disk.NewSegment(s.opts.FS, s.dir, seq)
	if err != nil {
		return err
	}
	s.flusher.segment.Lock()
	defer s.flusher.segment.Unlock()
	_ = s.journal.Close() // everything in it is synced
	s.journal.Segment = next
	return nil
}

// append writes one transaction as one record, whole or not at all.
func (j *journal) append(p *pending, durable uint64) error {
	size := 0
	for i := range p.writes {
		w := &p.writes[i]
		size += len(w.key) + len(w.raw) + 1 + 2*binary.MaxVarintLen32
	}
	head := disk.RecordHeader{Seq: p.seq, Durable: durable, Time: p.time.UnixNano()}
	n, err := j.Append(head, size, func(b []byte) []byte {
		for i := range p.writes {
			w := &p.writes[i]
			b = disk.AppendOp(b, w.key, w.raw, w.deleted)
		}
		return b
	})
	j.bytes.Add(n)
	return err
}

// writeFailed turns a failure of append into what the caller of Update gets.
func (s *Store) writeFailed(err error) error {
	var limit *fault.Error
	switch {
	case errors.As(err, &limit):
		return limit
	case errors.Is(err, disk.ErrTorn):
		return s.fail(unavailable(err, "the store is read-only: a failed write could not be taken back").
			WithHint(hintRestart))
	}
	e := unavailable(err, "the disk did not take the write").WithHint(hintRetry)
	e.Retryable = true
	return e
}
