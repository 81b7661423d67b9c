package kv

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// A chunk of a snapshot is read under the view lock, shared, and has at most
// this many keys and about disk.ChunkBytes. It becomes one piece of the file, and
// that is what damage to it costs.
const chunkKeys = 100

// keepSnapshots is how many generations stay on disk, with the journal
// segments that lead from the older ones to the present.
const keepSnapshots = 2

// files are the good files of a store, oldest first. Guarded by the
// snapshotter's turn, and during Open by nobody.
type files struct {
	snapshots []disk.ID
	segments  []disk.ID
}

// snapshotter is the state of making snapshots.
type snapshotter struct {
	turn chan struct{} // holds a token while a snapshot is made
	stop context.Context
	halt context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	busy    bool   // one is made in the background
	seq     uint64 // of the newest
	bytes   int64  // size of the newest
	failed  string // why the last one failed
	retryAt int64  // journal bytes before which no other is tried
}

func (sn *snapshotter) init() {
	sn.turn = make(chan struct{}, 1)
	sn.stop, sn.halt = context.WithCancel(context.Background())
}

// end makes a snapshot under way give up and waits for it. None begins after
// that.
func (sn *snapshotter) end() {
	sn.mu.Lock()
	sn.halt()
	sn.mu.Unlock()
	sn.wg.Wait()
	sn.turn <- struct{}{}
	<-sn.turn
}

func (sn *snapshotter) state() (seq uint64, failed string) {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	return sn.seq, sn.failed
}

func (j *journal) bytesSinceSnapshot() int64 { return j.bytes.Load() }

// snapshotIfDue starts a snapshot in the background when the journal has
// grown enough since the last one.
func (s *Store) snapshotIfDue() {
	if s.journal == nil || s.opts.SnapshotAfter < 0 {
		return
	}
	have := s.journal.bytes.Load()
	if have < s.opts.SnapshotAfter {
		return
	}
	sn := &s.snapshots
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.busy || have < max(sn.bytes, sn.retryAt) || sn.stop.Err() != nil {
		return
	}
	sn.busy = true
	sn.wg.Go(func() {
		err := s.Snapshot(sn.stop)
		sn.mu.Lock()
		sn.busy = false
		if err != nil {
			sn.retryAt = s.journal.bytes.Load() + s.opts.SnapshotAfter
		}
		sn.mu.Unlock()
		if err != nil && !errors.Is(err, context.Canceled) {
			s.log.Error("kv: snapshot failed", "err", err)
		}
	})
}

// Snapshot writes the present state to a new snapshot file and deletes what
// is no longer needed: snapshots but the newest two, and the journal before
// the older of them. It does nothing when no transaction came since the last
// one, or in memory. Writers wait while a new journal segment is begun, some
// milliseconds; readers wait for nothing.
//
// When it fails, the store goes on with its journal and the older snapshots.
func (s *Store) Snapshot(ctx context.Context) error {
	return s.inTurn(ctx, func() error { return s.noteFailed(ctx, s.snapshot(ctx, nil)) })
}

// noteFailed has Status say whether the last snapshot failed. It returns the error given.
func (s *Store) noteFailed(ctx context.Context, err error) error {
	sn := &s.snapshots
	sn.mu.Lock()
	defer sn.mu.Unlock()
	was := sn.failed
	sn.failed = ""
	if err != nil && ctx.Err() == nil && sn.stop.Err() == nil {
		sn.failed = "the last snapshot could not be written"
	}
	if sn.failed != was {
		s.statusChanged()
	}
	return err
}

// inTurn runs fn while no other whole state is being written. A store in memory has nothing
// to be done to its files.
func (s *Store) inTurn(ctx context.Context, fn func() error) error {
	if s.files == nil {
		return ctx.Err()
	}
	release, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return fn()
}

// takeTurn waits until no other whole state is being written.
func (s *Store) takeTurn(ctx context.Context) (release func(), err error) {
	sn := &s.snapshots
	select {
	case sn.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-sn.turn }
	if sn.stop.Err() != nil {
		release()
		return nil, errClosed()
	}
	return release, nil
}

