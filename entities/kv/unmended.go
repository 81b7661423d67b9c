package kv

import "github.com/ctxd/ctxd/entities/kv/disk"

// Unmended reports whether records may not fit together: a start has found transactions missing that later
// ones stand on, a backup was restored, which may hold such a state, or Unfit was called. It stays so, whoever opens the store,
// until Mended is called.
func (s *Store) Unmended() bool { return s.unmended.Load() }

// Mended says that those who keep records have made them fit together. The error is Unavailable when the
// disk does not take it: then the next start says Unmended once more.
func (s *Store) Mended() error {
	if !s.unmended.Load() {
		return nil
	}
	if err := disk.RemoveNote(s.opts.FS, s.dir, disk.UnmendedName); err != nil {
		return unavailable(err, "the store can't note that its records fit together").WithHint(hintRetry)
	}
	s.unmended.Store(false)
	return nil
}

// Unfit says that a check has found records that don't fit together: who opens the store next mends them. The error is
// Unavailable when the disk does not take it.
func (s *Store) Unfit() error {
	if err := s.noteUnmended(); err != nil {
		return unavailable(err, "the store can't note that its records don't fit together").WithHint(hintRetry)
	}
	return nil
}

// noteUnmended is called before anything is done that may leave such records.
func (s *Store) noteUnmended() error {
	if s.unmended.Load() {
		return nil
	}
	if err := disk.WriteNote(s.opts.FS, s.dir, disk.UnmendedName, struct{}{}); err != nil {
		return err
	}
	s.unmended.Store(true)
	return nil
}
