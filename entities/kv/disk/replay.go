package disk

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
)

// ErrDamaged says that a file is not what was written.
var ErrDamaged = errors.New("the file is damaged")

// Open opens a file for reading and tells its header. ok is false when
// the header is damaged.
func Open(fsys FS, name, magic string) (f File, w *Window, id ID, ok bool, err error) {
	f, err = fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, id, false, err
	}
	closing := func(err error) error { return errors.Join(err, f.Close()) }
	size, err := f.Size()
	if err != nil {
		return nil, nil, id, false, closing(err)
	}
	w = &Window{f: f, Size: size}
	b, err := w.Bytes(0, FileHeaderSize)
	if err != nil {
		return nil, nil, id, false, closing(err)
	}
	id, layout, ok := parseFileHeader(magic, b)
	if ok && layout > layoutVersion {
		return nil, nil, id, false,
			closing(fault.New(fault.Unavailable,
				"the store's files have layout %d, this program knows layouts up to %d",
				layout, layoutVersion).WithHint("install the newer version of ctxd that wrote them"))
	}
	return f, w, id, ok, nil
}

// Replay is the state of reading the journal.
type Replay struct {
	FS       FS
	Dir      string
	In       Sink
	Start    uint64 // the transaction of the snapshot
	Last     uint64 // the last transaction applied
	Applied  uint64 // how many were applied
	Holes    uint64 // transactions before last that are missing
	Salvaged uint64 // how many were applied behind a hole
	Bytes    int64  // in segments that began after the snapshot
	Tail     uint64 // the last transaction in the last segment
	At       int64  // when last was written, 0 when that is not known

	// promised is the newest transaction that anything found on disk proves
	// to have been acknowledged. When last does not reach it, or there are
	// holes, transactions are lost.
	Promised uint64

	// unproven are the transactions at the end of the last segment read of which
	// nothing proves that the disk ever confirmed them.
	Unproven []Place

	// touched, when not nil, gets of every key the transaction that wrote it last.
	Touched map[string]uint64

	// stopped is where the intact prefix ends, if not with the last segment.
	Stopped *Stop
}

// Sink takes the writes of transactions in their order. What it was given is in it
// for sure when it was closed.
type Sink interface {
	Write(key, raw []byte, deleted bool) error
	Close() error
}

// Place is where a transaction stands in a segment.
type Place struct {
	Seq uint64
	Off int64
}

// Stop says where and why reading the journal in one go ended.
type Stop struct {
	Segment int
	Off     int64 // up to which the segment is good; 0 when its header is not
	Size    int64
	Torn    bool   // the rest is the beginning of a record
	Cut     bool   // and was cut off
	Gap     bool   // nothing is wrong with what was read, but the next segment does not follow it
	Beyond  uint64 // intact transactions after that
}

func (r *Replay) write(key, raw []byte, deleted bool) error {
	if r.Touched != nil {
		r.Touched[string(key)] = r.Last
	}
	if r.In == nil {
		return nil // somebody is only looking
	}
	return r.In.Write(key, raw, deleted)
}

// Promise notes that the transactions up to seq had been acknowledged.
func (r *Replay) Promise(seq uint64) {
	r.Promised = max(r.Promised, seq)
	for len(r.Unproven) > 0 && r.Unproven[0].Seq <= r.Promised {
		r.Unproven = r.Unproven[1:]
	}
}

// Journal applies, in order, the transactions after last. It takes what
// follows damage only where that is not the end of an unfinished write.
func (r *Replay) Journal(ids []ID) (err error) {
	defer func() {
		if r.In != nil {
			err = errors.Join(err, r.In.Close())
		}
	}()
	if err := r.Segments(ids); err != nil {
		return err
	}
	if r.Stopped != nil && r.Stopped.Beyond > 0 {
		return r.salvage(ids)
	}
	return nil
}

