package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// openDir loads the store from its directory. It first only reads; what it
// changes, it changes once everything is known to be readable.
func (s *Store) openDir(dir string) error {
	fsys := s.opts.FS
	s.dir = dir
	if err := fsys.MkdirAll(dir, disk.DirMode); err != nil {
		return unavailable(err, fmt.Sprintf("the folder of the store, %q, can't be made", dir)).WithHint(disk.HintFolder)
	}
	if err := disk.CheckFolder(fsys, dir, s.opts.Beside); err != nil {
		return err
	}
	if err := fsys.Chmod(dir, disk.DirMode); err != nil {
		return unavailable(err, fmt.Sprintf("the folder of the store, %q, can't be made private", dir)).
			WithHint(disk.HintFolder)
	}
	var err error
	s.lock, err = disk.LockDir(fsys, dir)
	if err != nil {
		return err
	}
	found, err := s.read()
	if err != nil {
		return err
	}
	s.deletion.listed = slices.Contains(found.All, disk.LockName)
	if err := s.repair(found); err != nil {
		return unavailable(err, "the store can't be written").WithHint(hintRetry)
	}
	return nil
}

// finding is what reading a store's directory has come to.
type finding struct {
	disk.Inventory
	journal *disk.Replay
	damaged []disk.ID // snapshots
	rebuilt bool      // from what is intact in damaged snapshots
	spoilt  []disk.ID // segments that are not to be read again
	untold  *disk.LossNote
}

