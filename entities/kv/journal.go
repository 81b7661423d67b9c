package kv

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// keepBuffer is the largest buffer that is kept between transactions.
const keepBuffer = 4 << 20

// journal appends transactions to the newest segment. All but the counter is
// guarded by the writer lock, except that the segment may be flushed while the
// next transaction is written: flusher.segment keeps it from being replaced.
type journal struct {
	fs   FS
	dir  string
	id   disk.ID
	seed uint32
	f    File
	size int64 // up to which the segment is good
	buf  []byte

	bytes atomic.Int64 // in all segments since the last snapshot
}

// errTorn marks a failed write that could not be taken back.
var errTorn = errors.New("a failed write could not be cut off")

// newSegment creates the segment that begins with the transaction seq and
// makes its existence durable. On failure nothing of it is left, or errTorn
// is in the error.
func newSegment(fsys FS, dir string, seq uint64) (File, disk.ID, error) {
	id := disk.NewID(seq)
	name := filepath.Join(dir, id.Name(disk.JournalPrefix))
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, disk.FileMode)
	if err != nil {
		return nil, id, err
	}
	_, err = f.WriteAt(id.Header(disk.JournalMagic), 0)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err == nil {
		return f, id, nil
	}
	// A segment that stayed behind would make the next start believe that
	// the one before it ended here.
	err = errors.Join(err, f.Close())
	if e := errors.Join(fsys.Remove(name), fsys.SyncDir(dir)); e != nil {
		err = errors.Join(err, e, errTorn)
	}
	return nil, id, err
}

// rotate begins a new segment. Every transaction must be durable and applied.
func (s *Store) rotate(seq uint64) error {
	j := s.journal
	f, id, err := newSegment(j.fs, j.dir, seq)
	if err != nil {
		return err
	}
	s.flusher.segment.Lock()
	defer s.flusher.segment.Unlock()
	_ = j.f.Close() // everything in it is synced
	j.f, j.id, j.seed, j.size = f, id, id.Seed(), disk.FileHeaderSize
	return nil
}

// append writes one transaction as one record, whole or not at all.
func (j *journal) append(p *pending, durable uint64) error {
	size := 0
	for i := range p.writes {
		w := &p.writes[i]
		size += len(w.key) + len(w.raw) + 1 + 2*binary.MaxVarintLen32
	}
	if size > disk.MaxPayload {
		return fault.New(fault.Limit, "a transaction has about %d MiB, at most %d are allowed", size>>20,
			disk.MaxPayload>>20).
			WithHint("write it in several parts")
	}
	if cap(j.buf) < disk.RecordHeaderSize+size {
		j.buf = make([]byte, 0, disk.RecordHeaderSize+size)
	}
	b := j.buf[:disk.RecordHeaderSize]
	for i := range p.writes {
		w := &p.writes[i]
		b = disk.AppendOp(b, w.key, w.raw, w.deleted)
	}
	b = disk.Finish(b, disk.RecordHeader{
		Kind: disk.KindTransaction, Seq: p.seq, Durable: durable,
		Time: p.time.UnixNano(),
	}, j.seed)
	_, err := j.f.WriteAt(b, j.size)
	if n := int64(len(b)); err == nil {
		j.size += n
		j.bytes.Add(n)
	}
	if cap(j.buf) > keepBuffer {
		j.buf = nil
	}
	if err != nil {
		if e := j.f.Truncate(j.size); e != nil {
			return errors.Join(err, e, errTorn)
		}
		return err
	}
	return nil
}

func (j *journal) sync() error { return j.f.Sync() }

// writeFailed turns a failure of append into what the caller of Update gets.
func (s *Store) writeFailed(err error) error {
	var limit *fault.Error
	switch {
	case errors.As(err, &limit):
		return limit
	case errors.Is(err, errTorn):
		return s.fail(unavailable(err, "the store is read-only: a failed write could not be taken back").
			WithHint(hintRestart))
	}
	e := unavailable(err, "the disk did not take the write").WithHint(hintRetry)
	e.Retryable = true
	return e
}