func (s *Store) snapshot(ctx context.Context, written *disk.Written) error {
	seq, before, err := s.beginSnapshot(ctx)
	if err != nil || seq == 0 {
		return err
	}
	defer s.endCapture()
	id, size, err := s.writeSnapshot(ctx, seq, written)
	if err != nil {
		return err
	}
	s.journal.bytes.Add(-before)
	s.tookSnapshot(id, size)
	s.prune()
	return nil
}

// beginSnapshot makes every transaction durable, begins a new journal segment
// and from then on captures what transactions replace, all while no
// transaction can come in between. It returns the last transaction, or 0 when
// there is nothing new, and the bytes of journal up to there.
func (s *Store) beginSnapshot(ctx context.Context) (seq uint64, bytes int64, err error) {
	if err := s.lockWriter(ctx); err != nil {
		return 0, 0, err
	}
	defer s.unlockWriter()
	if err := s.drain(); err != nil {
		return 0, 0, err
	}
	s.takeBegun()
	seq = s.seq.Load()
	if last, _ := s.snapshots.state(); last == seq {
		return 0, 0, nil
	}
	if s.journal.ID.Seq <= seq {
		// Otherwise the segment is empty: the last snapshot failed.
		if failed := s.flush(seq); failed != nil {
			return 0, 0, s.fail(failed)
		}
		if err := s.rotate(seq + 1); err != nil {
			if errors.Is(err, disk.ErrTorn) {
				return 0, 0,
					s.fail(unavailable(err, "the store is read-only: a journal segment could not be begun").
						WithHint(hintRestart))
			}
			return 0, 0, unavailable(err, "a journal segment could not be begun").WithHint(hintRetry)
		}
		s.files.segments = append(s.files.segments, s.journal.ID)
	}
	s.beginCapture()
	return seq, s.journal.bytes.Load(), nil
}

// drain waits until every accepted transaction is applied. Called with the
// writer lock held.
func (s *Store) drain() error {
	if err := s.writable(); err != nil {
		return err
	}
	if p := s.barrier(); p != nil {
		if err := s.wait(p); s.replica == nil {
			return err
		}
		return s.writable() // what is not in the log is void, and nothing is left of it
	}
	return nil
}

func (s *Store) tookSnapshot(id disk.ID, size int64) {
	s.files.snapshots = append(s.files.snapshots, id)
	sn := &s.snapshots
	sn.mu.Lock()
	defer sn.mu.Unlock()
	sn.seq, sn.bytes, sn.retryAt = id.Seq, size, 0
}

// prune deletes the files that no kept generation needs. One that can't be
// deleted does no harm and is met again at the next start.
func (s *Store) prune() {
	f := s.files
	for len(f.snapshots) > keepSnapshots {
		s.deleteFile(f.snapshots[0].Name(disk.SnapshotPrefix))
		f.snapshots = slices.Delete(f.snapshots, 0, 1)
	}
	if len(f.snapshots) < keepSnapshots {
		return // the generation before the first snapshot is the empty store
	}
	for len(f.segments) > 1 && f.segments[1].Seq <= f.snapshots[0].Seq+1 {
		s.deleteFile(f.segments[0].Name(disk.JournalPrefix))
		f.segments = slices.Delete(f.segments, 0, 1)
	}
}

func (s *Store) deleteFile(name string) {
	if err := s.opts.FS.Remove(filepath.Join(s.dir, name)); err != nil {
		s.log.Warn("kv: an old file could not be deleted", "file", name, "err", err)
	}
}

// Compact leaves nothing in the files of what was deleted: the present state is written anew in all generations
// that are kept, and copies of former states are deleted (see DeleteCopies). progress counts the keys that are written.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	written := &disk.Written{Total: int64(keepSnapshots * s.Status().Records), Tell: progress}
	for range keepSnapshots {
		// A snapshot follows a transaction: one that says again what format the records have.
		err := s.Update(ctx, func(tx *Tx) error { return tx.put(formatKey, strconv.Itoa(s.opts.Format), nil) })
		if err == nil {
			err = s.inTurn(ctx, func() error { return s.noteFailed(ctx, s.snapshot(ctx, written)) })
		}
		if err != nil {
			return err
		}
	}
	return s.DeleteCopies(ctx)
}