// read loads the store and reports what it found. It changes nothing on disk.
func (s *Store) read() (*finding, error) {
	fsys, dir := s.opts.FS, s.dir
	inv, err := disk.TakeInventory(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	stopped, clean, err := disk.ReadClean(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	untold, err := disk.UnreportedLoss(fsys, dir)
	if err != nil {
		return nil, unreadable(err)
	}
	isNew := len(inv.Segments) == 0 && len(inv.Snapshots) == 0
	damaged, err := s.loadNewest(&inv)
	if err != nil {
		return nil, unreadable(err)
	}
	f := &finding{Inventory: inv, damaged: damaged, untold: untold}
	r := &disk.Replay{
		FS: fsys, Dir: dir, In: s.batch(), Start: s.seq.Load(), Last: s.seq.Load(),
		Promised: stopped,
	}
	f.journal = r
	for _, id := range damaged {
		r.Promise(id.Seq)
	}
	if len(inv.Segments) > 0 {
		r.Promise(inv.Segments[0].Seq - 1)
	}
	if r.Last == 0 && r.Promised > 0 && (len(inv.Segments) == 0 || inv.Segments[0].Seq > 1) {
		if err := s.rebuild(f); err != nil {
			return nil, err
		}
	} else if len(damaged) > 0 && r.Last == 0 && s.leftover(inv.Segments) {
		if err := s.rebuild(f); err != nil {
			return nil, err
		}
	} else if err := r.Journal(inv.Segments); err != nil {
		return nil, unreadable(err)
	}
	s.seq.Store(r.Last)
	s.written = r.Last
	if !f.rebuilt {
		s.at.Store(r.At)
	}
	if err := s.checkFormat(); err != nil {
		return nil, err
	}
	s.report.Replayed, s.report.Lost, s.report.Salvaged = r.Applied, r.Holes, r.Salvaged
	if r.Promised > r.Last {
		s.report.Lost += r.Promised - r.Last
	}
	s.report.Clean = r.Stopped == nil && len(damaged) == 0 && r.Promised <= r.Last &&
		(clean && stopped == r.Last || isNew)
	return f, nil
}

// leftover reports whether the journal begins with the first transaction only
// because a segment was left that should have been deleted: the next one goes on
// somewhere else.
func (s *Store) leftover(segments []disk.ID) bool {
	r := &disk.Replay{FS: s.opts.FS, Dir: s.dir}
	return r.Segments(segments) == nil && r.Stopped != nil && r.Stopped.Gap
}

// loadNewest loads the newest whole snapshot, if there is one, and returns
// the damaged ones newer than that.
func (s *Store) loadNewest(inv *disk.Inventory) (damaged []disk.ID, err error) {
	for n := len(inv.Snapshots); n > 0; n = len(inv.Snapshots) {
		id := inv.Snapshots[n-1]
		size, err := loadSnapshot(s.opts.FS, s.dir, id, s.db)
		if err == nil {
			s.seq.Store(id.Seq)
			s.snapshots.seq, s.snapshots.bytes = id.Seq, size
			return damaged, nil
		}
		if !errors.Is(err, disk.ErrDamaged) {
			return nil, err
		}
		damaged = append(damaged, id)
		inv.Snapshots = inv.Snapshots[:n-1]
		// What was loaded before the damage came to light has to go.
		_ = s.db.Close()
		s.db, err = buntdb.Open(":memory:")
		if err != nil {
			return nil, err
		}
	}
	return damaged, nil
}

// repair brings the directory into a state from which writing can go on, in
// steps after each of which a crash leaves a store that opens the same.
func (s *Store) repair(f *finding) error {
	fsys, r := s.opts.FS, f.journal
	for _, name := range f.All {
		if err := fsys.Chmod(filepath.Join(s.dir, name), disk.FileMode); err != nil {
			return err
		}
	}
	for _, name := range f.Temps {
		if err := fsys.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	s.removeUnfinished()
	s.unmended.Store(slices.Contains(f.All, disk.UnmendedName)) // also one that can't be read
	s.plan(f)
	if err := s.noteLoss(f); err != nil {
		return err
	}
	s.files = &files{snapshots: f.Snapshots, segments: f.Segments}
	s.journal = new(journal)
	if err := s.repairJournal(f); err != nil {
		return err
	}
	for _, id := range f.damaged {
		if err := s.setAside(id.Name(disk.SnapshotPrefix)); err != nil {
			return err
		}
	}
	if f.untold != nil {
		if err := s.finishEarlier(f); err != nil {
			return err
		}
	}
	if err := s.openJournal(r); err != nil {
		return err
	}
	s.synced.Store(s.seq.Load())
	if s.report.Lost > 0 {
		// Said once; from here on the store is what it is.
		if err := disk.WriteClean(s.opts.FS, s.dir, s.seq.Load()); err != nil {
			return err
		}
	}
	if f.untold != nil || disk.AnyLoss(&s.report) {
		return s.forgetLoss()
	}
	return nil
}

// plan decides what of the journal is not to be read again: an unfinished write
// is to be cut off, anything else to be kept aside.
func (s *Store) plan(f *finding) {
	r := f.journal
	at := r.Stopped
	lost := s.report.Lost > 0 || f.untold != nil || f.rebuilt
	if at == nil && s.report.Lost == 0 && !f.rebuilt {
		return
	}
	if at == nil {
		// Every file is in order and yet something is missing. Segments that
		// begin behind it hold nothing, but would tell of the loss for ever.
		at = &disk.Stop{Segment: len(f.Segments)}
		for at.Segment > 0 && f.Segments[at.Segment-1].Seq > r.Last+1 {
			at.Segment--
		}
	}
	if at.Torn {
		s.report.TornBytes = at.Size - at.Off
	}
	if !lost && at.Torn && at.Segment == len(f.Segments)-1 {
		at.Cut = true
		return
	}
	s.report.Aside = at.Beyond
	f.spoilt = f.Segments[at.Segment:]
}

// repairJournal does what plan has decided.
func (s *Store) repairJournal(f *finding) error {
	if at := f.journal.Stopped; at != nil && at.Cut {
		return s.cut(at)
	}
	// What could be read gets a snapshot of its own before the files that hold
	// it are moved away.
	if last := f.journal.Last; f.rebuilt || len(f.spoilt) > 0 && last > s.snapshots.seq {
		s.capture = new(snapshotCapture)
		id, size, err := s.writeSnapshot(context.Background(), last, nil)
		s.capture = nil
		if err != nil {
			return err
		}
		s.tookSnapshot(id, size)
	}
	keep := len(s.files.segments) - len(f.spoilt)
	for len(s.files.segments) > keep {
		last := len(s.files.segments) - 1
		if err := s.setAside(s.files.segments[last].Name(disk.JournalPrefix)); err != nil {
			return err
		}
		s.files.segments = s.files.segments[:last]
	}
	return nil
}

// cut removes an unfinished write from the end of the journal.
func (s *Store) cut(at *disk.Stop) error {
	id := s.files.segments[at.Segment]
	if at.Off == 0 {
		s.files.segments = s.files.segments[:at.Segment] // it was just being created
	}
	return disk.CutSegment(s.opts.FS, s.dir, id, at.Off)
}

func (s *Store) setAside(name string) error {
	to := disk.DamagedPrefix + name
	if err := s.opts.FS.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, to)); err != nil {
		return err
	}
	s.report.Damaged = append(s.report.Damaged, to)
	return s.opts.FS.SyncDir(s.dir)
}

// openJournal opens the last segment for appending, or begins a new one.
func (s *Store) openJournal(r *disk.Replay) error {
	j := s.journal
	j.bytes.Store(r.Bytes)
	segment, begun, err := disk.OpenJournal(s.opts.FS, s.dir, s.files.segments, r, s.seq.Load())
	j.Segment = segment
	if begun && err == nil {
		s.files.segments = append(s.files.segments, segment.ID)
	}
	return err
}
