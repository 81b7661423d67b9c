package kv

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
)

// errDamaged says that a file is not what was written.
var errDamaged = errors.New("the file is damaged")

// openWindow opens a file for reading and tells its header. ok is false when
// the header is damaged.
func openWindow(fsys FS, name, magic string) (f File, w *window, id fileID, ok bool, err error) {
	f, err = fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, id, false, err
	}
	closing := func(err error) error { return errors.Join(err, f.Close()) }
	size, err := f.Size()
	if err != nil {
		return nil, nil, id, false, closing(err)
	}
	w = &window{f: f, size: size}
	b, err := w.bytes(0, fileHeaderSize)
	if err != nil {
		return nil, nil, id, false, closing(err)
	}
	id, layout, ok := parseFileHeader(magic, b)
	if ok && layout > layoutVersion {
		return nil, nil, id, false, closing(fault.New(fault.Unavailable, "the store's files have layout %d, this program knows layouts up to %d",
			layout, layoutVersion).WithHint("install the newer version of ctxd that wrote them"))
	}
	return f, w, id, ok, nil
}

// replay is the state of reading the journal.
type replay struct {
	fs    FS
	dir   string
	in    batch
	start uint64 // the transaction of the snapshot
	last  uint64 // the last transaction applied
	n     uint64 // how many were applied
	holes uint64 // transactions before last that are missing
	saved uint64 // how many were applied behind a hole
	bytes int64  // in segments that began after the snapshot
	tail  uint64 // the last transaction in the last segment
	at    int64  // when last was written, 0 when that is not known

	// promised is the newest transaction that anything found on disk proves
	// to have been acknowledged. When last does not reach it, or there are
	// holes, transactions are lost.
	promised uint64

	// unproven are the transactions at the end of the last segment read of which
	// nothing proves that the disk ever confirmed them.
	unproven []place

	// touched, when not nil, gets of every key the transaction that wrote it last.
	touched map[string]uint64

	// stopped is where the intact prefix ends, if not with the last segment.
	stopped *stop
}

// place is where a transaction stands in a segment.
type place struct {
	seq uint64
	off int64
}

// stop says where and why reading the journal in one go ended.
type stop struct {
	segment int
	off     int64 // up to which the segment is good; 0 when its header is not
	size    int64
	torn    bool   // the rest is the beginning of a record
	cut     bool   // and was cut off
	gap     bool   // nothing is wrong with what was read, but the next segment does not follow it
	beyond  uint64 // intact transactions after that
}

func (r *replay) write(key, raw []byte, deleted bool) error {
	if r.touched != nil {
		r.touched[string(key)] = r.last
	}
	return r.in.write(key, raw, deleted)
}

func (r *replay) promise(seq uint64) {
	r.promised = max(r.promised, seq)
	for len(r.unproven) > 0 && r.unproven[0].seq <= r.promised {
		r.unproven = r.unproven[1:]
	}
}

// journal applies, in order, the transactions after last. It takes what
// follows damage only where that is not the end of an unfinished write.
func (r *replay) journal(ids []fileID) (err error) {
	defer func() { err = errors.Join(err, r.in.close()) }()
	if err := r.segments(ids); err != nil {
		return err
	}
	if r.stopped != nil && r.stopped.beyond > 0 {
		return r.salvage(ids)
	}
	return nil
}

