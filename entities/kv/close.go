package kv

import (
	"context"
	"errors"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Close calls the functions of OnClose, stops a snapshot under way, completes
// every accepted transaction, marks the store as properly stopped and gives up
// its lock. It must not be called in a View, an Update or a handler. A second
// Close does nothing.
func (s *Store) Close() error {
	s.beforeClose(false)
	s.stopChecks()
	s.snapshots.end()

	if err := s.lockWriter(context.Background()); err != nil {
		return err
	}
	defer s.unlockWriter()
	if s.closed.Load() {
		return nil
	}
	err := s.drain()
	if s.replica != nil {
		s.replica.End()
	}
	s.stopFlushing()
	if s.journal != nil && err == nil {
		if failed := s.flush(s.seq.Load()); failed != nil {
			err = s.fail(failed)
		}
	}
	s.view.Lock()
	s.closed.Store(true)
	s.view.Unlock()
	if s.journal != nil && err == nil {
		err = s.markClean()
	}
	return errors.Join(err, s.abandon())
}

// markClean writes the marker of a proper stop, unless it is there already.
func (s *Store) markClean() error {
	if seq, ok, err := disk.ReadClean(s.opts.FS, s.dir); err == nil && ok && seq == s.seq.Load() {
		return nil
	}
	if err := disk.WriteClean(s.opts.FS, s.dir, s.seq.Load()); err != nil {
		return unavailable(err, "the stop of the store could not be noted").
			WithHint("nothing is lost; the next start checks the journal as after a crash")
	}
	return nil
}

// abandon gives back what Open took.
func (s *Store) abandon() error {
	err := s.db.Close()
	if s.journal != nil && s.journal.Segment != nil {
		err = errors.Join(err, s.journal.Close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
