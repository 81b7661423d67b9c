package kv

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
)

// rebuild loads what is intact when no snapshot is whole and the journal does
// not reach back to the first transaction. Without Options.Salvage it refuses.
//
// A snapshot is pieces in key order, each with a checksum, so those that are
// intact still tell the state of their keys. The oldest snapshot and the journal
// since give the present state of every key that either holds. What is in none
// of them stood in a damaged piece and was not written since, and so may be
// found in a newer snapshot as it was.
func (s *Store) rebuild(f *finding) error {
	if !s.opts.Salvage {
		return fault.Wrap(fault.Unavailable, errDamaged, "the store is damaged: neither a whole snapshot nor the whole journal is left").
			WithHint("restore a backup, or have what is intact put together: ctxd doctor store --salvage; the files are unchanged")
	}
	if len(f.damaged) == 0 && len(f.segments) == 0 {
		return fault.Wrap(fault.Unavailable, errDamaged, "nothing of the store is left").WithHint("restore a backup; the files are unchanged")
	}
	f.rebuilt = true
	r := f.journal
	if len(f.damaged) == 0 {
		return unreadable(r.journal(f.segments))
	}
	oldest := f.damaged[len(f.damaged)-1]
	seen := make(map[string]uint64)
	bad, err := s.loadPieces(oldest, func(key, raw []byte) error {
		seen[string(key)] = oldest.seq
		return r.in.write(key, raw, false)
	})
	if err != nil {
		return unreadable(errors.Join(err, r.in.close()))
	}
	s.report.LostPieces = bad
	r.start, r.last = oldest.seq, oldest.seq
	r.touched = seen
	if err := r.journal(f.segments); err != nil {
		return unreadable(err)
	}
	for _, id := range slices.Backward(f.damaged[:len(f.damaged)-1]) {
		_, err := s.loadPieces(id, func(key, raw []byte) error {
			if at, ok := seen[string(key)]; ok && at > id.seq {
				return nil
			}
			seen[string(key)] = id.seq
			return r.in.write(key, raw, false)
		})
		if err = errors.Join(err, r.in.close()); err != nil {
			return unreadable(err)
		}
	}
	return nil
}

// loadPieces calls fn with every record in the intact pieces of a damaged
// snapshot, and returns how many pieces are not intact, as far as the numbers of
// the others tell.
func (s *Store) loadPieces(id fileID, fn func(key, raw []byte) error) (bad uint64, err error) {
	f, w, _, _, err := openWindow(s.opts.FS, filepath.Join(s.dir, id.name(snapshotPrefix)), snapshotMagic)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	seed, expected, ended := id.seed(), uint64(0), false
	for off := int64(fileHeaderSize); off < w.size; {
		h, payload, next, v, err := w.record(off, seed)
		if err != nil {
			return 0, err
		}
		if v != good || h.seq != id.seq || h.kind != kindChunk && h.kind != kindEnd || h.kind == kindChunk && checkOps(payload) != nil {
			if off, _, err = w.resync(off+1, seed); err != nil {
				return 0, err
			}
			continue
		}
		if h.durable > expected {
			bad += h.durable - expected
		}
		expected = h.durable + 1
		if h.kind == kindEnd {
			ended = true
		} else if err := eachOp(payload, func(key, raw []byte, _ bool) error { return fn(key, raw) }); err != nil {
			return 0, err
		}
		off = next
	}
	if !ended {
		bad++ // at least
	}
	return bad, nil
}