// segments applies the transactions up to the first damage and looks through
// what follows for what had been promised.
func (r *replay) segments(ids []fileID) error {
	for i, id := range ids {
		if i+1 < len(ids) && ids[i+1].seq <= r.last+1 && ids[i+1].seq > id.seq {
			continue // all in the snapshot
		}
		if id.seq > 0 {
			r.promise(id.seq - 1) // all before it was durable when it was begun
		}
		if err := r.segment(i, id); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) segment(i int, name fileID) error {
	f, w, id, ok, err := openWindow(r.fs, filepath.Join(r.dir, name.name(journalPrefix)), journalMagic)
	if err != nil {
		return err
	}
	defer f.Close()
	if !ok || id != name {
		// The name holds the same, so the records can still be read; the
		// file is not written any further.
		id = name
		r.halt(stop{segment: i, size: w.size, torn: w.size < fileHeaderSize})
		if w.size < fileHeaderSize {
			return nil
		}
	}
	if id.seq > r.start {
		r.bytes += w.size
	}
	r.tail = id.seq - 1
	seed := id.seed()
	off := int64(fileHeaderSize)
	for {
		h, payload, next, v, err := w.record(off, seed)
		if err != nil {
			return err
		}
		r.promise(h.durable) // of a damaged record too, if its header is good
		if v == good {
			if v, err = r.transaction(h, payload, stop{segment: i, off: off, size: w.size}); err != nil {
				return err
			}
		}
		switch v {
		case end:
			return nil
		case torn:
			r.halt(stop{segment: i, off: off, size: w.size, torn: true})
			return nil
		case bad:
			r.halt(stop{segment: i, off: off, size: w.size})
			var promised uint64
			if next, promised, err = w.resync(off+1, seed); err != nil {
				return err
			}
			r.promise(promised)
		}
		off = next
	}
}

// halt notes the first place where the journal is not as written.
func (r *replay) halt(at stop) {
	if r.stopped == nil {
		r.stopped = &at
	}
}

// halted reports whether nothing more can be applied: a damaged header alone
// does not take a transaction away.
func (r *replay) halted() bool { return r.stopped != nil && r.stopped.off > 0 }

// transaction applies one good record, or takes note of it when something
// before it is missing.
func (r *replay) transaction(h header, payload []byte, here stop) (verdict, error) {
	switch {
	case h.kind != kindTx || checkOps(payload) != nil:
		return bad, nil // never written by us
	case h.seq <= r.last:
		r.tail = h.seq
		return good, nil
	case h.seq > r.last+1 || r.halted():
		here.gap = here.off == fileHeaderSize
		r.halt(here)
		r.stopped.beyond++
		return good, nil
	}
	r.last, r.tail, r.n, r.at = h.seq, h.seq, r.n+1, h.time
	if h.seq > r.promised {
		r.unproven = append(r.unproven, place{h.seq, here.off})
	}
	return good, eachOp(payload, r.write)
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
func (r *replay) salvage(ids []fileID) error {
	var found []salvaged
	for i := r.stopped.segment; i < len(ids); i++ {
		err := r.intact(i, ids[i], func(h header, _ []byte, off int64) error {
			if h.seq > r.last {
				found = append(found, salvaged{place{h.seq, off}, i})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(found, func(a, b salvaged) int { return cmp.Compare(a.seq, b.seq) })
	found = slices.CompactFunc(found, func(a, b salvaged) bool { return a.seq == b.seq })
	// Aside are those behind a hole that a power cut may have left.
	last, n := r.last, 0
	for n < len(found) && found[n].seq-1 <= max(last, r.promised) {
		last = found[n].seq
		n++
	}
	r.stopped.beyond = uint64(len(found) - n)
	return r.apply(ids, found[:n])
}

// salvaged is an intact transaction behind damage.
type salvaged struct {
	place
	segment int
}

// intact calls fn with every intact transaction of a segment, from the damage on
// in the one where it begins.
func (r *replay) intact(i int, id fileID, fn func(h header, payload []byte, off int64) error) error {
	f, w, _, _, err := openWindow(r.fs, filepath.Join(r.dir, id.name(journalPrefix)), journalMagic)
	if err != nil {
		return err
	}
	defer f.Close()
	off, seed := int64(fileHeaderSize), id.seed()
	if i == r.stopped.segment {
		off = max(off, r.stopped.off)
	}
	for off < w.size {
		h, payload, next, v, err := w.record(off, seed)
		switch {
		case err != nil:
			return err
		case v == torn:
			return nil
		case v == bad || h.kind != kindTx || checkOps(payload) != nil:
			next, _, err = w.resync(off+1, seed)
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
func (r *replay) apply(ids []fileID, found []salvaged) error {
	segments := make(map[int]*window)
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
			f, opened, _, _, err := openWindow(r.fs, filepath.Join(r.dir, id.name(journalPrefix)), journalMagic)
			if err != nil {
				return err
			}
			files = append(files, f)
			w, segments[at.segment] = opened, opened
		}
		h, payload, _, v, err := w.record(at.off, id.seed())
		if err != nil {
			return err
		}
		if v != good || h.seq != at.seq {
			return errDamaged // it was good a moment ago
		}
		r.holes += h.seq - 1 - r.last
		r.last, r.n, r.saved, r.at = h.seq, r.n+1, r.saved+1, 0 // another history than before
		if err := eachOp(payload, r.write); err != nil {
			return err
		}
	}
	return nil
}
