package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"os"
	"path/filepath"
)

// stateFile says what a file that holds a whole state is made of: a snapshot or
// a backup.
type stateFile struct {
	name  string
	temp  string // its name until it is whole; "": name with tempSuffix
	id    fileID
	magic string
	about []byte    // the payload of the record before the pieces; nil for none
	sum   hash.Hash // gets every byte of the file; may be nil
	// free, when not nil, says whether the name is free still, just before the
	// file gets it: it takes nobody's place then.
	free func() error
	// next appends the next keys to a chunk and says whether more follow.
	next func(chunk []pair) (_ []pair, more bool, err error)
}

// writeState writes a file that gets its name once it is whole and durable. When
// it fails nothing of the file is left, except that it may be there under its
// name, and whole, when all that failed was to make the name durable.
func (s *Store) writeState(ctx context.Context, of stateFile) (size int64, err error) {
	size, err = s.writeTemp(ctx, of)
	if err != nil {
		return 0, err
	}
	fsys := s.opts.FS
	if of.free != nil {
		err = of.free()
	}
	if err == nil {
		err = fsys.Rename(of.tempName(), of.name)
	}
	if err != nil {
		_ = fsys.Remove(of.tempName())
		return 0, err
	}
	if err := fsys.SyncDir(filepath.Dir(of.name)); err != nil {
		if of.free != nil {
			_ = fsys.Remove(of.name) // it took nobody's place
		}
		return 0, err
	}
	return size, nil
}

func (of *stateFile) tempName() string {
	if of.temp != "" {
		return of.temp
	}
	return of.name + tempSuffix
}

// writeTemp writes the file under its temporary name and makes it durable. When
// it fails nothing of it is left.
func (s *Store) writeTemp(ctx context.Context, of stateFile) (size int64, err error) {
	fsys, tmp := s.opts.FS, of.tempName()
	f, err := fsys.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, fileMode)
	if err != nil {
		return 0, err
	}
	w := &stateWriter{f: f, of: of, seed: of.id.seed()}
	err = s.writePieces(ctx, w)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = fsys.Remove(tmp)
		return 0, err
	}
	return w.size, nil
}

func (s *Store) writePieces(ctx context.Context, w *stateWriter) error {
	if err := w.begin(); err != nil {
		return err
	}
	var chunk []pair
	for more := true; more; {
		err := errors.Join(ctx.Err(), s.snapshots.stop.Err())
		if err != nil {
			return err
		}
		if chunk, more, err = w.of.next(chunk[:0]); err != nil {
			return err
		}
		if err := w.put(chunk); err != nil {
			return err
		}
	}
	return w.end()
}

// stateWriter is a stateFile being written.
type stateWriter struct {
	f      File
	of     stateFile
	seed   uint32
	size   int64
	keys   uint64
	pieces uint64
	buf    []byte
}

func (w *stateWriter) write(b []byte) error {
	_, err := w.f.WriteAt(b, w.size)
	w.size += int64(len(b))
	if w.of.sum != nil {
		w.of.sum.Write(b)
	}
	return err
}

// record writes what was appended to buf behind headerSize free bytes.
func (w *stateWriter) record(kind byte) error {
	return w.write(finish(w.buf, header{kind: kind, seq: w.of.id.seq, durable: w.pieces}, w.seed))
}

func (w *stateWriter) reset() { w.buf = append(w.buf[:0], make([]byte, headerSize)...) }

func (w *stateWriter) begin() error {
	err := w.write(w.of.id.header(w.of.magic))
	if err != nil || w.of.about == nil {
		return err
	}
	w.reset()
	w.buf = append(w.buf, w.of.about...)
	return w.record(kindAbout)
}

// put writes a chunk as one piece or more: one value may be as large as a record
// can be, and the rest of its chunk then goes into another piece.
func (w *stateWriter) put(chunk []pair) error {
	for i := 0; i < len(chunk); {
		w.reset()
		for n := 0; i < len(chunk) && (n == 0 || len(w.buf)+len(chunk[i].key)+len(chunk[i].raw) < 4*chunkBytes); i, n = i+1, n+1 {
			w.buf = appendOp(w.buf, chunk[i].key, chunk[i].raw, false)
			w.keys++
		}
		if err := w.record(kindChunk); err != nil {
			return err
		}
		w.pieces++
	}
	return nil
}

func (w *stateWriter) end() error {
	w.reset()
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.keys)
	return w.record(kindEnd)
}

// stateReader reads a file that holds a whole state from its beginning. Anything
// that was not written so is errDamaged.
type stateReader struct {
	w      *window
	id     fileID
	seed   uint32
	off    int64
	keys   uint64
	pieces uint64
}

// about reads the record that comes before the pieces.
func (r *stateReader) about() ([]byte, error) {
	r.off, r.seed = fileHeaderSize, r.id.seed()
	h, payload, next, v, err := r.w.record(r.off, r.seed)
	if err != nil {
		return nil, err
	}
	if v != good || h.kind != kindAbout || h.seq != r.id.seq || h.durable != 0 || len(payload) > maxAbout {
		return nil, errDamaged
	}
	r.off = next
	return payload, nil
}

// next calls fn with the records of the next piece; more is false when the file
// has ended as it should.
func (r *stateReader) next(fn func(key, raw []byte) error) (more bool, err error) {
	h, payload, next, v, err := r.w.record(r.off, r.seed)
	if err != nil {
		return false, err
	}
	if v != good || h.seq != r.id.seq || h.durable != r.pieces {
		return false, errDamaged
	}
	switch h.kind {
	case kindEnd:
		if next != r.w.size || len(payload) != 8 || binary.LittleEndian.Uint64(payload) != r.keys {
			return false, errDamaged
		}
		return false, nil
	case kindChunk:
		r.off, r.pieces = next, r.pieces+1
		err := eachOp(payload, func(key, raw []byte, deleted bool) error {
			if deleted {
				return errDamaged
			}
			r.keys++
			return fn(key, raw)
		})
		if errors.Is(err, errPayload) {
			err = errDamaged
		}
		return true, err
	}
	return false, errDamaged
}
