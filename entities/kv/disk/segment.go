package disk

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/entities/fault"
)

// keepBuffer is the largest buffer that is kept between transactions.
const keepBuffer = 4 << 20

// ErrTorn marks a failed write that could not be taken back.
var ErrTorn = errors.New("a failed write could not be cut off")

// Segment is the newest segment of a journal, to which transactions are appended. One
// goroutine at a time appends; Sync, Linked and Close may be called meanwhile.
type Segment struct {
	ID ID

	dir  string
	seed uint32
	f    File
	size int64 // up to which it is good
	buf  []byte
}

// NewSegment creates the segment that begins with the transaction seq and
// makes its existence durable. On failure nothing of it is left, or ErrTorn
// is in the error.
func NewSegment(fsys FS, dir string, seq uint64) (*Segment, error) {
	id := NewID(seq)
	name := filepath.Join(dir, id.Name(JournalPrefix))
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, FileMode)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteAt(id.Header(JournalMagic), 0)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err == nil {
		return &Segment{ID: id, dir: dir, seed: id.Seed(), f: f, size: FileHeaderSize}, nil
	}
	// A segment that stayed behind would make the next start believe that
	// the one before it ended here.
	err = errors.Join(err, f.Close())
	if e := errors.Join(fsys.Remove(name), fsys.SyncDir(dir)); e != nil {
		err = errors.Join(err, e, ErrTorn)
	}
	return nil, err
}

// OpenSegment opens a segment that is in order, for appending.
func OpenSegment(fsys FS, dir string, id ID) (*Segment, error) {
	f, err := fsys.OpenFile(filepath.Join(dir, id.Name(JournalPrefix)), os.O_RDWR, FileMode)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Segment{ID: id, dir: dir, seed: id.Seed(), f: f, size: size}, nil
}

// Append writes one transaction as one record, whole or not at all, and returns how many
// bytes that has. Its operations, which ops appends with AppendOp, have at most size bytes.
// ErrTorn is in an error after which something of it may be there.
func (s *Segment) Append(h RecordHeader, size int, ops func(b []byte) []byte) (int64, error) {
	if size > MaxPayload {
		return 0, fault.New(fault.Limit, "a transaction has about %d MiB, at most %d are allowed", size>>20,
			MaxPayload>>20).
			WithHint("write it in several parts")
	}
	if cap(s.buf) < RecordHeaderSize+size {
		s.buf = make([]byte, 0, RecordHeaderSize+size)
	}
	h.Kind = KindTransaction
	b := Finish(ops(s.buf[:RecordHeaderSize]), h, s.seed)
	_, err := s.f.WriteAt(b, s.size)
	n := int64(len(b))
	if err == nil {
		s.size += n
	}
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	if err != nil {
		if e := s.f.Truncate(s.size); e != nil {
			return 0, errors.Join(err, e, ErrTorn)
		}
		return 0, err
	}
	return n, nil
}

// Rewrite writes the end of the segment once more, as it is. Where the last
// process met a failed flush, the system may hold pages that it takes for
// written, and which no flush would write.
func (s *Segment) Rewrite(off int64) error {
	w := NewWindow(s.f, s.size)
	for off < s.size {
		b, err := w.Bytes(off, WindowSize)
		if err != nil {
			return err
		}
		if _, err := s.f.WriteAt(b, off); err != nil {
			return err
		}
		off += int64(len(b))
	}
	return nil
}

// Sync has the disk confirm what was appended.
func (s *Segment) Sync() error { return s.f.Sync() }

// Linked reports whether the segment can be found by its name.
func (s *Segment) Linked() bool {
	return Linked(s.f, filepath.Join(s.dir, s.ID.Name(JournalPrefix)))
}

// Close closes the file.
func (s *Segment) Close() error { return s.f.Close() }

// CutSegment cuts a segment off at an offset, and removes it at offset 0.
func CutSegment(fsys FS, dir string, id ID, off int64) error {
	name := filepath.Join(dir, id.Name(JournalPrefix))
	if off == 0 {
		return errors.Join(fsys.Remove(name), fsys.SyncDir(dir))
	}
	f, err := fsys.OpenFile(name, os.O_RDWR, FileMode)
	if err != nil {
		return err
	}
	err = f.Truncate(off)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
