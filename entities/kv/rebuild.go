package kv

import (
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// rebuild loads what is intact when no snapshot is whole and the journal does
// not reach back to the first transaction, see disk.Rebuild. Without Options.Salvage it refuses.
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
	bad, err := disk.Rebuild(s.opts.FS, s.dir, f.damaged, f.Segments, f.journal)
	s.report.LostPieces = bad
	return unreadable(err)
}
