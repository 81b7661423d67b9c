package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"os"
	"path/filepath"
)

// ChunkBytes is about how many bytes of keys and values a chunk has.
const ChunkBytes = 64 << 10

// State says what a file that holds a whole state is made of: a snapshot or
// a backup.
type State struct {
	Name  string
	Temp  string // its name until it is whole; "": name with tempSuffix
	ID    ID
	Magic string
	About []byte    // the payload of the record before the pieces; nil for none
	Sum   hash.Hash // gets every byte of the file; may be nil
	// free, when not nil, says whether the name is free still, just before the
	// file gets it: it takes nobody's place then.
	Free func() error
	// halted, when not nil, returns an error as soon as the writing is to end.
	Halted func() error
	// next appends the next keys to a chunk and says whether more follow.
	Next func(chunk []Pair) (_ []Pair, more bool, err error)
	// Written, when not nil, counts the keys that are written.
	Written *Written
}

// Written counts keys of one State, or of several that are written one after the other, and tells of each piece.
type Written struct {
	Total int64 // about so many are expected
	Tell  func(done, total int64)
	done  int64
}

func (n *Written) add(keys int) {
	if n == nil || n.Tell == nil {
		return
	}
	n.done += int64(keys)
	n.Tell(n.done, max(n.done, n.Total))
}

// Write writes a file that gets its name once it is whole and durable. When
// it fails nothing of the file is left, except that it may be there under its
// name, and whole, when all that failed was to make the name durable.
func (of *State) Write(ctx context.Context, fsys FS) (size int64, err error) {
	size, err = of.WriteTemp(ctx, fsys)
	if err != nil {
		return 0, err
	}
	if of.Free != nil {
		err = of.Free()
	}
	if err == nil {
		err = fsys.Rename(of.tempName(), of.Name)
	}
	if err != nil {
		_ = fsys.Remove(of.tempName())
		return 0, err
	}
	if err := fsys.SyncDir(filepath.Dir(of.Name)); err != nil {
		if of.Free != nil {
			_ = fsys.Remove(of.Name) // it took nobody's place
		}
		return 0, err
	}
	return size, nil
}

func (of *State) tempName() string {
	if of.Temp != "" {
		return of.Temp
	}
	return of.Name + TempSuffix
}

// WriteTemp writes the file under its temporary name and makes it durable. When
// it fails nothing of it is left.
func (of *State) WriteTemp(ctx context.Context, fsys FS) (size int64, err error) {
	tmp := of.tempName()
	f, err := fsys.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, FileMode)
	if err != nil {
		return 0, err
	}
	w := &stateWriter{f: f, of: of, seed: of.ID.Seed()}
	err = w.pieces(ctx)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		_ = fsys.Remove(tmp)
		return 0, err
	}
	return w.size, nil
}

func (w *stateWriter) pieces(ctx context.Context) error {
	if err := w.begin(); err != nil {
		return err
	}
	var chunk []Pair
	for more := true; more; {
		err := ctx.Err()
		if err == nil && w.of.Halted != nil {
			err = w.of.Halted()
		}
		if err != nil {
			return err
		}
		chunk, more, err = w.of.Next(chunk[:0])
		if err != nil {
			return err
		}
		if err := w.put(chunk); err != nil {
			return err
		}
		w.of.Written.add(len(chunk))
	}
	return w.end()
}

// stateWriter is a State being written.
type stateWriter struct {
	f      File
	of     *State
	seed   uint32
	size   int64
	keys   uint64
	number uint64 // of the next piece
	buf    []byte
}

func (w *stateWriter) write(b []byte) error {
	_, err := w.f.WriteAt(b, w.size)
	w.size += int64(len(b))
	if w.of.Sum != nil {
		w.of.Sum.Write(b)
	}
	return err
}

// record writes what was appended to buf behind RecordHeaderSize free bytes.
func (w *stateWriter) record(kind byte) error {
	return w.write(Finish(w.buf, RecordHeader{Kind: kind, Seq: w.of.ID.Seq, Durable: w.number}, w.seed))
}

func (w *stateWriter) reset() { w.buf = append(w.buf[:0], make([]byte, RecordHeaderSize)...) }

func (w *stateWriter) begin() error {
	err := w.write(w.of.ID.Header(w.of.Magic))
	if err != nil || w.of.About == nil {
		return err
	}
	w.reset()
	w.buf = append(w.buf, w.of.About...)
	return w.record(KindAbout)
}

// put writes a chunk as one piece or more: one value may be as large as a record
// can be, and the rest of its chunk then goes into another piece.
func (w *stateWriter) put(chunk []Pair) error {
	for i := 0; i < len(chunk); {
		w.reset()
		for n := 0; i < len(chunk) &&
			(n == 0 || len(w.buf)+len(chunk[i].Key)+len(chunk[i].Value) < 4*ChunkBytes); i, n = i+1, n+1 {
			w.buf = AppendOp(w.buf, chunk[i].Key, chunk[i].Value, false)
			w.keys++
		}
		if err := w.record(KindChunk); err != nil {
			return err
		}
		w.number++
	}
	return nil
}

func (w *stateWriter) end() error {
	w.reset()
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.keys)
	return w.record(KindEnd)
}

// StateReader reads a file that holds a whole state from its beginning. Anything
// that was not written so is ErrDamaged.
type StateReader struct {
	Window *Window
	ID     ID
	seed   uint32
	Offset int64
	keys   uint64
	pieces uint64
}

// About reads the record that comes before the pieces.
func (r *StateReader) About() ([]byte, error) {
	r.Offset, r.seed = FileHeaderSize, r.ID.Seed()
	h, payload, next, v, err := r.Window.Record(r.Offset, r.seed)
	if err != nil {
		return nil, err
	}
	if v != Good || h.Kind != KindAbout || h.Seq != r.ID.Seq || h.Durable != 0 || len(payload) > maxAbout {
		return nil, ErrDamaged
	}
	r.Offset = next
	return payload, nil
}

// Next calls fn with the records of the next piece; more is false when the file
// has ended as it should.
func (r *StateReader) Next(fn func(key, raw []byte) error) (more bool, err error) {
	h, payload, next, v, err := r.Window.Record(r.Offset, r.seed)
	if err != nil {
		return false, err
	}
	if v != Good || h.Seq != r.ID.Seq || h.Durable != r.pieces {
		return false, ErrDamaged
	}
	switch h.Kind {
	case KindEnd:
		if next != r.Window.Size || len(payload) != 8 || binary.LittleEndian.Uint64(payload) != r.keys {
			return false, ErrDamaged
		}
		return false, nil
	case KindChunk:
		r.Offset, r.pieces = next, r.pieces+1
		err := EachOp(payload, func(key, raw []byte, deleted bool) error {
			if deleted {
				return ErrDamaged
			}
			r.keys++
			return fn(key, raw)
		})
		if errors.Is(err, errPayload) {
			err = ErrDamaged
		}
		return true, err
	}
	return false, ErrDamaged
}