// Segments applies the transactions up to the first damage and looks through
// what follows for what had been promised.
func (r *Replay) Segments(ids []ID) error {
	for i, id := range ids {
		if i+1 < len(ids) && ids[i+1].Seq <= r.Last+1 && ids[i+1].Seq > id.Seq {
			continue // all in the snapshot
		}
		if id.Seq > 0 {
			r.Promise(id.Seq - 1) // all before it was durable when it was begun
		}
		if err := r.segment(i, id); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replay) segment(i int, name ID) error {
	f, w, id, ok, err := Open(r.FS, filepath.Join(r.Dir, name.Name(JournalPrefix)), JournalMagic)
	if err != nil {
		return err
	}
	defer f.Close()
	if !ok || id != name {
		// The name holds the same, so the records can still be read; the
		// file is not written any further.
		id = name
		r.halt(Stop{Segment: i, Size: w.Size, Torn: w.Size < FileHeaderSize})
		if w.Size < FileHeaderSize {
			return nil
		}
	}
	if id.Seq > r.Start {
		r.Bytes += w.Size
	}
	r.Tail = id.Seq - 1
	seed := id.Seed()
	off := int64(FileHeaderSize)
	for {
		h, payload, next, v, err := w.Record(off, seed)
		if err != nil {
			return err
		}
		r.Promise(h.Durable) // of a damaged record too, if its header is good
		if v == Good {
			v, err = r.transaction(h, payload, Stop{Segment: i, Off: off, Size: w.Size})
			if err != nil {
				return err
			}
		}
		switch v {
		case End:
			return nil
		case Torn:
			r.halt(Stop{Segment: i, Off: off, Size: w.Size, Torn: true})
			return nil
		case Bad:
			r.halt(Stop{Segment: i, Off: off, Size: w.Size})
			var promised uint64
			next, promised, err = w.Resync(off+1, seed)
			if err != nil {
				return err
			}
			r.Promise(promised)
		}
		off = next
	}
}

// halt notes the first place where the journal is not as written.
func (r *Replay) halt(at Stop) {
	if r.Stopped == nil {
		r.Stopped = &at
	}
}

// halted reports whether nothing more can be applied: a damaged header alone
// does not take a transaction away.
func (r *Replay) halted() bool { return r.Stopped != nil && r.Stopped.Off > 0 }

// transaction applies one good record, or takes note of it when something
// before it is missing.
func (r *Replay) transaction(h RecordHeader, payload []byte, here Stop) (Verdict, error) {
	switch {
	case h.Kind != KindTransaction || CheckOps(payload) != nil:
		return Bad, nil // never written by us
	case h.Seq <= r.Last:
		r.Tail = h.Seq
		return Good, nil
	case h.Seq > r.Last+1 || r.halted():
		here.Gap = here.Off == FileHeaderSize
		r.halt(here)
		r.Stopped.Beyond++
		return Good, nil
	}
	r.Last, r.Tail, r.Applied, r.At = h.Seq, h.Seq, r.Applied+1, h.Time
	if h.Seq > r.Promised {
		r.Unproven = append(r.Unproven, Place{h.Seq, here.Off})
	}
	return Good, EachOp(payload, r.write)
}

// salvage goes on behind the first damage and applies what is intact, now that
// the whole journal has been searched for what was promised. What is missing
// before a transaction must all have been acknowledged: it was on the disk
// once, so damage took it and not a power cut. Of the writes that were under
// way at a power cut any may be missing; there, nothing is taken after the
// first that is.
//
// Transactions are taken in the order of their numbers wherever they lie: a
// write that went to the wrong place leaves one too early.
func (r *Replay) salvage(ids []ID) error {
	var found []salvaged
	for i := r.Stopped.Segment; i < len(ids); i++ {
		err := r.intact(i, ids[i], func(h RecordHeader, _ []byte, off int64) error {
			if h.Seq > r.Last {
				found = append(found, salvaged{Place{h.Seq, off}, i})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(found, func(a, b salvaged) int { return cmp.Compare(a.Seq, b.Seq) })
	found = slices.CompactFunc(found, func(a, b salvaged) bool { return a.Seq == b.Seq })
	// Aside are those behind a hole that a power cut may have left.
	last, n := r.Last, 0
	for n < len(found) && found[n].Seq-1 <= max(last, r.Promised) {
		last = found[n].Seq
		n++
	}
	r.Stopped.Beyond = uint64(len(found) - n)
	return r.apply(ids, found[:n])
}

// salvaged is an intact transaction behind damage.
type salvaged struct {
	Place
	segment int
}

// intact calls fn with every intact transaction of a segment, from the damage on
// in the one where it begins.
func (r *Replay) intact(i int, id ID, fn func(h RecordHeader, payload []byte, off int64) error) error {
	f, w, _, _, err := Open(r.FS, filepath.Join(r.Dir, id.Name(JournalPrefix)), JournalMagic)
	if err != nil {
		return err
	}
	defer f.Close()
	off, seed := int64(FileHeaderSize), id.Seed()
	if i == r.Stopped.Segment {
		off = max(off, r.Stopped.Off)
	}
	for off < w.Size {
		h, payload, next, v, err := w.Record(off, seed)
		switch {
		case err != nil:
			return err
		case v == Torn:
			return nil
		case v == Bad || h.Kind != KindTransaction || CheckOps(payload) != nil:
			next, _, err = w.Resync(off+1, seed)
		default:
			err = fn(h, payload, off)
		}
		if err != nil {
			return err
		}
		off = next
	}
	return nil
}

// apply takes transactions that were found intact.
func (r *Replay) apply(ids []ID, found []salvaged) error {
	segments := make(map[int]*Window)
	var files []File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	for _, at := range found {
		id := ids[at.segment]
		w := segments[at.segment]
		if w == nil {
			f, opened, _, _, err := Open(r.FS, filepath.Join(r.Dir, id.Name(JournalPrefix)), JournalMagic)
			if err != nil {
				return err
			}
			files = append(files, f)
			w, segments[at.segment] = opened, opened
		}
		h, payload, _, v, err := w.Record(at.Off, id.Seed())
		if err != nil {
			return err
		}
		if v != Good || h.Seq != at.Seq {
			return ErrDamaged // it was good a moment ago
		}
		r.Holes += h.Seq - 1 - r.Last
		r.Last, r.Applied, r.Salvaged, r.At = h.Seq, r.Applied+1, r.Salvaged+1, 0 // another history than before
		if err := EachOp(payload, r.write); err != nil {
			return err
		}
	}
	return nil
}