// DeleteCopies deletes the files beside the store that hold former states of it:
// backups that an upgrade or a restore left, and what was set aside as damaged.
// Views with files of their own follow (see OnDeleteCopies).
// For whoever wants nothing left of what was deleted; after two snapshots, each
// with a transaction before it, the journal holds nothing older either.
func (s *Store) DeleteCopies(ctx context.Context) error { return s.inTurn(ctx, s.deleteCopies) }

func (s *Store) deleteCopies() error {
	files, err := disk.Copies(s.opts.FS, s.dir)
	if err != nil {
		return unreadable(err)
	}
	for _, file := range files {
		err = errors.Join(err, s.opts.FS.Remove(file))
	}
	err = errors.Join(err, s.opts.FS.SyncDir(s.dir))
	if err != nil {
		return unavailable(err, "a copy of a former state could not be deleted").WithHint(hintRetry)
	}
	s.view.RLock()
	views := s.copies
	s.view.RUnlock()
	for _, fn := range views {
		err = errors.Join(err, fn())
	}
	return err
}

// Copies returns the paths of the files that DeleteCopies deletes, those of views apart.
// A restore leaves one, for example, by which it can be undone.
func (s *Store) Copies(ctx context.Context) (files []string, err error) {
	err = s.inTurn(ctx, func() (err error) {
		files, err = disk.Copies(s.opts.FS, s.dir)
		return unreadable(err)
	})
	return files, err
}

// beginCapture is called with the writer lock held and every transaction
// applied.
func (s *Store) beginCapture() {
	s.view.Lock()
	defer s.view.Unlock()
	s.capture = &snapshotCapture{Seq: s.seq.Load(), Format: s.Format()}
}

func (s *Store) endCapture() {
	s.view.Lock()
	defer s.view.Unlock()
	s.capture = nil
}

// nextChunk returns the next keys of the snapshot being made, and whether
// there are more.
func (s *Store) nextChunk(chunk []disk.Pair) (_ []disk.Pair, more bool, err error) {
	s.view.RLock()
	defer s.view.RUnlock()
	if s.closed.Load() {
		return nil, false, errClosed()
	}
	c := s.capture
	size, to := 0, ""
	err = s.db.View(func(b *buntdb.Tx) error {
		return b.AscendGreaterOrEqual("", c.Cursor+"\x00", func(key, raw string) bool {
			if len(chunk) == chunkKeys || size >= disk.ChunkBytes {
				more = true
				return false
			}
			chunk = append(chunk, disk.Pair{Key: key, Value: raw})
			size += len(key) + len(raw)
			to = key
			return true
		})
	})
	if err != nil {
		return nil, false, err
	}
	chunk = c.Restore(chunk, to, more)
	c.Cursor = to
	return chunk, more, nil
}

// writeSnapshot writes the captured state to a file, which gets its name once
// it is whole and durable.
func (s *Store) writeSnapshot(ctx context.Context, seq uint64, written *disk.Written) (id disk.ID, size int64, err error) {
	id = disk.NewID(seq)
	of := disk.State{
		Name: filepath.Join(s.dir, id.Name(disk.SnapshotPrefix)), ID: id, Magic: disk.SnapshotMagic, Next: s.nextChunk,
		Halted: s.snapshots.stop.Err,
		Free:   func() error { return nil }, Written: written, // the salt is random
	}
	size, err = of.Write(ctx, s.opts.FS)
	switch {
	case err == nil:
		return id, size, nil
	case ctx.Err() != nil:
		return id, 0, ctx.Err()
	case s.snapshots.stop.Err() != nil:
		return id, 0, errClosed()
	}
	// Where only the directory could not be flushed, the file may be there
	// after a power cut or not; either is right, as long as nothing that it
	// replaces is deleted.
	return id, 0, unavailable(err, "a snapshot could not be written").WithHint(hintRetry)
}
