package kv

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// checkEvery is how often a store checks whether its files are still there.
const checkEvery = 30 * time.Second

// deletion is what is known of files that somebody else has deleted.
type deletion struct {
	mu       sync.Mutex // guards what follows
	last     *Deleted   // nil: none was ever missed
	timer    *time.Timer
	closing  bool
	checking bool // CheckFiles runs in the background, or is about to

	listed   bool        // the file of the lock can be seen in the folder; set by Open
	detached atomic.Bool // the journal can't be found by its name any more
	begun    []disk.ID   // segments that files do not have yet; guarded by writer
}

// startChecks has CheckFiles called now and then.
func (s *Store) startChecks() {
	d := &s.deletion
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closing {
		d.timer = time.AfterFunc(checkEvery, func() {
			s.checkSoon()
			s.startChecks()
		})
	}
}

// stopChecks ends that.
func (s *Store) stopChecks() {
	d := &s.deletion
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// checkSoon calls CheckFiles in the background.
func (s *Store) checkSoon() {
	d, sn := &s.deletion, &s.snapshots
	d.mu.Lock()
	defer d.mu.Unlock()
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if d.checking || d.closing || sn.stop.Err() != nil {
		return
	}
	d.checking = true
	sn.wg.Go(func() {
		_ = s.CheckFiles(sn.stop) // Status and the log say what comes of it
		d.mu.Lock()
		d.checking = false
		d.mu.Unlock()
	})
}

// CheckFiles looks whether files of the store were deleted by somebody else, and makes it
// whole again from what is in memory: with a new journal, and a new snapshot. A store does
// so by itself twice a minute, and when a flush finds the journal gone. An error is why it
// could not be made whole; writes are refused until it is when the journal is gone.
func (s *Store) CheckFiles(ctx context.Context) error {
	return s.inTurn(ctx, func() error { return s.checkFiles(ctx) })
}

func (s *Store) checkFiles(ctx context.Context) error {
	writable := !s.closed.Load() && s.readOnly() == nil
	if !writable {
		return nil // there is nothing more to write, or not here
	}
	gone := s.goneFiles()
	if last := s.deleted(); last != nil && !last.Whole { // it could not be made whole then
		for _, name := range last.Files {
			if !slices.Contains(gone, name) {
				gone = append(gone, name)
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	s.log.Error("kv: files of the store were deleted", "files", gone)
	s.noteDeleted(&Deleted{Files: gone, At: s.now().UTC()})
	if err := s.makeWhole(ctx, gone); err != nil {
		s.log.Error("kv: the store could not be made whole", "err", err)
		return err
	}
	s.noteDeleted(&Deleted{Files: gone, At: s.now().UTC(), Whole: true})
	s.log.Info("kv: the store was made whole from memory")
	return nil
}

func (s *Store) noteDeleted(d *Deleted) {
	s.deletion.mu.Lock()
	s.deletion.last = d
	s.deletion.mu.Unlock()
	s.statusChanged()
}

// deleted returns what Status says.
func (s *Store) deleted() *Deleted {
	s.deletion.mu.Lock()
	defer s.deletion.mu.Unlock()
	return s.deletion.last
}

// goneFiles returns the names of the files that the store needs and that are not there.
// The caller has the turn.
func (s *Store) goneFiles() (gone []string) {
	names, err := s.opts.FS.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // it can't be told
	}
	want := make([]string, 0, len(s.files.snapshots)+len(s.files.segments)+1)
	for _, id := range s.files.snapshots {
		want = append(want, id.Name(disk.SnapshotPrefix))
	}
	for _, id := range s.files.segments {
		want = append(want, id.Name(disk.JournalPrefix))
	}
	if s.deletion.listed {
		want = append(want, disk.LockName)
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			gone = append(gone, name)
		}
	}
	s.flusher.segment.Lock()
	defer s.flusher.segment.Unlock()
	if name := s.journal.ID.Name(disk.JournalPrefix); !slices.Contains(gone, name) && !s.journal.Linked() {
		gone = append(gone, name)
	}
	return gone
}

// makeWhole puts what is in memory in the place of files that are gone. The caller has the
// turn.
func (s *Store) makeWhole(ctx context.Context, gone []string) error {
	fsys := s.opts.FS
	err := fsys.MkdirAll(s.dir, disk.DirMode)
	if err == nil {
		err = fsys.Chmod(s.dir, disk.DirMode)
	}
	if err != nil {
		return unavailable(err, "the folder of the store was deleted, and can't be made again").WithHint(hintRetry)
	}
	if err := s.lockAgain(gone); err != nil {
		return err
	}
	seq, before, err := s.beginAnew(ctx, gone)
	if err != nil {
		return err
	}
	defer s.endCapture()
	id, size, err := s.writeSnapshot(ctx, seq, nil)
	if err != nil {
		return err
	}
	s.journal.bytes.Add(-before)
	s.tookSnapshot(id, size)
	if slices.ContainsFunc(gone, func(name string) bool { return strings.HasPrefix(name, disk.JournalPrefix) }) {
		s.dropBefore(seq + 1)
	}
	s.prune()
	return nil
}

// dropBefore deletes the segments before the one that begins with a transaction. They are
// not whole: what is left of them would look like damage.
func (s *Store) dropBefore(seq uint64) {
	f := s.files
	for len(f.segments) > 1 && f.segments[0].Seq < seq {
		s.deleteFile(f.segments[0].Name(disk.JournalPrefix))
		f.segments = slices.Delete(f.segments, 0, 1)
	}
}

// lockAgain takes the lock whose file is gone. Somebody else may have the folder by now:
// two must not write into it.
func (s *Store) lockAgain(gone []string) error {
	if !slices.Contains(gone, disk.LockName) {
		return nil
	}
	l, err := disk.LockDir(s.opts.FS, s.dir)
	if err == nil {
		_ = s.lock.Close() // of a file that nobody finds
		s.lock = l
		return nil
	}
	if fault.KindOf(err) == fault.Conflict {
		return s.fail(fault.New(fault.Unavailable,
			"the store is read-only: its files were deleted, and another process has its folder").WithHint(hintRestart))
	}
	return err
}

// beginAnew begins a journal that can be found, and captures the state for a snapshot of
// it.
func (s *Store) beginAnew(ctx context.Context, gone []string) (seq uint64, before int64, err error) {
	if err := s.lockWriter(ctx); err != nil {
		return 0, 0, err
	}
	defer s.unlockWriter()
	isGone := func(prefix string) func(disk.ID) bool {
		return func(id disk.ID) bool { return slices.Contains(gone, id.Name(prefix)) }
	}
	if err := s.attach(true); err != nil {
		return 0, 0, err
	}
	s.takeBegun()
	s.files.snapshots = slices.DeleteFunc(s.files.snapshots, isGone(disk.SnapshotPrefix))
	s.files.segments = slices.DeleteFunc(s.files.segments, isGone(disk.JournalPrefix))
	seq = s.seq.Load()
	s.beginCapture()
	return seq, s.journal.bytes.Load(), nil
}

// attach begins a new journal in the place of one that can't be found, or in any case. What
// was acknowledged and is in the old one is safe again with the next snapshot. Called with
// the writer lock held.
func (s *Store) attach(always bool) error {
	if !always && !s.deletion.detached.Load() {
		return nil
	}
	if err := s.drain(); err != nil {
		return err
	}
	return s.beginJournal()
}

// reattach is attach for a replica that is about to write a group, for which everybody waits
// who would begin a journal.
func (s *Store) reattach() error {
	if !s.deletion.detached.Load() {
		return nil
	}
	return s.beginJournal()
}

// beginJournal is for when every transaction in the present one is applied.
func (s *Store) beginJournal() error {
	seq := s.seq.Load()
	if failed := s.flush(seq); failed != nil {
		return s.fail(failed)
	}
	if err := s.rotate(seq + 1); err != nil {
		if errors.Is(err, disk.ErrTorn) {
			return s.fail(unavailable(err, "the store is read-only: a journal segment could not be begun").
				WithHint(hintRestart))
		}
		e := unavailable(err, "the journal was deleted by somebody else, and a new one could not be begun").
			WithHint(hintRetry)
		e.Retryable = true
		return e
	}
	s.deletion.begun = append(s.deletion.begun, s.journal.ID)
	s.deletion.detached.Store(false)
	return nil
}

// takeBegun adds the segments that attach has begun to the files. Called with the writer
// lock and the turn held.
func (s *Store) takeBegun() {
	s.files.segments = append(s.files.segments, s.deletion.begun...)
	s.deletion.begun = nil
}

// checkJournal is called when the journal was flushed: what nobody can find is not durable.
// flusher.segment is held.
func (s *Store) checkJournal() {
	if !s.deletion.detached.Load() && !s.journal.Linked() {
		s.deletion.detached.Store(true)
		go s.checkSoon()
	}
}
