package kv

import (
	"errors"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
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
		return fault.Wrap(fault.Unavailable, disk.ErrDamaged,
			"the store is damaged: neither a whole snapshot nor the whole journal is left").
			WithHint("restore a backup, or have what is intact put together: ctxd doctor store --salvage; the files are unchanged")
	}
	if len(f.damaged) == 0 && len(f.Segments) == 0 {
		return fault.Wrap(fault.Unavailable, disk.ErrDamaged, "nothing of the store is left").
			WithHint("restore a backup; the files are unchanged")
	}
	f.rebuilt = true
	r := f.journal
	if len(f.damaged) == 0 {
		return unreadable(r.Journal(f.Segments))
	}
	oldest := f.damaged[len(f.damaged)-1]
	seen := make(map[string]uint64)
	bad, err := disk.IntactPieces(s.opts.FS, s.dir, oldest, func(key, raw []byte) error {
		seen[string(key)] = oldest.Seq
		return r.In.Write(key, raw, false)
	})
	if err != nil {
		return unreadable(errors.Join(err, r.In.Close()))
	}
	s.report.LostPieces = bad
	r.Start, r.Last = oldest.Seq, oldest.Seq
	r.Touched = seen
	if err := r.Journal(f.Segments); err != nil {
		return unreadable(err)
	}
	for _, id := range slices.Backward(f.damaged[:len(f.damaged)-1]) {
		_, err := disk.IntactPieces(s.opts.FS, s.dir, id, func(key, raw []byte) error {
			if at, ok := seen[string(key)]; ok && at > id.Seq {
				return nil
			}
			seen[string(key)] = id.Seq
			return r.In.Write(key, raw, false)
		})
		err = errors.Join(err, r.In.Close())
		if err != nil {
			return unreadable(err)
		}
	}
	return nil
}
