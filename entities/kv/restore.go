package kv

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// RestoreOptions say how to restore a backup. The zero value is fine.
type RestoreOptions struct {
	// Checksum is the SHA-256 that the file must have, in hex; "" for any.
	Checksum string
	// Keep is where a backup of the state that is replaced is written first, as
	// by Backup with Overwrite; "" for none.
	Keep    string
	Program string
	// KeepLocal keeps the records of Local collections as they are, and takes none of the backup's:
	// for a machine that joins a log anew. Items of the outbox are kept, to be replayed, without
	// the records that they have changed. The format of the backup must not be older than that
	// of the store: the next upgrade would take them for records of that format.
	KeepLocal bool
	// Progress is told how many bytes of the backup are read.
	Progress func(done, total int64)
}

// Restore makes the store hold what a backup holds, and nothing else, in one
// step for everybody and every crash: it is there as a whole or not at all. The
// views of the store know nothing of it, so it ends with the store closed: open
// it anew. Writers wait meanwhile.
//
// On an error nothing has changed and the store goes on, unless Status says that
// it is read-only: then whether it was replaced shows when it is opened again. The
// file of RestoreOptions.Keep, if it was written, stays. Errors are those of
// ReadBackup, and of kind Invalid with another checksum or for a store in
// memory, and Unavailable when the store can't be written.
func (s *Store) Restore(ctx context.Context, path string, o RestoreOptions) (*Manifest, error) {
	if s.files == nil {
		return nil, fault.New(fault.Invalid, "a store in memory can't be restored")
	}
	if s.replica != nil {
		return nil, fault.New(fault.Invalid, "a store that is shared with other machines can't be restored").
			WithHint("leave them first")
	}
	if o.Keep != "" && filepath.Clean(o.Keep) == filepath.Clean(path) {
		return nil, fault.New(fault.Invalid, "the state that is replaced can't be kept in the backup that replaces it").
			WithHint("choose another name for it")
	}
	m, err := ReadBackup(ctx, path, ReadOptions{FS: s.opts.FS, Format: s.opts.Format, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	if o.Checksum != "" && !strings.EqualFold(o.Checksum, m.Checksum) {
		return nil, fault.Field("checksum", "the backup has the checksum %s, not the one that was given", m.Checksum).
			WithHint("check that it is the right file; nothing was changed")
	}
	release, err := s.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer s.unlockWriter()
	if err := s.drain(); err != nil {
		return nil, err
	}
	if o.Keep != "" {
		s.beginCapture()
		_, err := s.writeBackup(ctx, o.Keep, BackupOptions{Program: o.Program, Overwrite: true})
		s.endCapture()
		if err != nil {
			return nil, err
		}
	}
	seq := s.seq.Load() + 1
	source := func() (func([]disk.Pair) ([]disk.Pair, bool, error), func(), error) {
		return s.fromBackup(ctx, path, m, o.KeepLocal)
	}
	if err := s.noteUnmended(); err != nil {
		return nil, s.replaceFailed(ctx, err)
	}
	if err := s.replaceState(ctx, seq, source); err != nil {
		return nil, err
	}
	return m, s.closeReplaced(seq)
}

// fromBackup yields the records of a backup that has been read once. That it is
// the same file still, every piece of it says again.
func (s *Store) fromBackup(ctx context.Context, path string,
	m *Manifest, keepLocal bool,
) (next func([]disk.Pair) ([]disk.Pair, bool, error), done func(), err error) {
	b, err := OpenBackup(ctx, path, ReadOptions{FS: s.opts.FS})
	if err != nil {
		return nil, nil, err
	}
	if b.Manifest.Checksum != m.Checksum {
		b.Close()
		return nil, nil, fault.New(fault.Invalid, "the backup changed while it was read").
			WithHint("try again; nothing was changed")
	}
	if keepLocal {
		own, err := s.kept(m.Format)
		if err != nil {
			b.Close()
			return nil, nil, err
		}
		return substitutePairs(b.Chunk, isOurs, own), b.Close, nil
	}
	return b.Without(logKey), b.Close, nil // restored, it is a store of this machine
}

// kept returns the records of Local collections and the items of the outbox, which stay when
// a state takes the place of all others. Older ones are brought into the format of that state,
// if the program has it. Called with the writer lock held.
func (s *Store) kept(format int) (own []disk.Pair, err error) {
	_ = s.db.View(func(b *buntdb.Tx) error {
		return b.Ascend("", func(key, raw string) bool {
			p := disk.Pair{Key: key, Value: raw}
			if kept, ok := outbox.CarryOver(p); ok || isLocal(p) {
				own = append(own, kept)
			}
			return true
		})
	})
	if s.opts.Upgrade == nil || s.format >= format || format != s.opts.Format {
		return own, nil
	}
	writes, err := s.upgraded(s.format)
	var list []pendingPut
	for _, w := range writes {
		if w.of != nil && w.of.IsLocal() {
			list = append(list, pendingPut{Pair: disk.Pair{Key: w.key, Value: w.raw}, Deleted: w.deleted})
		}
	}
	return applyPuts(own, list), err
}

// replaceState writes a state as the only one of the store: as two snapshots, so
// that damage to one of them is no loss, after which the journal and the
// snapshots so far are not needed. It is what a start finds from the moment when
// the first of the two has its name. On an error that moment has not come, or
// the store is read-only. Called with the turn and the writer lock held.
func (s *Store) replaceState(ctx context.Context, seq uint64,
	source func() (next func([]disk.Pair) ([]disk.Pair, bool, error), done func(), err error),
) error {
	var made []disk.State
	var size int64
	for len(made) < keepSnapshots {
		of, n, err := s.writeReplacement(ctx, seq, source)
		if err != nil {
			disk.RemoveTemps(s.opts.FS, made)
			return s.replaceFailed(ctx, err)
		}
		made, size = append(made, of), n
	}
	if err := s.publish(made); err != nil {
		return err
	}
	old := *s.files
	s.files.snapshots, s.files.segments = nil, nil
	for _, of := range made {
		s.tookSnapshot(of.ID, size)
	}
	s.deleteFiles(old)
	return nil
}

func (s *Store) writeReplacement(ctx context.Context, seq uint64,
	source func() (func([]disk.Pair) ([]disk.Pair, bool, error), func(), error)) (of disk.State, size int64,
	err error,
) {
	next, done, err := source()
	if err != nil {
		return of, 0, err
	}
	defer done()
	of = disk.State{ID: disk.NewID(seq), Magic: disk.SnapshotMagic, Next: next, Halted: s.snapshots.stop.Err}
	of.Name = filepath.Join(s.dir, of.ID.Name(disk.SnapshotPrefix))
	size, err = of.WriteTemp(ctx, s.opts.FS)
	return of, size, err
}

// publish gives the files their names.
func (s *Store) publish(made []disk.State) error {
	undone, err := disk.Publish(s.opts.FS, s.dir, made)
	switch {
	case err == nil:
		return nil
	case undone:
		return s.replaceFailed(context.Background(), err)
	}
	return s.fail(unavailable(err, "the store is read-only: whether its state was replaced is not known").
		WithHint(hintRestart))
}

func (s *Store) replaceFailed(ctx context.Context, err error) error {
	var known *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.snapshots.stop.Err() != nil:
		return errClosed()
	case errors.As(err, &known):
		return err
	}
	e := unavailable(err, "the new state could not be written").WithHint(hintRetry)
	e.Retryable = true
	return e
}

// deleteFiles deletes what is behind a newer state. A file that stays does no
// harm.
func (s *Store) deleteFiles(old files) {
	for _, id := range old.snapshots {
		s.deleteFile(id.Name(disk.SnapshotPrefix))
	}
	for _, id := range old.segments {
		s.deleteFile(id.Name(disk.JournalPrefix))
	}
}

// closeReplaced closes a store whose files hold another state now. Called with
// the turn and the writer lock held.
func (s *Store) closeReplaced(seq uint64) error {
	s.beforeClose(true)
	sn := &s.snapshots
	sn.mu.Lock()
	sn.halt()
	sn.mu.Unlock()
	s.stopFlushing()
	s.view.Lock()
	s.closed.Store(true)
	s.view.Unlock()
	s.seq.Store(seq)
	s.flusher.segment.Lock()
	s.synced.Store(seq) // a flush that was about to begin finds nothing to do
	s.flusher.segment.Unlock()
	if err := s.markClean(); err != nil {
		s.log.Warn("kv: the stop of a restored store could not be noted", "err", err)
	}
	if err := s.abandon(); err != nil {
		s.log.Warn("kv: a file of a restored store could not be closed", "err", err)
	}
	return nil
}
